"""Numbers in 32 bits that stay on their side of every threshold.

scikit-learn's trees and SHAP round numbers to 32 bits before they compare them. A number near a
threshold could change its side by that, and two thresholds could become one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_LARGEST = np.float32(1e30)  # so that scikit-learn can sum up many: it looks for infinities so
_UP, _DOWN = np.float32(np.inf), np.float32(-np.inf)


class Rounding:
    """Rounds numbers and some thresholds to 32 bits, and keeps ``number <= threshold`` as it is.

    Parameters
    ----------
    thresholds : array of float
        Finite numbers, in any order.

    Attributes
    ----------
    thresholds : float64 array
        The thresholds, in increasing order and each once.
    rounded : float32 array
        What stands for them: next to them, unless they are beyond 1e30, and as different as they
        are.
    """

    def __init__(self, thresholds: ArrayLike) -> None:
        self.thresholds = np.unique(np.asarray(thresholds, dtype=np.float64))
        with np.errstate(over="ignore"):
            self.rounded = _apart(self.thresholds)
            self._lowest = np.append(-_LARGEST, np.nextafter(self.rounded, _UP))
        self._highest = np.append(self.rounded, _LARGEST)

    def __call__(self, numbers: NDArray[np.float64]) -> NDArray[np.float32]:
        """Round numbers: as usual, unless that would change a side."""
        side = np.searchsorted(self.thresholds, numbers, side="left")  # how many are less
        with np.errstate(over="ignore"):
            nearest = numbers.astype(np.float32)
        return np.clip(nearest, self._lowest[side], self._highest[side])

    def of_thresholds(self, thresholds: NDArray[np.float64]) -> NDArray[np.float32]:
        """What stands for some of the thresholds."""
        return self.rounded[np.searchsorted(self.thresholds, thresholds)]


def _apart(thresholds: NDArray[np.float64]) -> NDArray[np.float32]:
    """Increasing numbers rounded down, then moved where two would be one, or too large."""
    nearest = thresholds.astype(np.float32)
    below = np.where(nearest > thresholds, np.nextafter(nearest, _DOWN), nearest)
    rounded = np.maximum(below, -_LARGEST)
    for i in range(1, len(rounded)):
        rounded[i] = max(rounded[i], np.nextafter(rounded[i - 1], _UP))
    room = _LARGEST
    for i in reversed(range(len(rounded))):
        room = np.nextafter(room, _DOWN)  # there must be a number above the last one
        rounded[i] = room = min(rounded[i], room)
    return rounded
