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
from itertools import chain, groupby

import numpy as np
from numpy.typing import NDArray

from privatree.privacy._exact_epsilon import positive_fraction
from privatree.privacy.composition._composition import RangeGroup, check_range_groups
from privatree.privacy.composition._range_kernel import delta_before_draw, rounding_slack

_WORK = 1.5e7
"""About so many means are computed for a delta. A hundredth of a second is enough for them."""
_MIN_CELLS, _MAX_CELLS = 4, 256
"""Least and largest number of cells in the largest range."""
_NEGLIGIBLE = 1e-5
"""About the share of delta that is lost because the grid ends somewhere."""


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
    >>> groups = [RangeGroup(Fraction(1, 20), 60)]
    >>> f"{certified_delta(Fraction(1), groups):.1e}"
    '5.9e-09'
    >>> certified_delta(Fraction(3), groups)  # the sum of the ranges
    0.0
    """
    return merged_groups_delta(positive_fraction("epsilon", epsilon), _merge_range_groups(groups))


def _merge_range_groups(groups: Sequence[RangeGroup]) -> tuple[RangeGroup, ...]:
    """Return the groups without empty ones; neighbours of equal range become one group."""
    return tuple(
        RangeGroup(epsilon, sum(group.times for group in equal))
        for epsilon, equal in groupby(check_range_groups(groups), lambda group: group.epsilon)
    )


@lru_cache(maxsize=256)
def merged_groups_delta(epsilon: Fraction, groups: tuple[RangeGroup, ...]) -> float:
    """Return :func:`certified_delta` of arguments that were checked."""
    if sum(group.epsilon * group.times for group in groups) <= epsilon:
        return 0.0
    step, draws = _grid_of_ranges(epsilon, groups)
    windows = _grid_windows(float(epsilon), step, draws)
    return _grid_delta(epsilon, step, draws, windows)


# --- the grid -------------------------------------------------------------------------------------

_Window = tuple[int, int]
"""First and last point of a part of the grid. Point 0 is epsilon."""


def _grid_of_ranges(epsilon: Fraction, groups: Sequence[RangeGroup]) -> tuple[float, list[int]]:
    """Return the step of a grid, and the number of cells that cover the range of each draw."""
    largest = max(group.epsilon for group in groups)
    n_cells = _affordable_cells(epsilon, groups, largest)
    step = float(largest / n_cells)
    if Fraction(step) * n_cells < largest:
        step = math.nextafter(step, math.inf)
    return step, _cells_of_draws(groups, Fraction(step))


def _cells_of_draws(groups: Sequence[RangeGroup], step: Fraction) -> list[int]:
    cells = ([math.ceil(group.epsilon / step)] * group.times for group in groups)
    return list(chain.from_iterable(cells))


def _affordable_cells(epsilon: Fraction, groups: Sequence[RangeGroup], largest: Fraction) -> int:
    """Return a number of cells in the largest range such that other ranges are rounded up little.

    The work grows with the square of this number.
    """
    step = largest / _MAX_CELLS
    draws = _cells_of_draws(groups, step)
    windows = _grid_windows(float(epsilon), float(step), draws)
    work = sum((last - first) * n for n, (first, last) in zip(draws, windows, strict=False))
    most = math.floor(_MAX_CELLS * math.sqrt(min(1.0, _WORK / max(1, work))))
    most = max(_MIN_CELLS, most)

    def growth(n_cells: int) -> float:
        """Return about the sum of the squared ranges that the grid makes of the given ones."""
        cells = ((math.ceil(g.epsilon * n_cells / largest), g.times) for g in groups)
        return sum(n * (count**2 + 2) for count, n in cells) / n_cells**2

    return min(range(max(_MIN_CELLS, 3 * most // 4), most + 1), key=growth)


def _grid_windows(epsilon: float, step: float, draws: list[int]) -> list[_Window]:
    """Return the part of the grid that matters before each draw, and after the last one.

    Windows decide how near the bound is, not whether it holds. The losses of the draws spread like
    Gaussian noise whose variance is a quarter of the sum of the squared ranges, or less.
    """
    cells = np.concatenate([[0.0], draws])
    variance = np.cumsum((step * cells) ** 2) / 4
    mu = math.sqrt(variance[-1])
    past = variance / variance[-1]
    # All in deviations: where the loss is epsilon, and what the noise reaches almost never.
    needed = max(0.0, epsilon / mu - mu / 2)
    slack = 2 * math.log((1 + needed) * (1 + 1 / mu) / _NEGLIGIBLE)
    highest = np.sqrt(past * (needed**2 + slack))
    # Noise does not fall so far and then rise to `needed`; or, from above 0, does not rise to it.
    falls = past * needed - np.sqrt(past * (1 - past) * slack)
    rises = needed - np.sqrt((1 - past) * (needed**2 + slack))
    lowest = np.where(falls < 0, falls, rises)
    reach, margin = np.cumsum(cells), max(draws)
    first = -np.minimum(np.ceil((variance / 2 + mu * highest) / step), reach) - margin
    last = np.minimum(np.ceil(-mu * lowest / step), reach) + margin
    windows = zip(first.astype(int).tolist(), last.astype(int).tolist(), strict=True)
    return [(0, 0), *list(windows)[1:]]


# --- delta, backwards -----------------------------------------------------------------------------


def _grid_delta(epsilon: Fraction, step: float, draws: list[int], windows: list[_Window]) -> float:
    """Return delta at epsilon, for draws whose ranges are given in cells of the grid."""
    window = windows[-1]
    later = _delta_without_draws(epsilon, step, window)
    for n_cells, earlier in zip(reversed(draws), reversed(windows[:-1]), strict=True):
        wanted = earlier[0] - n_cells, earlier[1] + n_cells
        later = delta_before_draw(_delta_in_window(later, window, wanted), n_cells, step)
        window = earlier
    return float(later[0])


def _delta_without_draws(epsilon: Fraction, step: float, window: _Window) -> NDArray[np.float64]:
    """Return max(0, 1 - e^s) at grid points s, rounded up."""
    offsets = step * np.arange(window[0], window[1] + 1)
    thresholds = float(epsilon) + offsets
    thresholds -= 2.0**-50 * (float(epsilon) + np.abs(offsets))
    delta = -np.expm1(np.minimum(thresholds, 0.0)) * (1.0 + rounding_slack(0.0))
    return np.asarray(np.minimum(delta, 1.0))


def _delta_in_window(
    delta: NDArray[np.float64], window: _Window, wanted: _Window
) -> NDArray[np.float64]:
    """Return upper bounds on delta in another window.

    Below the old window the bound is 1. Above it the bound is that of its last point, because delta
    falls with epsilon.
    """
    places = np.arange(wanted[0], wanted[1] + 1) - window[0]
    found = delta[np.clip(places, 0, len(delta) - 1)]
    found[places < 0] = 1.0
    return np.asarray(found)
