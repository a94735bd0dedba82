"""Trains a learner again and again on the same records, with fresh noise each time.

What comes out does not depend on the number of processes: each refit carries its own seed. The
records go to the processes through memory, never through a file.
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


def without_budget(estimator: Any) -> tuple[Any, tuple[str, ...]]:
    """A copy that charges no budget, nor does anything inside it, and what to tell about it."""
    copy = clone(estimator)
    budgets = given_parameters(copy, "budget")
    if not budgets:
        return copy, ()
    return copy.set_params(**dict.fromkeys(budgets)), (BUDGET_LEFT_OUT,)


def given_parameters(estimator: Any, name: str) -> dict[str, Any]:
    """Parameters of this name that are not None, of an estimator and of those inside it."""
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
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> list[Result]:
    """Train copies of an estimator, and measure each; with a bar of what is done.

    Parameters
    ----------
    estimator, measure, refits, n_jobs
        As in :func:`refits_in_parts`.
    X, y : records and labels
        What to train on, the same every time.
    progress : bool, optional
        Whether to show a bar on stderr; by default if it is a terminal.

    Returns
    -------
    list
        What was measured, in order.
    """
    measured: list[Result] = []
    with progress_bar(refits, progress, "refits") as advance:
        for _, found in refits_in_parts(estimator, [(X, y)], measure, refits, n_jobs=n_jobs):
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
    """Train copies of an estimator on some tables, and measure each.

    Tables take turns in a random order: whatever changes with time or from process to process is
    then the same for all of them.

    Parameters
    ----------
    estimator : classifier
        With ``random_state=None`` every copy draws from the operating system; else all of them
        have seeds that follow from it, each its own. The same goes for estimators inside it.
    tables : sequence of tuple
        Records and labels to train on, the same every time.
    measure : callable
        Takes a trained copy. It is sent to other processes.
    refits : int
        How many copies for each table.
    train : callable, optional
        Takes a copy, records and labels, and returns what is measured; by default
        :func:`fit_quietly`.
    at_once : int, default=5
        Refits for which the records are sent to a process once.
    n_jobs : int, optional
        Processes, as in scikit-learn: None is 1, -1 as many as there are processors.

    Yields
    ------
    int
        The place of the table.
    list
        What was measured of it, part by part, in order.
    """
    from sklearn.utils.parallel import Parallel, delayed

    seeds = _seeds(estimator, refits * len(tables))
    order = Randomness()  # decides on no result
    parts = [
        (place, seeds[place :: len(tables)][start : start + at_once])
        for start in range(0, refits, at_once)
        for place in sorted(range(len(tables)), key=lambda _: order.bits(64))
    ]
    parallel = Parallel(n_jobs=n_jobs, return_as="generator", max_nbytes=None)
    train = fit_quietly if train is None else train
    measured = parallel(
        delayed(_refit_part)(estimator, *tables[place], measure, train, of_part)
        for place, of_part in parts
    )
    for (place, _), found in zip(parts, measured, strict=True):
        yield place, found


def fit_quietly(estimator: Any, X: Any, y: Any) -> Any:
    """Train it; what the statement says, and the certificate repeats, is not said as a warning."""
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
    seeded = given_parameters(estimator, "random_state")
    measured = []
    for seed in seeds:
        copy = clone(estimator)
        if seed is not None:
            copy.set_params(**dict.fromkeys(seeded, seed))
        measured.append(measure(train(copy, X, y)))
    return measured


def _seeds(estimator: Any, refits: int) -> list[int | None]:
    """Distinct seeds below 2^32, which every learner takes; none if the noise is to be secret."""
    given = given_parameters(estimator, "random_state")
    if not given:
        return [None] * refits
    source = Randomness.from_random_state(given.get("random_state", next(iter(given.values()))))
    seeds: dict[int, None] = {}
    while len(seeds) < refits:
        seeds[source.below(2**32)] = None
    return list(seeds)
