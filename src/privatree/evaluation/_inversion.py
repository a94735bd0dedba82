"""Intervals by inverting a test, for noisy sums over a sample.

A metric theta is the number at which a sum over the records has the mean 0, such as
(1 - theta) A - theta B for the share of A in A + B. Theta is in the interval if the sum that was
released is not farther from 0 than chance explains: the chance of which records were sampled, whose
variance is that *at theta*, and the noise, whose law is known. So there is no division by a noisy
number, and the intervals hold near 0 and 1, too.

All functions work on many releases at once: the first axis of an array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

NORMAL = 2.06
"""The standard normal law is within this number of 0 with a probability of 96%.

The intervals claim 95%: the rest is for what is approximate."""
_TAIL = (NORMAL**3 - 3 * NORMAL) / 24
"""How much farther a law with an excess kurtosis of 1 reaches (Cornish and Fisher)."""
_HALVINGS = 40
_WIDE = 0.2
"""From this width on, a metric between 0 and 1 is not taken to err on both sides alike."""
_N_TILTS = 121
_FARTHEST_TILT = 40.0


class Noise(NamedTuple):
    """Independent noise in some numbers: variance and fourth cumulant of each."""

    variance: Floats
    fourth: Floats


class Interval(NamedTuple):
    """Estimates, NaN where the noise hides them, and the ends of their intervals."""

    value: Floats
    low: Floats
    high: Floats


class SumTest(NamedTuple):
    """A sum ``total - theta * size`` that has the mean 0, and what noise is in it.

    `total_noise` and `size_noise` are the factors of the same independent draws in both numbers.
    """

    total: Floats
    size: Floats
    total_noise: Floats
    size_noise: Floats
    noise: Noise

    def size_error(self) -> Floats:
        """Return the standard deviation of the noise in `size`."""
        deviation: Floats = np.sqrt(np.sum(self.size_noise**2 * self.noise.variance, axis=-1))
        return deviation


def invert(
    test: SumTest, spread: Callable[[Floats], Floats], low: float, high: float, step: float
) -> Interval:
    """Return the estimates and intervals of theta, which lies between two numbers.

    `spread` gives the variance of the sum from sampling, at some theta. `step` is the largest
    change of the sum by one record; half of it corrects for the sum having steps.
    """
    known = test.size > NORMAL * test.size_error()
    size = np.where(known, test.size, 1.0)
    value = np.clip(test.total / size, low, high)

    def accepted(theta: Floats) -> NDArray[np.bool_]:
        factors = test.total_noise - theta[:, None] * test.size_noise
        noise = np.sum(factors**2 * test.noise.variance, axis=-1)
        fourth = np.sum(factors**4 * test.noise.fourth, axis=-1)
        variance = noise + np.maximum(spread(theta), 0.0)
        kurtosis = fourth / np.maximum(variance**2, 1e-300)
        reach = (NORMAL + _TAIL * np.minimum(kurtosis, 3.0)) * np.sqrt(variance)
        is_near: NDArray[np.bool_] = np.abs(value - theta) * size <= reach + step / 2
        return is_near

    ends = []
    for end in (low, high):
        inside, outside = value.copy(), np.full_like(value, end)
        outside_accepted = accepted(outside)
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            is_inside = accepted(middle)
            inside = np.where(is_inside, middle, inside)
            outside = np.where(is_inside, outside, middle)
        ends.append(np.where(outside_accepted | ~known, end, outside))
    return Interval(np.where(known, value, np.nan), *ends)


def clean_shares(counts: Floats) -> Floats:
    """Return counts as shares without negative ones; one record more is divided among all."""
    positive = np.maximum(counts, 0.0) + 1.0 / counts.shape[-1]
    shares: Floats = positive / positive.sum(axis=-1, keepdims=True)
    return shares


def share_spread(size: Floats) -> Callable[[Floats], Floats]:
    """Return the variance of a sum of 0 and 1, at the share theta of ones."""
    return lambda theta: size * theta * (1.0 - theta)


def tilted_spread(weights: Floats, values: Floats, size: Floats) -> Callable[[Floats], Floats]:
    """Return the variance of a sum of values, if their mean were theta.

    `weights` are estimated shares of the values, an array (release, value). They are tilted
    exponentially until their mean is theta: the nearest distribution for which theta is true. For
    values of 0 and 1 this is `share_spread`.
    """
    low, high = values.min(axis=-1, keepdims=True), values.max(axis=-1, keepdims=True)
    scaled = (values - low) / np.maximum(high - low, 1e-300)
    tilts = np.sinh(np.linspace(-1, 1, _N_TILTS) * np.arcsinh(_FARTHEST_TILT * 10)) / 10
    means, variances = [], []
    for tilt in tilts:
        power = tilt * scaled
        tilted = weights * np.exp(power - power.max(axis=-1, keepdims=True))
        tilted /= tilted.sum(axis=-1, keepdims=True)
        mean = np.sum(tilted * values, axis=-1)
        means.append(mean)
        variances.append(np.sum(tilted * (values - mean[:, None]) ** 2, axis=-1))
    return interpolated_spread(np.array(means).T, np.array(variances).T, size)


def interpolated_spread(
    means: Floats, variances: Floats, size: Floats
) -> Callable[[Floats], Floats]:
    """Return `size` times the variance at theta, between the means for which it is known."""

    def spread(theta: Floats) -> Floats:
        right = np.clip((means < theta[:, None]).sum(axis=1), 1, means.shape[1] - 1)
        rows = np.arange(len(theta))
        below, above = means[rows, right - 1], means[rows, right]
        share = np.clip((theta - below) / np.maximum(above - below, 1e-300), 0.0, 1.0)
        variance = variances[rows, right - 1] * (1 - share) + variances[rows, right] * share
        found: Floats = size * variance
        return found

    return spread


def mean_of(parts: list[Interval], without_noise: list[Interval] | None = None) -> Interval:
    """Return the mean of some metrics from 0 to 1, with an interval (MOVER).

    The distance of each end from the estimate is the root of the sum of squared distances. That is
    for metrics of *disjoint* records. With `without_noise`, they are of the same records, but with
    independent noise: these are the intervals from sampling alone, whose distances are added up.

    Where an interval is cut off by the range from 0 to 1, or nothing is known of a metric, errors
    are on one side, and do not cancel: whole distances are added up. So they are with
    `without_noise` where intervals are nearly as wide as the range.
    """
    middles = [np.where(np.isnan(one.value), (one.low + one.high) / 2, one.value) for one in parts]
    middle = np.mean(middles, axis=0)
    ends = []
    for end in (1, 2):
        distances = np.abs([part[end] - at for part, at in zip(parts, middles, strict=True)])
        if without_noise is None:
            whole = np.array([is_cut_off(part, end) for part in parts])
            sampled = np.zeros_like(distances)
        else:
            whole = np.array([is_one_sided(part) for part in parts])
            sampled = np.abs([np.nan_to_num(part[end] - part.value) for part in without_noise])
        added = np.where(whole, distances, 0.0).sum(axis=0)
        distances, sampled = (np.where(whole, 0.0, each) for each in (distances, sampled))
        squares = np.maximum(distances**2 - sampled**2, 0.0).sum(axis=0)
        ends.append((added + np.sqrt(squares + sampled.sum(axis=0) ** 2)) / len(parts))
    value = np.mean([part.value for part in parts], axis=0)  # NaN if one is
    low, high = np.maximum(middle - ends[0], 0.0), np.minimum(middle + ends[1], 1.0)
    return Interval(np.clip(value, 0.0, 1.0), low, high)


def is_cut_off(part: Interval, end: int) -> NDArray[np.bool_]:
    """Return where an end of an interval is that of the range from 0 to 1, or nothing is known."""
    at_end = part.low <= 0 if end == 1 else part.high >= 1
    cut: NDArray[np.bool_] = at_end | np.isnan(part.value)
    return cut


def is_one_sided(part: Interval) -> NDArray[np.bool_]:
    """Return where an interval is cut off by the range from 0 to 1, or so wide that it may be."""
    wide: NDArray[np.bool_] = (
        (part.high - part.low > _WIDE) | (part.low <= 0) | (part.high >= 1) | np.isnan(part.value)
    )
    return wide


def mean_of_dependent(parts: list[Interval]) -> Interval:
    """Return the mean of metrics of the same records and noise: its ends are means of ends."""
    return Interval(
        np.mean([part.value for part in parts], axis=0),
        np.mean([part.low for part in parts], axis=0),
        np.mean([part.high for part in parts], axis=0),
    )
