"""Exact coins in a row, where the bias of a coin depends on the outcome of the coin before it.

Each coin is decided in float64 if the error bound allows it. Otherwise it is decided in arbitrary
precision with more bits of the same uniform number (``_refinement.py``), so the law is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privatree.privacy._randomness import Randomness
from privatree.privacy.samplers._refinement import (
    FIRST_DIGITS,
    UNIT_ROUNDOFF,
    UniformReal,
    precision,
)

_TINY = 2.0**-500
"""Bound on the absolute error that underflow causes in a bias."""
_MAX_ERROR = 0.1
"""With a larger relative error, nothing is decided in floats."""
_MIN_FLOAT_SHARE = 1e-3
"""Logarithms of smaller shares are computed in arbitrary precision."""

PreciseCoins: TypeAlias = Callable[
    [int], tuple[Sequence[Sequence[tuple[Decimal, Decimal]]], Decimal]
]
"""A function of a number of digits. It returns the weights of heads and of tails of each coin,
first after tails and then after heads, and a bound on their relative error that tends to 0 as the
number of digits grows."""


class LinkedCoins(NamedTuple):
    """Coins that are tossed one after the other.

    Parameters
    ----------
    exact_heads : array of float64 of shape (2, n_coins)
        Probability of heads for each coin: first after tails, then after heads. The first coin has
        no coin before it, and the same probability in both rows.
    relative_error : float
        Bound on the relative error of the weights of heads and of tails.
    precise : callable
        The same weights in arbitrary precision.
    """

    exact_heads: NDArray[np.float64]
    relative_error: float
    precise: PreciseCoins


def toss_linked_coins(coins: LinkedCoins, randomness: Randomness) -> NDArray[np.bool_]:
    """Toss the coins in order, each with exactly its probability; True is heads."""
    heads = coins.exact_heads
    n_coins = heads.shape[1]
    words = randomness.words(n_coins)
    uniforms = words.astype(np.float64) * 2.0**-64
    # An error in both weights moves a share p by less than three times that error times p (1 - p).
    error = min(coins.relative_error, _MAX_ERROR)
    margins = 3.0 * error * heads * (1.0 - heads) + 16.0 * UNIT_ROUNDOFF + _TINY
    is_heads = uniforms < heads
    is_open = (np.abs(uniforms - heads) <= margins) | (coins.relative_error > _MAX_ERROR)
    tossed = np.empty(n_coins, dtype=np.bool_)
    before = 0
    for place in range(n_coins):
        outcome = bool(is_heads[before, place])
        if is_open[before, place]:
            uniform = UniformReal(randomness, int(words[place]))
            outcome = _toss_precisely(coins, before, place, uniform)
        tossed[place] = outcome
        before = int(outcome)
    return tossed


def log_probabilities_of_linked_coins(coins: LinkedCoins) -> NDArray[np.float64]:
    """Return the log-probabilities of the coins.

    They are an array (outcome before, coin, outcome), where an outcome is 0 for tails and 1 for
    heads. Small probabilities are computed in arbitrary precision, so their logarithms are right.
    """
    heads = coins.exact_heads
    if heads.min() > _MIN_FLOAT_SHARE and heads.max() < 1.0 - _MIN_FLOAT_SHARE:
        return np.log(np.stack([1.0 - heads, heads], axis=2))
    found = np.full((*heads.shape, 2), -np.inf)
    weights, _ = coins.precise(FIRST_DIGITS)
    with localcontext(precision(FIRST_DIGITS)):
        for before, row in enumerate(weights):
            for place, (for_heads, for_tails) in enumerate(row):
                total = for_heads + for_tails
                for outcome, weight in enumerate((for_tails, for_heads)):
                    if weight:
                        found[before, place, outcome] = float((weight / total).ln())
    return found


def _toss_precisely(coins: LinkedCoins, before: int, place: int, uniform: UniformReal) -> bool:
    """Return whether the uniform number is below the share of heads."""
    digits = FIRST_DIGITS
    while True:
        weights, relative_error = coins.precise(digits)
        for_heads, for_tails = weights[before][place]
        with localcontext(precision(digits)):
            number = uniform.to_digits(digits)
            left, right = (1 - number) * for_heads, number * for_tails
            unit = Decimal(10) ** (1 - digits)
            margin = (2 * relative_error + 16 * unit) * (left + right)
            margin += 2 * (for_heads + for_tails) * unit
            if abs(left - right) > margin or not for_heads or not for_tails:
                return left > right if for_tails else True
        digits *= 2
