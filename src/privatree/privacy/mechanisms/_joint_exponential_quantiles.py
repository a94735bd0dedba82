"""All quantiles of a column in one exponential mechanism [GJK21].

The outcomes are the sorted tuples of cells of a public grid. A tuple's utility is minus the sum,
over the gaps between its neighbouring cells, of how far the rows in the gap are from their share.
There are too many tuples to list, but a tuple's weight is a product over its gaps, so that one is
drawn exactly, from the last quantile to the first, along tables of partial sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.privacy._randomness import Randomness
from privatree.privacy.mechanisms._joint_exponential_decimal import PreciseTables
from privatree.privacy.mechanisms._joint_exponential_tables import FloatTables, Problem
from privatree.privacy.mechanisms._quantile_grid import (
    LARGEST_COLUMN,
    TOO_LONG,
    QuantileGrid,
    ValueCounts,
    intervals,
)
from privatree.privacy.samplers._halving import select_by_halving
from privatree.privacy.samplers._scaled_floats import LARGEST_RATE


@dataclass(frozen=True)
class JointExponentialQuantiles(QuantileGrid):
    """Private quantiles of one numeric column, drawn jointly.

    The parameters are those of :class:`~privatree.privacy.mechanisms._quantile_grid.QuantileGrid`.
    Proofs are in ``docs/proofs/joint-exponential-quantiles.md``.
    """

    name: ClassVar[str] = "joint exponential quantiles"

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Which share of the rows each of the m + 1 gaps should hold."""
        borders = (Fraction(0), *self.quantiles, Fraction(1))
        return tuple(b - a for a, b in pairwise(borders))

    @property
    def sensitivity(self) -> Fraction:
        """How much one record can change the utility of a tuple."""
        if self.neighbours == "replace":
            return Fraction(2)
        return 2 * (1 - min(self.shares))

    @property
    def rate(self) -> Fraction:
        """Weight lost, as a logarithm, for each row in a wrong gap. Capped: never less private."""
        return min(self.epsilon / (2 * self.sensitivity), Fraction(LARGEST_RATE))

    def release(
        self, exact_values: NDArray[np.float64] | ValueCounts, randomness: Randomness
    ) -> NDArray[np.float64]:
        """Draw the quantiles, as edges in non-decreasing order.

        Notes
        -----
        Neighbours: one row replaced, or one added or removed, as ``neighbours`` says.

        Sensitivity: 2 for a replaced row; 2 (1 - the smallest share of a gap) for one added or
        removed.

        Guarantee: ``epsilon``-differential privacy, exactly: the law of the outcome is that of the
        exponential mechanism, whatever the rounding. The running time depends on the data.

        Cost: ``epsilon``, for all quantiles together.
        """
        if self.low == self.high:
            return np.full(len(self.quantiles), float(self.low))
        problem = self._problem(exact_values)
        noisy_cells: list[int] = []
        for interval, run in _draw_runs(problem, randomness):
            start = int(problem.exact.starts[interval])
            width = int(problem.exact.widths[interval])
            noisy_cells += [start + randomness.below(width) for _ in range(run)]
        return self.edges(sorted(noisy_cells))

    def _problem(self, exact_values: NDArray[np.float64] | ValueCounts) -> Problem:
        exact_counts = None
        if isinstance(exact_values, ValueCounts):
            exact_values, exact_counts = exact_values
        exact_cells = self.sorted_cells(exact_values)
        rows = len(exact_cells) if exact_counts is None else int(exact_counts.sum())
        if rows > LARGEST_COLUMN:
            raise ParameterError(TOO_LONG)
        exact = intervals(exact_cells, 0, self.cells - 1, exact_counts)
        return Problem(exact, rows, self.rate, self.shares)


def _draw_runs(problem: Problem, randomness: Randomness) -> list[tuple[int, int]]:
    """Which intervals hold quantiles, and how many each, from the last one to the first."""
    tables = FloatTables(problem)
    precise = cache(lambda digits: PreciseTables(problem, digits))

    def choose(weights: str, *state: int) -> int:
        def precise_weights(digits: int) -> tuple[list[Decimal], Decimal]:
            refined = precise(digits)
            return getattr(refined, weights)(*state), refined.relative_error

        approximate = getattr(tables, weights)(*state)
        return select_by_halving(approximate, tables.relative_error, precise_weights, randomness)

    runs: list[tuple[int, int]] = []
    placed, limit, end = problem.n_quantiles, len(problem.exact.positions), problem.rows
    while placed > 0:
        interval = choose("interval_weights", placed, limit, end)
        run = 1 + choose("run_weights", placed, interval)
        runs.append((interval, run))
        placed, limit, end = placed - run, interval, int(problem.exact.positions[interval])
    return runs
