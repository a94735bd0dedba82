"""The weights of :mod:`subtree_weights` in arbitrary precision.

Needed only when a draw falls inside the error bound of floating point, about once in 10^9 draws:
written to be read, not to be fast. The numbering of the parts is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.counting import Groups
from privatree.learners.tree._region import (
    CutGrid,
    FeatureLayout,
    Region,
    Split,
    bins_inside,
    both_sides,
    splits_on,
)
from privatree.learners.tree._subtree_kernels import STOP

Parts = dict[int, Decimal]
"""The weight of every part that can be drawn."""


class PreciseWeights:
    """Weights of subtrees with a given number of digits; to be used in a context of that precision.

    Parameters
    ----------
    rate : Fraction
        Logarithm of the weight of one correctly classified record.
    shape : FeatureLayout
        Where the codes of each feature lie.
    digits : int
        Digits of every operation.
    """

    def __init__(self, rate: Fraction, shape: FeatureLayout, digits: int) -> None:
        self._rate, self._shape, self._digits = rate, shape, digits
        self._powers: dict[int, Decimal] = {}
        self._largest = Fraction(0)

    @property
    def error(self) -> Decimal:
        """Bound on the relative error so far: of the exponents, and of up to 10^12 roundings."""
        return (8 * int(self._largest + 1) + Decimal(10) ** 12) * Decimal(10) ** (1 - self._digits)

    def power(self, score: int) -> Decimal:
        """exp(rate * score)."""
        if score not in self._powers:
            exponent = self._rate * score
            self._largest = max(self._largest, abs(exponent))
            quotient = Decimal(exponent.numerator) / Decimal(exponent.denominator)
            self._powers[score] = quotient.exp()
        return self._powers[score]

    def one_level(
        self,
        exact_differences: NDArray[Any],
        exact_totals: NDArray[Any],
        fine: CutGrid,
        region: Region,
    ) -> Parts:
        """The parts of a subtree of one level."""
        totals = exact_totals.tolist()
        n_classes = len(totals)
        pairs = list(permutations(range(n_classes), 2))
        active = np.flatnonzero(region.n_inside >= 2).tolist()
        stop = Decimal(STOP[1]) if active else Decimal(1)
        parts = {region.inside.size: stop * sum(map(self.power, totals)) / n_classes}
        for feature in active:
            share = (1 - stop) / len(active) / len(pairs)
            start = int(self._shape.offsets[feature])
            codes = start + bins_inside(region, self._shape, feature)
            zeros = np.zeros((1, len(codes)), dtype=np.int64)
            above_first = np.concatenate([zeros, exact_differences[:, codes]]).tolist()
            if self._shape.is_category[feature]:
                parts[start] = share * sum(
                    self.subsets(above_first[a], above_first[b], totals[a] + totals[b])
                    for a, b in pairs
                )
                continue
            lefts = np.cumsum(above_first, axis=1).tolist()
            base_measure = [Decimal(mass) for mass in fine.mass[codes[:-1]].tolist()]
            for place, mass in enumerate(base_measure):
                parts[int(codes[place])] = (
                    share
                    * (mass / sum(base_measure))
                    * sum(
                        self.power(totals[b] + lefts[a][place] - lefts[b][place]) for a, b in pairs
                    )
                )
        return parts

    def subsets(self, of_a: list[int], of_b: list[int], both: int) -> Decimal:
        """Mean over all subsets of the categories, a below them and b below the others.

        `of_a` and `of_b` are the counts of each category, less a number that is the same for both;
        `both` is the sum of all of them without that.
        """
        gaps = [abs(x - y) for x, y in zip(of_a, of_b, strict=True)]
        weight = self.power((both + sum(gaps)) // 2)
        for gap in gaps:
            weight *= (1 + self.power(-gap)) / 2
        return weight

    def two_levels(
        self,
        exact_tables: NDArray[Any],
        exact_totals: NDArray[Any],
        middle: CutGrid,
        fine: CutGrid,
        rows: Groups,
        region: Region,
    ) -> Parts:
        """The parts of a subtree of two levels, from the rows of all features."""
        splits = splits_on(middle, region, self._shape)
        used = int(np.flatnonzero(np.diff(rows.firsts))[0])
        of_used = slice(rows.firsts[used], rows.firsts[used + 1])
        all_differences = exact_tables[of_used].sum(axis=0, dtype=np.int64)
        all_totals = exact_totals[of_used].sum(axis=0, dtype=np.int64)
        one = self.one_level(all_differences, all_totals, fine, region)
        if not splits:
            return one
        parts = {region.inside.size: Decimal(STOP[2]) * sum(one.values())}
        for split in splits:
            first = rows.firsts[split.feature]
            start = self._shape.offsets[split.feature]
            chosen = first + np.unique(rows.row_of_code[start + split.left])
            left = exact_tables[chosen].sum(axis=0, dtype=np.int64)
            left_totals = exact_totals[chosen].sum(axis=0, dtype=np.int64)
            left_box, right_box = both_sides(region, self._shape, split)
            on_left = self.one_level(left, left_totals, fine, left_box)
            on_right = self.one_level(
                all_differences - left, all_totals - left_totals, fine, right_box
            )
            parts[split.part] = self._product(STOP[2], split, on_left, on_right)
        return parts

    def three_levels(
        self,
        triples: Callable[[int], Iterable[tuple[NDArray[Any], NDArray[Any]]]],
        grids: tuple[CutGrid, CutGrid, CutGrid],
        upper_rows: Groups,
        rows: Groups,
        region: Region,
    ) -> Parts:
        """The parts of a subtree of three levels; `triples` counts by the rows of a feature."""
        upper, middle, fine = grids
        splits = splits_on(upper, region, self._shape)
        parts: Parts = {}
        for feature in sorted({split.feature for split in splits}):
            tables = [(t.astype(np.int64), totals) for t, totals in triples(feature)]
            all_tables, all_totals = _sums(tables)
            if not parts:
                two = self.two_levels(all_tables, all_totals, middle, fine, rows, region)
                parts[region.inside.size] = Decimal(STOP[3]) * sum(two.values())
            start = self._shape.offsets[feature]
            for split in (split for split in splits if split.feature == feature):
                chosen = np.unique(upper_rows.row_of_code[start + split.left]).tolist()
                left, left_totals = _sums([tables[row] for row in chosen])
                left_box, right_box = both_sides(region, self._shape, split)
                on_left = self.two_levels(left, left_totals, middle, fine, rows, left_box)
                on_right = self.two_levels(
                    all_tables - left, all_totals - left_totals, middle, fine, rows, right_box
                )
                parts[split.part] = self._product(STOP[3], split, on_left, on_right)
        return parts

    def _product(self, stop: float, split: Split, left: Parts, right: Parts) -> Decimal:
        share = Decimal(split.share.numerator) / split.share.denominator
        return (1 - Decimal(stop)) * share * sum(left.values()) * sum(right.values())


def _sums(tables: list[tuple[NDArray[Any], NDArray[Any]]]) -> tuple[NDArray[Any], NDArray[Any]]:
    differences, totals = zip(*tables, strict=True)
    return np.sum(differences, axis=0), np.sum(totals, axis=0)
