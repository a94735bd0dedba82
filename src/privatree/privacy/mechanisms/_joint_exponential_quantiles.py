"""All quantiles of a column by one exponential mechanism [GJK21], drawn in float64.

The outcomes are the sorted tuples of cells of a public grid. The score of a tuple is minus the sum,
over its gaps, of the distance between the number of rows in the gap and the number that should be
there. There are too many tuples to list. But the weight of a tuple is a product over its gaps, so
the quantiles can be drawn one by one, from the last to the first, with tables of partial sums.

Other mechanisms have exact samplers. This one is used only by the learner of [Vos23], whose claimed
epsilon is wrong by far more than a rounding error.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import isfinite
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.privacy._exact_epsilon import positive_fraction
from privatree.privacy._randomness import Randomness
from privatree.privacy.mechanisms._joint_exponential_tables import JointQuantileTables
from privatree.privacy.mechanisms._quantile_grid import Intervals, QuantileGrid, ValueCounts

_MAX_CELLS = 2**50

# At a larger rate no row is ever in a wrong gap, and logarithms would lose digits.
_MAX_RATE = 256


@dataclass(frozen=True)
class JointExponentialQuantiles:
    """Private quantiles of one numeric column, drawn jointly.

    Parameters
    ----------
    epsilon : Fraction
        Privacy cost of all quantiles together.
    quantiles : tuple of Fraction
        Strictly increasing, between 0 and 1.
    low, high : float
        Public range. Values outside are moved to the nearest end; missing values become ``high``.
    cells : int
        Number of cells of the grid.

    Notes
    -----
    Neighbours: one row replaced, added or removed.
    Sensitivity: replacing a row changes the score of a tuple by at most 2; adding or removing a row
    changes it by less.
    Guarantee: ``epsilon``-differential privacy, up to the rounding of float64 numbers; see
    ``docs/proofs/joint-exponential-quantiles.md``. The running time depends on the data.
    Cost: ``epsilon``, for all quantiles together.

    Examples
    --------
    >>> mechanism = JointExponentialQuantiles(Fraction(10), (Fraction(1, 2),), 0.0, 100.0)
    >>> median = mechanism.release(np.arange(1000) / 10, Randomness(seed=0))
    >>> bool(45 < median[0] < 55)
    True
    """

    epsilon: Fraction
    quantiles: tuple[Fraction, ...]
    low: float
    high: float
    cells: int = _MAX_CELLS
    name: ClassVar[str] = "joint exponential quantiles"
    sensitivity: ClassVar[int] = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_fraction("epsilon", self.epsilon))
        if not self.quantiles or any(share <= 0 for share in self.shares):
            raise ParameterError(
                "quantiles must be one or more strictly increasing numbers between 0 and 1, got "
                f"({', '.join(str(quantile) for quantile in self.quantiles)})."
            )
        if not (isfinite(self.low) and isfinite(self.high) and isfinite(self.high - self.low)):
            raise ParameterError(f"low and high must be finite, got {self.low} and {self.high}.")
        if self.low > self.high:
            raise ParameterError(f"low must be <= high, got {self.low} and {self.high}.")
        if not 2 <= self.cells <= _MAX_CELLS:
            raise ParameterError(f"cells must be between 2 and 2^50, got {self.cells}.")

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Share of the rows that each gap before, between and after the quantiles should hold."""
        borders = (Fraction(0), *self.quantiles, Fraction(1))
        return tuple(b - a for a, b in pairwise(borders))

    @property
    def rate(self) -> Fraction:
        """Decrease of the log-weight for each row in a wrong gap. A cap on it only adds privacy."""
        return min(self.epsilon / (2 * self.sensitivity), Fraction(_MAX_RATE))

    def release(
        self, exact_values: NDArray[np.float64] | ValueCounts, randomness: Randomness
    ) -> NDArray[np.float64]:
        """Return the drawn quantiles: edges of cells, in non-decreasing order."""
        if self.low == self.high:
            return np.full(len(self.quantiles), float(self.low))
        grid = QuantileGrid(self.low, self.high, self.cells)
        exact = grid.intervals(exact_values)
        noisy_cells: list[int] = []
        for interval, run in self._draw_runs(exact, randomness):
            start, width = int(exact.starts[interval]), int(exact.widths[interval])
            noisy_cells += [start + randomness.below(width) for _ in range(run)]
        return grid.edges(sorted(noisy_cells))

    def _draw_runs(self, exact: Intervals, randomness: Randomness) -> list[tuple[int, int]]:
        """Draw the intervals that hold quantiles, and how many each holds, from last to first."""
        tables = JointQuantileTables(exact, self.rate, self.shares)
        runs: list[tuple[int, int]] = []
        placed, limit, end = len(self.quantiles), len(exact.positions), exact.rows
        while placed > 0:
            interval = _choose_quantile(tables.interval_weights(placed, limit, end), randomness)
            run = 1 + _choose_quantile(tables.run_weights(placed, interval), randomness)
            runs.append((interval, run))
            placed, limit, end = placed - run, interval, int(exact.positions[interval])
        return runs


def _choose_quantile(weights: NDArray[np.float64], randomness: Randomness) -> int:
    """Draw index i with probability proportional to weight i, by repeated halving."""
    first, last = 0, len(weights)
    while last - first > 1:
        middle = (first + last) // 2
        left, right = float(weights[first:middle].sum()), float(weights[middle:last].sum())
        uniform = randomness.bits(64)
        goes_left = uniform * right < (2**64 - uniform) * left
        first, last = (first, middle) if goes_left else (middle, last)
    return first
