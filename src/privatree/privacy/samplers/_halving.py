"""Exact choices by weights of which approximations can be computed, one half at a time.

A half of the candidates is chosen, then a half of that half, and so on, with a uniform number for
each. What the error of the weights hides is then a small share of every decision, however many
candidates there are; a running sum would hide as much at each single one of them. A hidden decision
is taken in arbitrary precision with more bits of the same uniform number, so the law is exact.
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
"""Share of the largest weight below which 0 may be given for a weight."""

PreciseWeights: TypeAlias = Callable[[int], tuple[Sequence[Decimal], Decimal]]
"""From a number of digits to weights, in any unit, and a bound on their relative error that tends
to 0 as the digits grow."""


def select_by_halving(
    exact_weights: NDArray[np.float64],
    relative_error: float,
    precise_weights: PreciseWeights,
    randomness: Randomness,
) -> int:
    """Index i with probability exactly proportional to the weights that are approximated.

    Parameters
    ----------
    exact_weights : array of float64
        Each within ``relative_error`` of the truth, or 0 for less than ``NEGLIGIBLE`` times the
        largest. Their sum must not overflow.
    relative_error : float
        Bound on the relative error of each weight.
    precise_weights : callable
        The same weights in arbitrary precision.
    randomness : Randomness
        Where the uniform numbers come from.
    """
    negligible = float(exact_weights.max()) * NEGLIGIBLE
    first, last = 0, len(exact_weights)
    while last - first > 1:
        middle = (first + last) // 2
        uniform = UniformReal(randomness)
        left = float(np.sum(exact_weights[first:middle]))
        right = float(np.sum(exact_weights[middle:last]))
        # Left with probability left / (left + right): if uniform * right < (1 - uniform) * left.
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
    """Whether the uniform number is below the left half's share of the weight."""
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
