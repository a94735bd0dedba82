"""Exact choice by weights that can be approximated, by repeated halving.

A half of the candidates is chosen, then a half of that half, and so on, each time with a new
uniform number. The error of the weights then leaves each decision open with a small probability,
however many candidates there are. (With a running sum, this could happen at every single
candidate.) An open decision is made in arbitrary precision with more bits of the same
uniform number, so the law is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privatree.privacy._randomness import Randomness
from privatree.privacy.samplers._refinement import (
    FIRST_DIGITS,
    UNIT_ROUNDOFF,
    UniformReal,
    precision,
)

NEGLIGIBLE = 2.0**-500
"""A weight below this share of the largest may be given as 0."""

PreciseWeights: TypeAlias = Callable[[int], tuple[Sequence[Decimal], Decimal]]
"""A function of a number of digits. It returns weights in any unit, and a bound on their relative
error that tends to 0 as the number of digits grows."""


def select_by_halving(
    exact_weights: NDArray[np.float64],
    relative_error: float,
    precise_weights: PreciseWeights,
    randomness: Randomness,
) -> int:
    """Draw index i with probability exactly proportional to its true weight.

    Each of ``exact_weights`` is within ``relative_error`` of the true weight, or is 0 if the true
    weight is below ``NEGLIGIBLE`` times the largest. Their sum must not overflow.
    ``precise_weights`` gives the same weights in arbitrary precision.
    """
    negligible = float(exact_weights.max()) * NEGLIGIBLE
    first, last = 0, len(exact_weights)
    while last - first > 1:
        middle = (first + last) // 2
        uniform = UniformReal(randomness)
        left = float(np.sum(exact_weights[first:middle]))
        right = float(np.sum(exact_weights[middle:last]))
        # Go left with probability left/(left + right): if uniform * right < (1 - uniform) * left.
        for_left = (2**64 - uniform.numerator) * 2.0**-64 * left
        for_right = uniform.numerator * 2.0**-64 * right
        error = 2.0 * relative_error + 4.0 * UNIT_ROUNDOFF * (last - first + 8)
        margin = error * (for_left + for_right) + 2.0**-63 * (left + right)
        margin += 2.0 * negligible * (last - first)
        if abs(for_left - for_right) > margin:
            goes_left = for_left > for_right
        else:
            goes_left = _halve_precisely(precise_weights, first, middle, last, uniform)
        first, last = (first, middle) if goes_left else (middle, last)
    return first


def _halve_precisely(
    precise_weights: PreciseWeights, first: int, middle: int, last: int, uniform: UniformReal
) -> bool:
    """Return whether the uniform number is below the left half's share of the weight."""
    digits = FIRST_DIGITS
    while True:
        weights, relative_error = precise_weights(digits)
        with localcontext(precision(digits)):
            number = uniform.to_digits(digits)
            left = sum(weights[first:middle], Decimal(0))
            right = sum(weights[middle:last], Decimal(0))
            for_left, for_right = (1 - number) * left, number * right
            error = 2 * relative_error + 4 * (last - first + 8) * Decimal(10) ** (1 - digits)
            margin = error * (for_left + for_right)
            margin += 2 * (left + right) * Decimal(10) ** (1 - digits)
            if abs(for_left - for_right) > margin:
                return for_left > for_right
        digits *= 2
