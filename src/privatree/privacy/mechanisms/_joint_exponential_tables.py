"""Weights of the sorted tuples of cells, as logarithms in float64 [GJK21].

Let x_i be the position of interval i (the number of data cells that are not above its cells), w_i
its width, t_j the number of rows that gap j should hold, and K_j(g) = exp(-rate |g - t_j|). Two
tables are filled in the order of j, the number of quantiles placed so far:

- B_j(i): quantiles 1, ..., j - 1 lie before interval i and gap j ends in it,
  B_1(i) = K_1(x_i) and B_j(i) = sum over i' < i of A_{j-1}(i') K_j(x_i - x_i');
- A_j(i): quantiles 1, ..., j lie up to interval i and quantile j lies in it,
  A_j(i) = sum over k (quantiles in i) of B_{j-k+1}(i) w_i^k / k! K_{j-k+2}(0) ... K_j(0).

In the code, quantiles and gaps are counted from 0.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, e, exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.kernels.compiling import compiled
from privatree.privacy.mechanisms._quantile_grid import Intervals

# A scaled number is a pair: the logarithm of a unit, and the number of units. The unit of zero is
# below that of any weight, but finite, so that differences of logarithms are always defined.
_ZERO = -1e300, 1.0

# Tuples are left out if all of them together have less than 2^-60 of the weight.
_NEGLIGIBLE = 60 * log(2)


class JointQuantileTables:
    """The two tables, and the weights of the choices that draw a tuple from last to first.

    ``rate`` is epsilon / (2 sensitivity); ``shares`` are the shares of the rows in the gaps.
    """

    def __init__(self, exact: Intervals, rate: Fraction, shares: tuple[Fraction, ...]) -> None:
        shape = len(shares) - 1, len(exact.positions)
        self._positions = exact.positions
        self._log_widths, self._log_cells = np.log(exact.widths), log(exact.widths.sum())
        self._rate = float(rate)
        self._targets = np.array([float(share * exact.rows) for share in shares])
        self._firsts, self._lasts = self._windows()
        self._log_a, self._log_b = np.empty(shape), np.empty(shape)
        _fill_quantile_tables(
            self._positions,
            self._log_widths,
            self._rate,
            self._targets,
            self._firsts,
            self._lasts,
            self._log_a,
            self._log_b,
            np.zeros(shape[::-1]),
        )

    def _windows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return for each quantile the range of intervals outside which its weight is negligible.

        A tuple whose quantile j has position x misses the targets by 2 |x - centre_j| rows or more.
        Its weight is compared with that of the tuple nearest to the centres.
        """
        positions, rows = self._positions, int(self._positions[-1])
        centres = np.cumsum(self._targets[:-1])
        nearest = np.minimum(np.searchsorted(positions, centres), len(positions) - 1)
        gaps = np.diff(positions[nearest], prepend=0, append=rows)
        log_ratio = np.sum(self._log_cells - self._log_widths[nearest]) + log(len(centres))
        log_ratio += self._rate * np.abs(gaps - self._targets).sum() + _NEGLIGIBLE
        radius = min(log_ratio / max(2 * self._rate, 1e-200), rows)
        firsts = np.searchsorted(positions, np.floor(centres - radius))
        lasts = np.searchsorted(positions, np.ceil(centres + radius), side="right")
        return firsts, lasts

    def interval_weights(self, placed: int, limit: int, end: int) -> NDArray[np.float64]:
        """Return A_placed(i) K_{placed+1}(end - x_i) for i < limit, divided by the largest."""
        first, last = self._firsts[placed - 1], min(self._lasts[placed - 1], limit)
        misses = np.abs(end - self._positions[first:last] - self._targets[placed])
        weights = np.zeros(limit)
        weights[first:last] = _table_weights(
            self._log_a[placed - 1, first:last] - self._rate * misses
        )
        return weights

    def run_weights(self, placed: int, interval: int) -> NDArray[np.float64]:
        """Return the terms k = 1, ..., placed of A_placed(interval), divided by the largest."""
        lengths = np.arange(1, placed + 1)
        firsts = placed - lengths  # the first quantile of each run
        inside = interval < self._lasts[firsts]
        logs = np.where(inside, self._log_b[firsts, interval], _ZERO[0])
        logs += np.cumsum(self._log_widths[interval] - np.log(lengths))
        return _table_weights(logs - self._rate * np.cumsum(self._targets[firsts + 1]))


def _table_weights(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    weights: NDArray[np.float64] = np.exp(logs - logs.max())
    return weights


@compiled
def _fill_quantile_tables(
    positions: Any,
    log_widths: Any,
    rate: Any,
    targets: Any,
    firsts: Any,
    lasts: Any,
    log_a: Any,
    log_b: Any,
    terms: Any,
) -> None:
    """Fill both tables. Only entries inside the windows are written or read.

    Call B_l(i) / (w_i^l K_1(0) ... K_l(0)) the term of l. Then A_j(i) is the sum over k of the term
    of j - k + 1, divided by k!, times a factor that does not depend on k. The terms of an interval
    have a common unit, the largest of them so far. Widths are counted in units of ``scale`` cells,
    so that scale^k, not 1, is divided by k!. With a scale of m/e, no quotient is near 0.
    """
    scale = len(log_a) / e
    inverse_factorials = np.cumprod(scale / np.arange(1.0, len(log_a) + 1.0))
    log_units = np.full(len(positions), _ZERO[0])
    for j in range(len(log_a)):
        if j == 0:
            for i in range(firsts[0], lasts[0]):
                log_b[0, i] = -rate * abs(positions[i] - targets[0])
        else:
            window, own_window = (firsts[j - 1], lasts[j - 1]), (firsts[j], lasts[j])
            _convolve_table(positions, rate, targets[j], log_a[j - 1], window, log_b[j], own_window)
        log_zero_gaps = -rate * targets[: j + 1].sum()
        for i in range(firsts[j], lasts[j]):
            log_width = log_widths[i] - log(scale)
            log_term = log_b[j, i] - log_zero_gaps - j * log_width
            if log_term > log_units[i]:
                terms[i, :j] *= exp(log_units[i] - log_term)
                log_units[i] = log_term
            terms[i, j] = exp(log_term - log_units[i])
            total = 0.0
            for k in range(j + 1):
                total += terms[i, j - k] * inverse_factorials[k]
            log_a[j, i] = log_units[i] + log_zero_gaps + (j + 1) * log_width + log(total)


@compiled
def _convolve_table(
    positions: Any, rate: Any, target: Any, log_a: Any, window: Any, log_b: Any, own_window: Any
) -> None:
    """Compute B(i) = sum over i' < i of A(i') K(x_i - x_i'), in time linear in the intervals.

    Gaps of at least the target need one running sum. Smaller gaps lie in at most two neighbouring
    blocks of positions: the end of one (``suffixes``) and the beginning of the next.
    """
    first, last = window
    length = max(ceil(target), 1)  # of a block
    suffixes = np.empty(last), np.empty(last)
    suffix, block = _ZERO, positions[last - 1] // length * length
    for i in range(last - 1, first - 1, -1):
        if positions[i] < block:
            suffix, block = _ZERO, positions[i] // length * length
        suffix = _add_table_entries(suffix, (log_a[i] - rate * positions[i], 1.0))
        suffixes[0][i], suffixes[1][i] = suffix
    far, near, block = _ZERO, _ZERO, 0
    oldest = reached = first  # intervals before `oldest` are far, those up to `reached` are near
    for i in range(own_window[0], own_window[1]):
        position = positions[i]
        if position >= block + length:
            near, block = _ZERO, position // length * length
        while reached < min(i, last):
            if positions[reached] >= block:
                near = _add_table_entries(near, (log_a[reached] - rate * positions[reached], 1.0))
            reached += 1
        while oldest < reached and positions[oldest] + target <= position:
            far = _add_table_entries(far, (log_a[oldest] + rate * positions[oldest], 1.0))
            oldest += 1
        both = near
        if oldest < reached and positions[oldest] < block:
            both = _add_table_entries(near, (suffixes[0][oldest], suffixes[1][oldest]))
        excess = rate * (position - target)
        log_unit, units = _add_table_entries((far[0] - excess, far[1]), (both[0] + excess, both[1]))
        log_b[i] = log_unit + log(units)


@compiled
def _add_table_entries(one: Any, two: Any) -> Any:
    """Add two scaled numbers, each a pair: the logarithm of a unit and the number of units."""
    if one[0] < two[0]:
        one, two = two, one
    return one[0], one[1] + two[1] * exp(two[0] - one[0])
