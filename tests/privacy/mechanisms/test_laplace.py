from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.privacy import Randomness
from privatree.privacy.mechanisms import Laplace
from privatree.privacy.mechanisms._laplace import noise_grid_step, round_to_noise_grid
from privatree.privacy.samplers._discrete_laplace import dyadic_laplace_rate

EPSILONS = [Fraction(1), Fraction(8)]
SENSITIVITIES = [Fraction(1), Fraction(3, 10), Fraction(100001, 3), Fraction(1, 10**6)]


@dataclass(frozen=True)
class HalfNoise(Laplace):
    def _rate(self, rounded: int) -> Fraction:
        return 2 * super()._rate(rounded)


@dataclass(frozen=True)
class NoAllowance(Laplace):
    """Forgets that rounding can move two numbers apart."""

    def _rate(self, rounded: int) -> Fraction:
        return super()._rate(0)


def largest_loss(mechanism: Laplace) -> float:
    """Over pairs of real numbers, on the grid and off it, within the sensitivity."""
    step, reach = Fraction(mechanism.step), mechanism.sensitivity
    starts = [Fraction(k) * step / 4 for k in range(-4, 5)]
    starts += [step / 2 - step / 2**30, step / 2 + step / 2**30, -step / 2 - step / 2**30]
    moves = [reach * part for part in (Fraction(1), Fraction(1, 2), Fraction(1, 7))]
    outputs = mechanism.step * np.linspace(-20_000, 20_000, 401).round()
    loss = 0.0
    for start in starts:
        for move in moves:
            near, far = float(start), float(start + move)
            if Fraction(far) - Fraction(near) > reach:  # rounded up to a float64
                far = float(np.nextafter(far, near))
            laws = [mechanism.log_probability(outputs, value) for value in (near, far)]
            loss = max(loss, float(np.max(np.abs(laws[0] - laws[1]))))
    return loss


def loss_of_many(mechanism: Laplace, near: NDArray[Any], far: NDArray[Any], rounded: int) -> float:
    """The loss between two vectors, of which ``rounded`` numbers count as rounded."""
    distance = np.abs(
        round_to_noise_grid(near, mechanism.step) - round_to_noise_grid(far, mechanism.step)
    ).sum()
    return float(dyadic_laplace_rate(mechanism._rate(rounded))) * float(distance)


def vectors_that_rounding_moves_apart(step: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """8191 numbers that change by barely more than a step, and by two steps once rounded."""
    far = np.full(8191, step * (1 + 1 / 8192))
    return step * np.full(8191, 0.5) - step / 2**14, far + step * 0.5 - step / 2**14


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_the_loss_is_at_most_epsilon(epsilon: Fraction, sensitivity: Fraction) -> None:
    reached = largest_loss(Laplace(epsilon, sensitivity))
    assert reached <= float(epsilon) * (1 + 1e-9)
    assert reached > 0.999 * float(epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_half_the_noise_is_caught(epsilon: Fraction, sensitivity: Fraction) -> None:
    assert largest_loss(HalfNoise(epsilon, sensitivity)) > 1.9 * float(epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sensitivity", [Fraction(8193, 8192), *SENSITIVITIES[1:]])
def test_one_number_rounded_without_allowance_is_caught(
    epsilon: Fraction, sensitivity: Fraction
) -> None:
    assert largest_loss(NoAllowance(epsilon, sensitivity)) > (1 + 5e-5) * float(epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_allowance_covers_many_rounded_numbers(epsilon: Fraction) -> None:
    near, far = vectors_that_rounding_moves_apart(Laplace(epsilon).step)
    assert np.abs(far - near).sum() <= 1
    reached = loss_of_many(Laplace(epsilon), near, far, near.size)
    assert 0.99 * float(epsilon) < reached <= float(epsilon)
    assert loss_of_many(NoAllowance(epsilon), near, far, near.size) > 1.9 * float(epsilon)


def test_whole_numbers_too_large_for_floats_do_not_move_apart() -> None:
    """2^53 + 1 is no float64: rounded to even, 1 apart would become 2 apart."""
    mechanism = Laplace(Fraction(1))
    values = np.array([2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3, 2**62, 2**62 + 1])
    for sign in (1, -1):
        for near, far in ((a, a + 1) for a in sign * values):
            loss = loss_of_many(mechanism, np.array([near]), np.array([far]), 0)
            assert loss <= 1 + 1e-9
    assert loss_of_many(mechanism, np.array([5]), np.array([6]), 0) == pytest.approx(1)


@pytest.mark.parametrize("sign", [1, -1])
def test_whole_numbers_are_clipped_before_they_are_rounded(sign: int) -> None:
    """On a grid of ones, 2^59 + 63 and a number 4098 further on become 4224 apart as floats."""
    mechanism = Laplace(Fraction(1), 4098)
    assert mechanism.step == 1
    near = sign * np.array([2**59 + 63])
    far = near + sign * 4098
    assert abs(float(far[0]) - float(near[0])) == 4224
    assert loss_of_many(mechanism, near, far, 0) <= 1 + 1e-9


def test_probabilities_add_up_to_one() -> None:
    mechanism = Laplace(Fraction(4))
    outputs = mechanism.step * np.arange(-200_000, 200_001)
    assert np.exp(mechanism.log_probability(outputs, 0.37)).sum() == pytest.approx(1, rel=1e-9)


def cells(values: NDArray[np.float64], mechanism: Laplace) -> NDArray[np.int64]:
    """Eighths of the sensitivity."""
    return np.floor(values / mechanism.step / 1024).astype(np.int64)


@pytest.mark.slow
def test_release_follows_the_law(integer_law: Callable[..., float]) -> None:
    """One number at a time: that is what ``log_probability`` is the law of."""
    mechanism = Laplace(Fraction(2))
    source = Randomness(71)
    noisy = np.concatenate([mechanism.release(np.array([0.3]), source) for _ in range(5000)])
    assert np.array_equal(noisy, np.rint(noisy / mechanism.step) * mechanism.step)
    outputs = mechanism.step * np.arange(-64 * 1024, 64 * 1024)
    probabilities = np.exp(mechanism.log_probability(outputs, 0.3)).reshape(128, 1024).sum(axis=1)
    assert integer_law(cells(noisy, mechanism), probabilities, -64) < 1
    wrong = np.exp(Laplace(Fraction(4)).log_probability(outputs, 0.3)).reshape(128, -1).sum(axis=1)
    assert integer_law(cells(noisy, mechanism), wrong, -64) > 1


@pytest.mark.parametrize("whole", [False, True])
def test_release_of_many_numbers_pays_for_rounding_each(
    whole: bool, integer_law: Callable[..., float]
) -> None:
    mechanism = Laplace(Fraction(2))
    values = np.zeros((8192, 1), dtype=np.int64 if whole else np.float64)
    noisy = np.concatenate([mechanism.release(values, Randomness(seed)) for seed in range(3)])
    assert noisy.shape == (3 * 8192, 1)

    def ratio(rounded: int) -> float:
        rate = float(mechanism._rate(rounded))
        steps = np.arange(-64 * 1024, 64 * 1024)
        law = np.tanh(rate / 2) * np.exp(-rate * np.abs(steps))
        return integer_law(cells(noisy, mechanism), law.reshape(128, 1024).sum(axis=1), -64)

    assert ratio(0 if whole else 8192) < 1
    assert ratio(8192 if whole else 0) > 1


def test_whole_numbers_on_a_grid_coarser_than_one_are_rounded_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rates = []

    def record(rate: Fraction, count: int, _: Randomness) -> NDArray[np.int64]:
        rates.append(rate)
        return np.zeros(count, dtype=np.int64)

    monkeypatch.setattr("privatree.privacy.mechanisms._laplace.discrete_laplace", record)
    fine, coarse = Laplace(Fraction(1), 4096), Laplace(Fraction(1), 3 * 8192)
    assert fine.step <= 1 < coarse.step
    for mechanism in (fine, coarse):
        mechanism.release(np.array([1, 2]), Randomness(1))
        mechanism.release(np.array([1.0, 2.0]), Randomness(1))
    assert rates == [fine._rate(0), fine._rate(2), coarse._rate(2), coarse._rate(2)]


@pytest.mark.slow
@settings(deadline=None)
@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9).filter(lambda s: s > 0))
def test_the_grid_is_a_power_of_two_of_the_right_size(sensitivity: Fraction) -> None:
    step = noise_grid_step(sensitivity)
    assert step.numerator & (step.numerator - 1) == 0
    assert step.denominator & (step.denominator - 1) == 0
    assert 4096 <= sensitivity / step <= 4 * 4096


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(-1e6, 1e6), st.floats(-100, 100)),
        min_size=1,
        max_size=5,
    )
)
def test_rounding_never_costs_more_than_epsilon(pairs: list[tuple[float, float]]) -> None:
    near = np.array([value for value, _ in pairs])
    far = near + np.array([move for _, move in pairs])
    exact = sum(abs(Fraction(a) - Fraction(b)) for a, b in zip(near, far, strict=True))
    if exact < Fraction(1, 10**6):
        return
    mechanism = Laplace(Fraction(1), exact)
    assert loss_of_many(mechanism, near, far, len(pairs)) <= 1 + 1e-9


@pytest.mark.parametrize("name", ["epsilon", "sensitivity"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "1"])
def test_bad_parameters_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=name):
        Laplace(**{"epsilon": 1, "sensitivity": 1, name: value})


def test_values_that_are_no_numbers_neither_fail_nor_warn() -> None:
    exact = np.array([np.nan, np.inf, -np.inf, 1e308])
    noisy = Laplace(Fraction(10**6)).release(exact, Randomness(1))
    assert np.isfinite(noisy).all()
    assert abs(noisy[0]) < 1
