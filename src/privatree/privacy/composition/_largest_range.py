"""The largest range of draws that cost a given epsilon and delta together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import count

from scipy.special import log_ndtr

from privatree.errors import ParameterError
from privatree.privacy._exact_epsilon import positive_fraction
from privatree.privacy.composition._bounded_range import certified_delta
from privatree.privacy.composition._composition import (
    MAX_RANGE,
    RangeGroup,
    check_range_groups,
)

_TOLERANCE = 1e-4
"""Share of the largest range that the search may miss."""
_DIGITS = 40
"""Number of binary digits of a range that is searched for."""
_MIN_DELTA = Fraction(1, 10**290)
"""Below this, rounding alone is more than delta."""


def largest_range(
    epsilon: Fraction, delta: Fraction, pattern: Sequence[tuple[Fraction, int]]
) -> Fraction:
    """Return the largest range e such that draws of given multiples of e are (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon, delta : Fraction
        Guarantee of all draws together; 0 <= delta < 1.
    pattern : sequence of pairs
        For each group of draws, in the order of time: its range as a multiple of e, and the number
        of draws.

    Returns
    -------
    Fraction
        The range e, up to one part in 10,000. :func:`certified_delta` of these very draws is at
        most delta. The ranges add up to at least epsilon; to exactly epsilon if delta is 0.

    Examples
    --------
    >>> pattern = [(Fraction(1, 4), 8), (Fraction(1), 60)]
    >>> round(float(largest_range(Fraction(1), Fraction(1, 10**6), pattern)), 3)
    0.061
    >>> largest_range(Fraction(1), Fraction(0), pattern)
    Fraction(1, 62)
    """
    epsilon = positive_fraction("epsilon", epsilon)
    if not 0 <= delta < 1:
        raise ParameterError(f"delta must be at least 0 and below 1, got {delta}.", "delta")
    groups = check_range_groups([RangeGroup(ratio, times) for ratio, times in pattern])
    return _search_largest_range(epsilon, Fraction(delta), groups)


def gaussian_mu(epsilon: Fraction | float, delta: Fraction | float) -> float:
    """Return the mu of Gaussian noise that is (epsilon, delta)-DP: sensitivity over deviation.

    Many draws of bounded range behave like this noise: a draw of range e has about mu = e/2, and
    the squares of the mu of several draws add up.

    Examples
    --------
    >>> round(gaussian_mu(1, 1e-6), 4)
    0.2367
    """
    if not (0 < epsilon <= MAX_RANGE and _MIN_DELTA <= delta < 1):
        raise ParameterError(
            f"epsilon must be > 0 and at most {float(MAX_RANGE):g}, and delta from "
            f"{float(_MIN_DELTA):g} to 1."
        )
    return _mu_at_log_delta(float(epsilon), math.log(delta))


@lru_cache(maxsize=256)
def _search_largest_range(
    epsilon: Fraction, delta: Fraction, pattern: tuple[RangeGroup, ...]
) -> Fraction:
    """Search for the range at which Gaussian noise of the same delta has the right mu.

    This mu is almost proportional to the range if there are many draws. What is returned was
    certified, whatever the search did.
    """
    best = epsilon / sum(ratio * times for ratio, times in pattern)
    if delta < _MIN_DELTA or best >= MAX_RANGE:
        return best
    aim = _mu_at_log_delta(float(epsilon), math.log(delta))
    low, high = float(best), float(MAX_RANGE / max(ratio for ratio, _ in pattern))
    guess = 2 * aim / math.sqrt(sum(float(ratio) ** 2 * times for ratio, times in pattern))
    for number in count(1):
        if number % 4 == 0 or not low < guess < high:
            guess = min(2 * low, (low + high) / 2)
        guess = _round_down(guess)
        size = Fraction(guess)
        needed = certified_delta(epsilon, [RangeGroup(r * size, times) for r, times in pattern])
        mu = _mu_at_log_delta(float(epsilon), math.log(needed)) if needed else 0.0
        if Fraction(needed) <= delta:
            low, best = guess, max(best, size)
        else:
            high = guess
        if high <= low * (1 + _TOLERANCE) or (low == guess and mu >= aim * (1 - _TOLERANCE)):
            break
        guess *= (1 - _TOLERANCE / 3) * aim / mu if mu else 2.0
    return best


def _round_down(size: float) -> float:
    """Return a float with few binary digits, so that simple multiples of it are floats, too.

    A model file has ranges as floats. They must be the very ranges that were certified.
    """
    mantissa, exponent = math.frexp(size)
    return math.ldexp(math.floor(mantissa * 2**_DIGITS), exponent - _DIGITS)


def _mu_at_log_delta(epsilon: float, log_delta: float) -> float:
    low, high = 0.0, 1.0
    while _gaussian_log_delta(epsilon, high) < log_delta:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if _gaussian_log_delta(epsilon, middle) < log_delta:
            low = middle
        else:
            high = middle
    return low


def _gaussian_log_delta(epsilon: float, mu: float) -> float:
    """Return log(Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2))."""
    upper, lower = (float(log_ndtr(-epsilon / mu + half)) for half in (mu / 2, -mu / 2))
    share = -math.expm1(epsilon + lower - upper)
    return upper + math.log(share) if share > 0 else -math.inf
