"""Table of exp(-rate * k) for whole numbers k, which compiled code can read.

If scores are whole numbers, their differences are exact. So a weight is stored as a pair, a score
and a factor, and is ``factor * exp(rate * score)``. No logarithm loses precision, however large the
scores are.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree._support.kernels.compiling import compiled_inline
from privatree.privacy.samplers._refinement import UNIT_ROUNDOFF

_MIN_SHIFT = 10
"""Least number of low binary digits of k; a table for them has 1,024 numbers."""
_LOWEST = -690.0
"""Exponents below this count as minus infinity: exp of them is less than 2^-995."""

MIN_FACTOR = 2.0**-850
"""Smallest factor. Dropped weights are below 2^-145 times a weight with this factor."""

DECAY_ERROR = 5000.0 * UNIT_ROUNDOFF
"""Bound on the relative error of :func:`decay`, which multiplies two values of exp. Each exponent
is at most 690 in size and has three roundings, and exp itself has an error of 64 roundoffs."""


class Decay(NamedTuple):
    """Tables of exp(-rate * k) by the high and the low binary digits of k."""

    high: NDArray[np.float64]
    low: NDArray[np.float64]
    shift: int
    """Number of low digits. Both tables have about the square root of the number of all k."""


def decay_table(rate: Fraction, largest: int) -> Decay:
    """Return the tables of :func:`decay` at a rate > 0, for whole numbers up to `largest`.

    `largest` bounds the memory at very small rates.
    """
    step = min(float(rate), 1e9)  # beyond, every weight but the best is negligible anyway
    largest = min(largest, int(-_LOWEST / step) + 1)
    shift = max(_MIN_SHIFT, (largest.bit_length() + 1) // 2)
    low = -step * np.arange(2**shift)
    high = -step * (np.arange((largest >> shift) + 1) * float(2**shift))
    return Decay(_decay_or_zero(high), _decay_or_zero(low), shift)


def _decay_or_zero(exponents: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    return np.where(exponents < _LOWEST, 0.0, np.exp(np.maximum(exponents, _LOWEST)))


@compiled_inline
def decay(table: Any, k: Any) -> Any:
    """Return exp(-rate * k), k >= 0; 0 if it is negligible."""
    place = k >> table.shift
    is_known = place < table.high.size
    return table.high[place] * table.low[k - (place << table.shift)] if is_known else 0.0
