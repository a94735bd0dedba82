"""Two-sided geometric noise on counts [GRS12]; proof: ``docs/proofs/geometric.md``."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import nbdtr

from privatree.errors import ParameterError
from privatree.privacy._exact_epsilon import positive_fraction
from privatree.privacy._randomness import Randomness
from privatree.privacy.samplers._discrete_laplace import (
    add_integer_noise,
    discrete_laplace,
    dyadic_laplace_rate,
)

_LEAST_RATE = 0.01
"""Below this rate, the law of the noise divided by its scale changes by less than a percent."""


@dataclass(frozen=True)
class Geometric:
    """Two-sided geometric noise on integers.

    Parameters
    ----------
    epsilon : Fraction
        Privacy cost of one release.
    sensitivity : int, default=1
        Largest sum of the absolute changes of the released integers between neighbours.

    Notes
    -----
    Neighbours: any relation under which ``sensitivity`` holds. In a histogram of disjoint cells,
    adding or removing one record changes one count by one.
    Sensitivity: L1, whole numbers.
    Guarantee: epsilon-DP. The noise has P(z) = (1 - a)/(1 + a) a^|z| with
    a = exp(-epsilon/sensitivity). (Equation 4 of [Vos23] prints epsilon in the place of a.)
    Cost: epsilon.
    Counts are assumed to be at most 2^60 in size, and results are clamped to +-2^61.

    Examples
    --------
    >>> mechanism = Geometric(Fraction(1))
    >>> mechanism.release(np.array([100, 20]), Randomness(seed=0)).shape
    (2,)
    >>> float(np.exp(mechanism.log_probability(np.array([100]), 100))[0].round(3))
    0.462
    """

    epsilon: Fraction
    sensitivity: int = 1
    name: ClassVar[str] = "geometric"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_fraction("epsilon", self.epsilon))
        if not isinstance(self.sensitivity, int) or self.sensitivity < 1:
            raise ParameterError(
                f"sensitivity must be an integer >= 1, got {self.sensitivity!r}.", "sensitivity"
            )

    @property
    def rate(self) -> Fraction:
        """Rate of the noise as drawn, -log(a): epsilon/sensitivity, rounded down."""
        return dyadic_laplace_rate(self.epsilon / self.sensitivity)

    def release(self, exact_counts: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
        """Return the counts with independent noise, in the same shape."""
        noise = discrete_laplace(self.epsilon / self.sensitivity, exact_counts.size, randomness)
        return add_integer_noise(exact_counts, noise.reshape(exact_counts.shape))

    def error(self, n_counts: int = 1) -> int:
        """Return a bound on the noise in a sum of counts that holds with a probability of 95%."""
        return _error_of_sum(float(self.rate), n_counts)

    def log_probability(
        self, noisy_counts: NDArray[np.int64], exact_count: int
    ) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each value, given one exact count."""
        rate = float(self.rate)
        normaliser = np.log(-np.expm1(-rate)) - np.log1p(np.exp(-rate))
        return np.asarray(normaliser - rate * np.abs(noisy_counts - exact_count))


@lru_cache
def _error_of_sum(rate: float, n_counts: int) -> int:
    """Return the least t for which the noise in a sum of counts is within ±t 95% of the time.

    The noise of one count is a difference of two geometric numbers, so the noise of a sum is a
    difference of two numbers with a negative binomial law.
    """
    if rate < _LEAST_RATE:
        return math.ceil(_error_of_sum(_LEAST_RATE, n_counts) * _LEAST_RATE / rate)
    largest = math.ceil((n_counts + 10 * math.sqrt(n_counts) + 20) / rate)  # nearly never exceeded
    lower = np.arange(largest)

    def at_most(values: NDArray[np.int64]) -> NDArray[np.float64]:
        found = nbdtr(np.maximum(values, 0), n_counts, -math.expm1(-rate))
        return np.where(values < 0, 0.0, found)

    probabilities = np.diff(at_most(lower), prepend=0.0)

    def probability(bound: int) -> float:
        return float(probabilities @ (at_most(lower + bound) - at_most(lower - bound - 1)))

    return bisect_left(range(2**30), 0.95, key=probability)
