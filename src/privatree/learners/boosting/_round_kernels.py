"""Weights of the functions of a round, in compiled floating point.

A function h has the weight m(h) * exp(rate * score), where m is the base measure and the score is
the sum of the signed weights of all records, each times the sign that h gives the record. So the
total weight of all step functions of one feature follows from the sums by code, in one sweep over
the codes. The total weight of all functions with a given root is the product of the totals of its
two sides (``docs/proofs/boosting.md``).

A weight is a *score* and a *factor*: ``factor * exp(rate * score)``. Scores are whole numbers, so a
large score loses no precision (:mod:`privatree.privacy.samplers._decay`). All terms are positive,
so relative errors only add up; :func:`relative_error` adds them. The score is chosen such that the
factor stays from 2^-850 to 2^850. For this, the range of a round must be at most 25.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from privatree._support.kernels.compiling import compiled, compiled_inline
from privatree.learners.boosting._measure import ABSENT, CHAIN, FREE, RISING
from privatree.privacy.samplers import DECAY_ERROR, UNIT_ROUNDOFF, Decay, decay, decay_table

_ROUNDINGS_PER_CODE = 8
"""Largest number of roundings for one code, besides the error of :func:`decay`."""
_LIFT = 64
"""If the factors of a chain are below 2 to the power of minus this number, they are lifted."""
_MAX_SCORE = 2.0**62
"""No score is so large. At tiny rates, none is large enough to be halved or lifted."""


class RoundDecay(NamedTuple):
    """Powers of exp(-rate), and scores whose powers are about 2 and about 2^64."""

    decays: Decay
    half_score: int
    """Largest whole number whose power exp(-rate * half_score) is at least 1/2."""
    half_power: float
    """exp(rate * half_score) / 2."""
    lift_score: int
    """Largest whole number whose power exp(-rate * lift_score) is at least 2^-64."""
    lift_power: float
    """exp(rate * lift_score)."""


def round_decay(rate: Fraction, largest: int) -> RoundDecay:
    """Return the powers for scores of which none is above `largest` in size.

    Lifted scores can be a little lower than that; the table has room for their differences.
    """
    half, lift = (
        int(min(n * math.log(2.0) / float(rate) * (1 - 1e-12), _MAX_SCORE)) for n in (1, _LIFT)
    )
    return RoundDecay(
        decay_table(rate, 2 * largest + largest // 8),
        half,
        math.exp(float(rate * half)) / 2.0,
        lift,
        math.exp(float(rate * lift)),
    )


def relative_error(n_codes: int, n_features: int, n_roots: int, depth: int) -> float:
    """Return a bound on the relative error of every weight that this module computes.

    `n_codes` is the largest number of codes of a feature, `n_roots` the number of roots.
    """
    one_code = DECAY_ERROR + _ROUNDINGS_PER_CODE * UNIT_ROUNDOFF
    one_step = n_codes * one_code + (n_features + 8) * UNIT_ROUNDOFF + DECAY_ERROR
    one_root = 2 * one_step + (n_roots + 16) * UNIT_ROUNDOFF + DECAY_ERROR
    return (one_step, one_root, 2 * one_root + DECAY_ERROR + 16 * UNIT_ROUNDOFF)[depth - 1]


@compiled_inline
def _free_factor(exact_sum: Any, powers: Any) -> Any:
    """Return score and factor of cosh(rate * sum), the mean of both signs of one code."""
    size = abs(exact_sum)
    if size >= powers.half_score:
        factor = (1.0 + decay(powers.decays, 2 * size)) * powers.half_power
        return size - powers.half_score, factor
    power = decay(powers.decays, size)
    return size - size, 0.5 * (power + 1.0 / power)


@compiled
def sweep_chain(sums: Any, measure: Any, first: Any, last: Any, powers: Any, plus: Any) -> Any:
    """Return score and factor of all sign sequences of one number.

    If `plus` is an array (sign, code), it gets the factors of the sequences up to each code that
    end with + and with -, in a common unit.
    """
    score = np.int64(0)
    up = down = 0.5  # factors of the sequences so far that end with + and with -
    for code in range(first, last):
        exact_sum = sums[code]
        # The sign with the larger weight keeps its factor; the score takes the difference.
        if exact_sum > 0:
            power = decay(powers.decays, 2 * exact_sum)
            if up >= down * power:
                score += exact_sum
                down *= power
            else:
                score -= exact_sum
                up /= power
        elif exact_sum < 0:
            power = decay(powers.decays, -2 * exact_sum)
            if down >= up * power:
                score -= exact_sum
                up *= power
            else:
                score += exact_sum
                down /= power
        if plus is not None:
            plus[0, code - first] = up
            plus[1, code - first] = down
        if code < last - 1:
            switch, stay = measure.switch[code], measure.stay[code]
            up, down = stay * up + switch * down, stay * down + switch * up
            # Each switch that is worth it costs a factor; hundreds of them would underflow.
            if max(up, down) < 2.0**-_LIFT:
                score -= powers.lift_score
                up, down = up * powers.lift_power, down * powers.lift_power
    return score, up + down


@compiled
def _sweep_free(sums: Any, first: Any, last: Any, powers: Any) -> Any:
    """Return score and factor of all sign sequences of one category feature."""
    score, factor = np.int64(0), 1.0
    for code in range(first, last):
        more, times = _free_factor(sums[code], powers)
        score += more
        factor *= times
    return score, factor


@compiled
def fill_monotone(
    sums: Any, measure: Any, feature: Any, powers: Any, scores: Any, factors: Any
) -> Any:
    """Write score and factor of each function of a monotone number; return how many there are.

    Function k has one sign for the first k codes and the other sign for the rest. Missing values
    that are separate have a free sign, whose factor is left out here.
    """
    first = measure.offsets[feature] + measure.n_missing[feature]
    last = measure.offsets[feature + 1]
    rest = np.int64(0)
    for code in range(first, last):
        rest += sums[code]
    sign = 1 if measure.kind[feature] == RISING else -1
    for place in range(last - first + 1):
        scores[place] = sign * rest
        is_constant = place == 0 or place == last - first
        factors[place] = 0.25 if is_constant else measure.switch[first + place - 1]
        if place < last - first:
            rest -= 2 * sums[first + place]
    return last - first + 1


@compiled
def total_weight(scores: Any, factors: Any, n: Any, powers: Any) -> Any:
    """Return score and factor of the sum of the first n weights."""
    best, is_any = np.int64(0), False
    for place in range(n):
        if factors[place] > 0.0 and (not is_any or scores[place] > best):
            best, is_any = scores[place], True
    factor = 0.0
    for place in range(n):
        if factors[place] > 0.0:
            factor += factors[place] * decay(powers.decays, best - scores[place])
    return best, factor


@compiled
def weigh_features(
    sums: Any, measure: Any, powers: Any, room: Any, scores: Any, factors: Any
) -> None:
    """Write score and factor of all step functions of each feature.

    `room` is a pair of arrays with an entry more than the largest number of codes.
    """
    for feature in range(len(measure.kind)):
        kind = measure.kind[feature]
        first, last = measure.offsets[feature], measure.offsets[feature + 1]
        scores[feature], factors[feature] = 0, 0.0
        if kind == ABSENT:
            continue
        if kind == CHAIN:
            score, factor = sweep_chain(sums, measure, first, last, powers, None)
        elif kind == FREE:
            score, factor = _sweep_free(sums, first, last, powers)
        else:
            n = fill_monotone(sums, measure, feature, powers, room[0], room[1])
            score, factor = total_weight(room[0], room[1], n, powers)
            if measure.n_missing[feature]:
                more, times = _free_factor(sums[first], powers)
                score, factor = score + more, factor * times
        scores[feature], factors[feature] = score, measure.share * factor


@compiled
def _total_of_features(sums: Any, measure: Any, powers: Any, room: Any) -> Any:
    weigh_features(sums, measure, powers, room[:2], room[2], room[3])
    return total_weight(room[2], room[3], len(measure.kind), powers)


@compiled
def weigh_steps(sums: Any, measure: Any, powers: Any) -> Any:
    """Return score and factor of all step functions of all features."""
    return _total_of_features(sums, measure, powers, _make_room(measure))


@compiled
def _make_room(measure: Any) -> Any:
    n_features, most = len(measure.kind), 1
    for feature in range(n_features):
        most = max(most, measure.offsets[feature + 1] - measure.offsets[feature])
    return (
        np.zeros(most + 1, dtype=np.int64),
        np.zeros(most + 1),
        np.zeros(n_features, dtype=np.int64),
        np.zeros(n_features),
    )


@compiled
def weigh_roots_of_feature(
    rows: Any,
    sums: Any,
    is_category: Any,
    root_shares: Any,
    measure: Any,
    powers: Any,
    scores: Any,
    factors: Any,
) -> None:
    """Write score and factor of each root of one feature, with a step function on either side.

    `rows` are the sums (row, code) by the rows of the feature, `sums` those of all records.
    """
    room = _make_room(measure)
    n_codes = len(sums)
    left, right = np.zeros(n_codes, dtype=np.int64), np.empty(n_codes, dtype=np.int64)
    for root in range(len(scores)):
        for code in range(n_codes):
            left[code] = rows[root, code] + (0 if is_category else left[code])
            right[code] = sums[code] - left[code]
        left_score, left_factor = _total_of_features(left, measure, powers, room)
        score, factor = _total_of_features(right, measure, powers, room)
        scores[root] = left_score + score
        factors[root] = root_shares[root] * left_factor * factor
