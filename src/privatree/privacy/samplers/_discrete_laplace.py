"""Exact two-sided geometric noise, P(z) proportional to exp(-rate |z|), in bulk [CKS20, Alg. 2].

The code is compiled integer arithmetic on 64-bit words, without floating-point numbers, so the law
is exact. Noise beyond +-2^62 is returned as +-2^62. This changes no sum of
:func:`add_integer_noise`, which clamps sums to +-2^61.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.kernels.compiling import compiled
from privatree.errors import ParameterError
from privatree.privacy._randomness import Randomness

DENOMINATOR = 2**50
MAX_NOISE = 2**62
_MAX_NUMERATOR = 2**62  # rate 4096, at which noise is non-zero with probability < 10^-1700
_WORDS_A_DRAW = 12


def discrete_laplace(rate: Fraction, count: int, randomness: Randomness) -> NDArray[np.int64]:
    """Return ``count`` draws with P(z) proportional to exp(-dyadic_laplace_rate(rate) |z|)."""
    numerator = dyadic_laplace_rate(rate) * DENOMINATOR
    draws = np.empty(count, dtype=np.int64)
    done = 0
    words = np.empty(0, dtype=np.uint64)
    while done < count:
        fresh = randomness.words(_WORDS_A_DRAW * (count - done) + 64)
        words = np.concatenate((words, fresh))
        done, used = _fill_laplace_noise(draws, done, words, np.uint64(int(numerator)))
        # A draw that ran out of words starts again with the *same* words, followed by more. With
        # other words, draws that need few words would be too frequent.
        words = words[used:]
    return draws


def add_integer_noise(
    exact_counts: NDArray[np.int64], noise: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Clamp the counts to +-2^60, add the noise, and clamp the sums to +-2^61.

    Clamping a count moves neighbours no further apart, and clamping a sum uses nothing but the sum.
    Without clamping, the largest noise would reveal an exact count.
    """
    if exact_counts.dtype.kind not in "iu":
        raise ParameterError(
            f"counts must be of an integer type, got {exact_counts.dtype}.", "counts"
        )
    if exact_counts.dtype == np.uint64:
        exact_counts = np.minimum(exact_counts, np.uint64(2**60))
    exact_counts = np.clip(exact_counts.astype(np.int64), -(2**60), 2**60)
    return np.asarray(np.clip(exact_counts + noise, -(2**61), 2**61))


def dyadic_laplace_rate(rate: Fraction) -> Fraction:
    """Return the rate of the sampler: the largest s/2^50 <= rate, so noise is never too small."""
    numerator = min(rate.numerator * DENOMINATOR // rate.denominator, _MAX_NUMERATOR)
    if numerator < 1:
        raise ParameterError("epsilon / sensitivity must be at least 2^-50. Raise epsilon.")
    return Fraction(numerator, DENOMINATOR)


# --- the compiled sampler -----------------------------------------------------------------------
# Each function takes the words and a position. It returns a value and the next position, or the
# position -1 if the words ran out.


@compiled
def _draw_laplace_uniform(words: Any, position: Any, bound: Any) -> Any:
    """Draw a uniform integer below ``bound``."""
    rejected = (np.uint64(0) - bound) % bound  # 2^64 mod bound: without these words it is uniform
    while position < words.size:
        word = words[position]
        position += 1
        if word >= rejected:
            return word % bound, position
    return np.uint64(0), -1


@compiled
def _toss_laplace_coin(words: Any, position: Any, numerator: Any) -> Any:
    """Return 1 with probability exp(-numerator / 2^50), otherwise 0; numerator <= 2^50.

    The algorithm is that of :mod:`privatree.privacy.samplers._bernoulli`. A coin of bias x/k is
    tossed as a coin of bias x and a coin of bias 1/k.
    """
    successes = np.uint64(0)
    while True:
        if numerator < np.uint64(DENOMINATOR):
            draw, position = _draw_laplace_uniform(words, position, np.uint64(DENOMINATOR))
            if position < 0:
                return np.uint64(0), -1
            if draw >= numerator:
                break
        if successes > np.uint64(0):
            draw, position = _draw_laplace_uniform(words, position, successes + np.uint64(1))
            if position < 0:
                return np.uint64(0), -1
            if draw > np.uint64(0):
                break
        successes += np.uint64(1)
    return np.uint64(1) - (successes & np.uint64(1)), position


@compiled
def _draw_laplace_noise(words: Any, position: Any, numerator: Any) -> Any:
    """Draw an exponential variable in steps of 2^-50, divide it by the rate, and add a sign."""
    while True:
        accepted = np.uint64(0)
        fraction = np.uint64(0)
        while accepted == np.uint64(0):
            fraction, position = _draw_laplace_uniform(words, position, np.uint64(DENOMINATOR))
            if position < 0:
                return np.int64(0), -1
            accepted, position = _toss_laplace_coin(words, position, fraction)
            if position < 0:
                return np.int64(0), -1
        magnitude = np.uint64(0)
        rest = fraction  # part of the exponential variable that is not yet divided
        while magnitude < np.uint64(MAX_NOISE):
            more, position = _toss_laplace_coin(words, position, np.uint64(DENOMINATOR))
            if position < 0:
                return np.int64(0), -1
            if more == np.uint64(0):
                break
            rest += np.uint64(DENOMINATOR)
            if rest >= np.uint64(MAX_NOISE):
                magnitude += rest // numerator
                rest %= numerator
        magnitude = min(magnitude + rest // numerator, np.uint64(MAX_NOISE))
        negative, position = _draw_laplace_uniform(words, position, np.uint64(2))
        if position < 0:
            return np.int64(0), -1
        if negative == np.uint64(0):
            return np.int64(magnitude), position
        if magnitude > np.uint64(0):  # draw again for minus zero, or 0 would be too frequent
            return -np.int64(magnitude), position


@compiled
def _fill_laplace_noise(draws: Any, done: Any, words: Any, numerator: Any) -> Any:
    """Fill ``draws`` from index ``done``; return the numbers of draws made and of words used."""
    used = 0
    while done < draws.size:
        draw, position = _draw_laplace_noise(words, used, numerator)
        if position < 0:
            break
        draws[done] = draw
        done += 1
        used = position
    return done, used
