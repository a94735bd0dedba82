"""Nets of private scores: the loss of all that a release draws, at every pair of small tables.

The noise of a draw is independent in each cell, so the largest loss of a draw is the sum over its
cells of the largest log ratio of the exact law, which is looked for among all outcomes around both
counts: farther out the ratio stays the same. What a release draws next may depend on what it drew
before: scripted noise makes it take each of its ways. The figure is the loss over epsilon, and
infinite if records decide what is drawn. Tables go through the code that opens and weighs records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple

import numpy as np
import pytest
from reports import Report, worst

from privatree import Numeric, Schema, Target
from privatree.counting import _weights
from privatree.evaluation import ScoreQuery, score_plan
from privatree.evaluation._draws import draw_tables
from privatree.model import EnsembleModel, Model, RegressionModel, TreeBuilder
from privatree.model.ensemble import Ensemble, Round, Step
from privatree.privacy import PrivacyStatement
from privatree.sources import open_frame_records
from privatree.tables import open_frame, open_labels

EPSILON = 8
FULL = 6
"""What a record weighs with units, here: units of one, two and three records divide it."""
_ENOUGH = 1 + 1e-9
_FAR = 4096
Row = tuple[float, Any]
"""The feature of a record, and its label or target."""


def class_tree(n_classes: int, *, with_shares: bool = True, n_leaves: int = 3) -> Model:
    """A tree with a leaf for each of the values 0, 1, ... of its only feature."""
    schema = Schema({"x": Numeric(0, 63)}, list(range(n_classes)))
    builder = TreeBuilder(schema)
    node = builder.root
    for leaf in range(n_leaves):
        here = node
        if leaf < n_leaves - 1:
            here, node = builder.split_numeric(node, 0, leaf + 0.5)
        label = leaf % n_classes
        shares = np.full(n_classes, 0.5 / (n_classes + leaf))
        shares[label] += 1 - shares.sum()
        builder.leaf(here, label, shares.tolist() if with_shares else None)
    return Model(schema, builder.build(), PrivacyStatement("by hand", 1.0))


def class_ensemble() -> EnsembleModel:
    schema = Schema({"x": Numeric(0, 63)}, [0, 1, 2])
    rounds = (Round(Step(0, 1, (0.5,)), (1, -1, -1)), Round(Step(0, -1, (5.5,)), (-1, -1, 1)))
    return EnsembleModel(schema, Ensemble(schema, 0.7, rounds), PrivacyStatement("by hand", 1.0))


def number_tree() -> RegressionModel:
    schema = Schema({"x": Numeric(0, 63)}, target=Target(0, 16))
    builder = TreeBuilder(schema)
    low, high = builder.split_numeric(builder.root, 0, 0.5)
    builder.value_leaf(low, 4.0)
    builder.value_leaf(high, 9.0)
    return RegressionModel(schema, builder.build(), PrivacyStatement("by hand", 1.0))


class ScoreCase(NamedTuple):
    """A model, the kinds of records that there can be, and how many of a unit are added at most."""

    model: Callable[[], Any]
    kinds: Sequence[Row]
    unit_size: int = 0
    """0 for single records."""


_LABELLED = tuple(product((0.0, 1.0, 2.0), (0, 1, 7)))
SCORES = {
    "predictions": ScoreCase(lambda: class_tree(2, with_shares=False), _LABELLED),
    "leaves": ScoreCase(lambda: class_tree(2), _LABELLED),
    "leaves and predictions": ScoreCase(
        lambda: class_tree(2, n_leaves=10), tuple(product((0.0, 9.0), (0, 1)))
    ),
    "against the rest": ScoreCase(class_ensemble, tuple(product((0.0, 7.0), (0, 2)))),
    "numbers": ScoreCase(number_tree, ((0.0, 4.0), (0.0, 9.5), (1.0, 16.0), (1.0, math.nan))),
    "units": ScoreCase(lambda: class_tree(2), ((0.0, 0), (2.0, 1), (2.0, 7)), 3),
    "units of numbers": ScoreCase(number_tree, ((0.0, 4.0), (1.0, 16.0), (1.0, math.nan)), 2),
}


class _Drawn(NamedTuple):
    mechanism: Any
    exact: Any


class _ScriptedLedger:
    """A ledger without a limit. It keeps what is drawn, and adds scripted noise."""

    def __init__(self, script: Sequence[int]) -> None:
        self._script = script
        self.drawn: list[_Drawn] = []

    def release(self, mechanism: Any, exact: Any, *, purpose: str) -> Any:
        turn = len(self.drawn)
        self.drawn.append(_Drawn(mechanism, np.array(exact)))
        noise = np.zeros(exact.size, dtype=np.int64)
        if turn < len(self._script) and self._script[turn] >= 0:  # one cell stands out
            noise[self._script[turn] % exact.size] = 10**12
        return noise.reshape(exact.shape)  # and no count tells what is drawn next


def score_loss(*cases: str) -> Report:
    """All pairs of tables of up to two records, and one more record or unit."""
    return worst([_score_loss(case) for case in cases or SCORES])


def _score_loss(name: str) -> Report:
    case = SCORES[name]
    plan = score_plan(case.model())
    scripts = [()] if plan.schema.target is None else list(product((-1, 0, 2), (-1,), (-1, 1)))
    share, reason = 0.0, "the release loses more than epsilon"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_weights, "FULL_WEIGHT", FULL)
        for before, after in _neighbours(case):
            for script in scripts:
                one, other = (
                    _draws(plan, rows, case.unit_size, script) for rows in (before, after)
                )
                loss = _loss(one, other)
                if loss > EPSILON * share:
                    share = loss / EPSILON
                if math.isinf(loss):
                    reason = "records decide what is drawn"
    return Report("score loss", share > _ENOUGH, share, name, reason)


def _neighbours(case: ScoreCase) -> Iterator[tuple[list[tuple[Row, str]], list[tuple[Row, str]]]]:
    """Pairs of tables of rows with the ids of their units; the second has one more of them."""
    for n_rows in range(2):
        for table in combinations_with_replacement(case.kinds, n_rows):
            base = [(row, f"other {place}") for place, row in enumerate(table)]
            for n_more in range(1, max(1, case.unit_size) + 1):
                for more in combinations_with_replacement(case.kinds, n_more):
                    yield base, [*base, *((row, "somebody") for row in more)]


def _draws(plan: Any, rows: list[tuple[Row, str]], unit_size: int, script: Any) -> list[_Drawn]:
    features = np.array([[row[0]] for row, _ in rows]).reshape(-1, 1)
    labels = np.array([row[1] for row, _ in rows], dtype=np.float64)
    records, _, _ = open_frame_records(
        open_frame(features),
        open_labels(labels),
        plan.schema,
        sample_weight=None,
        units=[who for _, who in rows] if unit_size and rows else None,
        max_weight=1.0,
    )
    full_weight = FULL if unit_size else 1
    exact = records.answer_weighed(plan.schema, lambda weigher: ScoreQuery(plan, weigher))
    ledger = _ScriptedLedger(script)
    draw_tables(plan, exact.tables, ledger, Fraction(EPSILON), full_weight)  # type: ignore[arg-type]
    return ledger.drawn


def _loss(one: list[_Drawn], other: list[_Drawn]) -> float:
    """Return the largest log ratio of the probabilities of all outcomes of two releases."""
    if len(one) != len(other):
        return math.inf
    loss = 0.0
    for mine, its in zip(one, other, strict=True):
        if mine.mechanism != its.mechanism or mine.exact.shape != its.exact.shape:
            return math.inf
        for count, changed in zip(mine.exact.ravel(), its.exact.ravel(), strict=True):
            if count != changed:
                ends = int(min(count, changed)), int(max(count, changed))
                outcomes = np.unique([*np.linspace(ends[0] - 2, ends[1] + 2, _FAR).astype(int)])
                log_ratio = mine.mechanism.log_probability(outcomes, int(count))
                log_ratio -= mine.mechanism.log_probability(outcomes, int(changed))
                loss += float(np.abs(log_ratio).max())
    return loss
