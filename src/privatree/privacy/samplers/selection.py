"""Exact choices by exponential weights, at the speed of floating point.

Every decision compares a uniform number with a quantity that only approximations of are known. It
is taken in float64 first, with a rigorous bound on the rounding error. If the uniform number falls
within the bound (about once in 10^9 draws for a thousand candidates) more of its bits are drawn
and the quantity is computed again with twice the digits, as often as needed. So the law of the
outcome is the exact one, whatever the rounding.

A *candidate* i has the weight ``measure_i * exp(rate * score_i)``: scores and measures (positive)
are taken as the exact rational numbers that the given int64 or float64 numbers are.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privatree.privacy.randomness import Randomness

UNIT_ROUNDOFF = 2.0**-53
"""Largest relative error of one float64 operation."""

_EXP_ERROR = 64.0
"""Bound on the relative error of one float64 exp and a product after it, in unit roundoffs. The
mathematical libraries in use stay below a tenth of it."""

_SMALLEST_EXPONENT = -10_000.0
"""Where exp underflows to 0 for certain: exponents are cut off here."""

_TINY = 2.0**-900
"""Above any absolute error made by underflow, for weights of at most 1."""

_LARGEST_RATE = 2**900
_LARGEST_SPREAD = 2**63
"""Of the scores. Up to these, no difference, product or conversion overflows."""

_FIRST_DIGITS = 40

Scores: TypeAlias = NDArray[np.int64] | NDArray[np.float64]


class UniformReal:
    """A uniform number in [0, 1), of which as many bits are drawn as decisions ask for."""

    def __init__(self, randomness: Randomness, numerator: int | None = None) -> None:
        self._randomness = randomness
        self.numerator = randomness.bits(64) if numerator is None else numerator
        self.bits = 64

    def refine(self, bits: int) -> None:
        """Draw further bits up to ``bits`` in all."""
        more = bits - self.bits
        if more > 0:
            self.numerator = (self.numerator << more) | self._randomness.bits(more)
            self.bits = bits


def select(
    exact_scores: Scores,
    rate: Fraction,
    randomness: Randomness,
    measure: NDArray[np.float64] | None = None,
) -> int:
    """Index i with probability exactly proportional to measure_i exp(rate * score_i)."""
    if not _fits_floats(exact_scores, rate):
        return _select_precisely(exact_scores, rate, UniformReal(randomness), measure)
    exponents = _exponents(exact_scores, rate)
    weights = np.exp(exponents) if measure is None else _scaled(measure) * np.exp(exponents)
    cumulative = np.cumsum(weights)
    # Relative error of a weight: three roundings in its exponent, one exp, one product.
    # Of the running sum: one more rounding a term. And what underflowed.
    in_weights = float(np.sum(weights * (_EXP_ERROR - 4.0 * exponents)))
    in_sums = (len(weights) + 10.0) * float(cumulative[-1])
    error = UNIT_ROUNDOFF * (in_weights + in_sums) + len(weights) * _TINY
    uniform = UniformReal(randomness)
    target = float(uniform.numerator) * 2.0**-64 * float(cumulative[-1])
    index = int(np.searchsorted(cumulative, target, side="right"))
    margin = 3.0 * error
    if (index == 0 or cumulative[index - 1] + margin < target) and (
        index < len(weights) and target < cumulative[index] - margin
    ):
        return index
    return _select_precisely(exact_scores, rate, uniform, measure)


def toss(exact_scores: Scores, rate: Fraction, randomness: Randomness) -> NDArray[np.bool_]:
    """Independent coins, i showing heads with probability exactly exp(rate * (score_i - best))."""
    words = randomness.words(len(exact_scores))
    best = exact_scores.max()
    heads = hidden = np.full(len(words), True)
    if _fits_floats(exact_scores, rate):
        exponents = _exponents(exact_scores, rate)
        uniforms = words.astype(np.float64) * 2.0**-64
        biases = np.exp(exponents)
        heads = uniforms < biases
        margins = UNIT_ROUNDOFF * ((_EXP_ERROR - 4.0 * exponents) * biases + 4.0) + _TINY
        hidden = np.abs(uniforms - biases) <= margins
    for index in np.flatnonzero(hidden & (exact_scores < best)):
        difference = Fraction(exact_scores[index].item()) - Fraction(best.item())
        uniform = UniformReal(randomness, int(words[index]))
        heads[index] = _below_exp_precisely(rate * difference, uniform)
    heads[exact_scores == best] = True
    return heads


def _fits_floats(exact_scores: Scores, rate: Fraction) -> bool:
    """Whether the error bounds hold; otherwise everything is decided in arbitrary precision."""
    spread = exact_scores.max().item() - exact_scores.min().item()
    return bool(rate < _LARGEST_RATE and spread < _LARGEST_SPREAD)


def _scaled(measure: NDArray[np.float64]) -> NDArray[np.float64]:
    """The measure times a power of two, its largest value in [1/2, 1)."""
    _, exponent = np.frexp(measure.max())
    return np.asarray(np.ldexp(measure, -exponent))


def _exponents(exact_scores: Scores, rate: Fraction) -> NDArray[np.float64]:
    """rate * (score - best), with a relative error of three roundings."""
    differences = (exact_scores - exact_scores.max()).astype(np.float64)
    return np.asarray(np.maximum(differences * float(rate), _SMALLEST_EXPONENT))


# --- arbitrary precision, for the rare draw inside the error bound ------------------------------


def _select_precisely(
    exact_scores: Scores,
    rate: Fraction,
    uniform: UniformReal,
    measure: NDArray[np.float64] | None,
) -> int:
    scores = [Fraction(score) for score in exact_scores.tolist()]
    measures = [1.0] * len(scores) if measure is None else measure.tolist()
    best = max(scores)
    digits = _FIRST_DIGITS
    while True:
        with localcontext(precision(digits)):
            total, sums, largest = Decimal(0), [], Decimal(0)
            for score, mass in zip(scores, measures, strict=True):
                exponent = _decimal(rate * (score - best))
                largest = max(largest, -exponent)
                total += Decimal(mass) * exponent.exp()
                sums.append(total)
            error = total * (4 * largest + len(scores) + 20) * Decimal(10) ** (1 - digits)
            index = _locate(sums, error, uniform, digits)
        if index is not None:
            return index
        digits *= 2


def _locate(sums: list[Decimal], error: Decimal, uniform: UniformReal, digits: int) -> int | None:
    """The candidate whose share holds the uniform number, or None if the error hides it."""
    uniform.refine(4 * digits)
    target = Decimal(uniform.numerator) / Decimal(2) ** uniform.bits * sums[-1]
    for index, upper in enumerate(sums):
        if target < upper - 3 * error:
            return index
        if target < upper + 3 * error:
            return None
    return None


def _below_exp_precisely(exponent: Fraction, uniform: UniformReal) -> bool:
    """Whether the uniform number is below exp(exponent), exponent < 0."""
    digits = _FIRST_DIGITS
    while True:
        with localcontext(precision(digits)):
            uniform.refine(4 * digits)
            value = _decimal(exponent)
            bias = value.exp()
            number = Decimal(uniform.numerator) / Decimal(2) ** uniform.bits
            margin = (bias * (4 - 4 * value) + 4) * Decimal(10) ** (1 - digits)
            if abs(number - bias) > margin:
                return number < bias
        digits *= 2


def precision(digits: int) -> Context:
    """A decimal context in which each operation, exp included, rounds correctly."""
    return Context(prec=digits, Emax=10**17, Emin=-(10**17))


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
