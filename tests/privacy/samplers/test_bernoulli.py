from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from privatree.privacy import Randomness
from privatree.privacy.samplers import _bernoulli as module
from privatree.privacy.samplers._bernoulli import bernoulli, bernoulli_exp

DRAWS = 10_000


@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(2, 7), Fraction(99, 100), Fraction(1, 65)])
def test_bernoulli_follows_its_law(p: Fraction, integer_law: Callable[..., float]) -> None:
    source = Randomness(1)
    draws = [bernoulli(p, source) for _ in range(DRAWS)]
    assert integer_law(draws, [1 - float(p), float(p)]) < 1


def test_certain_coins() -> None:
    source = Randomness(2)
    assert not any(bernoulli(Fraction(0), source) for _ in range(100))
    assert all(bernoulli(Fraction(1), source) for _ in range(100))
    assert all(bernoulli_exp(Fraction(0), source) for _ in range(100))
    assert not any(bernoulli_exp(Fraction(10**30), source) for _ in range(100))


@pytest.mark.slow
@pytest.mark.parametrize(
    "x",
    [Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(31, 7)],
)
def test_bernoulli_exp_follows_its_law(x: Fraction, integer_law: Callable[..., float]) -> None:
    source = Randomness(3)
    draws = [bernoulli_exp(x, source) for _ in range(DRAWS)]
    bias = math.exp(-float(x))
    assert integer_law(draws, [1 - bias, bias]) < 1


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 100), Fraction(2, 3), Fraction(1)])
def test_the_coins_inside_have_exactly_the_right_biases(
    x: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every way through the algorithm: k coins succeed and the next one fails."""
    chance_of_true = Fraction(0)
    for successes in range(25):
        biases: list[Fraction] = []

        def scripted(bias: Fraction, _: Randomness, heads: int = successes) -> bool:
            biases.append(bias)  # noqa: B023
            return len(biases) <= heads  # noqa: B023

        monkeypatch.setattr(module, "bernoulli", scripted)
        outcome = module._bernoulli_exp_unit(x, Randomness(0))
        assert all(0 <= bias <= 1 for bias in biases)
        if outcome:
            chance_of_true += math.prod(biases[:-1]) * (1 - biases[-1])
    assert abs(float(chance_of_true) - math.exp(-float(x))) < 1e-15


def test_successive_coins_are_independent(integer_law: Callable[..., float]) -> None:
    source = Randomness(4)
    x = Fraction(2, 3)
    draws = [2 * bernoulli_exp(x, source) + bernoulli_exp(x, source) for _ in range(DRAWS)]
    bias = math.exp(-2 / 3)
    law = [(1 - bias) ** 2, bias * (1 - bias), bias * (1 - bias), bias**2]
    assert integer_law(draws, law) < 1


@pytest.mark.slow
@pytest.mark.parametrize("mistake", [Fraction(9, 10), Fraction(11, 10)])
def test_a_coin_of_the_wrong_bias_would_be_caught(
    mistake: Fraction, integer_law: Callable[..., float]
) -> None:
    source = Randomness(5)
    draws = [bernoulli_exp(mistake, source) for _ in range(DRAWS)]
    bias = math.exp(-1)
    assert integer_law(draws, [1 - bias, bias]) > 1
