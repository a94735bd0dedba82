"""Train a learner many times on the same records, with fresh noise each time.

The results do not depend on the number of processes, because each refit has its own seed. The
records are sent to the processes through memory, never through a file.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from sklearn.base import clone

from privatree._support.progress import progress_bar
from privatree.errors import PrivacyLeakWarning
from privatree.privacy import Randomness

Result = TypeVar("Result")

BUDGET_LEFT_OUT = (
    "The budget of the estimator was not charged for the refits: none of them is released."
)


def refit_without_budget(estimator: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a copy without any budget, also in nested estimators, and notes on the change."""
    copy = clone(estimator)
    budgets = given_refit_parameters(copy, "budget")
    if not budgets:
        return copy, ()
    return copy.set_params(**dict.fromkeys(budgets)), (BUDGET_LEFT_OUT,)


def given_refit_parameters(estimator: Any, name: str) -> dict[str, Any]:
    """Return all parameters called `name` that are not None, also of nested estimators."""
    return {
        key: value
        for key, value in estimator.get_params(deep=True).items()
        if value is not None and (key == name or key.endswith(f"__{name}"))
    }


def refit(
    estimator: Any,
    X: Any,
    y: Any,
    measure: Callable[[Any], Result],
    refits: int,
    *,
    train: Callable[[Any, Any, Any], Any] | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> list[Result]:
    """Train copies of an estimator on the same records, and return a measurement of each.

    The results are in order. `progress` decides whether a progress bar is shown;
    :func:`refits_in_parts` describes the other parameters.
    """
    measured: list[Result] = []
    with progress_bar(refits, progress, "refits") as advance:
        parts = refits_in_parts(estimator, [(X, y)], measure, refits, train=train, n_jobs=n_jobs)
        for _, found in parts:
            measured += found
            advance(len(found))
    return measured


def refits_in_parts(
    estimator: Any,
    tables: Sequence[tuple[Any, Any]],
    measure: Callable[[Any], Result],
    refits: int,
    *,
    train: Callable[[Any, Any, Any], Any] | None = None,
    at_once: int = 5,
    n_jobs: int | None = None,
) -> Iterator[tuple[int, list[Result]]]:
    """Train ``refits`` copies of an estimator on each dataset, and measure each copy.

    The datasets take turns in a random order, so that whatever changes with time or from process to
    process affects all of them equally.

    Parameters
    ----------
    estimator : classifier
        With ``random_state=None`` every copy draws fresh noise. Otherwise every copy has its own
        seed, which is derived from ``random_state``. The same holds for nested estimators.
    tables : sequence of tuple
        Records and labels of each dataset.
    measure : callable
        Takes the result of ``train``. It is sent to other processes.
    train : callable, optional
        Takes a copy, records and labels; by default :func:`refit_quietly`.
    at_once : int, default=5
        Number of refits in a process before the records are sent to it again.
    n_jobs : int, optional
        Number of processes, as in scikit-learn: None is 1, -1 is all processors.

    Yields
    ------
    int
        Position of the dataset.
    list
        Some measurements of this dataset, in order.
    """
    from sklearn.utils.parallel import Parallel, delayed

    seeds = _draw_refit_seeds(estimator, refits * len(tables))
    order = Randomness()  # no result depends on it
    parts = [
        (place, seeds[place :: len(tables)][start : start + at_once])
        for start in range(0, refits, at_once)
        for place in sorted(range(len(tables)), key=lambda _: order.bits(64))
    ]
    parallel = Parallel(n_jobs=n_jobs, return_as="generator", max_nbytes=None)
    train = refit_quietly if train is None else train
    measured = parallel(
        delayed(_refit_part)(estimator, *tables[place], measure, train, of_part)
        for place, of_part in parts
    )
    for (place, _), found in zip(parts, measured, strict=True):
        yield place, found


def refit_quietly(estimator: Any, X: Any, y: Any) -> Any:
    """Fit without a PrivacyLeakWarning: the statement and the certificate name the leak."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        return estimator.fit(X, y)


def _refit_part(
    estimator: Any,
    X: Any,
    y: Any,
    measure: Callable[[Any], Result],
    train: Callable[[Any, Any, Any], Any],
    seeds: Sequence[int | None],
) -> list[Result]:
    seeded = given_refit_parameters(estimator, "random_state")
    measured = []
    for seed in seeds:
        copy = clone(estimator)
        if seed is not None:
            copy.set_params(**dict.fromkeys(seeded, seed))
        measured.append(measure(train(copy, X, y)))
    return measured


def _draw_refit_seeds(estimator: Any, refits: int) -> list[int | None]:
    """Return distinct seeds below 2^32, which all learners accept, or None for secret noise."""
    given = given_refit_parameters(estimator, "random_state")
    if not given:
        return [None] * refits
    source = Randomness.from_random_state(given.get("random_state", next(iter(given.values()))))
    seeds: dict[int, None] = {}
    while len(seeds) < refits:
        seeds[source.below(2**32)] = None
    return list(seeds)
