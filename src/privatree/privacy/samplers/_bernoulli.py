"""An exact coin with probability exp(-x) for rational x >= 0 [CKS20, Alg. 1]."""

from __future__ import annotations

from fractions import Fraction

from privatree.privacy._randomness import Randomness


def bernoulli(probability: Fraction, randomness: Randomness) -> bool:
    """Return True with exactly the given rational probability."""
    return randomness.below(probability.denominator) < probability.numerator


def bernoulli_exp(x: Fraction, randomness: Randomness) -> bool:
    """Return True with probability exactly exp(-x), x >= 0.

    Toss floor(x) coins of bias exp(-1) and one coin of bias exp(floor(x) - x). The result is True
    if all of them show heads.
    """
    whole, fraction = divmod(x, 1)
    return all(
        _bernoulli_exp_unit(Fraction(1), randomness) for _ in range(whole)
    ) and _bernoulli_exp_unit(fraction, randomness)


def _bernoulli_exp_unit(x: Fraction, randomness: Randomness) -> bool:
    """Return True with probability exactly exp(-x), 0 <= x <= 1.

    Coins of bias x/1, x/2, x/3, ... are tossed up to the first failure. The first k succeed with
    probability x^k/k!, so an even number of them succeeds with probability exp(-x).
    """
    successes = 0
    while bernoulli(x / (successes + 1), randomness):
        successes += 1
    return successes % 2 == 0
