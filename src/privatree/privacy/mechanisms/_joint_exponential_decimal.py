"""The tables of :mod:`joint_exponential_tables` again, to any number of digits.

Needed for the rare draw that the error of the float tables hides. The same recurrences, one
decimal number at a time: some ten thousand times slower, and simple.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from math import ceil, factorial

from privatree.privacy.mechanisms._joint_exponential_tables import Problem
from privatree.privacy.samplers._refinement import precision


class PreciseTables:
    """The tables with ``digits`` decimal digits, and the weights of the choices."""

    def __init__(self, problem: Problem, digits: int) -> None:
        self._problem = problem
        self._digits = digits
        self._positions = problem.exact.positions.tolist()
        self._widths = problem.exact.widths.tolist()
        self._targets = [share * problem.rows for share in problem.shares]
        self._powers: dict[Fraction, Decimal] = {}
        with localcontext(precision(digits)):
            self._zero_gaps = [self._kernel(gap, 0) for gap in range(problem.n_quantiles)]
            self._b = [[self._kernel(0, position) for position in self._positions]]
            for gap in range(1, problem.n_quantiles):
                sums = [sum(self._runs(gap, i), Decimal(0)) for i in range(len(self._positions))]
                self._b.append(self._convolve(gap, sums))

    @property
    def relative_error(self) -> Decimal:
        """Bound on the relative error of every weight.

        A step has at most three powers, each with the error of its exponent, and other operations.
        """
        largest_exponent = ceil(self._problem.rate * self._problem.rows) + 1
        operations = 8 * self._problem.longest_chain * (largest_exponent + 2)
        return Decimal(operations) * Decimal(10) ** (1 - self._digits)

    def interval_weights(self, placed: int, limit: int, end: int) -> list[Decimal]:
        """A_placed(i) K_{placed+1}(end - x_i) for the intervals i < limit."""
        with localcontext(precision(self._digits)):
            return [
                sum(self._runs(placed, i), Decimal(0))
                * self._kernel(placed, end - self._positions[i])
                for i in range(limit)
            ]

    def run_weights(self, placed: int, interval: int) -> list[Decimal]:
        """The terms k = 1, ..., placed of A_placed(interval)."""
        with localcontext(precision(self._digits)):
            return self._runs(placed, interval)

    def _runs(self, placed: int, i: int) -> list[Decimal]:
        terms, kernels = [], Decimal(1)
        for run in range(1, placed + 1):
            if run > 1:
                kernels *= self._zero_gaps[placed - run + 1]
            measure = Decimal(self._widths[i] ** run) / Decimal(factorial(run))
            terms.append(self._b[placed - run][i] * measure * kernels)
        return terms

    def _kernel(self, gap: int, rows: int) -> Decimal:
        return self._power(abs(rows - self._targets[gap]))

    def _power(self, distance: Fraction) -> Decimal:
        """exp(-rate * distance)."""
        if distance not in self._powers:
            exponent = -self._problem.rate * distance
            value = (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
            self._powers[distance] = value
        return self._powers[distance]

    def _convolve(self, gap: int, sums: list[Decimal]) -> list[Decimal]:
        """B_{gap+1} from A_gap = ``sums``, as ``joint_exponential_kernels._convolve`` does it.

        Gaps g >= t in a decaying sum; smaller ones as the end of one block and the beginning of
        the next, blocks being as long as the window of such gaps.
        """
        target, positions = self._targets[gap], self._positions
        window = max(ceil(target), 1) - 1
        blocks = [position // window if window else 0 for position in positions]
        steps = [Fraction(0)]
        steps += [Fraction(b - a) for a, b in pairwise(positions)]
        suffixes = list(sums)
        for i in range(len(sums) - 2, -1, -1):
            if blocks[i] == blocks[i + 1]:
                suffixes[i] += suffixes[i + 1] * self._power(steps[i + 1])
        far, prefix, first, result = Decimal(0), Decimal(0), 0, []
        for i, position in enumerate(positions):
            if i > 0:
                far *= self._power(steps[i])
                if window and blocks[i] == blocks[i - 1]:
                    prefix /= self._power(steps[i])
                    prefix += sums[i - 1] * self._power(target - steps[i])
                else:
                    prefix = Decimal(0)
            while position - positions[first] > window:
                far += sums[first] * self._power(position - positions[first] - target)
                first += 1
            near = prefix
            if first < i and blocks[first] < blocks[i]:
                near += suffixes[first] * self._power(target - (position - positions[first]))
            result.append(far + near)
        return result
