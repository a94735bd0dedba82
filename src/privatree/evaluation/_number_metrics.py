"""Metrics of a model that predicts a number, from noisy counts at knots, each with its interval."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.evaluation._inversion import (
    Floats,
    Interval,
    Noise,
    SumTest,
    clean_shares,
    invert,
    tilted_spread,
)

_WORST_R2 = -1.0
"""R² is not told below this."""
_HALVINGS = 60


class KnotCounts(NamedTuple):
    """Noisy counts at knots, an array (release, knot), in records, and what the knots stand for.

    `noise` is the variance and the fourth cumulant of the noise in each count.
    """

    counts: Floats
    values: Floats
    noise: tuple[float, float]

    def mean(self, values: Floats, low: float, high: float) -> Interval:
        """Return the mean of a value of each knot, (release, knot) or (knot,), over all records."""
        values = np.broadcast_to(values, self.counts.shape)
        size = self.counts.sum(axis=1)
        noise = Noise(*(np.full(values.shape[1], moment) for moment in self.noise))
        test = SumTest(
            (self.counts * values).sum(axis=1), size, values, np.ones_like(values), noise
        )
        spread = tilted_spread(clean_shares(self.counts), values, np.maximum(size, 0.0))
        return invert(test, spread, low, high, 0.0)


def squared_error(errors: KnotCounts) -> Interval:
    return errors.mean(errors.values**2, 0.0, float(errors.values[-1] ** 2))


def root_mean_squared_error(errors: KnotCounts) -> Interval:
    return Interval(*(np.sqrt(part) for part in squared_error(errors)))


def mean_absolute_error(errors: KnotCounts) -> Interval:
    """Return the mean size of the errors.

    Between two knots the sum of the squares is exact, and that of the sizes is too small by a
    little, of which only a bound is known: two thirds of it, if the errors are spread evenly. The
    interval has the bound on both sides.
    """
    sizes = errors.values
    gaps = np.diff(sizes) ** 2 / (4 * (sizes[1:] + sizes[:-1]))
    missing = np.zeros_like(sizes)
    missing[1:] += gaps / 2
    missing[:-1] += gaps / 2
    ends = (0.0, float(sizes[-1]))
    found = errors.mean(sizes + missing * 2 / 3, ends[0], ends[1] + float(missing.max()))
    most = errors.mean(missing, 0.0, float(missing.max())).value
    most = np.nan_to_num(most, nan=float(missing.max()))
    return Interval(
        np.clip(found.value, *ends),
        np.clip(found.low - most * 2 / 3, *ends),
        np.clip(found.high + most / 3, *ends),
    )


def explained_variance(errors: KnotCounts, targets: KnotCounts) -> Interval:
    """Return R²: 1 minus the ratio of the mean squared error to the variance of the targets.

    A ratio is in the interval if the mean squared error and the ratio times the variance are not
    farther apart than their own intervals allow together.
    """
    error, spread = squared_error(errors), _target_variance(targets)
    known = ~(np.isnan(error.value) | np.isnan(spread.value)) & (spread.low > 0)
    value = np.where(known, error.value / np.where(known, spread.value, 1.0), 0.0)
    value = np.minimum(value, 1 - _WORST_R2)

    def accepted(ratio: Floats) -> NDArray[np.bool_]:
        difference = ratio * spread.value - error.value
        above = np.hypot(error.high - error.value, ratio * (spread.value - spread.low))
        below = np.hypot(error.value - error.low, ratio * (spread.high - spread.value))
        is_near: NDArray[np.bool_] = np.where(difference > 0, difference, -difference) <= np.where(
            difference > 0, above, below
        )
        return is_near

    ends = []
    for end in (0.0, 1 - _WORST_R2):
        inside, outside = value.copy(), np.full_like(value, end)
        whole = accepted(outside) | ~known
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            is_inside = accepted(middle)
            inside = np.where(is_inside, middle, inside)
            outside = np.where(is_inside, outside, middle)
        ends.append(np.where(whole, end, outside))
    low, high = 1 - ends[1], 1 - ends[0]
    return Interval(np.where(known, 1 - value, np.nan), low, high)


def _target_variance(targets: KnotCounts) -> Interval:
    size = np.maximum(targets.counts.sum(axis=1), 1.0)
    limit = float(targets.values[-1])
    mean = np.clip((targets.counts * targets.values).sum(axis=1) / size, -limit, limit)
    return targets.mean((targets.values - mean[:, None]) ** 2, 0.0, 4 * limit**2)
