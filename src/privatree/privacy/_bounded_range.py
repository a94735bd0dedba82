"""The exact privacy of adaptively chosen draws of bounded range [DDR20], rounded up.

A draw has *range* e if the log-ratio of the probabilities of an outcome on neighbouring datasets
varies by at most e over all outcomes. Exponential mechanisms are such draws. Many of them together
cost less than the sum of their epsilons, if a small delta is allowed. The largest delta that draws
of given ranges can have at a given epsilon is computed backwards, from the last draw to the first,
on a grid. The proof, and why neither the grid nor floats can make the result too small, is in
``docs/proofs/bounded-range-composition.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from privatree.errors import ParameterError
from privatree.privacy._composition import RangeGroup, check_range_groups
from privatree.privacy._exact_epsilon import positive_fraction
from privatree.privacy._range_kernel import delta_before_draw, rounding_slack

_WORK = 1.5e7
"""About so many steps of arithmetic are made for a delta."""
_MIN_CELLS, _MAX_CELLS = 12, 256
"""Least and largest number of cells in the largest range."""
_NEGLIGIBLE = 1e-6
"""Share of delta that may be lost by cutting the grid off, about."""
_TOLERANCE = 1e-4
"""Share of the largest range that the search for it may miss."""
_MAX_SEARCH = 60


def certified_delta(epsilon: Fraction, groups: Sequence[RangeGroup]) -> float:
    """Return an upper bound on the delta of adaptively chosen bounded-range draws.

    Parameters
    ----------
    epsilon : Fraction
        Epsilon of the guarantee of all draws together.
    groups : sequence of RangeGroup
        Ranges of the draws, in the order of time. Each draw may depend on the outcomes of those
        before it.

    Returns
    -------
    float
        Delta such that all draws together are (epsilon, delta)-DP; 0 if the ranges add up to at
        most epsilon. Only rounding and the grid make it larger than the best possible value.

    Examples
    --------
    >>> groups = [RangeGroup(Fraction(1, 20), 60)]  # the sum of the ranges is 3
    >>> certified_delta(Fraction(3), groups)
    0.0
    >>> f"{certified_delta(Fraction(1), groups):.1e}"
    '5.9e-09'
    """
    epsilon = positive_fraction("epsilon", epsilon)
    return _certified_delta(epsilon, _merged_groups(groups))


def largest_range(
    epsilon: Fraction, delta: Fraction, pattern: Sequence[tuple[Fraction, int]]
) -> Fraction:
    """Return the largest range e for which draws of given multiples of e are (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon, delta : Fraction
        Guarantee of all draws together. Delta is less than 1.
    pattern : sequence of pairs
        Of each group of draws, in the order of time: its range as a multiple of e, and its number
        of draws.

    Returns
    -------
    Fraction
        The range e, up to one part in 10,000. :func:`certified_delta` of these very draws is at
        most delta. The ranges add up to at least epsilon; to exactly epsilon if delta is 0.

    Examples
    --------
    >>> pattern = [(Fraction(1, 4), 8), (Fraction(1), 60)]
    >>> round(float(largest_range(Fraction(1), Fraction(1, 10**6), pattern)), 3)
    0.061
    >>> largest_range(Fraction(1), Fraction(0), pattern)
    Fraction(1, 62)
    """
    epsilon = positive_fraction("epsilon", epsilon)
    if not 0 <= delta < 1:
        raise ParameterError(f"delta must be in [0, 1), got {float(delta)}.", "delta")
    kept = tuple((positive_fraction("pattern", ratio), n) for ratio, n in pattern if n)
    check_range_groups(tuple(RangeGroup(ratio, n) for ratio, n in kept))
    return _largest_range(epsilon, Fraction(delta), kept)


def gaussian_mu(epsilon: Fraction | float, delta: Fraction | float) -> float:
    """Return the mu of Gaussian noise that is (epsilon, delta)-DP: sensitivity / deviation.

    Many draws of bounded range behave like this noise: a draw of range e has about mu = e/2, and
    the squares of the mu of several draws add up.

    Examples
    --------
    >>> round(gaussian_mu(1, 1e-6), 4)
    0.2367
    """
    epsilon, delta = float(epsilon), float(delta)
    if not (epsilon > 0 and 0 < delta < 1):
        raise ParameterError("epsilon must be > 0, and delta between 0 and 1.")
    return _mu_of_log_delta(epsilon, math.log(delta))


# --- delta ----------------------------------------------------------------------------------------


def _merged_groups(groups: Sequence[RangeGroup]) -> tuple[RangeGroup, ...]:
    """Return the groups without empty ones, with equal neighbours merged."""
    kept = check_range_groups(groups)
    return tuple(
        RangeGroup(epsilon, sum(group.times for group in equal))
        for epsilon, equal in groupby(kept, lambda group: group.epsilon)
    )


@lru_cache(maxsize=256)
def _certified_delta(epsilon: Fraction, groups: tuple[RangeGroup, ...]) -> float:
    if sum(group.epsilon * group.times for group in groups) <= epsilon:
        return 0.0
    step, draws = _grid_of_ranges(groups)
    return _grid_delta(epsilon, step, draws)


def _grid_of_ranges(groups: Sequence[RangeGroup]) -> tuple[float, list[int]]:
    """Return the step of a grid, and the number of its cells that cover the range of each draw."""
    largest = max(group.epsilon for group in groups)
    ratios = [group.epsilon / largest for group in groups]
    size = sum(float(ratio) ** 2 * group.times for ratio, group in zip(ratios, groups, strict=True))
    n_draws = sum(group.times for group in groups)
    fine = math.sqrt(_WORK / (2.5 * n_draws * math.sqrt(size)))
    n_cells = min(max(math.floor(fine), _MIN_CELLS), _MAX_CELLS)
    common = math.lcm(*(ratio.denominator for ratio in ratios))
    if common <= n_cells:
        n_cells -= n_cells % common
    step = float(largest / n_cells)
    if Fraction(step) * n_cells < largest:
        step = math.nextafter(step, math.inf)
    exact_step = Fraction(step)
    return step, [
        math.ceil(group.epsilon / exact_step) for group in groups for _ in range(group.times)
    ]


def _grid_delta(epsilon: Fraction, step: float, draws: list[int]) -> float:
    """Return delta at epsilon, for draws whose ranges are given in cells of the grid.

    Grid point 0 is epsilon. Points below a window have the bound 1, and points above a window the
    bound of its last point: delta falls with epsilon.
    """
    windows = _grid_windows(epsilon, step, draws)
    first, last = windows[-1]
    later = _delta_without_draws(epsilon, step, first, last)
    for n_cells, window in zip(reversed(draws), reversed(windows[:-1]), strict=True):
        padded = _pad_window(later, first, last, window[0] - n_cells, window[1] + n_cells)
        first, last = window
        later = delta_before_draw(padded, n_cells, step)
    return float(later[-first])


def _delta_without_draws(
    epsilon: Fraction, step: float, first: int, last: int
) -> NDArray[np.float64]:
    """Return max(0, 1 - e^s) at grid points, rounded up."""
    offsets = step * np.arange(first, last + 1)
    error = 2.0**-50 * (float(epsilon) + np.abs(offsets))
    thresholds = float(epsilon) + offsets - error
    delta = -np.expm1(np.minimum(thresholds, 0.0))
    return np.asarray(np.minimum(1.0, delta * (1.0 + rounding_slack(0.0))))


def _pad_window(
    later: NDArray[np.float64], first: int, last: int, new_first: int, new_last: int
) -> NDArray[np.float64]:
    """Return the bounds at the points from `new_first` to `new_last`."""
    places = np.arange(new_first, new_last + 1) - first
    padded = later[np.clip(places, 0, last - first)]
    padded[places < 0] = 1.0
    return np.asarray(padded)


def _grid_windows(epsilon: Fraction, step: float, draws: list[int]) -> list[tuple[int, int]]:
    """Return the first and last grid point that matter before each draw, and after the last one.

    The windows decide how near the bound is, not whether it holds. The losses of the draws spread
    like Gaussian noise whose variance is a quarter of the sum of their squared ranges, or less.
    """
    ranges = step * np.array(draws, dtype=float)
    variance = np.concatenate([[0.0], np.cumsum(ranges**2)]) / 4
    mu = math.sqrt(variance[-1])
    needed = max(0.0, float(epsilon) / mu - mu / 2)  # deviations at which the loss is epsilon
    far = math.sqrt(needed**2 + 2 * math.log((1 + needed) * (1 + 1 / mu) / _NEGLIGIBLE))
    past = variance / variance[-1]
    spread = np.sqrt(past * (1 - past)) * math.sqrt(far**2 - needed**2)
    largest_loss = variance / 2 + mu * far * np.sqrt(past)
    smallest_loss = mu * (past * needed - spread)
    reach = np.concatenate([[0.0], np.cumsum(ranges)])
    margin = max(draws)
    lowest = -np.ceil(np.minimum(largest_loss, reach) / step).astype(int)
    highest = np.ceil(-np.maximum(smallest_loss, -reach) / step).astype(int)
    highest = np.maximum(highest, lowest)
    windows = [(int(a) - margin, int(b) + margin) for a, b in zip(lowest, highest, strict=True)]
    return [(0, 0), *windows[1:]]


# --- the largest range ----------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _largest_range(
    epsilon: Fraction, delta: Fraction, pattern: tuple[tuple[Fraction, int], ...]
) -> Fraction:
    """Search with a function that is almost linear: mu of Gaussian noise of the same delta."""
    best = epsilon / sum(ratio * n for ratio, n in pattern)
    if not delta:
        return best
    limit = float(delta)
    while Fraction(limit) > delta:
        limit = math.nextafter(limit, 0.0)
    aim = _mu_of_log_delta(float(epsilon), math.log(limit))

    def mu_of(size: Fraction) -> float:
        """Return the mu of the same delta; it is more than `aim` if and only if delta is."""
        found = _certified_delta(
            epsilon, _merged_groups([RangeGroup(r * size, n) for r, n in pattern])
        )
        mu = _mu_of_log_delta(float(epsilon), math.log(found)) if found else 0.0
        return max(mu, math.nextafter(aim, math.inf)) if found > limit else min(mu, aim)

    low, high = float(best), math.inf
    guess = 2 * aim / math.sqrt(sum(float(ratio) ** 2 * n for ratio, n in pattern))
    for _ in range(_MAX_SEARCH):
        if not low < guess < high:
            guess = 2 * low if math.isinf(high) else (low + high) / 2
        found = mu_of(Fraction(guess))
        if found <= aim:
            low, best = guess, Fraction(guess)
        else:
            high = guess
        if high <= low * (1 + _TOLERANCE) or aim * (1 - _TOLERANCE) <= found <= aim:
            break
        guess *= (1 - _TOLERANCE / 3) * aim / found if found else 2.0
    return best


def _mu_of_log_delta(epsilon: float, log_delta: float) -> float:
    low, high = 0.0, 1.0
    while _gaussian_log_delta(epsilon, high) < log_delta:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if _gaussian_log_delta(epsilon, middle) < log_delta:
            low = middle
        else:
            high = middle
    return low


def _gaussian_log_delta(epsilon: float, mu: float) -> float:
    """Return log(Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2))."""
    if mu == 0.0:
        return -math.inf
    first, second = (float(log_ndtr(-epsilon / mu + half)) for half in (mu / 2, -mu / 2))
    ratio = -math.expm1(epsilon + second - first)
    return first + math.log(ratio) if ratio > 0 else -math.inf
