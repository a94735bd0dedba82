"""The code of the mutants: each changes the real code, a little, through a MonkeyPatch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privatree.counting import Binner
from privatree.estimators import PrivaTreeClassifier
from privatree.learners.tree import (
    ClassGrowth,
    OpenNode,
    RecordPlan,
    _grow,
    _growth,
    _subtree_decimal,
)
from privatree.learners.tree._plan import Position
from privatree.learners.tree._region import codes_in_region, feature_of_part
from privatree.learners.tree._split import UpperSplit
from privatree.learners.zoom._intervals import Zoom
from privatree.privacy import Ledger, Randomness
from privatree.privacy import _spend as accounts
from privatree.privacy.mechanisms import (
    DenseInterval,
    Exponential,
    Geometric,
    SequentialExponential,
)
from privatree.schema import Numeric, Schema
from privatree.tables import read_features

Patch = pytest.MonkeyPatch

# --- weights and noise ----------------------------------------------------------------------------


def exponent_doubled(patch: Patch) -> None:
    real = SequentialExponential.rate
    patch.setattr(SequentialExponential, "rate", property(lambda m: 2 * real.fget(m)))


def count_noise_halved(patch: Patch) -> None:
    """In the law and in what is drawn."""
    rate, release = Geometric.rate, Geometric.release
    patch.setattr(Geometric, "rate", property(lambda m: 2 * rate.fget(m)))
    patch.setattr(
        Geometric, "release", lambda m, *rest: release(replace(m, epsilon=2 * m.epsilon), *rest)
    )


def full_budget_at_every_level(patch: Patch) -> None:
    def child(plan: RecordPlan, at: Position) -> Position:
        return Position(at.before_counting or at.left, max(1, at.noisy_size // 2), at.depth + 1)

    patch.setattr(RecordPlan, "child", child)


class _FeatureByFeature:
    """Takes a cut of each feature, then one of these, all with one budget."""

    def __init__(self, draw: Any, shape: Any) -> None:
        self._draw, self._shape = draw, shape
        self.draw_by_score, self.expect = draw.draw_by_score, draw.expect

    def draw(self, weights: Any) -> int:
        parts = np.flatnonzero(weights.exact_factors)
        features = np.array([feature_of_part(part, self._shape) for part in parts])
        winners = [self._among(weights, parts[features == f]) for f in np.unique(features)]
        return self._among(weights, np.array(winners))

    def _among(self, weights: Any, parts: Any) -> int:
        if len(parts) == 1:
            return int(parts[0])
        factors = np.zeros_like(weights.exact_factors)
        factors[parts] = weights.exact_factors[parts]
        return int(self._draw.draw(weights._replace(exact_factors=factors)))


def full_budget_per_feature(patch: Patch) -> None:
    """As if a record were in the counts of one feature only."""
    real = UpperSplit.draw
    patch.setattr(
        UpperSplit, "draw", lambda split, draw: real(split, _FeatureByFeature(draw, split._layout))
    )


def a_split_drawn_twice(patch: Patch) -> None:
    """Of two splits the one with the better score is kept; one was paid for."""
    real = UpperSplit.draw

    def mutant(split: Any, draw: Any) -> Any:
        splits = [real(split, draw) for _ in range(2)]
        return max(splits, key=lambda found: _score(split, *found))

    patch.setattr(UpperSplit, "draw", mutant)


def _score(split: Any, feature: int, *sides: Any) -> int:
    start = split._layout.offsets[feature]
    return max(int(split._exact_scores[start + codes].sum()) for codes in sides)


def stop_prior_mismatched(patch: Patch) -> None:
    """Of a last level below others, as if it were 1/(features + 1); not so in their weights."""
    real = _growth.subtree_weights

    def mutant(records: Any, subtrees: Any, exact_counts: Any, shape: Any) -> Any:
        found = real(records, subtrees, exact_counts, shape)
        for node, weights in found.items():
            n_active = int((subtrees[node].region.n_inside >= 2).sum())
            if subtrees[node].levels == 1 and n_active:
                stop = subtrees[node].grids[-1].stop_share
                factors = weights.exact_factors * (1 - 1 / (n_active + 1)) / (1 - stop)
                factors[-1] = weights.exact_factors[-1] / (n_active + 1) / stop
                found[node] = weights._replace(exact_factors=factors)
        return found

    patch.setattr(_growth, "subtree_weights", mutant)


def candidates_restricted_in_the_draw_only(patch: Patch) -> None:
    """The weights of two levels count on the whole region of the parent in each of the children."""
    real = _growth.subtree_weights

    def mutant(records: Any, subtrees: Any, exact_counts: Any, shape: Any) -> Any:
        found = real(records, subtrees, exact_counts, shape)
        for node, weights in found.items():
            if subtrees[node].levels == 2:
                with patch.context() as inner:
                    inner.setattr(
                        _subtree_decimal, "child_regions", lambda region, *_: (region, region)
                    )
                    precise, _ = weights.precise(40)
                factors = np.array([float(part / max(precise)) for part in precise])
                scores = np.zeros_like(weights.exact_scores)
                found[node] = weights._replace(exact_scores=scores, exact_factors=factors)
        return found

    patch.setattr(_growth, "subtree_weights", mutant)


# --- what records decide --------------------------------------------------------------------------


def purity_stop(patch: Patch) -> None:
    real = ClassGrowth.decide_stage

    def mutant(growth: Any, node: Any) -> Any:
        if isinstance(node, OpenNode) and np.count_nonzero(node.exact_totals) < 2:
            return growth._begin_subtree(
                replace(node, region=_single(node.region)), _label(growth, node)
            )
        return real(growth, node)

    patch.setattr(ClassGrowth, "decide_stage", mutant)


def _label(growth: Any, node: Any) -> Any:
    return growth._plan.label(node.at)


def _single(region: Any) -> Any:
    """The region as if no feature had two codes left: nothing but a label can be drawn."""
    return region._replace(n_inside=np.minimum(region.n_inside, 1))


def argmax_leaf_labels(patch: Patch) -> None:
    real = _growth.draw_last_level

    class Surely:
        def __init__(self, draw: Any) -> None:
            self.draw, self.expect = draw.draw, draw.expect

        def draw_by_score(self, exact_scores: Any) -> int:
            return int(np.argmax(exact_scores))

    patch.setattr(_growth, "draw_last_level", lambda draw, *rest: real(Surely(draw), *rest))


def categories_ordered_by_exact_counts(patch: Patch) -> None:
    """A cut in the order of the scores of the categories, in the place of any subset."""
    real = UpperSplit.draw

    def mutant(split: Any, draw: Any) -> Any:
        part = draw.draw(split.weights())
        feature = feature_of_part(part, split._layout)
        if not split._layout.is_category[feature]:
            return real(split, _Chosen(part))
        codes = codes_in_region(split._region, split._layout, feature)
        exact_scores = split._exact_scores[split._layout.offsets[feature] + codes]
        order = np.argsort(exact_scores, kind="stable")
        draw.expect(1)
        cut = draw.draw_by_score(np.cumsum(exact_scores[order])[:-1])
        left = np.isin(np.arange(len(codes)), order[: cut + 1])
        return feature, codes[left], codes[~left]

    patch.setattr(UpperSplit, "draw", mutant)


class _Chosen:
    """A draw whose first choice was made already."""

    def __init__(self, part: int) -> None:
        self._part = part

    def draw(self, weights: Any) -> int:
        return self._part


def stop_shares_from_exact_n(patch: Patch) -> None:
    """A node that has many records hardly ever becomes a leaf by chance: it knows how many."""
    real = ClassGrowth._begin_subtree

    def mutant(growth: Any, node: Any, stage: Any) -> Any:
        exact_size = max(1, int(node.exact_totals.sum()))
        at = replace(node.at, noisy_size=exact_size)
        return real(growth, node, growth._plan._draw_subtree(at, stage.grids))

    patch.setattr(ClassGrowth, "_begin_subtree", mutant)


def stop_from_exact_n(patch: Patch) -> None:
    patch.setattr(
        ClassGrowth,
        "has_enough_records",
        lambda growth, noisy_size: (
            growth._records.class_totals().sum() >= (growth._plan.min_records or 0)
        ),
    )


def leaf_counts_from_exact_n(patch: Patch) -> None:
    """Leaves are counted if the exact number of records is odd."""
    real = ClassGrowth.begin

    def mutant(growth: Any, ledger: Any, noisy_size: int | None) -> Any:
        node = real(growth, ledger, noisy_size)
        exact_size = int(node.exact_totals.sum())
        return node if exact_size % 2 else replace(node, leaves=node.leaves._replace(epsilon=0))

    patch.setattr(ClassGrowth, "begin", mutant)


def probabilities_from_exact_counts(patch: Patch) -> None:
    """A leaf whose counts nobody paid for has the exact shares of its classes."""
    real = ClassGrowth._make_leaf

    def mutant(growth: Any, node: Any, label: int, exact_totals: Any) -> int:
        leaves = node.leaves._replace(noisy_counts=tuple(exact_totals.tolist()))
        return real(growth, replace(node, leaves=leaves), label, exact_totals)

    patch.setattr(ClassGrowth, "_make_leaf", mutant)


def depth_from_exact_n(patch: Patch) -> None:
    def mutant(growth: Any, ledger: Any) -> int:
        return int(growth._records.class_totals()[0].sum())

    patch.setattr(ClassGrowth, "release_size", mutant)


def zoom_by_exact_range(patch: Patch) -> None:
    """Cuts lie around the narrowest interval that has every record."""

    def mutant(records: Any, cells: Any, noisy_size: int, epsilon: Any, ledger: Any) -> Any:
        exact_counts = records.class_counts()[0].sum(axis=0)
        intervals = {}
        for feature in cells.features:
            codes = slice(records.offsets[feature], records.offsets[feature + 1])
            filled = np.flatnonzero(cells.count_cells(exact_counts[codes], feature, cells.levels))
            if len(filled):
                ends = int(filled[0]), int(filled[-1]) + 1
                n_cells = 2 ** (cells.levels + 1)
                intervals[feature] = tuple(Fraction(end, n_cells) for end in ends)
        candidates = cells.zoom(intervals)
        binner = Binner(cells.schema, candidates.cuts, candidates.groups, candidates.n_codes)
        records.merge_codes(binner, cells.merged_codes(candidates))
        return Zoom(candidates, {})

    patch.setattr(_growth, "zoom_in", mutant)


def interval_at_twice_the_rate(patch: Patch) -> None:
    """The score of an interval is taken to change by one half."""
    half = property(lambda interval: Exponential(interval.epsilon, Fraction(1, 2)))
    patch.setattr(DenseInterval, "_choice", half)


def _centred_on(patch: Patch, counts: Callable[[Any, Any], Any]) -> None:
    """Centre the score on counts made from the exact and the noisy ones."""
    real, ready = _grow.split_score, ClassGrowth.decide_stage
    exact: list[int] = []

    def mutant(growth: Any, node: Any) -> Any:
        if isinstance(node, OpenNode):
            exact[:] = node.exact_totals.tolist()
        return ready(growth, node)

    patch.setattr(ClassGrowth, "decide_stage", mutant)
    patch.setattr(_grow, "split_score", lambda noisy: real(counts(exact, noisy)))


def prior_q_from_exact_counts(patch: Patch) -> None:
    _centred_on(patch, lambda exact, noisy: exact)


def exact_n_in_q(patch: Patch) -> None:
    _centred_on(patch, lambda exact, noisy: [max(0, sum(exact) - noisy[1]), noisy[1]])


def range_from_the_data(patch: Patch) -> None:
    real = PrivaTreeClassifier._open_frame

    def mutant(self: Any, X: Any, y: Any, stacklevel: int) -> Any:
        table, target, schema = real(self, X, y, stacklevel)
        columns = read_features(X, schema)
        features = dict(schema.features)
        for (name, feature), column in zip(schema.features.items(), columns, strict=True):
            if isinstance(feature, Numeric) and len(column):
                features[name] = Numeric(float(np.min(column)), float(np.max(column)))
        return table, target, Schema(features, schema.classes)

    patch.setattr(PrivaTreeClassifier, "_open_frame", mutant)


# --- the account, and randomness ------------------------------------------------------------------


def ledger_records_less(patch: Patch) -> None:
    real = accounts.Spend
    patch.setattr(accounts, "Spend", lambda name, epsilon, *rest: real(name, epsilon / 2, *rest))


def noise_shared_by_siblings(patch: Patch) -> None:
    """The noise of both children comes from the same random bits."""
    real = Ledger.parallel

    def mutant(account: Any, count: int) -> Any:
        parts, seed = real(account, count), account._randomness.bits(64)
        for part in parts:
            part._randomness = Randomness(seed)
        return parts

    patch.setattr(Ledger, "parallel", mutant)
