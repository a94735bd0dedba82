"""The net of hold-outs: every execution of ``fit`` with a held-out part, on small tables.

Draws of the model are scripted, as in :mod:`privatree.audit.exact`, and so are the coins that deal
the records. The tables that are scored are exact, and the law of their noise is known. So the
probability of every model with every noisy table is a finite sum. The figure is the largest loss of
two neighbours over the epsilon that is claimed, the larger one of the model and of its scores.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from reports import Report, worst
from sklearn.base import clone

from privatree import Numeric, PrivaTreeClassifier, Schema
from privatree.audit import shape_of
from privatree.audit.exact._enumeration import Script, ScriptedLedger, run_every_execution
from privatree.counting.dealing import _dealing
from privatree.estimators import _training
from privatree.estimators.holdout import _holdout
from privatree.evaluation import score_plan
from privatree.privacy import Ledger, Randomness

_ENOUGH = 1 + 1e-9
_SCHEMA = Schema({"x": Numeric(0, 1, integer=True)}, [0, 1])
_KINDS = tuple(product((0, 1), (0, 1)))
"""All records: the feature and the class."""

Rows = tuple[tuple[int, int], ...]


class HoldoutCase(NamedTuple):
    """A learner with a held-out part. `epsilon` and `score_epsilon` are those of its parts."""

    epsilon: int
    score_epsilon: int
    neighbours: str = "add-remove"
    share: Fraction = Fraction(1, 2)
    most: int = 1
    """Largest number of records of the smaller table."""

    @property
    def claimed(self) -> float:
        """What the statement claims."""
        return max(self.epsilon, self.score_epsilon)


HOLDOUTS = {
    "equal epsilons": HoldoutCase(4, 4),
    "cheap scores": HoldoutCase(4, 1),
    "dear scores": HoldoutCase(1, 4),
    "a small part": HoldoutCase(6, 6, share=Fraction(1, 8)),
    "a record replaced": HoldoutCase(4, 4, "replace"),
    "a record replaced, dear scores": HoldoutCase(1, 6, "replace"),
}


class _Way(NamedTuple):
    """One execution that leads to a model."""

    log_probability: float
    exact_tables: tuple[np.ndarray, ...]


Law = dict[tuple[Hashable, ...], list[_Way]]
"""The ways to each model; the key has the model, its account, and the noise of its scores."""


class _Account(ScriptedLedger):
    """A scripted ledger that shows what was charged."""

    composition = property(lambda self: self._ledger.composition)

    def spends(self) -> Iterator[Any]:
        return self._ledger.spends()


class _AllDrawnError(Exception):
    """All tables were drawn. The metrics that follow from them are not computed: they are slow."""


class _Tables(Ledger):
    """A ledger that charges, keeps the mechanisms and the exact tables, and draws no noise."""

    n_tables = 0
    drawn: tuple[tuple[Any, np.ndarray], ...] = ()

    def release(self, mechanism: Any, exact: Any, **charge: Any) -> Any:
        super().release(mechanism, exact, **charge)
        self.drawn += ((mechanism, np.array(exact)),)
        if len(self.drawn) == self.n_tables:
            raise _AllDrawnError
        return exact


def law_of(case: HoldoutCase, rows: Rows) -> Law:
    """Every model and every table of scores, with the probabilities of all ways to them."""
    learner = PrivaTreeClassifier(
        case.epsilon,
        max_depth=1,
        schema=_SCHEMA,
        dataset_size=4,
        probability_share=0,
        simplify=False,
        neighbours=case.neighbours,
        random_state=0,
    )
    X = np.array([[x] for x, _ in rows], dtype=float).reshape(-1, 1)
    y = np.array([label for _, label in rows], dtype=int)
    found: Law = {}
    for script, (key, exact_tables) in run_every_execution(
        lambda script: _run(script, clone(learner), X, y, case)
    ):
        found.setdefault(key, []).append(_Way(script.log_probability, exact_tables))
    return found


def _run(
    script: Script, learner: Any, X: Any, y: Any, case: HoldoutCase
) -> tuple[tuple[Hashable, ...], tuple[np.ndarray, ...]]:
    weights = np.log([float(case.share), 1 - float(case.share)])
    edges = np.array([0, int(case.share * 2**64)], dtype=np.uint64)
    accounts: list[_Account] = []
    tables = _Tables(Fraction(2 * case.score_epsilon), Randomness(0))
    trees: list[Any] = []

    def toss(first: Any, second: Any, fingerprints: Any, numbers: Any, coins: Any) -> None:
        coins[:] = [edges[script.choose_outcome(weights)] for _ in coins]

    def training_ledger(epsilon: Any, randomness: Randomness, **more: Any) -> _Account:
        account = Ledger(epsilon, randomness, **more)
        accounts.append(_Account(account, script, range(3), SimpleNamespace(full_weight=1)))
        return accounts[0]

    def plan_of(tree: Any) -> Any:
        plan = score_plan(tree)
        tables.n_tables = len(plan.tables)
        trees.append(tree)
        return plan

    def score_ledger(epsilon: Any, randomness: Randomness) -> _Tables:
        tables.__init__(epsilon, randomness)  # type: ignore[misc]
        return tables

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_dealing, "toss_coins", toss)
        patch.setattr(_training, "Ledger", training_ledger)
        patch.setattr(_holdout, "Ledger", score_ledger)
        patch.setattr(_holdout, "score_plan", plan_of)
        with pytest.raises(_AllDrawnError):
            learner.fit(X, y, holdout=float(case.share), score_epsilon=case.score_epsilon)
    mechanisms = tuple(mechanism for mechanism, _ in tables.drawn)
    key = shape_of(trees[0]), tuple(accounts[0].spends()), mechanisms
    return key, tuple(exact for _, exact in tables.drawn)


def log_probabilities(mechanisms: Sequence[Any], ways: Sequence[_Way], largest: int) -> np.ndarray:
    """The probability of a model with each noisy table whose counts are from -1 to `largest`."""
    total: np.ndarray | None = None
    noisy = np.arange(-1, largest + 1)
    for way in ways:
        logs: Any = way.log_probability
        for mechanism, exact in zip(mechanisms, way.exact_tables, strict=True):
            for count in exact.ravel().tolist():
                logs = np.add.outer(logs, mechanism.log_probability(noisy, count))
        total = logs if total is None else np.logaddexp(total, logs)
    if total is None:
        raise ValueError("there must be a way.")
    return total


def loss_between(a: Law, b: Law, largest: int) -> float:
    """The largest absolute log ratio of two laws; infinite if records decide what can follow."""
    if a.keys() != b.keys():
        return math.inf
    return max(
        float(
            np.abs(
                log_probabilities(key[-1], a[key], largest)
                - log_probabilities(key[-1], b[key], largest)
            ).max()
        )
        for key in a
    )


def neighbours_of(case: HoldoutCase) -> Iterator[tuple[Rows, Rows]]:
    """Tables that differ by one record: added on top, or one replaced there."""
    for n_rows in range(case.most + 1):
        for rows in combinations_with_replacement(_KINDS, n_rows):
            added = [(kind, *rows) for kind in _KINDS]
            if case.neighbours == "replace":
                yield from ((a, b) for i, a in enumerate(added) for b in added[:i])
            else:
                yield from ((rows, larger) for larger in added)


def holdout_loss(*cases: str) -> Report:
    """Exact enumeration of the cases, by default of all."""
    return worst([_report(name, HOLDOUTS[name]) for name in cases or HOLDOUTS])


def _report(name: str, case: HoldoutCase) -> Report:
    laws: dict[Rows, Law] = {}
    loss, tables = 0.0, None
    for pair in neighbours_of(case):
        a, b = (laws.setdefault(rows, laws.get(rows) or law_of(case, rows)) for rows in pair)
        found = loss_between(a, b, case.most + 2)
        if found > loss:
            loss, tables = found, pair
    figure = loss / case.claimed
    reason = "model and scores together lose more than the larger epsilon"
    return Report("holdout loss", figure > _ENOUGH, figure, name, reason, tables)
