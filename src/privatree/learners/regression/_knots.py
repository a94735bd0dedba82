"""Knots: a few places of the target, among which the records of a leaf are divided.

A record between two knots counts in part for each, the more the closer it is. Noisy sums over a
leaf then tell how many records it has, where they are, and their mean. Two knots are the ends of a
*window* around the interval that most targets lie in. Beyond, the distances double. A knot outside
the window has few records, or none and much noise: it counts only if it has clearly more than
noise. Everything here follows from the schema and released values.

All places are target codes, as in ``_levels.py``.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.learners.regression._levels import TargetLevels
from privatree.schema import TARGET_CODES

KNOT_WEIGHT = 2**10
"""What a record adds to the sums of both its knots together."""
_THRESHOLD, _THRESHOLD_STEP = 5.0, 1.4
"""A knot outside the window counts from this number of records on, times 1/epsilon. The second
number is added for each knot between it and the window: a false one does more harm."""
_PRIOR_RECORDS = 10.0
"""Weight of the drawn level in the value of a leaf, in records, times 1/epsilon."""


class LeafValue(NamedTuple):
    """What the noisy sums of a leaf tell."""

    place: float
    """Mean target of the leaf, as a target code."""
    noisy_size: int
    """Noisy number of records."""
    shares: tuple[float, ...]
    """Noisy share of the records at each knot."""


class Knots:
    """The knots of some levels.

    Parameters
    ----------
    levels : TargetLevels
        Levels around a released interval.

    Examples
    --------
    >>> knots = Knots(TargetLevels(16384, 32768))
    >>> knots.places.tolist()
    [0, 4096, 12288, 36864, 45056, 61440, 65536]
    >>> knots.weights()[[0, 12288, 24575]].tolist()
    [[1024, 0, 0, 0, 0, 0, 0], [0, 0, 1024, 0, 0, 0, 0], [0, 0, 512, 512, 0, 0, 0]]
    """

    def __init__(self, levels: TargetLevels) -> None:
        self._levels = levels
        width = levels.stop - levels.start
        low = max(0, levels.start - width // 4)
        high = min(TARGET_CODES, levels.stop + width // 4)
        below = _doubling_places(low, width)
        above = [TARGET_CODES - place for place in _doubling_places(TARGET_CODES - high, width)]
        self.places = np.array([*below[::-1], low, high, *above], dtype=np.int64)
        self.window = len(below), len(below) + 1
        """Positions of the two knots of the window."""

    @cached_property
    def edges(self) -> NDArray[np.float64]:
        """Ends of the interval that each knot stands for, as target codes."""
        middles = (self.places[1:] + self.places[:-1]) / 2
        return np.concatenate([[0.0], middles, [float(TARGET_CODES)]])

    def weights(self) -> NDArray[np.int64]:
        """Return what a record adds to the sum of each knot, an array (target code, knot).

        A record counts as in the middle of its code. Every row sums to `KNOT_WEIGHT`.
        """
        twice = 2 * np.arange(TARGET_CODES) + 1
        right = np.searchsorted(2 * self.places, twice).clip(1, len(self.places) - 1)
        low, high = self.places[right - 1], self.places[right]
        distance = (2 * high - twice).clip(0, 2 * (high - low))
        of_left = (KNOT_WEIGHT * distance + (high - low)) // (2 * (high - low))
        weights = np.zeros((TARGET_CODES, len(self.places)), dtype=np.int64)
        codes = np.arange(TARGET_CODES)
        weights[codes, right - 1] = of_left
        weights[codes, right] = KNOT_WEIGHT - of_left
        return weights

    def leaf_value(self, noisy_sums: NDArray[np.int64], level: int, epsilon: Fraction) -> LeafValue:
        """Return the value of a leaf, given its noisy sums and the level that was drawn for it.

        `noisy_sums` are sums of :meth:`weights` over the records of the leaf, with noise for a
        budget of `epsilon`.
        """
        counts = noisy_sums / KNOT_WEIGHT
        distance = np.arange(len(counts))
        first, last = self.window
        outwards = np.maximum(first - distance, distance - last)  # 0 at the window
        least = (_THRESHOLD + _THRESHOLD_STEP * (outwards - 1)) / float(epsilon)
        kept = np.where((outwards == 0) | (counts >= least), counts, 0.0)
        drawn = self._levels.middles[level]
        prior = _PRIOR_RECORDS / float(epsilon)
        place = drawn + float((self.places - drawn) @ kept) / (max(0.0, kept.sum()) + prior)
        low = 0 if kept[:first].any() else self.places[first]
        high = TARGET_CODES if kept[last + 1 :].any() else self.places[last]
        return LeafValue(
            float(np.clip(place, low, high)), round(float(counts.sum())), self._shares(kept)
        )

    def _shares(self, counts: NDArray[np.float64]) -> tuple[float, ...]:
        """Return counts as shares, without negative ones.

        If no count is positive, nothing is known of the leaf but that its records are probably
        where most are. A share far outside would make its value look far more uncertain.
        """
        positive = np.maximum(counts, 0.0)
        if not positive.any():
            positive[list(self.window)] = 1.0
        shares: list[float] = (positive / positive.sum()).tolist()
        return tuple(shares)


def _doubling_places(end: int, width: int) -> list[int]:
    """Return places below one end of the window, at distances that double, and then 0."""
    steps = ((2**i - 1) * width // 2 for i in range(1, TARGET_CODES))
    places = [end - step for step in takewhile(lambda step: step < end, steps)]
    return [*places, 0] if end > 0 else []
