"""All quantiles of a column in one exponential mechanism [GJK21], drawn in float64.

The outcomes are the sorted tuples of cells of a public grid. A tuple's utility is minus the sum,
over the gaps between its neighbouring cells, of how far the rows in the gap are from their share.
There are too many tuples to list, but a tuple's weight is a product over its gaps, so that one is
drawn from the last quantile to the first, along tables of partial sums.

Other mechanisms have exact samplers. This one serves the paper's learner alone, whose own claim is
off by far more than rounding is.
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
from privatree.privacy.mechanisms._joint_exponential_tables import Tables
from privatree.privacy.mechanisms._quantile_grid import Grid, Intervals, ValueCounts

_MAX_CELLS = 2**50

# Beyond this a row in a wrong gap is out of the question, and logarithms would lose digits.
_MAX_RATE = 256


@dataclass(frozen=True)
class JointExponentialQuantiles:
    """Private quantiles of one numeric column, drawn jointly.

    Parameters
    ----------
    epsilon : Fraction
        Privacy budget of one release, of all quantiles together.
    quantiles : tuple of Fraction
        Strictly increasing, between 0 and 1.
    low, high : float
        Public range. Values outside count as the nearest end, missing values as ``high``.
    cells : int
        Number of cells of the grid.

    Notes
    -----
    Neighbours: one row replaced, added or removed.

    Sensitivity: a replaced row changes the utility of a tuple by at most 2, one added or removed by
    less.

    Guarantee: ``epsilon``-differential privacy, up to the rounding of float64 numbers; see
    ``docs/proofs/joint-exponential-quantiles.md``. The running time depends on the data.

    Cost: ``epsilon``, for all quantiles together.
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
                "quantiles must be strictly increasing, between 0 and 1 and at least one, got "
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
        """Which share of the rows each of the m + 1 gaps should hold."""
        borders = (Fraction(0), *self.quantiles, Fraction(1))
        return tuple(b - a for a, b in pairwise(borders))

    @property
    def rate(self) -> Fraction:
        """Weight lost, as a logarithm, for each row in a wrong gap. Capped: never less private."""
        return min(self.epsilon / (2 * self.sensitivity), Fraction(_MAX_RATE))

    def release(
        self, exact_values: NDArray[np.float64] | ValueCounts, randomness: Randomness
    ) -> NDArray[np.float64]:
        """Draw the quantiles, as edges in non-decreasing order."""
        if self.low == self.high:
            return np.full(len(self.quantiles), float(self.low))
        grid = Grid(self.low, self.high, self.cells)
        exact = grid.intervals(exact_values)
        noisy_cells: list[int] = []
        for interval, run in self._draw_runs(exact, randomness):
            start, width = int(exact.starts[interval]), int(exact.widths[interval])
            noisy_cells += [start + randomness.below(width) for _ in range(run)]
        return grid.edges(sorted(noisy_cells))

    def _draw_runs(self, exact: Intervals, randomness: Randomness) -> list[tuple[int, int]]:
        """Which intervals hold quantiles, and how many each, from the last one to the first."""
        tables = Tables(exact, self.rate, self.shares)
        runs: list[tuple[int, int]] = []
        placed, limit, end = len(self.quantiles), len(exact.positions), exact.rows
        while placed > 0:
            interval = _choose(tables.interval_weights(placed, limit, end), randomness)
            run = 1 + _choose(tables.run_weights(placed, interval), randomness)
            runs.append((interval, run))
            placed, limit, end = placed - run, interval, int(exact.positions[interval])
        return runs


def _choose(weights: NDArray[np.float64], randomness: Randomness) -> int:
    """Index i with probability proportional to weight i: a half, a half of that half, and so on."""
    first, last = 0, len(weights)
    while last - first > 1:
        middle = (first + last) // 2
        left, right = float(weights[first:middle].sum()), float(weights[middle:last].sum())
        uniform = randomness.bits(64)
        goes_left = uniform * right < (2**64 - uniform) * left
        first, last = (first, middle) if goes_left else (middle, last)
    return first
