"""Gaussian noise on a public grid [CKS20]; proof: ``docs/proofs/laplace-and-gaussian.md``."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, isqrt, log, log1p
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

from privatree.errors import ParameterError
from privatree.privacy._exact_epsilon import positive_fraction
from privatree.privacy._randomness import Randomness
from privatree.privacy.mechanisms._laplace import noise_grid_step, round_to_noise_grid
from privatree.privacy.samplers._discrete_gaussian import discrete_gaussian
from privatree.privacy.samplers._discrete_laplace import add_integer_noise


@dataclass(frozen=True)
class Gaussian:
    """Gaussian noise on real numbers, in steps of a fine public grid.

    Parameters
    ----------
    epsilon, delta : Fraction
        Privacy cost of one release.
    sensitivity : Fraction, int or float, default=1
        Largest Euclidean distance between the released numbers of neighbours.

    Notes
    -----
    Neighbours: any relation under which ``sensitivity`` holds.
    Sensitivity: L2. Rounding d numbers adds at most sqrt(d) steps; the noise covers these, too.
    Guarantee: (epsilon, delta)-DP, by concentrated differential privacy [CKS20].
    Cost: epsilon and delta.

    Examples
    --------
    >>> mechanism = Gaussian(Fraction(1), Fraction(1, 10**6))
    >>> noisy = mechanism.release(np.array([0.5, 2.0]), Randomness(seed=0))
    >>> bool((noisy % mechanism.step == 0).all())
    True
    """

    epsilon: Fraction
    delta: Fraction
    sensitivity: Fraction = Fraction(1)
    name: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        for field in ("epsilon", "delta", "sensitivity"):
            object.__setattr__(self, field, positive_fraction(field, getattr(self, field)))
        if self.delta >= 1:
            raise ParameterError(f"delta must be < 1, got {float(self.delta)}.", "delta")

    @property
    def step(self) -> float:
        """Step of the grid: every released number is a multiple of this step."""
        return float(noise_grid_step(self.sensitivity))

    @cached_property
    def _rho(self) -> float:
        """Largest zCDP parameter that gives (epsilon, delta), rounded down."""
        epsilon, delta = float(self.epsilon), float(self.delta)
        upper = epsilon + log(1 / delta) + log(1 / float(1 - self.delta)) + 1
        root = brentq(lambda r: _log_delta(exp(r), epsilon) - log(delta), log(1e-300), log(upper))
        rho = 0.999 * exp(root)  # smaller than the root, whatever the error of the search is
        if _log_delta(rho, epsilon) >= log(delta):
            raise ParameterError(
                f"no noise level was found for epsilon={epsilon} and delta={delta}. Raise epsilon "
                "or delta."
            )
        return rho

    def variance(self, count: int) -> Fraction:
        """Return the variance of the noise in squared steps, for ``count`` numbers."""
        steps = self.sensitivity / noise_grid_step(self.sensitivity) + isqrt(max(count, 1) - 1) + 1
        return steps**2 / (2 * Fraction(self._rho))

    def release(
        self, exact_values: NDArray[np.float64], randomness: Randomness
    ) -> NDArray[np.float64]:
        """Return the numbers with independent noise, in the same shape."""
        steps = round_to_noise_grid(exact_values, self.step)
        noise = discrete_gaussian(self.variance(steps.size), steps.size, randomness)
        return np.asarray(add_integer_noise(steps, noise.reshape(steps.shape)) * self.step)


def _log_delta(rho: float, epsilon: float) -> float:
    """Return the least log(delta) that [CKS20] proves for rho-zCDP and this epsilon."""

    def at_order(log_excess: float) -> float:
        order = 1 + exp(log_excess)
        return (order - 1) * (order * rho - epsilon) - log_excess + order * log1p(-1 / order)

    return float(minimize_scalar(at_order, bounds=(-20, 40), method="bounded").fun)
