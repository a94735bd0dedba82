"""Exact Gaussian noise on the whole numbers, P(z) proportional to exp(-z^2 / (2 variance))."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from privatree.privacy._randomness import Randomness
from privatree.privacy.samplers._bernoulli import bernoulli_exp
from privatree.privacy.samplers._discrete_laplace import discrete_laplace, dyadic_laplace_rate


def discrete_gaussian(variance: Fraction, count: int, randomness: Randomness) -> NDArray[np.int64]:
    """Return ``count`` independent draws, by rejection from geometric noise [CKS20, Alg. 3]."""
    rate = dyadic_laplace_rate(Fraction(1, isqrt(int(variance)) + 1))
    draws: list[int] = []
    while len(draws) < count:
        for proposal in discrete_laplace(rate, count - len(draws), randomness).tolist():
            # exp(-z^2/2v) / exp(-rate |z|) is exp(-(|z| - rate v)^2 / 2v) up to a constant.
            excess = (abs(proposal) - rate * variance) ** 2 / (2 * variance)
            if bernoulli_exp(excess, randomness):
                draws.append(proposal)
    return np.array(draws, dtype=np.int64)
