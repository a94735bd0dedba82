"""How much weight the sorted tuples of cells carry, in scaled floats [GJK21].

With x_i the position of interval i (how many data cells are not above its cells), w_i its width,
t_j the rows that gap j should hold and K_j(g) = exp(-rate |g - t_j|), two tables are summed up
over j, the number of quantiles placed so far:

- B_j(i): quantiles 1, ..., j - 1 lie before interval i and gap j ends in it,
  B_1(i) = K_1(x_i) and B_j(i) = sum over i' < i of A_{j-1}(i') K_j(x_i - x_i');
- A_j(i): quantiles 1, ..., j lie up to interval i and quantile j lies in it,
  A_j(i) = sum over runs k of B_{j-k+1}(i) w_i^k / k! K_{j-k+2}(0) ... K_j(0).

Only B is stored; A is made from it where it is needed. Every operation is a product, a quotient or
a sum of positive numbers, so relative errors add up and nothing cancels.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import ceil, log, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.privacy.mechanisms._joint_exponential_kernels import (
    fill,
    flatten,
    weigh_intervals,
    weigh_runs,
)
from privatree.privacy.mechanisms._quantile_grid import LARGEST_COLUMN, LARGEST_GRID, Intervals
from privatree.privacy.samplers._halving import NEGLIGIBLE
from privatree.privacy.samplers._refinement import UNIT_ROUNDOFF, precision
from privatree.privacy.samplers._scaled_floats import POWER_ERROR, RADIX_BITS, power_tables, scaled


@dataclass(frozen=True)
class Problem:
    """The weights asked for.

    Attributes
    ----------
    exact : Intervals
        The data.
    rows : int
        Their number.
    rate : Fraction
        epsilon / (2 sensitivity).
    shares : tuple of Fraction
        Which share of the rows each gap between neighbouring quantiles should hold.
    """

    exact: Intervals
    rows: int
    rate: Fraction
    shares: tuple[Fraction, ...]

    @property
    def n_quantiles(self) -> int:
        """One less than the gaps."""
        return len(self.shares) - 1

    @property
    def longest_chain(self) -> int:
        """Bound on the steps, each a power, a product and a sum, that lead to any one weight.

        A recurrence has at most one step an interval. Into and out of it lead products worth four
        steps, and the sum over runs has at most ``n_quantiles`` terms of two steps.
        """
        return (self.n_quantiles + 1) * (len(self.exact.positions) + 2 * self.n_quantiles + 6)


class FloatTables:
    """The tables in scaled floats, and the weights of the choices that draw a tuple backwards."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._widths = problem.exact.widths.astype(np.float64)
        self._powers, self._kernels = _constants(problem.rate, problem.rows, problem.shares)
        shape = problem.n_quantiles, len(self._widths)
        self._b, self._b_exponents = np.empty(shape), np.empty(shape, dtype=np.int32)
        scratch = 3, len(self._widths)
        fill(
            problem.exact.positions,
            self._widths,
            self._powers,
            self._kernels,
            self._b,
            self._b_exponents,
            np.empty(scratch),
            np.empty(scratch, dtype=np.int32),
        )

    @property
    def relative_error(self) -> float:
        """Bound on the relative error of every weight: a power and two roundings a step."""
        return 1.01 * UNIT_ROUNDOFF * (POWER_ERROR + 2.0) * self._problem.longest_chain

    def interval_weights(self, placed: int, limit: int, end: int) -> NDArray[np.float64]:
        """A_placed(i) K_{placed+1}(end - x_i) for the intervals i < limit, in a common unit.

        Those certain to be negligible are 0.
        """
        weights = np.zeros(limit)
        first, last = self._relevant(placed, limit, end)
        flatten(weights[first:last], self._weigh(placed, end, first, weights[first:last]))
        return weights

    def run_weights(self, placed: int, interval: int) -> NDArray[np.float64]:
        """The terms k = 1, ..., placed of A_placed(interval), in a common unit."""
        weights: NDArray[np.float64]
        weights, exponents = weigh_runs(
            self._powers,
            self._kernels,
            self._b,
            self._b_exponents,
            placed,
            interval,
            self._widths[interval],
        )
        flatten(weights, exponents)
        return weights

    def _weigh(
        self, placed: int, end: int, first: int, weights: NDArray[np.float64]
    ) -> NDArray[np.int32]:
        """Put mantissas of the weights from interval ``first`` on in place, return exponents."""
        exponents = np.empty(len(weights), dtype=np.int32)
        weigh_intervals(
            self._problem.exact.positions,
            self._widths,
            self._powers,
            self._kernels,
            self._b,
            self._b_exponents,
            placed,
            end,
            first,
            weights,
            exponents,
        )
        return exponents

    def _relevant(self, placed: int, limit: int, end: int) -> tuple[int, int]:
        """The range of intervals below ``limit`` outside of which weights are negligible.

        As gaps up to position x miss their targets by at least |x - their sum| together, a weight
        is at most cells^placed exp(-rate (|x - centre| + |end - x - target|)). Where that is
        negligible beside the weight at the centre, it need not be computed.
        """
        positions = self._problem.exact.positions[:limit]
        shares = self._problem.shares
        centre = ceil(sum(shares[:placed]) * self._problem.rows)
        other = end - ceil(shares[placed] * self._problem.rows)
        best = min(int(np.searchsorted(positions, centre)), limit - 1)
        weight = np.empty(1)
        exponent = int(self._weigh(placed, end, best, weight)[0])
        log_best = log2(weight[0]) + RADIX_BITS * exponent
        log_ratio = placed * log2(LARGEST_GRID) - log2(NEGLIGIBLE) - log_best
        rows = ceil(Fraction(1.001 * log_ratio * log(2)) / self._problem.rate) + 8
        radius = min(rows, 4 * LARGEST_COLUMN)
        first = np.searchsorted(positions, (centre + other - radius) // 2)
        last = np.searchsorted(positions, (centre + other + radius) // 2 + 1)
        return int(first), int(last)


@lru_cache(maxsize=2)  # the columns of a fit share them; those of the largest take 16 MiB
def _constants(
    rate: Fraction, rows: int, shares: tuple[Fraction, ...]
) -> tuple[tuple[NDArray[Any], ...], tuple[NDArray[Any], ...]]:
    """The tables of powers and the kernels, which depend on no value; nobody can write to them."""
    powers, kernels = power_tables(rate, rows), _kernels(rate, rows, shares)
    for shared in (*powers, *kernels):
        shared.setflags(write=False)
    return powers, kernels


def _kernels(rate: Fraction, rows: int, shares: tuple[Fraction, ...]) -> tuple[NDArray[Any], ...]:
    """For each gap its ``turn`` = ceil(t) >= 1, and two constants to make powers kernels of.

    K(g) = far * exp(-rate (g - turn)) from the turn on, near * exp(-rate (turn - 1 - g)) below.
    """
    targets = [share * rows for share in shares]
    turns = [max(ceil(target), 1) for target in targets]
    pairs = list(zip(turns, targets, strict=True))
    far = [scaled(_exp(-rate * (turn - target))) for turn, target in pairs]
    near = [scaled(_exp(-rate * (target - turn + 1))) for turn, target in pairs]
    return (
        np.array(turns, dtype=np.int64),
        np.array([number[0] for number in far]),
        np.array([number[1] for number in far], dtype=np.int64),
        np.array([number[0] for number in near]),
        np.array([number[1] for number in near], dtype=np.int64),
    )


def _exp(exponent: Fraction) -> Decimal:
    with localcontext(precision(120)):
        return (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
