"""Fine cells of numeric features, and candidates around intervals that were drawn from them.

A learner that zooms does not know its cut points before the first pass over the records. So the
records get fine codes first: their cut points are the candidates of the schema, and an even grid on
which the ends of every possible interval lie, and every cut point around it. Once intervals are
drawn, fine codes are merged to the codes of the final candidates. No further pass is needed.

Everything here is a function of the schema and of released intervals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.counting._binner import Binner
from privatree.counting._candidates import (
    TOTAL_BASE_MEASURE,
    Candidates,
    coarsen_base_measure,
    split_base_measure,
)
from privatree.schema import Numeric, Schema

MAX_LEVELS = 8
"""Level of the narrowest interval: 1/256 of the range."""
PLAIN_SHARE = Fraction(4, 10)
"""Share of the base measure that stays on the candidates of the schema."""
_INSIDE, _AT_END, _TAIL = 36, 9, 3
"""Base measure of the steps around an interval, of those towards each end, and of each tail."""
_MAX_FEATURES = 50
_TARGET_CLASSES = 18
"""Largest number of classes of a numeric target, once its codes are merged."""
_MAX_COUNTS = 2**22
"""Largest number of counts by class and fine code."""


class EvenGrid(NamedTuple):
    """Cut points at equal steps over a range, beside whole numbers if the values are whole."""

    low: float
    high: float
    integer: bool
    n_cells: int

    def cuts(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the cut points at some places, from 1 to ``n_cells - 1``."""
        low, high = float(self.low), float(self.high)
        cuts = low + (high - low) * (places / self.n_cells)
        if self.integer:
            cuts = np.floor(cuts) + 0.5
        return np.clip(cuts, low, np.nextafter(high, low))


@dataclass(frozen=True, eq=False)
class FineCells:
    """Fine codes of a schema, from which the codes of any zoomed candidates can be had.

    Parameters
    ----------
    schema : Schema
        Features and classes.
    plain : Candidates
        Candidates of the schema alone.
    grids : dict of int to grid
        Even grid of each feature for which an interval can be drawn, by its position.
    cuts : tuple of ndarray of float64, or None
        Increasing cut points of the fine codes of each numeric feature.
    levels : int
        Level of the narrowest interval.
    n_bins : int
        Largest number of codes of a zoomed feature.

    Examples
    --------
    >>> schema = Schema({"income": Numeric(0, 1e6)}, ["no", "yes"])
    >>> cells = FineCells.from_schema(schema, 256)
    >>> cells.features, len(cells.cuts[0]) > 8000
    ((0,), True)
    >>> zoomed = cells.zoom({0: (Fraction(0), Fraction(1, 64))})
    >>> int((zoomed.cuts[0] < 1e6 / 64).sum()), zoomed.n_codes[0] <= 256
    (80, True)
    """

    schema: Schema
    plain: Candidates
    grids: dict[int, EvenGrid]
    cuts: tuple[NDArray[np.float64] | None, ...]
    levels: int
    n_bins: int

    @classmethod
    def from_schema(cls, schema: Schema, n_bins: int, levels: int = MAX_LEVELS) -> FineCells:
        """List the fine codes; with 0 levels, no feature has any.

        Neither has a feature of few whole numbers, or with cuts of its own, nor does any feature
        of a schema that has too many features or classes.
        """
        plain = Candidates.from_schema(schema, n_bins)
        n_cells = _n_cells(n_bins, levels)
        grids = {
            place: EvenGrid(feature.low, feature.high, feature.integer, n_cells)
            for place, feature in enumerate(schema.features.values())
            if isinstance(feature, Numeric) and _can_zoom(feature, n_bins, levels)
        }
        n_classes = len(schema.classes) or _TARGET_CLASSES
        n_counts = len(grids) * n_classes * (n_cells + n_bins)
        if len(grids) > _MAX_FEATURES or n_counts > _MAX_COUNTS:
            grids = {}
        cuts = tuple(
            np.union1d(part, grids[place].cuts(np.arange(1, n_cells)))
            if part is not None and place in grids
            else part
            for place, part in enumerate(plain.cuts)
        )
        return cls(schema, plain, grids, cuts, levels, n_bins)

    @property
    def features(self) -> tuple[int, ...]:
        """Positions of the features for which an interval can be drawn."""
        return tuple(self.grids)

    def binner(self) -> Binner:
        """Return the rule by which records get fine codes."""
        n_codes = tuple(
            n if part is None else len(part) + 1
            for part, n in zip(self.cuts, self.plain.n_codes, strict=True)
        )
        return Binner(self.schema, self.cuts, self.plain.groups, n_codes)

    def count_cells(
        self, exact_counts: NDArray[np.int64], feature: int, levels: int
    ) -> NDArray[np.int64]:
        """Return the number of records in each of ``2**(levels + 1)`` cells of equal width.

        `exact_counts` are counts of all records by the fine codes of the feature. Missing values
        that are separate are in no cell.
        """
        grid, n = self.grids[feature], 2 ** (levels + 1)
        edges = grid.cuts(np.arange(1, n) * (grid.n_cells // n))
        ends = np.searchsorted(np.asarray(self.cuts[feature]), edges, side="right")
        exact_below = np.concatenate([[0], np.cumsum(exact_counts)])
        return np.diff(exact_below[[self._n_missing_codes(feature), *ends.tolist(), -1]])

    def ends_of_interval(
        self, feature: int, shares: tuple[Fraction, Fraction]
    ) -> tuple[float, float] | None:
        """Return the ends of an interval that is given as shares of the range of a feature.

        They are in the range, whatever is rounded: a training must not fail because of what was
        drawn. The result is None if the range is so narrow that both ends are the same number.
        """
        grid = self.grids[feature]
        lowest, highest = float(grid.low), float(grid.high)
        low, high = (
            highest if share == 1 else min(lowest + (highest - lowest) * float(share), highest)
            for share in shares
        )
        return (low, high) if low < high else None

    def zoom(self, intervals: Mapping[int, tuple[Fraction, Fraction]]) -> Candidates:
        """Return candidates with more cuts around intervals, given as shares of a range."""
        changed = {}
        for feature, (start, stop) in intervals.items():
            grid = self.grids[feature]
            parts = _places_around(
                int(start * grid.n_cells), int(stop * grid.n_cells), grid.n_cells, self.n_bins
            )
            changed[feature] = self._mixture(
                feature, [(share, grid.cuts(places)) for share, places in parts]
            )
        return self.plain.with_cuts(changed)

    def _mixture(
        self, place: int, parts: list[tuple[int, NDArray[np.float64]]]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return cuts and base measure: some on the schema's candidates, the rest on the parts."""
        n_new = len(np.unique(np.concatenate([part for _, part in parts])))
        first = self._n_missing_codes(place)  # the cut between missing values and numbers stays
        start = self.plain.offsets[place]
        old = self.plain.base_measure[start : self.plain.offsets[place + 1] - 1].copy()
        old[first:] = coarsen_base_measure(old[first:], self.n_bins - 1 - first - n_new)
        old_cuts, kept = np.asarray(self.plain.cuts[place])[old > 0], old[old > 0]
        kept[first:] = kept[first:] * PLAIN_SHARE.numerator // PLAIN_SHARE.denominator
        cuts = np.unique(np.concatenate([old_cuts, *(part for _, part in parts)]))
        measure = np.zeros(len(cuts), dtype=np.int64)
        np.add.at(measure, np.searchsorted(cuts, old_cuts), kept)
        left, shares_left = TOTAL_BASE_MEASURE - int(kept.sum()), sum(share for share, _ in parts)
        for share, part in parts:
            mass = left * share // shares_left
            np.add.at(measure, np.searchsorted(cuts, part), split_base_measure(mass, len(part)))
            left, shares_left = left - mass, shares_left - share
        return cuts, measure

    def _n_missing_codes(self, feature: int) -> int:
        """Return 1 if missing values have the first code of this feature for themselves, else 0."""
        return int(np.asarray(self.cuts[feature])[0] == -np.inf)

    def merged_codes(self, candidates: Candidates) -> list[NDArray[np.int64]]:
        """Return, for each feature, the code among these candidates of each fine code."""
        found = []
        for fine, cuts, n_codes in zip(self.cuts, candidates.cuts, candidates.n_codes, strict=True):
            if fine is None or cuts is None:
                found.append(np.arange(n_codes))
            else:
                below = np.searchsorted(cuts, fine, side="right")
                found.append(np.concatenate([[0], below]))
        return found


def _can_zoom(feature: Numeric, n_bins: int, levels: int) -> bool:
    if levels == 0 or feature.cuts is not None or n_bins < 8 * levels:
        return False
    width = feature.high - feature.low
    return bool(width >= n_bins if feature.integer else width > 0)


def _n_steps(n_bins: int) -> int:
    """Return the number of steps inside an interval: about an eighth of the bins."""
    return int(2 ** max(1, n_bins.bit_length() - 4))


def _n_cells(n_bins: int, levels: int) -> int:
    """Return the number of cells of a grid on which the steps of all intervals lie."""
    return int(2**levels * _n_steps(n_bins))


def _places_around(
    first: int, last: int, n_cells: int, n_bins: int
) -> list[tuple[int, NDArray[np.int64]]]:
    """Return places on a grid around an interval, and the base measure of each group of them."""
    width = last - first
    step = width // _n_steps(n_bins)
    inside = np.arange(first - width // 4, last + width // 4 + 1, step)
    inward = _halvings(width // 2, 1)
    outward = _doublings(width // 2, n_cells)
    parts = [
        (_INSIDE, inside),
        (_AT_END, first + inward),
        (_AT_END, last - inward),
        (_TAIL, first - outward),
        (_TAIL, last + outward),
    ]
    parts = [(share, part[(part > 0) & (part < n_cells)]) for share, part in parts]
    return [(share, np.sort(part)) for share, part in parts if len(part)]


def _halvings(largest: int, least: int) -> NDArray[np.int64]:
    """Return largest, largest/2, largest/4, ... down to `least`."""
    return np.array([largest >> k for k in range(largest.bit_length()) if largest >> k >= least])


def _doublings(least: int, largest: int) -> NDArray[np.int64]:
    """Return least, 2 least, 4 least, ... below `largest`."""
    return np.array([least << k for k in range(largest.bit_length()) if least << k < largest])
