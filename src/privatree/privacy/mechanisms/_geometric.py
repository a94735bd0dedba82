"""Two-sided geometric noise on counts [GRS12]; proof: ``docs/proofs/geometric.md``."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.privacy._exact_epsilon import positive_fraction
from privatree.privacy._randomness import Randomness
from privatree.privacy.samplers._discrete_laplace import (
    add_integer_noise,
    discrete_laplace,
    dyadic_laplace_rate,
)


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

    def log_probability(
        self, noisy_counts: NDArray[np.int64], exact_count: int
    ) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each value, given one exact count."""
        rate = float(self.rate)
        normaliser = np.log(-np.expm1(-rate)) - np.log1p(np.exp(-rate))
        return np.asarray(normaliser - rate * np.abs(noisy_counts - exact_count))
