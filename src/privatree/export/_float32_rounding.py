"""Rounding to 32 bits that keeps every number on its side of every threshold.

scikit-learn's trees and SHAP round numbers to 32 bits before they compare them. Plain rounding
could move a number across a threshold, or make two thresholds equal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_MAX_FLOAT32 = np.float32(1e30)
"""Largest value. scikit-learn sums values to find infinities, and such sums must stay finite."""
_INFINITY = np.float32(np.inf)


class Float32Rounding:
    """Rounding that keeps the result of every comparison ``number <= threshold``.

    `thresholds` holds the finite thresholds, sorted and without repetition, and `rounded` their
    32-bit values. The 32-bit values are distinct, too, and near their thresholds up to 1e30.
    """

    def __init__(self, thresholds: ArrayLike) -> None:
        self.thresholds = np.unique(np.asarray(thresholds, dtype=np.float64))
        with np.errstate(over="ignore"):
            self.rounded = _distinct_float32_thresholds(self.thresholds)
            self._lowest = np.append(-_MAX_FLOAT32, np.nextafter(self.rounded, _INFINITY))
        self._highest = np.append(self.rounded, _MAX_FLOAT32)

    def round_numbers(self, numbers: NDArray[np.float64]) -> NDArray[np.float32]:
        """Round each number to the nearest float32 on the same side of all thresholds."""
        n_below = np.searchsorted(self.thresholds, numbers, side="left")
        with np.errstate(over="ignore"):
            nearest = numbers.astype(np.float32)
        return np.clip(nearest, self._lowest[n_below], self._highest[n_below])

    def round_thresholds(self, thresholds: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return the 32-bit values of `thresholds`, each of which was given to the constructor."""
        return self.rounded[np.searchsorted(self.thresholds, thresholds)]


def _distinct_float32_thresholds(thresholds: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return increasing thresholds rounded down to 32 bits; equal or too large ones are moved."""
    nearest = thresholds.astype(np.float32)
    below = np.where(nearest > thresholds, np.nextafter(nearest, -_INFINITY), nearest)
    rounded = np.maximum(below, -_MAX_FLOAT32)
    for i in range(1, len(rounded)):
        rounded[i] = max(rounded[i], np.nextafter(rounded[i - 1], _INFINITY))
    highest = _MAX_FLOAT32
    for i in reversed(range(len(rounded))):
        highest = np.nextafter(highest, -_INFINITY)  # a number must fit above the last threshold
        rounded[i] = highest = min(rounded[i], highest)
    return rounded
