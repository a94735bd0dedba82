from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privatree.errors import ParameterError
from privatree.privacy import Randomness
from privatree.privacy.mechanisms import Geometric, TruncatedGeometric

EPSILONS = [Fraction(1), Fraction(8)]
BOUNDS: list[tuple[int | None, int | None]] = [
    (0, 6),
    (0, None),
    (None, 4),
    (None, None),
    (3, 3),
    (2, 3),
]
OUTPUTS = np.arange(-70, 80)


@dataclass(frozen=True)
class HalfNoise(TruncatedGeometric):
    @property
    def _untruncated(self) -> Geometric:
        return replace(super()._untruncated, epsilon=2 * self.epsilon)

    def __post_init__(self) -> None:
        pass


def largest_loss(mechanism: TruncatedGeometric) -> float:
    """Over all counts, inside the bounds and outside, at most the sensitivity apart."""
    laws = [mechanism.log_probability(OUTPUTS, count) for count in range(-3, 10)]
    loss = 0.0
    for a in range(len(laws)):
        for b in range(a + 1, min(a + mechanism.sensitivity + 1, len(laws))):
            reachable = np.isfinite(laws[a])
            assert np.array_equal(reachable, np.isfinite(laws[b]))
            loss = max(loss, float(np.max(np.abs(laws[a][reachable] - laws[b][reachable]))))
    return loss


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_the_loss_is_at_most_epsilon(
    epsilon: Fraction, sensitivity: int, lower: int | None, upper: int | None
) -> None:
    mechanism = TruncatedGeometric(epsilon, sensitivity, lower, upper)
    reached = largest_loss(mechanism)
    assert reached <= float(epsilon) + 1e-9
    expected = 0.0 if lower == upper and lower is not None else float(epsilon)
    assert reached == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("lower", "upper"), [pair for pair in BOUNDS if pair != (3, 3)])
def test_half_the_noise_is_caught(epsilon: Fraction, lower: int | None, upper: int | None) -> None:
    assert largest_loss(HalfNoise(epsilon, 1, lower, upper)) > 1.9 * float(epsilon)


def test_a_clamp_around_the_exact_count_is_caught() -> None:
    """Bounds must be public: [count - 2, count + 2] tells the count."""
    laws = [
        TruncatedGeometric(Fraction(1), 1, count - 2, count + 2).log_probability(OUTPUTS, count)
        for count in (4, 5)
    ]
    assert np.max(np.abs(np.diff(np.exp(laws), axis=0))) > 0
    assert not np.array_equal(np.isfinite(laws[0]), np.isfinite(laws[1]))


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), *EPSILONS])
@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
@pytest.mark.parametrize("count", [-50, -1, 0, 3, 5, 60])
def test_probabilities_add_up_to_one(
    epsilon: Fraction, lower: int | None, upper: int | None, count: int
) -> None:
    mechanism = TruncatedGeometric(epsilon, 1, lower, upper)
    total = np.exp(mechanism.log_probability(np.arange(-400, 401), count)).sum()
    assert total == pytest.approx(1, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(3, 2)])
@pytest.mark.parametrize(("lower", "upper"), [pair for pair in BOUNDS if pair != (3, 3)])
@pytest.mark.parametrize("count", [-1, 3])
def test_release_follows_the_law(
    epsilon: Fraction,
    lower: int | None,
    upper: int | None,
    count: int,
    integer_law: Callable[..., float],
) -> None:
    mechanism = TruncatedGeometric(epsilon, 1, lower, upper)
    noisy = mechanism.release(np.full((50, 400), count), Randomness(61))
    assert noisy.shape == (50, 400)
    assert lower is None or noisy.min() >= lower
    assert upper is None or noisy.max() <= upper
    probabilities = np.exp(mechanism.log_probability(np.arange(-200, 201), count))
    assert integer_law(noisy, probabilities, -200) < 1


def test_throwing_outside_values_away_instead_of_clamping_is_caught(
    integer_law: Callable[..., float],
) -> None:
    mechanism = TruncatedGeometric(Fraction(1), 1, 0, 6)
    noisy = Geometric(Fraction(1)).release(np.ones(20_000, dtype=np.int64), Randomness(62))
    law = np.exp(mechanism.log_probability(np.arange(7), 1))
    assert integer_law(np.clip(noisy, 0, 6), law) < 1
    assert integer_law(noisy[(noisy >= 0) & (noisy <= 6)], law) > 1


def test_equal_bounds_release_the_bound() -> None:
    noisy = TruncatedGeometric(Fraction(1), 1, 3, 3).release(np.arange(10), Randomness(1))
    assert noisy.tolist() == [3] * 10


@pytest.mark.parametrize(
    "parameters",
    [
        {"epsilon": 0},
        {"epsilon": True},
        {"epsilon": 1, "sensitivity": 0},
        {"epsilon": 1, "sensitivity": 0.5},
        {"epsilon": 1, "lower": 2, "upper": 1},
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        TruncatedGeometric(**parameters)
