"""Black-box audit: train a learner many times on two neighbouring datasets, compare the models.

The audit uses only what the learner releases. The result is a *lower* bound on the real epsilon of
the learner, with confidence. A bound above the claimed epsilon proves the claim false. A bound
below the claimed epsilon proves nothing: other datasets or another event might give a larger bound.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.utils.validation import has_fit_parameter

from privatree._support.progress import progress_bar
from privatree._support.validation import check_integer, check_number
from privatree.audit._findings import Counting
from privatree.audit._report import AuditReport, Finding
from privatree.audit._views import MAX_PROBES, VIEWS, View, observe_training, train_for_views
from privatree.audit.pairs._all_pairs import known_pairs
from privatree.audit.pairs._neighbours import Neighbours, Records
from privatree.errors import ParameterError
from privatree.repetition import (
    check_confidence,
    given_refit_parameters,
    refit_without_budget,
    refits_in_parts,
)

MIN_RUNS, MAX_RUNS = 8, 10**7
_AT_ONCE = 25
"""Number of trainings that a process makes each time it is sent the records."""

Learner = Any | Callable[[Neighbours], Any]


def audit(
    learner: Learner,
    neighbours: Neighbours | Sequence[Neighbours] | None = None,
    *,
    runs: int = 1000,
    confidence: float = 0.99,
    claimed: float | None = None,
    delta: float = 0.0,
    views: Mapping[str, View] | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> AuditReport:
    """Bound the real epsilon of a learner from below, by training it many times.

    Parameters
    ----------
    learner : classifier or regressor, or callable
        Classifier or regressor with scikit-learn's ``get_params``, ``fit`` and ``predict``. Its
        parameters ``schema`` and ``max_depth``, if it has them, are set for each pair. Or a
        function that takes a pair and returns such a learner. With ``random_state=None`` every
        training draws fresh noise; otherwise each has its own seed, which is derived from
        ``random_state``.
    neighbours : Neighbours or sequence of Neighbours, optional
        Pairs of datasets; by default all of :func:`~privatree.audit.known_pairs`, for classes or
        for numbers.
    runs : int, default=1000
        Number of trainings on each dataset. A pair with a rare event gets several times as many.
    confidence : float, default=0.99
        All bounds of the report hold together with at least this probability.
    claimed : float, optional
        Claimed epsilon; by default the learner's parameter ``epsilon``. If the learner has the
        parameter ``neighbours="replace"``, the claim is for one record replaced. Otherwise the
        claim is for one record added or removed, and a replaced record counts as two changes.
    delta : float, default=0.0
        Delta of an (epsilon, delta) claim.
    views : mapping of str to View, optional
        Further ways to observe a model, besides :data:`~privatree.audit._views.VIEWS`.
    n_jobs : int, optional
        Number of processes, as in scikit-learn: None is 1, -1 is all processors.
    progress : bool, optional
        Whether to show a progress bar on stderr; by default if that is a terminal.

    Returns
    -------
    AuditReport
        For each pair the largest bound, the event behind it in words, and the counts of the event.

    Notes
    -----
    An event that theory names is counted in all trainings. Another event is learned in the first
    half of the trainings and counted in the second half. The
    allowed probability of a wrong bound is divided among all events, whose number is fixed before
    the first training.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier
    >>> from privatree.audit import audit, known_pairs
    >>> learner = PrivaTreeClassifier(1.0, random_state=0)
    >>> audit(learner, known_pairs()["purity"], runs=40).refuted
    False
    """
    check_audit_runs(runs)
    check_confidence(confidence)
    check_number("delta", delta, lambda d: 0.0 <= d < 1.0, "be a number, at least 0 and below 1")
    claimed = _learner_epsilon(learner, claimed)
    if neighbours is None:
        numbers = _is_trainable(learner) and is_regressor(learner)
        neighbours = list(known_pairs(claimed or 1.0, numbers=numbers).values())
    pairs = [neighbours] if isinstance(neighbours, Neighbours) else list(neighbours)
    all_views = {**VIEWS, **(views or {})}
    _check_trained_pairs(pairs, all_views)
    audited = [
        _audited_pair(pair, _learner_for_pair(learner, pair), all_views, n_jobs) for pair in pairs
    ]
    skipped = tuple(one.pair.name for one in audited if not one.can_show())
    audited = [one for one in audited if one.pair.name not in skipped]
    if claimed is None:
        claimed = _common_learner_epsilon([one.estimator for one in audited])
    if not audited:
        raise ParameterError(
            f"the pairs {', '.join(skipped)} need something that this learner does not have, such "
            "as the estimators_ of an ensemble or the parameter units of fit. Choose other pairs."
        )
    failure = (1.0 - confidence) / len(pairs)
    total = 2 * sum(one.pair.trainings(runs) for one in audited)
    with progress_bar(total, progress, "trainings") as advance:
        findings = tuple(one.train_and_find_bound(runs, failure, delta, advance) for one in audited)
    return AuditReport(findings, int(runs), float(confidence), claimed, float(delta), skipped)


def check_audit_runs(runs: Any) -> None:
    check_integer("runs", runs, MIN_RUNS, MAX_RUNS)


def _learner_epsilon(learner: Learner, given: Any) -> float | None:
    if given is None and _is_trainable(learner) and not isinstance(learner, type):
        classifier: Any = learner
        given = classifier.get_params(deep=False).get("epsilon")
    if given is None:
        return None
    check_number("claimed", given, lambda e: 0.0 < e < math.inf, "be a positive number or None")
    return float(given)


def _common_learner_epsilon(estimators: Sequence[Any]) -> float | None:
    """Return the epsilon that all classifiers have; raise a ParameterError if they differ."""
    claims = {_learner_epsilon(estimator, None) for estimator in estimators}
    if len(claims) > 1:
        raise ParameterError(
            "claimed must be given: the classifiers for different pairs have different epsilons.",
            "claimed",
        )
    return next(iter(claims), None)


def _check_trained_pairs(pairs: Sequence[Any], views: Mapping[str, View]) -> None:
    for pair in pairs:
        if not isinstance(pair, Neighbours):
            raise ParameterError(
                f"neighbours must be one or more Neighbours, got {type(pair).__name__}.",
                "neighbours",
            )
        for view in (*(event.view for event in pair.events), *filter(None, [pair.needs])):
            if view not in views:
                raise ParameterError(
                    f"the pair {pair.name!r} needs the view {view!r}, but the only views are "
                    f"{', '.join(views)}. Pass {view!r} in views."
                )
    if not pairs:
        raise ParameterError(
            "neighbours must have at least one pair of datasets, got none.", "neighbours"
        )
    if len({pair.name for pair in pairs}) < len(pairs):
        raise ParameterError(
            "every pair in neighbours must have its own name: the report lists pairs by name.",
            "neighbours",
        )


# --- training -------------------------------------------------------------------------------------


def _is_trainable(learner: Any) -> bool:
    return hasattr(learner, "fit") and hasattr(learner, "get_params")


def _learner_for_pair(learner: Learner, pair: Neighbours) -> Any:
    """Return a copy of the learner with the pair's schema and depth, and without a budget."""
    if isinstance(learner, type) or not (_is_trainable(learner) or callable(learner)):
        got = (
            f"the class {learner.__name__}" if isinstance(learner, type) else type(learner).__name__
        )
        raise ParameterError(
            f"learner must be a classifier or a function that returns one, got {got}.", "learner"
        )
    if not _is_trainable(learner):
        made = learner(pair)
        if not _is_trainable(made) or isinstance(made, type):
            raise ParameterError(
                f"learner must return a classifier for a pair, got {type(made).__name__}.",
                "learner",
            )
        estimator, _ = refit_without_budget(made)
        return estimator
    estimator, _ = refit_without_budget(learner)
    if hasattr(clone(estimator), "privacy_"):  # for instance a loaded model, or a frozen one
        raise ParameterError(
            f"learner must be untrained after sklearn.base.clone, but a clone of this "
            f"{type(learner).__name__} is trained already. Pass the classifier that trained it.",
            "learner",
        )
    public = {"schema": pair.schema, "max_depth": pair.max_depth}
    known = estimator.get_params(deep=False)
    return clone(estimator).set_params(
        **{name: value for name, value in public.items() if name in known and value is not None}
    )


@dataclass(frozen=True)
class _Audited:
    """A pair, the learner to train on it, and the views of the trained models."""

    pair: Neighbours
    estimator: Any
    changes: int
    views: Mapping[str, View]
    n_jobs: int | None

    def can_show(self) -> bool:
        """Whether the learner knows units, if the pair has them, and has the view that it needs."""
        if self.pair.schema.unit is not None and not has_fit_parameter(self.estimator, "units"):
            return False
        if self.pair.needs is None:
            return True
        with self.pair.given() as (first, _):
            ((_, (shown,)),) = self._train_for_audit([first], 1)
        return dict(zip(self.views, shown, strict=True))[self.pair.needs] is not None

    def train_and_find_bound(
        self, runs: int, failure_probability: float, delta: float, advance: Callable[[int], None]
    ) -> Finding:
        """Train on both datasets, and return the finding with the largest bound."""
        both: tuple[list[tuple[Any, ...]], ...] = ([], [])
        with self.pair.given() as tables:
            for place, part in self._train_for_audit(tables, self.pair.trainings(runs)):
                both[place].extend(part)
                advance(len(part))
        by_view = (zip(*of_table, strict=True) for of_table in both)
        seen_by_view = {
            name: (first, second) for name, first, second in zip(self.views, *by_view, strict=True)
        }
        counting = Counting(self.pair, failure_probability, delta, self.changes)
        return counting.best_finding(seen_by_view, self.views)

    def _train_for_audit(
        self, tables: Sequence[Records], runs: int
    ) -> Iterator[tuple[int, list[tuple[Any, ...]]]]:
        look = partial(observe_training, self.views, _distinct_pair_rows(self.pair))
        return refits_in_parts(
            self.estimator,
            tables,
            look,
            runs,
            train=train_for_views,
            at_once=_AT_ONCE,
            n_jobs=self.n_jobs,
        )


def _audited_pair(
    pair: Neighbours, estimator: Any, views: Mapping[str, View], n_jobs: int | None
) -> _Audited:
    """Return the pair to audit. Its changes are 2 if a replaced record counts as two, else 1."""
    for_replaced = "replace" in given_refit_parameters(estimator, "neighbours").values()
    if for_replaced and not pair.replaced:
        raise ParameterError(
            "the learner guarantees its epsilon for one record replaced, but the datasets of the "
            f'pair {pair.name!r} have different sizes. Set neighbours="add-remove" in the learner, '
            "or use a pair of datasets of the same size."
        )
    return _Audited(pair, estimator, 2 if pair.replaced and not for_replaced else 1, views, n_jobs)


def _distinct_pair_rows(pair: Neighbours) -> Any:
    """Return some distinct rows, first those that one dataset has more often than the other."""
    is_frame = hasattr(pair.first.X, "iloc")
    tables = (pair.first.X, pair.second.X)
    rows_of_each = [
        [tuple(map(repr, row)) for row in np.asarray(table, dtype=object).tolist()]
        for table in tables
    ]
    of_first, of_second = map(Counter, rows_of_each)
    places = {row: place for place, row in enumerate(itertools.chain(*rows_of_each))}
    chosen = sorted(places, key=lambda row: of_first[row] == of_second[row])[:MAX_PROBES]
    kept = [places[row] for row in chosen]
    if not is_frame:
        return np.concatenate(tables)[kept]
    import pandas as pd

    return pd.concat(tables, ignore_index=True).iloc[kept].reset_index(drop=True)
