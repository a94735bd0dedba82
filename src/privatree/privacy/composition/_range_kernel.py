"""One draw of a composition of bounded-range draws, on a grid, in floats that are rounded up.

``docs/proofs/bounded-range-composition.md`` has the inequality that is computed here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privatree._support.kernels.compiling import compiled

TINY = 1e-300
"""Added to each result, because products below it may have been rounded to 0."""
_MAX_EXPONENT = 700.0
"""A larger exponent would overflow. Its exponential is above 1 / TINY."""
_INTERCEPT_ERROR = 2.0**-44
"""Bound on the relative error of the terms of an intercept."""


def delta_before_draw(later: NDArray[np.float64], n_cells: int, step: float) -> NDArray[np.float64]:
    """Return upper bounds on delta before a draw, given upper bounds after it.

    Parameters
    ----------
    later : array of shape (n_points + 2 * n_cells,)
        Upper bounds at equidistant thresholds, the smallest threshold first.
    n_cells : int
        Range of the draw, in cells of the grid.
    step : float
        Width of a cell.

    Returns
    -------
    array of shape (n_points,)
        Upper bounds at all thresholds but the first and last `n_cells`.
    """
    below = np.arange(1, n_cells + 1)  # cells from the lower end of the interval to the threshold
    above = n_cells - below
    whole = -np.expm1(-n_cells * step)
    decays = np.exp(-above * step)
    lower_weights = -np.expm1(-above * step) / whole
    upper_weights = -np.expm1(-below * step) * decays / whole
    gap_weights = np.expm1(-step / 2) ** 2 * decays / whole
    growth = np.expm1(min(step, _MAX_EXPONENT))
    slack = rounding_slack(n_cells * step)
    return np.asarray(
        _worst_grid_mean(later, lower_weights, upper_weights, gap_weights, growth, slack)
    )


def rounding_slack(epsilon: float) -> float:
    """Return a bound on the relative error of one result for a draw of range `epsilon`."""
    return 1e-12 * (1.0 + epsilon)


@compiled
def _worst_grid_mean(
    later: NDArray[np.float64],
    lower_weights: NDArray[np.float64],
    upper_weights: NDArray[np.float64],
    gap_weights: NDArray[np.float64],
    growth: float,
    slack: float,
) -> NDArray[np.float64]:
    """Return the largest mean of `later` over all intervals that contain the threshold."""
    n_cells = len(lower_weights)
    n_points = len(later) - 2 * n_cells
    high = np.empty(len(later) - 1)  # intercepts of the lines between grid points, rounded up
    low = np.empty(len(later) - 1)  # and rounded down
    for place in range(len(later) - 1):
        rest = (later[place] - later[place + 1]) / growth
        error = _INTERCEPT_ERROR * (later[place] + abs(rest))
        high[place] = later[place] + rest + error
        low[place] = later[place] + rest - error
    before = later[n_cells : n_cells + n_points].copy()
    worst = before.copy()
    for number in range(n_cells):
        first = n_cells - 1 - number
        lower, upper, gap = lower_weights[number], upper_weights[number], gap_weights[number]
        for point in range(n_points):
            start = point + first
            mean = lower * later[start] + upper * later[start + n_cells]
            more = gap * (high[start] - low[start + n_cells])
            largest = max(mean, before[point]) + max(more, 0.0)
            worst[point] = max(worst[point], largest)
            before[point] = mean
    for point in range(n_points):
        worst[point] = min(1.0, worst[point] * (1.0 + slack) + TINY)
    return worst
