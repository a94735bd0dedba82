"""Exact choices by exponential weights, and exact coins, at the speed of floating point.

*Candidate* i has the weight ``measure_i * exp(rate * score_i)``. Scores and (positive) measures are
given as int64 or float64 and taken as exact rational numbers. :mod:`refinement` and :mod:`halving`
explain why decisions are exact although they are computed in floats.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.privacy._randomness import Randomness
from privatree.privacy.samplers._halving import select_by_halving
from privatree.privacy.samplers._refinement import (
    FIRST_DIGITS,
    UNIT_ROUNDOFF,
    UniformReal,
    precision,
)

_EXP_ERROR = 64.0
"""Bound on the relative error of exp and of log in float64, in unit roundoffs. The error of the
mathematical libraries in use is below a tenth of this bound."""

_LOWEST_LOG = -350.0
"""A weight below exp(this) times the largest is negligible (:data:`halving.NEGLIGIBLE`)."""

_LOWEST_EXPONENT = -10_000.0
"""Smallest exponent of a coin. Smaller exponents count as this one, whose exp is certainly 0."""

_TINY = 2.0**-900
"""Bound on the absolute error that underflow causes in the bias of a coin."""

_MAX_RATE = 2**900
_MAX_SPREAD = 2**63
"""Limits on the rate and on the differences of scores, below which nothing overflows."""

Scores: TypeAlias = NDArray[np.int64] | NDArray[np.float64]


def select_by_score(
    exact_scores: Scores,
    rate: Fraction,
    randomness: Randomness,
    measure: NDArray[np.float64] | None = None,
) -> int:
    """Draw index i with probability exactly proportional to measure_i exp(rate * score_i)."""
    exact_scores = _widen_scores(exact_scores)
    exact_weights, relative_error = _float_score_weights(exact_scores, rate, measure)
    return select_by_halving(
        exact_weights,
        relative_error,
        lambda digits: _decimal_score_weights(exact_scores, rate, measure, digits),
        randomness,
    )


def toss_coins_by_score(
    exact_scores: Scores, rate: Fraction, randomness: Randomness
) -> NDArray[np.bool_]:
    """Toss independent coins; coin i has the bias exp(rate * (score_i - largest score))."""
    exact_scores = _widen_scores(exact_scores)
    words = randomness.words(len(exact_scores))
    best = exact_scores.max()
    heads = hidden = np.full(len(words), True)
    if _scores_fit_floats(exact_scores, rate):
        exponents = np.maximum(_score_exponents(exact_scores, rate), _LOWEST_EXPONENT)
        uniforms = words.astype(np.float64) * 2.0**-64
        biases = np.exp(exponents)
        heads = uniforms < biases
        margins = UNIT_ROUNDOFF * ((_EXP_ERROR - 4.0 * exponents) * biases + 4.0) + _TINY
        hidden = np.abs(uniforms - biases) <= margins
    for index in np.flatnonzero(hidden & (exact_scores < best)):
        difference = Fraction(exact_scores[index].item()) - Fraction(best.item())
        uniform = UniformReal(randomness, int(words[index]))
        heads[index] = _toss_coin_precisely(rate * difference, uniform)
    heads[exact_scores == best] = True
    return heads


def _widen_scores(exact_scores: NDArray[Any]) -> Scores:
    """Return scores as int64 or float64; raise a ParameterError if they have another type."""
    kind = exact_scores.dtype.kind
    if kind == "f":
        return exact_scores.astype(np.float64, copy=False)
    if kind == "i" or (kind == "u" and exact_scores.dtype.itemsize < 8):
        return exact_scores.astype(np.int64, copy=False)
    raise ParameterError(
        f"scores must be int64 or float64 numbers, got {exact_scores.dtype}.", "scores"
    )


# --- in floats ----------------------------------------------------------------------------------


def _scores_fit_floats(exact_scores: Scores, rate: Fraction) -> bool:
    """Return whether the error bounds of floats hold; if not, use arbitrary precision."""
    spread = exact_scores.max().item() - exact_scores.min().item()
    return bool(rate < _MAX_RATE and spread < _MAX_SPREAD)


def _score_exponents(exact_scores: Scores, rate: Fraction) -> NDArray[np.float64]:
    """Return rate * (score - largest score), with a relative error of three roundings."""
    return np.asarray((exact_scores - exact_scores.max()).astype(np.float64) * float(rate))


def _float_score_weights(
    exact_scores: Scores, rate: Fraction, measure: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], float]:
    """Return the weights relative to the largest, and a bound on their relative error.

    Let L be the largest |log measure|. An exponent that matters is at most 350 + 2 L. The errors of
    the exponent, of the logarithm, of their sum and of the shift add up to less than
    3000 + (14 + 64) L unit roundoffs (``docs/proofs/exponential.md``).
    """
    if not _scores_fit_floats(exact_scores, rate):
        return np.ones(len(exact_scores)), np.inf
    logs, largest = _score_exponents(exact_scores, rate), 0.0
    if measure is not None:
        log_measure = np.log(measure)
        largest = float(np.abs(log_measure).max())
        logs = logs + log_measure
        logs -= logs.max()
    exact_weights = np.where(logs < _LOWEST_LOG, 0.0, np.exp(np.maximum(logs, _LOWEST_LOG)))
    error = 3000.0 + (14.0 + _EXP_ERROR) * largest + 2.0 * _EXP_ERROR
    return exact_weights, UNIT_ROUNDOFF * error


# --- in arbitrary precision, for the rare decision that floats leave open ------------------------


def _decimal_score_weights(
    exact_scores: Scores, rate: Fraction, measure: NDArray[np.float64] | None, digits: int
) -> tuple[list[Decimal], Decimal]:
    """Return the weights with ``digits`` digits, and a bound on their relative error."""
    scores = [Fraction(score) for score in exact_scores.tolist()]
    base_measure = [1.0] * len(scores) if measure is None else measure.tolist()
    best = max(scores)
    with localcontext(precision(digits)):
        exponents = [_score_to_decimal(rate * (score - best)) for score in scores]
        weights = [
            Decimal(mass) * exponent.exp()
            for mass, exponent in zip(base_measure, exponents, strict=True)
        ]
        return weights, (10 - 2 * min(exponents)) * Decimal(10) ** (1 - digits)


def _toss_coin_precisely(exponent: Fraction, uniform: UniformReal) -> bool:
    """Return whether the uniform number is below exp(exponent), exponent < 0."""
    digits = FIRST_DIGITS
    while True:
        with localcontext(precision(digits)):
            number = uniform.to_digits(digits)
            value = _score_to_decimal(exponent)
            bias = value.exp()
            margin = (bias * (4 - 4 * value) + 4) * Decimal(10) ** (1 - digits)
            if abs(number - bias) > margin:
                return number < bias
        digits *= 2


def _score_to_decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
