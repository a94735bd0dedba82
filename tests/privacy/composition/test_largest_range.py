from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from privatree.errors import ParameterError
from privatree.privacy import RangeGroup, certified_delta, gaussian_mu, largest_range

ONE = Fraction(1)
E6 = Fraction(1, 10**6)


def delta_at(epsilon: Fraction, size: Fraction, pattern: list[tuple[Fraction, int]]) -> float:
    return certified_delta(epsilon, [RangeGroup(ratio * size, times) for ratio, times in pattern])


def assert_certified_and_largest(
    epsilon: Fraction, delta: Fraction, pattern: list[tuple[Fraction, int]]
) -> Fraction:
    size = largest_range(epsilon, delta, pattern)
    assert Fraction(delta_at(epsilon, size, pattern)) <= delta
    assert size >= epsilon / sum(ratio * times for ratio, times in pattern)
    assert delta_at(epsilon, size * Fraction(1001, 1000), pattern) > delta
    return size


@pytest.mark.parametrize(
    ("epsilon", "n_draws", "expected"),
    [
        (0.1, 20, 0.0122),
        (0.1, 60, 0.0070),
        (1, 20, 0.106),
        (1, 60, 0.0601),
        (4, 20, 0.378),
        (4, 60, 0.2134),
        (0.1, 4, 1.06 * 0.0275),
        (1, 4, 1.14 * 0.2367),
        (4, 4, 1.24 * 0.8379),
    ],
)
def test_ranges_of_the_prototype(epsilon: float, n_draws: int, expected: float) -> None:
    """It had a coarser grid, and so was a little below."""
    size = assert_certified_and_largest(Fraction(str(epsilon)), E6, [(ONE, n_draws)])
    assert expected * 0.98 <= size <= expected * 1.025


@pytest.mark.parametrize("n_draws", [100, 200])
@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
def test_many_draws_are_like_gaussian_noise(epsilon: float, n_draws: int) -> None:
    size = assert_certified_and_largest(Fraction(str(epsilon)), E6, [(ONE, n_draws)])
    assert float(size) == pytest.approx(
        2 * gaussian_mu(epsilon, 1e-6) / math.sqrt(n_draws), rel=5e-3
    )


@pytest.mark.parametrize(
    "pattern",
    [
        [(ONE, 1)],
        [(ONE, 2)],
        [(ONE, 3)],
        [(Fraction(1, 2), 24), (ONE, 90)],
        [(Fraction(7, 60), 24), (ONE, 90)],
        [(Fraction(1, 97), 300), (ONE, 30)],
        [(ONE, 20), (Fraction(3), 5), (ONE, 20)],
        [(Fraction(7), 30)],
    ],
)
@pytest.mark.parametrize("delta", [E6, Fraction(1, 10**12), Fraction(1, 100)])
def test_what_is_found_is_certified_and_the_largest(
    pattern: list[tuple[Fraction, int]], delta: Fraction
) -> None:
    assert_certified_and_largest(ONE, delta, pattern)


@settings(max_examples=6, deadline=None)
@given(
    st.floats(0.01, 20),
    st.integers(1, 60),
    st.floats(1, 40).map(lambda exponent: 10**-exponent),
)
def test_any_numbers(epsilon: float, n_draws: int, delta: float) -> None:
    assert_certified_and_largest(Fraction(epsilon), Fraction(delta), [(ONE, n_draws)])


def test_a_multiple_is_a_multiple() -> None:
    size = largest_range(ONE, E6, [(ONE, 30)])
    third = largest_range(ONE, E6, [(Fraction(3), 30)])
    assert float(3 * third) == pytest.approx(float(size), rel=2e-4)


def test_groups_before_the_rounds_cost_what_they_should() -> None:
    alone = largest_range(ONE, E6, [(ONE, 60)])
    free = largest_range(ONE, E6, [(Fraction(9), 0), (ONE, 60)])
    both = largest_range(ONE, E6, [(Fraction(1, 4), 48), (ONE, 60)])  # 5% of the squares
    assert free == alone
    assert float(both / alone) == pytest.approx(math.sqrt(1 / 1.05), rel=1e-3)


def test_without_delta_it_is_basic_composition() -> None:
    assert largest_range(ONE, Fraction(0), [(ONE, 90)]) == Fraction(1, 90)
    assert largest_range(ONE, Fraction(0), [(Fraction(1, 4), 8), (ONE, 60)]) == Fraction(1, 62)
    assert largest_range(ONE, Fraction(1, 10**400), [(ONE, 90)]) == Fraction(1, 90)


@pytest.mark.parametrize("epsilon", [10**4, 10**7, 10**11])
def test_a_huge_epsilon_is_near_basic_composition(epsilon: int) -> None:
    size = largest_range(Fraction(epsilon), E6, [(ONE, 4)])
    assert Fraction(epsilon, 4) <= size <= Fraction(epsilon, 4) * Fraction(101, 100)


def test_a_delta_near_one_allows_much() -> None:
    assert largest_range(ONE, Fraction(999, 1000), [(ONE, 10)]) > 4


@pytest.mark.parametrize(
    ("epsilon", "delta", "pattern", "parameter"),
    [
        (0, E6, [(ONE, 1)], "epsilon"),
        (1, -1, [(ONE, 1)], "delta"),
        (1, 1, [(ONE, 1)], "delta"),
        (1, E6, [], "groups"),
        (1, E6, [(Fraction(0), 5)], "groups"),
        (1, E6, [(ONE, 100_000)], "groups"),
    ],
)
def test_wrong_numbers_are_refused(
    epsilon: int, delta: Fraction, pattern: list[tuple[Fraction, int]], parameter: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        largest_range(Fraction(epsilon), Fraction(delta), pattern)
    assert caught.value.parameter == parameter


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1, 4, 20])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
def test_mu_solves_the_equation_of_gaussian_noise(epsilon: float, delta: float) -> None:
    mu = gaussian_mu(epsilon, delta)
    upper, lower = ndtr(-epsilon / mu + mu / 2), ndtr(-epsilon / mu - mu / 2)
    assert upper - math.exp(epsilon) * lower == pytest.approx(delta, rel=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 0.1), (math.inf, 0.1), (1, 0), (1, 1)])
def test_mu_of_wrong_numbers_is_refused(epsilon: float, delta: float) -> None:
    with pytest.raises(ParameterError):
        gaussian_mu(epsilon, delta)
