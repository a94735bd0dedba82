from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.privacy import Randomness
from privatree.privacy.mechanisms import Gaussian
from privatree.privacy.mechanisms._laplace import round_to_noise_grid

CASES = [
    (Fraction(1), Fraction(1, 10**5)),
    (Fraction(8), Fraction(1, 10**6)),
    (Fraction(1, 2), Fraction(1, 100)),
    (Fraction(1), Fraction(9, 10)),
]


@dataclass(frozen=True)
class HalfNoise(Gaussian):
    def variance(self, count: int) -> Fraction:
        return super().variance(count) / 4


def log_law(variance: float, steps: NDArray[np.int64]) -> NDArray[np.float64]:
    logs = -(steps.astype(np.float64) ** 2) / (2 * variance)
    return np.asarray(logs - np.logaddexp.reduce(logs))


def largest_delta(mechanism: Gaussian) -> float:
    """The hockey-stick divergence at the mechanism's epsilon, of numbers the sensitivity apart.

    Off the grid they may be one step further apart once they are rounded.
    """
    near, far = _furthest_pair(mechanism)
    shift = int(
        abs(round_to_noise_grid(near, mechanism.step) - round_to_noise_grid(far, mechanism.step))[0]
    )
    variance = float(mechanism.variance(1))
    reach = int(12 * math.sqrt(variance)) + 2 * shift
    steps = np.arange(-reach, reach + 1)
    before = log_law(variance, steps)[shift:]
    after = before + (steps[shift:] ** 2 - (steps[shift:] - shift) ** 2) / (2 * variance)
    epsilon = float(mechanism.epsilon)
    one = np.exp(before) - np.exp(epsilon + after)
    other = np.exp(after) - np.exp(epsilon + before)
    return float(max(one[one > 0].sum(), other[other > 0].sum()))


def _furthest_pair(mechanism: Gaussian) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    step, reach = Fraction(mechanism.step), mechanism.sensitivity
    start = step / 2 - step / 2**20
    near = np.array([float(start)])
    far = np.array([math.nextafter(float(start + reach), 0.0)])
    assert Fraction(float(far[0])) - Fraction(float(near[0])) <= reach
    return near, far


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
@pytest.mark.parametrize("sensitivity", [Fraction(1), Fraction(3, 10), Fraction(5000)])
def test_delta_is_at_most_what_is_charged(
    epsilon: Fraction, delta: Fraction, sensitivity: Fraction
) -> None:
    reached = largest_delta(Gaussian(epsilon, delta, sensitivity))
    assert reached <= float(delta)
    assert reached > float(delta) / 20  # and not by far: the noise is not needlessly large


@pytest.mark.parametrize(("epsilon", "delta"), CASES[:3])
def test_half_the_noise_is_caught(epsilon: Fraction, delta: Fraction) -> None:
    assert largest_delta(HalfNoise(epsilon, delta)) > 1.2 * float(delta)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 16, 17, 1000])
def test_the_variance_pays_for_rounding_each_number(count: int) -> None:
    mechanism = Gaussian(Fraction(1), Fraction(1, 10**5))
    steps = 1 / Fraction(mechanism.step)
    allowed = mechanism.variance(count) * 2 * Fraction(mechanism._rho)
    assert math.isqrt(int(allowed)) ** 2 == allowed
    assert (math.isqrt(int(allowed)) - steps) ** 2 >= count
    generator = np.random.default_rng(count)
    for _ in range(50):
        near = generator.normal(size=count)
        move = generator.normal(size=count)
        far = near + move / np.linalg.norm(move) * (1 - 1e-12)
        apart = round_to_noise_grid(near, mechanism.step) - round_to_noise_grid(far, mechanism.step)
        assert np.sum(apart**2) <= float(allowed)


def test_many_numbers_at_the_rounding_borders() -> None:
    """16 numbers that all cross a border: without the allowance the distance is too large."""
    mechanism = Gaussian(Fraction(1), Fraction(1, 10**5))
    size = float(Fraction(1, 4))
    near = np.full(16, mechanism.step * (0.5 - 2.0**-20))
    far = near + size * (1 - 2.0**-40)
    far += mechanism.step * 2.0**-19
    assert np.linalg.norm(far - near) <= 1 + 2.0**-18
    apart = np.linalg.norm(
        round_to_noise_grid(far, mechanism.step) - round_to_noise_grid(near, mechanism.step)
    )
    assert apart > 1 / mechanism.step
    assert apart**2 <= float(mechanism.variance(16) * 2 * Fraction(mechanism._rho))


def test_release_follows_the_law(integer_law: Callable[..., float]) -> None:
    mechanism = Gaussian(Fraction(8), Fraction(1, 10**6))
    noisy = mechanism.release(np.full((60, 50), 0.3), Randomness(101))
    assert noisy.shape == (60, 50)
    steps = noisy / mechanism.step
    assert np.array_equal(steps, np.rint(steps))
    centre = np.rint(0.3 / mechanism.step)
    cells = np.floor((steps - centre) / 1024)
    grid = np.arange(-64 * 1024, 64 * 1024)

    def ratio(variance: float) -> float:
        law = np.exp(log_law(variance, grid)).reshape(128, 1024).sum(axis=1)
        return integer_law(cells, law, -64)

    variance = float(mechanism.variance(3000))
    assert ratio(variance) < 1
    assert ratio(variance / 4) > 1
    assert ratio(variance * 1.3) > 1


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(1, 10**3), Fraction(10**4)])
@pytest.mark.parametrize("delta", [Fraction(1, 10**9), Fraction(1, 10**3), Fraction(99, 100)])
def test_a_noise_level_is_found_for_any_budget(epsilon: Fraction, delta: Fraction) -> None:
    mechanism = Gaussian(epsilon, delta)
    assert mechanism._rho > 0
    assert Gaussian(2 * epsilon, delta)._rho > mechanism._rho


@pytest.mark.parametrize("name", ["epsilon", "delta", "sensitivity"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "1"])
def test_bad_parameters_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=name):
        Gaussian(**{"epsilon": 1, "delta": 0.01, "sensitivity": 1, name: value})


@pytest.mark.parametrize("delta", [1, 1.5])
def test_a_delta_of_one_is_refused(delta: float) -> None:
    with pytest.raises(ParameterError, match="delta must be < 1"):
        Gaussian(Fraction(1), delta)
