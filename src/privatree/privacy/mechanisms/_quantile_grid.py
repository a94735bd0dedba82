"""The public grid on which private quantiles lie.

Values and quantiles are *cells* 0, ..., cells - 1 of equal length between ``low`` and ``high``. The
cell of a value depends on that value alone, and an edge depends on its cell alone, so neither costs
privacy. The mechanism draws whole numbers only, so the bits of a released float reveal nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class ValueCounts(NamedTuple):
    """A numeric column as its distinct values and their counts.

    Attributes
    ----------
    exact_values : array of float64
        Distinct values, increasing.
    exact_counts : array of int64
        Number of records with each value.

    Examples
    --------
    >>> column = ValueCounts(np.array([1.0, 2.5]), np.array([3, 1]))
    >>> int(column.exact_counts.sum())
    4
    """

    exact_values: NDArray[np.float64]
    exact_counts: NDArray[np.int64]


@dataclass(frozen=True)
class Intervals:
    """The largest intervals of cells such that all cells of an interval have the same position.

    The position of a cell is the number of values whose cells are not above it. Starts and
    positions strictly increase, and no interval is empty.
    """

    starts: NDArray[np.int64]
    widths: NDArray[np.int64]
    positions: NDArray[np.int64]

    @property
    def rows(self) -> int:
        """Number of values, which is the position of the last interval."""
        return int(self.positions[-1])


@dataclass(frozen=True)
class QuantileGrid:
    """A grid of `cells` cells of equal length from `low` to `high`."""

    low: float
    high: float
    cells: int

    def intervals(self, exact_values: NDArray[np.float64] | ValueCounts) -> Intervals:
        """Cut the grid into intervals at the cells of the values."""
        exact_counts = None
        if isinstance(exact_values, ValueCounts):
            exact_values, exact_counts = exact_values
        exact_cells = self.sorted_cells(exact_values)
        ranks = np.flatnonzero(np.diff(exact_cells, append=self.cells))  # the last of each cell
        below = ranks + 1 if exact_counts is None else np.cumsum(exact_counts)[ranks]
        starts = exact_cells[ranks]
        if len(starts) == 0 or starts[0] > 0:
            starts, below = np.append(0, starts), np.append(0, below)
        return Intervals(starts, np.diff(starts, append=self.cells), below)

    def sorted_cells(self, exact_values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the sorted cells of the values. Cell k is (k, k + 1] / cells of the range."""
        shares = np.fmin(exact_values, self.high)
        np.fmax(shares, self.low, out=shares)
        shares -= self.low
        shares /= self.high - self.low
        shares *= self.cells
        np.ceil(shares, out=shares)
        exact_cells = shares.astype(np.int64)
        exact_cells -= 1
        np.clip(exact_cells, 0, self.cells - 1, out=exact_cells)
        exact_cells.sort()
        return exact_cells

    def edges(self, noisy_cells: list[int]) -> NDArray[np.float64]:
        """Return the upper ends of the cells."""
        shares = (np.array(noisy_cells, dtype=np.float64) + 1.0) / self.cells
        edges: NDArray[np.float64] = self.low + shares * (self.high - self.low)
        return np.clip(edges, self.low, self.high)
