"""The public grid that private quantiles live on, and what both quantile mechanisms check.

Data and outputs are *cells* 0, ..., cells - 1 of equal length between ``low`` and ``high``. The
cell of a value depends on that value alone, and an edge on its cell alone, so neither costs
privacy; and as the mechanisms draw whole numbers only, no bit pattern of a float can give away
anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import isfinite, lcm
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.privacy._exact_epsilon import positive_fraction

Neighbours: TypeAlias = Literal["replace", "add-remove"]

LARGEST_GRID = 2**50
LARGEST_COLUMN = 2**30
TOO_LONG = "a column must have at most 2^30 rows. Take a sample of it."
_LARGEST_DENOMINATOR = 2**30


class ValueCounts(NamedTuple):
    """A column as its distinct values, increasing, and how often each of them occurs."""

    exact_values: NDArray[np.float64]
    exact_counts: NDArray[np.int64]


@dataclass(frozen=True)
class QuantileGrid:
    """Quantiles asked for, the public range of the column and the guarantee.

    Parameters
    ----------
    epsilon : Fraction
        Privacy budget of one release, of all quantiles together.
    quantiles : tuple of Fraction
        Strictly increasing, between 0 and 1.
    low, high : float
        Public range. Values outside count as the nearest end, missing values as ``high``.
    neighbours : {"replace", "add-remove"}
        What one person may change: the value of one row, or whether the row exists.
    cells : int
        Number of cells of the grid.
    """

    epsilon: Fraction
    quantiles: tuple[Fraction, ...]
    low: float
    high: float
    neighbours: Neighbours
    cells: int = LARGEST_GRID

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_fraction("epsilon", self.epsilon))
        borders = (Fraction(0), *self.quantiles, Fraction(1))
        if len(borders) < 3 or any(a >= b for a, b in pairwise(borders)):
            raise ParameterError(
                "quantiles must be strictly increasing, between 0 and 1 and at least one, got "
                f"({', '.join(str(quantile) for quantile in self.quantiles)})."
            )
        if lcm(*(quantile.denominator for quantile in self.quantiles)) > _LARGEST_DENOMINATOR:
            raise ParameterError(
                "quantiles must have a common denominator of at most 2^30: "
                "write Fraction(1, 10), not Fraction(0.1)."
            )
        if not (isfinite(self.low) and isfinite(self.high) and isfinite(self.high - self.low)):
            raise ParameterError(f"low and high must be finite, got {self.low} and {self.high}.")
        if self.low > self.high:
            raise ParameterError(f"low must be <= high, got {self.low} and {self.high}.")
        if self.neighbours not in ("replace", "add-remove"):
            raise ParameterError(
                f'neighbours must be "replace" or "add-remove", got {self.neighbours!r}.'
            )
        if not 2 <= self.cells <= LARGEST_GRID:
            raise ParameterError(f"cells must be between 2 and 2^50, got {self.cells}.")

    def sorted_cells(self, exact_values: NDArray[np.float64]) -> NDArray[np.int64]:
        """The cells of the values, in increasing order: cell k holds (k, k + 1] / cells."""
        if len(exact_values) > LARGEST_COLUMN:
            raise ParameterError(TOO_LONG)
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
        """The upper ends of cells."""
        shares = (np.array(noisy_cells, dtype=np.float64) + 1.0) / self.cells
        edges: NDArray[np.float64] = self.low + shares * (self.high - self.low)
        return np.clip(edges, self.low, self.high)


@dataclass(frozen=True)
class Intervals:
    """Maximal intervals of cells with the same number of data cells up to each: none is empty.

    Attributes
    ----------
    starts : array of int64
        First cell of each interval, increasing.
    widths : array of int64
        Number of cells of each interval.
    positions : array of int64
        Number of data cells not above any cell of the interval, strictly increasing.
    """

    starts: NDArray[np.int64]
    widths: NDArray[np.int64]
    positions: NDArray[np.int64]


def intervals(
    exact_cells: NDArray[np.int64],
    first: int,
    last: int,
    exact_counts: NDArray[np.int64] | None = None,
) -> Intervals:
    """Cut the cells first, ..., last at sorted data cells among them, each there so many times."""
    size = len(exact_cells)
    is_last = np.empty(size, dtype=np.bool_)
    np.not_equal(exact_cells[1:], exact_cells[:-1], out=is_last[:-1])
    is_last[-1:] = True
    ranks = np.flatnonzero(is_last)
    leading = 1 if size == 0 or exact_cells[0] > first else 0
    starts = np.empty(len(ranks) + leading, dtype=np.int64)
    positions = np.empty(len(ranks) + leading, dtype=np.int64)
    starts[:leading], positions[:leading] = first, 0
    below = ranks + 1 if exact_counts is None else np.cumsum(exact_counts)[ranks]
    starts[leading:], positions[leading:] = exact_cells[ranks], below
    return Intervals(starts, np.diff(starts, append=last + 1), positions)
