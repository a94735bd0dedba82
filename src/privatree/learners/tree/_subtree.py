"""A subtree: the last levels of a subtree, labels included, drawn together by one mechanism.

Its score is the number of records it classifies correctly. The draw goes from the top down: what
the subtree begins with, then what each child begins with given that, each by the weight of all
subtrees that begin so. Weights come from counts alone (:mod:`subtree_weights`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.counting import ClassCounts, Groups, Rows, Wanted
from privatree.learners.tree._region import (
    CutGrid,
    FeatureLayout,
    Region,
    bins_inside,
    both_sides,
    feature_of,
    groups,
    splits_on,
)
from privatree.learners.tree._subtree_decimal import PreciseWeights
from privatree.learners.tree._subtree_kernels import (
    STOP,
    count_active,
    feature_of_two_levels,
    one_level,
    one_level_total,
    part_of_three_levels,
    relative_error,
    scratch,
    subsets_of_pair,
    two_levels_total,
)
from privatree.privacy.mechanisms import Draw, LogWeights
from privatree.privacy.samplers import Decay, precision


@dataclass(frozen=True)
class Subtree:
    """What remains to be drawn of a subtree at a node.

    Parameters
    ----------
    rate : Fraction
        Logarithm of the weight of one correctly classified record.
    decays : Decay
        Its powers, for compiled code.
    grids : tuple of CutGrid
        One for each level, the highest first, each nested in the next.
    region : Region
        The codes that records of the node can have.
    """

    rate: Fraction
    decays: Decay
    grids: tuple[CutGrid, ...]
    region: Region

    @property
    def levels(self) -> int:
        """How many levels are left."""
        return len(self.grids)

    def below_top(self, region: Region) -> Subtree:
        """What remains once the highest level is drawn, in a child's region."""
        return replace(self, grids=self.grids[1:], region=region)

    def without_empty_levels(self, shape: FeatureLayout) -> Subtree:
        """The same without upper levels on whose grid the region has no candidate."""
        subtree = self
        while subtree.levels > 1 and not count_active(
            shape, subtree.grids[0], *_sides(subtree.region)
        ):
            subtree = subtree.below_top(subtree.region)
        return subtree

    def wanted(self, shape: FeatureLayout) -> Wanted | None:
        """The counts that its weights need besides those of single codes."""
        if self.levels == 1:
            return None
        rows, *upper = (groups(grid, self.region, shape) for grid in self.grids[-2::-1])
        return Wanted(rows, *upper)


def _sides(region: Region) -> tuple[Any, ...]:
    return region.low, region.high, region.n_inside


def differences(exact_counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Counts of each class minus those of the first."""
    return np.ascontiguousarray(exact_counts[1:] - exact_counts[:1])


def subtree_weights(
    records: ClassCounts,
    subtrees: dict[int, Subtree],
    exact_counts: NDArray[np.int64],
    shape: FeatureLayout,
) -> dict[int, LogWeights]:
    """What each of several subtrees could begin with, by its weight.

    Parameters
    ----------
    records : ClassCounts
        Where the counts of higher order come from.
    subtrees : dict of int to Subtree
        The node, in the current level, of each subtree.
    exact_counts : array (node, class, code)
        The counts of the level.
    shape : FeatureLayout
        Where the codes of each feature lie.
    """
    parts = {
        node: _Parts(records, node, subtree, exact_counts[node], shape)
        for node, subtree in subtrees.items()
    }
    tasks = [task for found in parts.values() for task in found.tasks()]
    records.map_in_threads(lambda task: task(), tasks)
    return {node: found.weights() for node, found in parts.items()}


class _Parts:
    """The parts of one subtree, computed a feature at a time."""

    def __init__(
        self,
        records: ClassCounts,
        node: int,
        subtree: Subtree,
        exact_counts: NDArray[np.int64],
        shape: FeatureLayout,
    ) -> None:
        self._records, self._node, self._block, self._shape = records, node, subtree, shape
        self._fine = subtree.grids[-1]
        self._totals = exact_counts[:, : shape.offsets[1]].sum(axis=1)
        self._differences = differences(exact_counts)
        self._scores = np.zeros(exact_counts.shape[1] + 1, dtype=np.int64)
        self._factors = np.zeros(exact_counts.shape[1] + 1)
        if (wanted := subtree.wanted(shape)) is not None:
            self._rows = wanted.rows
        if wanted is not None and wanted.upper is not None:
            self._upper_rows = wanted.upper

    def tasks(self) -> list[Any]:
        """Independent pieces of work for threads."""
        if self._block.levels == 1:
            return [self._one_level]
        if self._block.levels == 2:
            return [
                self._stop_above_one_level,
                *self._for_features(self._rows, self._feature_of_two),
            ]
        self._all_tables = [
            np.concatenate(tables)
            for tables in zip(
                *(self._records.pair_counts(self._node, rows) for rows in self._middle()),
                strict=True,
            )
        ]
        return [
            self._stop_above_two_levels,
            *self._for_features(self._upper_rows, self._feature_of_three),
        ]

    def _for_features(self, rows: Groups, work: Any) -> list[Any]:
        return [partial(work, feature) for feature in rows.used_features()]

    def _middle(self) -> list[Rows]:
        return [
            self._rows.rows_of_feature(feature, self._shape.offsets)
            for feature in self._rows.used_features()
        ]

    def _room(self) -> Any:
        return scratch(len(self._totals), self._differences.shape[1])

    # --- in floats --------------------------------------------------------------------------------

    def _one_level(self) -> None:
        one_level(
            self._differences,
            self._totals,
            self._shape,
            self._fine,
            self._block.region,
            self._block.decays,
            self._scores,
            self._factors,
        )

    def _stop_above_one_level(self) -> None:
        self._scores[-1], weight = one_level_total(
            self._differences,
            self._totals,
            self._shape,
            self._fine,
            self._block.region,
            self._block.decays,
            self._room(),
        )
        self._factors[-1] = STOP[2] * weight

    def _feature_of_two(self, feature: int) -> None:
        tables, totals = self._records.pair_counts(
            self._node, self._rows.rows_of_feature(feature, self._shape.offsets)
        )
        feature_of_two_levels(
            feature,
            tables,
            totals,
            self._differences,
            self._totals,
            self._shape,
            self._block.grids[0],
            self._fine,
            self._rows,
            self._block.region.copy(),
            self._block.decays,
            self._room(),
            self._scores,
            self._factors,
        )

    def _stop_above_two_levels(self) -> None:
        tables, totals = self._all_tables
        self._scores[-1], weight = two_levels_total(
            tables,
            totals,
            self._shape,
            self._block.grids[1],
            self._fine,
            self._rows,
            self._block.region.copy(),
            self._block.decays,
            self._room(),
            self._scores.copy(),
            self._factors.copy(),
        )
        self._factors[-1] = STOP[3] * weight

    def _feature_of_three(self, feature: int) -> None:
        region, shape, subtree = self._block.region, self._shape, self._block
        splits = [s for s in splits_on(subtree.grids[0], region, shape) if s.feature == feature]
        all_tables, all_totals = self._all_tables
        left = np.zeros_like(all_tables)
        left_totals = np.zeros_like(all_totals)
        tables = self._triples(feature)
        for split, (table, totals) in zip(splits, tables, strict=False):
            if shape.is_category[feature]:
                left, left_totals = table, totals
            else:
                left += table
                left_totals += totals
            left_box, right_box = both_sides(region, shape, split)
            self._scores[split.part], weight = part_of_three_levels(
                left,
                left_totals,
                all_tables,
                all_totals,
                shape,
                subtree.grids[1],
                self._fine,
                self._rows,
                left_box,
                right_box,
                subtree.decays,
            )
            self._factors[split.part] = (1.0 - STOP[3]) * float(split.share) * weight

    def _triples(self, feature: int) -> Iterable[tuple[NDArray[Any], NDArray[Any]]]:
        upper = self._upper_rows.rows_of_feature(feature, self._shape.offsets)
        return self._records.triple_counts(self._node, upper, self._middle())

    # --- as weights to draw from ------------------------------------------------------------------

    def weights(self) -> LogWeights:
        """The parts, with the error of their weights and a way to know them better."""
        error = relative_error(self._block.levels, len(self._scores), len(self._totals))
        return LogWeights(self._scores, self._factors, error, self._precise)

    def _precise(self, digits: int) -> tuple[Sequence[Decimal], Decimal]:
        subtree = self._block
        with localcontext(precision(digits)):
            precise = PreciseWeights(subtree.rate, self._shape, digits)
            if subtree.levels == 1:
                parts = precise.one_level(
                    self._differences, self._totals, self._fine, subtree.region
                )
            elif subtree.levels == 2:
                tables, totals = (
                    np.concatenate(part)
                    for part in zip(
                        *(self._records.pair_counts(self._node, rows) for rows in self._middle()),
                        strict=True,
                    )
                )
                parts = precise.two_levels(
                    tables, totals, subtree.grids[0], self._fine, self._rows, subtree.region
                )
            else:
                grids = subtree.grids[0], subtree.grids[1], subtree.grids[2]
                parts = precise.three_levels(
                    self._triples, grids, self._upper_rows, self._rows, subtree.region
                )
            return [parts.get(part, Decimal(0)) for part in range(len(self._scores))], precise.error


# --- draws ----------------------------------------------------------------------------------------


class LastLevel(NamedTuple):
    """A label, or a split and a label for each side."""

    feature: int | None
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    """Codes, of those in the region, on each side; without a split all are on the left."""
    labels: tuple[int, int]


def first_split(
    part: int, region: Region, shape: FeatureLayout
) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """The feature of a part of an upper level, and the codes on its two sides."""
    feature = feature_of(part, shape)
    codes = bins_inside(region, shape, feature)
    code = part - shape.offsets[feature]
    is_left = codes == code if shape.is_category[feature] else codes <= code
    return feature, codes[is_left], codes[~is_left]


def draw_last_level(
    draw: Draw,
    weights: LogWeights,
    exact_counts: NDArray[np.int64],
    subtree: Subtree,
    shape: FeatureLayout,
) -> LastLevel:
    """Draw the last level of a subtree, given everything above it.

    Parameters
    ----------
    draw : Draw
        The draw, already paid for.
    weights : LogWeights
        Of what the level could begin with.
    exact_counts : array (class, code)
        Counts of the node.
    subtree : Subtree
        With its last level left.
    shape : FeatureLayout
        Where the codes of each feature lie.
    """
    part = draw.draw(weights)
    if part == exact_counts.shape[1]:
        draw.expect(1)
        label = draw.draw_by_score(exact_counts[:, : shape.offsets[1]].sum(axis=1))
        return LastLevel(None, np.arange(shape.offsets[1]), np.arange(0), (label, label))
    feature = feature_of(part, shape)
    start = shape.offsets[feature]
    codes = bins_inside(subtree.region, shape, feature)
    exact_here = exact_counts[:, start + codes]
    if shape.is_category[feature]:
        draw.expect(len(codes) + (len(exact_counts) > 2))
        a, b = _draw_pair(draw, exact_here, subtree, shape)
        is_left = np.array(
            [draw.draw_by_score(exact_here[[a, b], place]) == 0 for place in range(len(codes))]
        )
    else:
        is_left = codes <= part - start
        exact_left = exact_here[:, is_left].sum(axis=1)
        exact_right = exact_here[:, ~is_left].sum(axis=1)
        pairs = list(permutations(range(len(exact_counts)), 2))
        exact_scores = np.array([exact_left[a] + exact_right[b] for a, b in pairs])
        draw.expect(1)
        a, b = pairs[draw.draw_by_score(exact_scores)]
    return LastLevel(feature, codes[is_left], codes[~is_left], (a, b))


def _draw_pair(
    draw: Draw, exact_counts: NDArray[np.int64], subtree: Subtree, shape: FeatureLayout
) -> tuple[int, int]:
    """The labels of a subset of categories and of the others; the other way round is the same.

    With two classes there is no choice.
    """
    pairs = list(combinations(range(len(exact_counts)), 2))
    if len(pairs) == 1:
        return pairs[0]
    exact_totals, above_first = exact_counts.sum(axis=1), differences(exact_counts)
    found = [subsets_of_pair(above_first, exact_totals, a, b, subtree.decays) for a, b in pairs]
    scores, factors = zip(*found, strict=True)
    error = relative_error(1, exact_counts.shape[1], len(exact_totals))

    def precise(digits: int) -> tuple[Sequence[Decimal], Decimal]:
        with localcontext(precision(digits)):
            weights = PreciseWeights(subtree.rate, shape, digits)
            rows = exact_counts.tolist()
            found = [weights.subsets(rows[a], rows[b], sum(rows[a] + rows[b])) for a, b in pairs]
            return found, weights.error

    return pairs[draw.draw(LogWeights(np.array(scores), np.array(factors), error, precise))]
