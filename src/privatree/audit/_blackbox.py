"""Train a learner many times on two neighbouring tables, and see how well they can be told apart.

What comes out is a *lower* bound on the learner's real epsilon, with confidence: nothing is known
of the learner but what it releases. A bound above what is claimed proves the claim false. A bound
below it proves nothing: another pair of tables or another event might show more.
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
from sklearn.base import clone

from privatree._support.progress import progress_bar
from privatree._support.validation import check_integer, check_number
from privatree.audit._findings import Counting
from privatree.audit._outcomes import MAX_PROBES, VIEWS, View, seen, train
from privatree.audit._report import AuditReport, Finding
from privatree.audit.pairs._all_pairs import known_pairs
from privatree.audit.pairs._neighbours import Neighbours, Records
from privatree.errors import ParameterError
from privatree.repetition import (
    check_confidence,
    given_parameters,
    refits_in_parts,
    without_budget,
)

MIN_RUNS, MAX_RUNS = 8, 10**7
_AT_ONCE = 25
"""Trainings for which the records are sent to a process once."""

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
    """Bound the real epsilon of a learner from below, by training it.

    Parameters
    ----------
    learner : classifier, or callable
        As in scikit-learn: ``get_params``, ``fit``, ``predict``. Its parameters ``schema`` and
        ``max_depth``, if it has them, are set for each pair. Or a function that makes the
        classifier for a pair. With ``random_state=None`` every training draws its noise afresh,
        else from a seed of its own that follows from the one given.
    neighbours : Neighbours or sequence of them, optional
        The pairs of tables; by default all of :func:`~privatree.audit.known_pairs`.
    runs : int, default=1000
        Trainings of each table; of a pair whose event is rare several times as many.
    confidence : float, default=0.99
        Probability that all bounds of the report hold together: at least this.
    claimed : float, optional
        The epsilon to compare with; by default the learner's parameter ``epsilon``. If the
        learner has a parameter ``neighbours`` that is "replace", it is for a replaced record, else
        for one added or removed, and a pair of tables with one replaced counts as two changes.
    delta : float, default=0.0
        Of the claim, if it is for (epsilon, delta).
    views : mapping of str to View, optional
        More ways to look at a model than those of :data:`~privatree.audit._outcomes.VIEWS`.
    n_jobs : int, optional
        Processes, as in scikit-learn: None is 1, -1 as many as there are processors.
    progress : bool, optional
        Whether to show a bar on stderr; by default if it is a terminal.

    Returns
    -------
    AuditReport
        For each pair the best bound, the event that shows it in words, and how often it happened.

    Notes
    -----
    An event that theory names is counted in all runs. Beside it one is learned in the first half
    and counted in the second. All of them share the probability of a wrong bound: as many as there
    are before anything is trained, whatever the trainings show.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier
    >>> from privatree.audit._blackbox import audit
    >>> from privatree.audit.pairs._all_pairs import known_pairs
    >>> report = audit(
    ...     PrivaTreeClassifier(1.0, random_state=0), known_pairs()["purity"], runs=40
    ... )
    >>> report.lower_bound <= 1.0
    True
    """
    check_runs(runs)
    check_confidence(confidence)
    check_number("delta", delta, lambda d: 0.0 <= d < 1.0, "be a number, at least 0 and below 1")
    claimed = _claimed(learner, claimed)
    if neighbours is None:
        neighbours = list(known_pairs(claimed or 1.0).values())
    pairs = [neighbours] if isinstance(neighbours, Neighbours) else list(neighbours)
    looks = {**VIEWS, **(views or {})}
    _check_pairs(pairs, looks)
    audited = [_audited(pair, _for_pair(learner, pair), looks, n_jobs) for pair in pairs]
    skipped = tuple(one.pair.name for one in audited if not one.can_show())
    audited = [one for one in audited if one.pair.name not in skipped]
    if claimed is None:
        claimed = _claimed_by_all([one.estimator for one in audited])
    if not audited:
        raise ParameterError(
            f"a model of this kind shows nothing on {', '.join(skipped)}: that is for ensembles "
            "that list their members as estimators_. Choose other pairs."
        )
    failure = (1.0 - confidence) / len(pairs)
    total = 2 * sum(one.pair.trainings(runs) for one in audited)
    with progress_bar(total, progress, "trainings") as advance:
        findings = tuple(one.finding(runs, failure, delta, advance) for one in audited)
    return AuditReport(findings, int(runs), float(confidence), claimed, float(delta), skipped)


def check_runs(runs: Any) -> None:
    """Refuse a number of trainings that could show nothing, or would never end."""
    check_integer("runs", runs, MIN_RUNS, MAX_RUNS)


def _claimed(learner: Learner, given: Any) -> float | None:
    """The epsilon that was given, or else that of the learner, if it has one."""
    if given is None and _is_classifier(learner) and not isinstance(learner, type):
        classifier: Any = learner
        given = classifier.get_params(deep=False).get("epsilon")
    if given is None:
        return None
    check_number("claimed", given, lambda e: 0.0 < e < math.inf, "be a positive number or None")
    return float(given)


def _claimed_by_all(estimators: Sequence[Any]) -> float | None:
    """The epsilon of classifiers that a function made for the pairs."""
    claims = {_claimed(estimator, None) for estimator in estimators}
    if len(claims) > 1:
        raise ParameterError(
            "claimed must be given: the classifiers for different pairs have different epsilons.",
            "claimed",
        )
    return next(iter(claims), None)


def _check_pairs(pairs: Sequence[Any], views: Mapping[str, View]) -> None:
    """Refuse before training what would come to nothing, or be taken for something else, after."""
    for pair in pairs:
        if not isinstance(pair, Neighbours):
            raise ParameterError(
                f"neighbours must be pairs of tables, as Neighbours, got {type(pair).__name__}.",
                "neighbours",
            )
        for view in (*(event.view for event in pair.events), *filter(None, [pair.needs])):
            if view not in views:
                raise ParameterError(
                    f"the view {view!r} of pair {pair.name!r} must be one of {', '.join(views)}."
                )
    if not pairs:
        raise ParameterError(
            "neighbours must be at least one pair of tables, got none.", "neighbours"
        )
    if len({pair.name for pair in pairs}) < len(pairs):
        raise ParameterError(
            "neighbours must have different names: the report goes by them.", "neighbours"
        )


# --- training -------------------------------------------------------------------------------------


def _is_classifier(learner: Any) -> bool:
    return hasattr(learner, "fit") and hasattr(learner, "get_params")


def _for_pair(learner: Learner, pair: Neighbours) -> Any:
    """A copy that knows what is public about the pair, and charges no budget."""
    if isinstance(learner, type) or not (_is_classifier(learner) or callable(learner)):
        got = (
            f"the class {learner.__name__}" if isinstance(learner, type) else type(learner).__name__
        )
        raise ParameterError(
            f"learner must be a classifier or a function that makes one, got {got}.", "learner"
        )
    if not _is_classifier(learner):
        made = learner(pair)
        if not _is_classifier(made) or isinstance(made, type):
            raise ParameterError(
                f"learner must make a classifier for a pair, got {type(made).__name__}.", "learner"
            )
        estimator, _ = without_budget(made)
        return estimator
    estimator, _ = without_budget(learner)
    if hasattr(clone(estimator), "privacy_"):  # as one that was loaded, or is frozen
        raise ParameterError(
            f"learner must be trained for each table, but a copy of the {type(learner).__name__} "
            "is trained already. Pass the classifier that trains it.",
            "learner",
        )
    public = {"schema": pair.schema, "max_depth": pair.max_depth}
    known = estimator.get_params(deep=False)
    return clone(estimator).set_params(
        **{name: value for name, value in public.items() if name in known and value is not None}
    )


@dataclass(frozen=True)
class _Audited:
    """One pair, the learner for it, and how its models are looked at."""

    pair: Neighbours
    estimator: Any
    changes: int
    views: Mapping[str, View]
    n_jobs: int | None

    def can_show(self) -> bool:
        """Whether the models have what the pair needs to be seen."""
        if self.pair.needs is None:
            return True
        with self.pair.given() as (first, _):
            ((_, (shown,)),) = self._trainings([first], 1)
        return dict(zip(self.views, shown, strict=True))[self.pair.needs] is not None

    def finding(
        self, runs: int, failure_probability: float, delta: float, advance: Callable[[int], None]
    ) -> Finding:
        """Train on both tables, and take the event that shows most."""
        both: tuple[list[tuple[Any, ...]], ...] = ([], [])
        with self.pair.given() as tables:
            for place, part in self._trainings(tables, self.pair.trainings(runs)):
                both[place].extend(part)
                advance(len(part))
        by_view = (zip(*of_table, strict=True) for of_table in both)
        seen_by_view = {
            name: (first, second) for name, first, second in zip(self.views, *by_view, strict=True)
        }
        counting = Counting(self.pair, failure_probability, delta, self.changes)
        return counting.finding(seen_by_view, self.views)

    def _trainings(
        self, tables: Sequence[Records], runs: int
    ) -> Iterator[tuple[int, list[tuple[Any, ...]]]]:
        look = partial(seen, self.views, _probes(self.pair))
        return refits_in_parts(
            self.estimator,
            tables,
            look,
            runs,
            train=train,
            at_once=_AT_ONCE,
            n_jobs=self.n_jobs,
        )


def _audited(
    pair: Neighbours, estimator: Any, views: Mapping[str, View], n_jobs: int | None
) -> _Audited:
    """The pair as the learner's epsilon counts it."""
    for_replaced = "replace" in given_parameters(estimator, "neighbours").values()
    if for_replaced and not pair.replaced:
        raise ParameterError(
            "the learner's epsilon is for one record replaced, and the tables of pair "
            f'{pair.name!r} have different sizes. Audit it with neighbours="add-remove", or on '
            "tables of the same size."
        )
    return _Audited(pair, estimator, 2 if pair.replaced and not for_replaced else 1, views, n_jobs)


def _probes(pair: Neighbours) -> Any:
    """Different rows of both tables; first those of which one table has more than the other."""
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
