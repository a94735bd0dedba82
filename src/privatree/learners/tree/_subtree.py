"""The last levels of a path, labels included, drawn together by one mechanism.

The score of a subtree is the number of records that it classifies correctly or, in a regression
tree, another sum over the records (``_label_scores.py``). The draw goes from the top down: first
the split at the top (or no split), then, given this choice, the split of each child, and so on. The
weight of a choice is the total weight of all subtrees that begin with it. Weights are computed from
counts alone: :func:`subtree_weights`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import combinations, combinations_with_replacement, permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.counting import ClassCounts, Rows, Wanted
from privatree.learners.tree._label_scores import ClassScores, LabelScores
from privatree.learners.tree._region import (
    CutGrid,
    FeatureLayout,
    Region,
    child_regions,
    codes_in_region,
    feature_of_part,
    rows_by_candidate,
    splits_on_grid,
)
from privatree.learners.tree._subtree_decimal import PreciseWeights
from privatree.learners.tree._subtree_kernels import (
    Counts,
    LevelAbove,
    LowestLevel,
    Parts,
    count_splittable_features,
    make_parts,
    make_scratch,
    relative_error,
    total_of_one_level,
    total_of_two_levels,
    weigh_feature_of_two_levels,
    weigh_one_level,
    weigh_part_of_three_levels,
    weigh_subsets_of_pair,
)
from privatree.privacy.mechanisms import Draw, LogWeights
from privatree.privacy.samplers import Decay, precision

_OF_CLASSES = ClassScores()


@dataclass(frozen=True)
class Subtree:
    """The part of a subtree that is still to be drawn at a node."""

    rate: Fraction
    """Logarithm of the weight of one unit of score."""
    decays: Decay
    """Powers of this weight, for compiled code."""
    grids: tuple[CutGrid, ...]
    """Candidate cuts of each level, the highest level first, each grid nested in the next."""
    region: Region
    """Codes that records of the node can have."""
    labels: LabelScores = _OF_CLASSES
    """What records add to the scores of labels."""

    @property
    def levels(self) -> int:
        return len(self.grids)

    def below_top(self, region: Region) -> Subtree:
        """Return the subtree of a child with this region, once the highest level is drawn."""
        return replace(self, grids=self.grids[1:], region=region)

    def without_empty_levels(self, layout: FeatureLayout) -> Subtree:
        """Return the subtree without its highest levels, as far as they have no candidate."""
        subtree = self
        while subtree.levels > 1 and not count_splittable_features(
            layout, subtree.grids[0], subtree.region
        ):
            subtree = subtree.below_top(subtree.region)
        return subtree

    def wanted(self, layout: FeatureLayout) -> Wanted | None:
        """Return the counts that the weights need besides the counts of single codes."""
        if self.levels == 1:
            return None
        rows, *top = (rows_by_candidate(grid, self.region, layout) for grid in self.grids[-2::-1])
        return Wanted(rows, *top)


def differences_to_first(exact_scores: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the scores of each label but the first, minus the scores of the first."""
    return np.ascontiguousarray(exact_scores[1:] - exact_scores[:1])


def subtree_weights(
    records: ClassCounts,
    subtrees: dict[int, Subtree],
    exact_counts: NDArray[np.int64],
    layout: FeatureLayout,
) -> dict[int, LogWeights]:
    """Return, for each subtree, the weights of all choices for its highest level.

    The keys of `subtrees` are nodes of the current level. `exact_counts` is an array (node, class,
    code). Counts of pairs and triples of codes come from `records`.
    """
    weighers = {
        node: _PartWeigher(records, node, subtree, exact_counts[node], layout)
        for node, subtree in subtrees.items()
    }
    tasks = [task for weigher in weighers.values() for task in weigher.tasks()]
    records.map_in_threads(lambda task: task(), tasks)
    return {node: weigher.weights() for node, weigher in weighers.items()}


class _PartWeigher:
    """Computes the weights of a subtree's parts, one feature at a time."""

    def __init__(
        self,
        records: ClassCounts,
        node: int,
        subtree: Subtree,
        exact_counts: NDArray[np.int64],
        layout: FeatureLayout,
    ) -> None:
        self._records, self._node, self._subtree, self._layout = records, node, subtree, layout
        exact_scores = subtree.labels.of_classes(exact_counts)
        exact_totals = exact_scores[:, : layout.offsets[1]].sum(axis=1)
        self._counts = Counts(differences_to_first(exact_scores), exact_totals)
        self._lowest = LowestLevel(
            layout, subtree.grids[-1], subtree.decays, subtree.labels.any_labels
        )
        self._parts: Parts = make_parts(exact_counts.shape[1])
        if (wanted := subtree.wanted(layout)) is not None:
            self._above = LevelAbove(self._lowest, subtree.grids[-2], wanted.rows)
            if wanted.upper is not None:
                self._top_rows = wanted.upper

    def tasks(self) -> list[Callable[[], None]]:
        """Return functions that threads can run independently."""
        if self._subtree.levels == 1:
            return [self._weigh_one_level]
        stop, weigh, rows = self._weigh_stop_of_two, self._weigh_feature_of_two, self._above.rows
        if self._subtree.levels == 3:
            self._tables = self._tables_of_all_features()
            stop, weigh = self._weigh_stop_of_three, self._weigh_feature_of_three
            rows = self._top_rows
        return [stop, *(partial(weigh, feature) for feature in rows.used_features())]

    def _rows_above(self) -> list[Rows]:
        rows = self._above.rows
        return [
            rows.rows_of_feature(feature, self._layout.offsets) for feature in rows.used_features()
        ]

    def _tables_of_all_features(self) -> Counts:
        tables = [
            self._subtree.labels.of_tables(self._records.pair_counts(self._node, rows))
            for rows in self._rows_above()
        ]
        return Counts(*(np.concatenate(arrays) for arrays in zip(*tables, strict=True)))

    def _triples(self, feature: int) -> Iterable[Counts]:
        top = self._top_rows.rows_of_feature(feature, self._layout.offsets)
        triples = self._records.triple_counts(self._node, top, self._rows_above())
        return map(self._subtree.labels.of_tables, triples)

    def _scratch(self) -> Any:
        return make_scratch(len(self._counts.totals), self._counts.differences.shape[1])

    def _weigh_one_level(self) -> None:
        weigh_one_level(self._counts, self._lowest, self._subtree.region, self._parts)

    def _weigh_stop_of_two(self) -> None:
        self._parts.scores[-1], weight = total_of_one_level(
            self._counts, self._lowest, self._subtree.region, self._scratch()
        )
        self._parts.factors[-1] = self._above.grid.stop_share * weight

    def _weigh_feature_of_two(self, feature: int) -> None:
        rows = self._above.rows.rows_of_feature(feature, self._layout.offsets)
        weigh_feature_of_two_levels(
            feature,
            self._subtree.labels.of_tables(self._records.pair_counts(self._node, rows)),
            self._counts,
            self._above,
            self._subtree.region.copy(),
            self._scratch(),
            self._parts,
        )

    def _weigh_stop_of_three(self) -> None:
        region, parts = self._subtree.region.copy(), make_parts(len(self._parts.scores) - 1)
        self._parts.scores[-1], weight = total_of_two_levels(
            self._tables, self._above, region, self._scratch(), parts
        )
        self._parts.factors[-1] = self._subtree.grids[0].stop_share * weight

    def _weigh_feature_of_three(self, feature: int) -> None:
        region, layout = self._subtree.region, self._layout
        splits = splits_on_grid(self._subtree.grids[0], region, layout)
        splits = [split for split in splits if split.feature == feature]
        left = Counts(*(np.zeros_like(array) for array in self._tables))
        for split, tables in zip(splits, self._triples(feature), strict=False):
            if layout.is_category[feature]:
                left = tables
            else:
                for array, more in zip(left, tables, strict=True):
                    array += more
            self._parts.scores[split.part], weight = weigh_part_of_three_levels(
                left, self._tables, self._above, *child_regions(region, layout, split)
            )
            self._parts.factors[split.part] = (
                (1.0 - self._subtree.grids[0].stop_share) * float(split.share) * weight
            )

    def weights(self) -> LogWeights:
        """Return the weights, a bound on their error, and a function that computes more digits."""
        n_parts, n_classes = len(self._parts.scores), len(self._counts.totals)
        error = relative_error(self._subtree.levels, n_parts, n_classes)
        return LogWeights(*self._parts, error, self._weights_in_decimals)

    def _weights_in_decimals(self, digits: int) -> tuple[Sequence[Decimal], Decimal]:
        grids, region = self._subtree.grids, self._subtree.region
        with localcontext(precision(digits)):
            any_labels = self._subtree.labels.any_labels
            precise = PreciseWeights(self._subtree.rate, self._layout, digits, any_labels)
            if len(grids) == 1:
                parts = precise.weigh_one_level(self._counts, grids[0], region)
            elif len(grids) == 2:
                tables = self._tables_of_all_features()
                parts = precise.weigh_two_levels(tables, self._above, region)
            else:
                parts = precise.weigh_three_levels(
                    self._triples, grids[0], self._top_rows, self._above, region
                )
            n_parts = len(self._parts.scores)
            return [parts.get(part, Decimal(0)) for part in range(n_parts)], precise.error


class LastLevel(NamedTuple):
    """The drawn last level: a label, or a split and a label for each side."""

    feature: int | None
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    """Codes of the region on each side; without a split, all codes are on the left."""
    labels: tuple[int, int]


def draw_last_level(
    draw: Draw,
    weights: LogWeights,
    exact_counts: NDArray[np.int64],
    subtree: Subtree,
    layout: FeatureLayout,
) -> LastLevel:
    """Draw the last level of a subtree, given everything above it.

    `draw` is already paid for. `weights` are the weights of all choices for this level.
    `exact_counts` is an array (class, code) of the node's records.
    """
    part = draw.draw(weights)
    exact_scores = subtree.labels.of_classes(exact_counts)
    if part == exact_scores.shape[1]:
        draw.expect(1)
        label = draw.draw_by_score(exact_scores[:, : layout.offsets[1]].sum(axis=1))
        return LastLevel(None, np.arange(layout.offsets[1]), np.arange(0), (label, label))
    feature = feature_of_part(part, layout)
    start = layout.offsets[feature]
    codes = codes_in_region(subtree.region, layout, feature)
    exact_here = exact_scores[:, start + codes]
    if layout.is_category[feature]:
        draw.expect(len(codes) + (len(exact_here) > 2 or subtree.labels.any_labels))
        a, b = _draw_label_pair(draw, exact_here, subtree, layout)
        is_left = np.array(
            [draw.draw_by_score(exact_here[[a, b], place]) == 0 for place in range(len(codes))]
        )
    else:
        is_left = codes <= part - start
        exact_left = exact_here[:, is_left].sum(axis=1)
        exact_right = exact_here[:, ~is_left].sum(axis=1)
        a, b = _draw_labels_of_sides(draw, exact_left, exact_right, subtree.labels.any_labels)
    return LastLevel(feature, codes[is_left], codes[~is_left], (a, b))


def _draw_labels_of_sides(
    draw: Draw, exact_left: NDArray[np.int64], exact_right: NDArray[np.int64], any_labels: bool
) -> tuple[int, int]:
    """Draw the labels of both sides of a cut."""
    if any_labels:
        draw.expect(2)
        return draw.draw_by_score(exact_left), draw.draw_by_score(exact_right)
    draw.expect(1)
    pairs = list(permutations(range(len(exact_left)), 2))
    exact_scores = np.array([exact_left[a] + exact_right[b] for a, b in pairs])
    return pairs[draw.draw_by_score(exact_scores)]


def _draw_label_pair(
    draw: Draw, exact_scores: NDArray[np.int64], subtree: Subtree, layout: FeatureLayout
) -> tuple[int, int]:
    """Draw two labels: one for a subset of the categories, one for the other categories.

    The order of the labels does not matter, because the subset is drawn later. So with two classes
    there is nothing to draw. If both labels may be the same, a pair of the same labels weighs half
    as much as the others, which stand for both orders.
    """
    any_labels = subtree.labels.any_labels
    choose = combinations_with_replacement if any_labels else combinations
    pairs = list(choose(range(len(exact_scores)), 2))
    if len(pairs) == 1:
        return pairs[0]
    exact_totals, above_first = exact_scores.sum(axis=1), differences_to_first(exact_scores)
    found = [
        weigh_subsets_of_pair(above_first, exact_totals, a, b, subtree.decays) for a, b in pairs
    ]
    scores, factors = zip(*found, strict=True)
    shares = np.array([0.5 if a == b else 1.0 for a, b in pairs])
    error = relative_error(1, exact_scores.shape[1], len(exact_totals))

    def pairs_in_decimals(digits: int) -> tuple[Sequence[Decimal], Decimal]:
        with localcontext(precision(digits)):
            weights = PreciseWeights(subtree.rate, layout, digits)
            rows = exact_scores.tolist()
            found = [
                Decimal(share) * weights.weigh_subsets(rows[a], rows[b], sum(rows[a] + rows[b]))
                for (a, b), share in zip(pairs, shares.tolist(), strict=True)
            ]
            return found, weights.error

    return pairs[
        draw.draw(
            LogWeights(np.array(scores), shares * np.array(factors), error, pairs_in_decimals)
        )
    ]
