from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privatree.errors import ParameterError
from privatree.privacy import Randomness
from privatree.privacy.mechanisms import Geometric

EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(8)]
OUTPUTS = np.arange(-12, 18)


@dataclass(frozen=True)
class HalfNoise(Geometric):
    @property
    def rate(self) -> Fraction:
        return Geometric(2 * self.epsilon, self.sensitivity).rate


@dataclass(frozen=True)
class Misprinted(Geometric):
    """Equation 4 of [Vos23]: a = epsilon."""

    @property
    def rate(self) -> Fraction:
        return Fraction(-math.log(self.epsilon))


def largest_loss(mechanism: Geometric) -> float:
    """Over all pairs of counts at most the sensitivity apart, and all outputs."""
    laws = [mechanism.log_probability(OUTPUTS, count) for count in range(6)]
    return max(
        float(np.max(np.abs(laws[a] - laws[b])))
        for a, b in itertools.combinations(range(6), 2)
        if b - a <= mechanism.sensitivity
    )


def largest_loss_of_two_counts(mechanism: Geometric) -> float:
    """Over all pairs of two counts at most the sensitivity apart in sum."""
    counts = list(itertools.product(range(3), repeat=2))
    laws = {}
    for pair in counts:
        first, second = (mechanism.log_probability(OUTPUTS, count) for count in pair)
        laws[pair] = first[:, None] + second[None, :]
    return max(
        float(np.max(np.abs(laws[a] - laws[b])))
        for a, b in itertools.combinations(counts, 2)
        if abs(a[0] - b[0]) + abs(a[1] - b[1]) <= mechanism.sensitivity
    )


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sensitivity", [1, 2, 3])
@pytest.mark.parametrize("loss", [largest_loss, largest_loss_of_two_counts])
def test_the_loss_is_exactly_epsilon(
    epsilon: Fraction, sensitivity: int, loss: Callable[[Geometric], float]
) -> None:
    reached = loss(Geometric(epsilon, sensitivity))
    assert reached <= float(epsilon) + 1e-9
    assert reached == pytest.approx(float(epsilon), rel=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize("loss", [largest_loss, largest_loss_of_two_counts])
def test_half_the_noise_is_caught(
    epsilon: Fraction, sensitivity: int, loss: Callable[[Geometric], float]
) -> None:
    assert loss(HalfNoise(epsilon, sensitivity)) > 1.9 * float(epsilon)


def test_the_sensitivity_of_one_count_for_two_is_caught() -> None:
    class Pair(Geometric):
        """Charged for two changes, with noise for one."""

        @property
        def rate(self) -> Fraction:
            return Geometric(self.epsilon, 1).rate

    assert largest_loss_of_two_counts(Pair(Fraction(1), 2)) > 1.9


def test_the_misprint_is_caught() -> None:
    assert largest_loss(Misprinted(Fraction(1, 10))) > 20 * 0.1
    assert largest_loss(Misprinted(Fraction(1, 2))) > 1.2 * 0.5
    assert largest_loss(Misprinted(Fraction(9, 10))) < 0.9  # and beyond .567 it is too much noise


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_probabilities_add_up_to_one(epsilon: Fraction) -> None:
    law = Geometric(epsilon).log_probability(np.arange(-500, 510), 5)
    assert np.exp(law).sum() == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sensitivity", [1, 2])
def test_release_follows_the_law(
    epsilon: Fraction, sensitivity: int, integer_law: Callable[..., float]
) -> None:
    mechanism = Geometric(epsilon, sensitivity)
    noisy = mechanism.release(np.full((300, 200), 7), Randomness(51))
    assert noisy.shape == (300, 200)
    assert noisy.dtype == np.int64
    probabilities = np.exp(mechanism.log_probability(np.arange(-600, 601), 7))
    assert integer_law(noisy, probabilities, -600) < 1


def test_release_of_different_counts_follows_their_laws(chi_square: Callable[..., float]) -> None:
    mechanism = Geometric(Fraction(1))
    counts = np.tile([0, 3, -2], 20_000)
    noisy = mechanism.release(counts, Randomness(52)).reshape(-1, 3) + 6
    inside = np.all((noisy >= 0) & (noisy < 12), axis=1)
    cells = noisy[inside] @ np.array([144, 12, 1])
    laws = [np.exp(mechanism.log_probability(np.arange(-6, 6), count)) for count in (0, 3, -2)]
    joint = np.einsum("a,b,c->abc", *laws).ravel()
    assert chi_square(np.bincount(cells, minlength=1728), joint, 20_000) < 1


def test_release_with_half_the_noise_is_caught(integer_law: Callable[..., float]) -> None:
    noisy = Geometric(Fraction(2)).release(np.zeros(5000, dtype=np.int64), Randomness(53))
    law = np.exp(Geometric(Fraction(1)).log_probability(np.arange(-50, 51), 0))
    assert integer_law(noisy, law, -50) > 1


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, True, "1", None])
def test_a_bad_epsilon_is_refused(epsilon: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        Geometric(epsilon)


@pytest.mark.parametrize("sensitivity", [0, -1, 1.0, Fraction(1), "1", None])
def test_a_bad_sensitivity_is_refused(sensitivity: Any) -> None:
    with pytest.raises(ParameterError, match="sensitivity must be an integer >= 1"):
        Geometric(Fraction(1), sensitivity)


@pytest.mark.parametrize("epsilon", [np.uint8(1), np.int64(10_000), np.float32(0.5), 1, 0.1])
def test_epsilon_may_be_any_number(epsilon: Any) -> None:
    mechanism = Geometric(epsilon)
    assert mechanism.epsilon == Fraction(float(epsilon))
    assert mechanism.rate == min(Fraction(float(epsilon)), 4096) or epsilon == 0.1
    assert mechanism.release(np.array([3]), Randomness(1)).shape == (1,)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32, np.uint32, np.uint64, np.int64])
def test_any_integer_type_is_taken(dtype: type) -> None:
    exact = np.array([0, 100], dtype=dtype)
    noisy = Geometric(Fraction(50)).release(exact, Randomness(1))
    assert noisy.dtype == np.int64
    assert noisy.tolist() == [0, 100]


def test_unsigned_numbers_beyond_any_count_are_clipped() -> None:
    exact = np.array([2**64 - 1], dtype=np.uint64)
    assert Geometric(Fraction(50)).release(exact, Randomness(1)).tolist() == [2**60]


def test_fractions_are_refused_since_they_would_show() -> None:
    with pytest.raises(ParameterError, match="counts must be of an integer type, got float64"):
        Geometric(Fraction(1)).release(np.array([0.3]), Randomness(1))


def test_noise_of_any_size_reaches_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest noise stands for all beyond; it must not give the count away."""
    for sign in (1, -1):
        monkeypatch.setattr(
            "privatree.privacy.mechanisms._geometric.discrete_laplace",
            lambda rate, count, randomness, sign=sign: np.full(count, sign * 2**62),
        )
        noisy = Geometric(Fraction(1)).release(np.array([0, 1, 2**60, -5]), Randomness(1))
        assert set(noisy.tolist()) == {sign * 2**61}
