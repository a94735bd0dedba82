"""Laplace noise on a public grid [DMNS06]; proof: ``docs/proofs/laplace-and-gaussian.md``."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
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

_STEPS_A_SENSITIVITY = 2**12
_MAX_WHOLE = 2.0**53
_MIN_SENSITIVITY = Fraction(1, 2**500)


@lru_cache(maxsize=256)
def noise_grid_step(sensitivity: Fraction) -> Fraction:
    """Return the step of the public grid: a power of two, about a 4096th of the sensitivity."""
    if not _MIN_SENSITIVITY <= sensitivity <= 1 / _MIN_SENSITIVITY:
        raise ParameterError(
            "sensitivity must be between 2^-500 and 2^500. Use another unit.", "sensitivity"
        )
    exponent = (sensitivity / _STEPS_A_SENSITIVITY).__floor__().bit_length() - 1
    if exponent < 0:
        exponent = -((_STEPS_A_SENSITIVITY / sensitivity).__ceil__().bit_length())
    return Fraction(2) ** exponent


def round_to_noise_grid(
    exact_values: NDArray[np.float64] | NDArray[np.int64], step: float
) -> NDArray[np.int64]:
    """Return the values as whole numbers of steps, each moved by at most half a step.

    Integers beyond 2^53 are clipped: rounding them to float64 could move neighbours further apart,
    but clipping cannot. Values beyond 2^60 steps are clipped too. NaN becomes 0.
    """
    values = exact_values.astype(np.float64)
    if np.issubdtype(exact_values.dtype, np.integer):
        values = np.clip(values, -_MAX_WHOLE, _MAX_WHOLE)
    with np.errstate(over="ignore"):
        steps = np.nan_to_num(np.rint(values / step), nan=0.0)
    return np.asarray(np.clip(steps, -(2.0**60), 2.0**60).astype(np.int64))


@dataclass(frozen=True)
class Laplace:
    """Laplace noise on real numbers, in steps of a fine public grid.

    With floating-point Laplace noise, the bits of a result reveal the exact value [Mir12]. Here
    values are rounded to multiples of a power of two, and the noise is a whole number of steps,
    drawn exactly.

    Parameters
    ----------
    epsilon : Fraction
        Privacy cost of one release.
    sensitivity : Fraction, int or float, default=1
        Largest sum of the absolute changes of the released numbers between neighbours.

    Notes
    -----
    Neighbours: any relation under which ``sensitivity`` holds.
    Sensitivity: L1. Rounding d numbers adds at most d steps; the noise covers these, too. Numbers
    of an integer type need no rounding.
    Guarantee: epsilon-DP.
    Cost: epsilon.

    Examples
    --------
    >>> mechanism = Laplace(Fraction(1))
    >>> noisy = mechanism.release(np.array([0.5, 2.0]), Randomness(seed=0))
    >>> bool((noisy % mechanism.step == 0).all())
    True
    """

    epsilon: Fraction
    sensitivity: Fraction = Fraction(1)
    name: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_fraction("epsilon", self.epsilon))
        object.__setattr__(self, "sensitivity", positive_fraction("sensitivity", self.sensitivity))

    @property
    def step(self) -> float:
        """Step of the grid: every released number is a multiple of this step."""
        return float(noise_grid_step(self.sensitivity))

    def _rate(self, rounded: int) -> Fraction:
        """Return the rate of the noise per step, if ``rounded`` numbers have to be rounded."""
        steps = (self.sensitivity / noise_grid_step(self.sensitivity)).__floor__() + rounded
        return self.epsilon / steps

    def release(
        self, exact_values: NDArray[np.float64] | NDArray[np.int64], randomness: Randomness
    ) -> NDArray[np.float64]:
        """Return the numbers with independent noise, in the same shape."""
        steps = round_to_noise_grid(exact_values, self.step)
        on_grid = np.issubdtype(exact_values.dtype, np.integer) and self.step <= 1
        noise = discrete_laplace(self._rate(0 if on_grid else steps.size), steps.size, randomness)
        return np.asarray(add_integer_noise(steps, noise.reshape(steps.shape)) * self.step)

    def log_probability(
        self, noisy_values: NDArray[np.float64], exact_value: float
    ) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each number, given one exact value."""
        rate = float(dyadic_laplace_rate(self._rate(1)))
        distance = np.abs(np.rint(noisy_values / self.step) - np.rint(exact_value / self.step))
        return np.asarray(np.log(np.tanh(rate / 2)) - rate * distance)
