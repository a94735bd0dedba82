"""The weights of a subtree's parts in arbitrary precision.

These weights are needed only if a draw falls within the error bound of floating point, about once
in 10^9 draws. The code is written to be read, not to be fast. The parts are numbered as in
``_subtree_kernels.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from privatree.counting import Groups
from privatree.learners.tree._region import (
    CutGrid,
    FeatureLayout,
    Region,
    Split,
    child_regions,
    codes_in_region,
    splits_on_grid,
)
from privatree.learners.tree._subtree_kernels import Counts, LevelAbove
from privatree.privacy.samplers import DecimalPowers

PartWeights = dict[int, Decimal]
"""Weight of every part that can be drawn."""


class PreciseWeights(DecimalPowers):
    """Weights of subtrees with a given number of digits, in a decimal context of that precision.

    `rate` is the logarithm of the weight of one unit of score.
    """

    def __init__(
        self, rate: Fraction, layout: FeatureLayout, digits: int, any_labels: bool = False
    ) -> None:
        super().__init__(rate, digits)
        self._layout, self._any_labels = layout, any_labels

    def weigh_one_level(self, counts: Counts, fine: CutGrid, region: Region) -> PartWeights:
        totals = counts.totals.tolist()
        n_classes = len(totals)
        labels = range(n_classes)
        pairs = list(product(labels, repeat=2) if self._any_labels else permutations(labels, 2))
        active = np.flatnonzero(region.n_inside >= 2).tolist()
        stop = Decimal(fine.stop_share) if active else Decimal(1)
        parts = {region.inside.size: stop * sum(map(self.power, totals)) / n_classes}
        for feature in active:
            share = (1 - stop) / len(active) / len(pairs)
            start = int(self._layout.offsets[feature])
            codes = start + codes_in_region(region, self._layout, feature)
            zeros = np.zeros((1, len(codes)), dtype=np.int64)
            above_first = np.concatenate([zeros, counts.differences[:, codes]]).tolist()
            if self._layout.is_category[feature]:
                parts[start] = share * sum(
                    self.weigh_subsets(above_first[a], above_first[b], totals[a] + totals[b])
                    for a, b in pairs
                )
                continue
            lefts = np.cumsum(above_first, axis=1).tolist()
            base_measure = [Decimal(mass) for mass in fine.base_measure[codes[:-1]].tolist()]
            for place, mass in enumerate(base_measure):
                parts[int(codes[place])] = (
                    share
                    * (mass / sum(base_measure))
                    * sum(
                        self.power(totals[b] + lefts[a][place] - lefts[b][place]) for a, b in pairs
                    )
                )
        return parts

    def weigh_subsets(self, of_a: list[int], of_b: list[int], both: int) -> Decimal:
        """Return the mean weight over all ways to label some categories a and the others b.

        `of_a` and `of_b` are the counts of classes a and b in each category. The same number may
        be subtracted from both counts of a category. `both` is the sum of all counts, without any
        subtraction.
        """
        gaps = [abs(x - y) for x, y in zip(of_a, of_b, strict=True)]
        weight = self.power((both + sum(gaps)) // 2)
        for gap in gaps:
            weight *= (1 + self.power(-gap)) / 2
        return weight

    def weigh_two_levels(self, tables: Counts, above: LevelAbove, region: Region) -> PartWeights:
        """Return the weights of the parts of a subtree of two levels, from counts for each row."""
        fine, rows = above.lowest.fine, above.rows
        splits = splits_on_grid(above.grid, region, self._layout)
        used = int(np.flatnonzero(np.diff(rows.firsts))[0])
        whole = _sum_of_rows(tables, slice(rows.firsts[used], rows.firsts[used + 1]))
        one = self.weigh_one_level(whole, fine, region)
        if not splits:
            return one
        parts = {region.inside.size: Decimal(above.grid.stop_share) * sum(one.values())}
        for split in splits:
            start = self._layout.offsets[split.feature]
            chosen = rows.firsts[split.feature] + np.unique(rows.row_of_code[start + split.left])
            left = _sum_of_rows(tables, chosen)
            left_region, right_region = child_regions(region, self._layout, split)
            on_left = self.weigh_one_level(left, fine, left_region)
            on_right = self.weigh_one_level(_difference(whole, left), fine, right_region)
            parts[split.part] = self._weigh_split(above.grid.stop_share, split, on_left, on_right)
        return parts

    def weigh_three_levels(
        self,
        triples: Callable[[int], Iterable[Counts]],
        top: CutGrid,
        top_rows: Groups,
        above: LevelAbove,
        region: Region,
    ) -> PartWeights:
        """Return the weights of the parts of a subtree of three levels.

        `triples` returns a table of counts, as :meth:`weigh_two_levels` takes it, for the records
        of each of a feature's `top_rows`.
        """
        splits = splits_on_grid(top, region, self._layout)
        parts: PartWeights = {}
        for feature in sorted({split.feature for split in splits}):
            differences, totals = zip(*triples(feature), strict=True)
            by_row = Counts(np.stack(differences), np.stack(totals))
            whole = _sum_of_rows(by_row, slice(None))
            if not parts:
                two = self.weigh_two_levels(whole, above, region)
                parts[region.inside.size] = Decimal(top.stop_share) * sum(two.values())
            start = self._layout.offsets[feature]
            for split in (split for split in splits if split.feature == feature):
                left = _sum_of_rows(by_row, np.unique(top_rows.row_of_code[start + split.left]))
                left_region, right_region = child_regions(region, self._layout, split)
                on_left = self.weigh_two_levels(left, above, left_region)
                on_right = self.weigh_two_levels(_difference(whole, left), above, right_region)
                parts[split.part] = self._weigh_split(top.stop_share, split, on_left, on_right)
        return parts

    def _weigh_split(
        self, stop: float, split: Split, left: PartWeights, right: PartWeights
    ) -> Decimal:
        share = Decimal(split.share.numerator) / split.share.denominator
        return (1 - Decimal(stop)) * share * sum(left.values()) * sum(right.values())


def _sum_of_rows(tables: Counts, rows: slice | NDArray[np.int64]) -> Counts:
    return Counts(*(array[rows].sum(axis=0, dtype=np.int64) for array in tables))


def _difference(whole: Counts, part: Counts) -> Counts:
    return Counts(whole.differences - part.differences, whole.totals - part.totals)
