"""Selection by halving: a hidden decision is taken precisely, and the law is the exact one."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from privatree.privacy import Randomness
from privatree.privacy.samplers._halving import NEGLIGIBLE, select_by_halving

WEIGHTS = [Decimal(weight) for weight in (3, 1, 0, 4, 1, 5, 9)]


class Recorder:
    """Precise weights, and how many digits they were asked for."""

    def __init__(self) -> None:
        self.digits: list[int] = []

    def __call__(self, digits: int) -> tuple[list[Decimal], Decimal]:
        self.digits.append(digits)
        return WEIGHTS, Decimal(10) ** -digits


class Scripted(Randomness):
    """Gives uniform numbers i / 2^400, one after the other, each to as many bits as asked for."""

    def __init__(self, *numerators: int) -> None:
        super().__init__(0)
        self._numerators = list(numerators)

    def bits(self, count: int) -> int:
        if count == 64:  # only the first bits of a number are asked for as one word
            self._current, self._left = self._numerators.pop(0), 400
        self._left -= count
        if self._left < 0:
            return (self._current << -self._left) % 2**count
        return (self._current >> self._left) % 2**count


def counts(approximate: np.ndarray, error: float, precise: Recorder, draws: int) -> np.ndarray:
    randomness = Randomness(3)
    chosen = [select_by_halving(approximate, error, precise, randomness) for _ in range(draws)]
    return np.bincount(chosen, minlength=len(WEIGHTS))


@pytest.mark.slow
@pytest.mark.parametrize("error", [0.0, 0.2, float("inf")])
def test_wrong_approximations_do_not_change_the_law(error) -> None:
    precise = Recorder()
    true = np.array(WEIGHTS, dtype=np.float64)
    tilted = true * np.where(np.arange(7) % 2, 1 + min(error, 1) / 2, 1 - min(error, 1) / 2)
    observed = counts(tilted, error, precise, 6000)
    assert observed[2] == 0
    expected = 6000 * true / true.sum()
    present = true > 0
    statistic = np.sum((observed - expected)[present] ** 2 / expected[present])
    assert statistic < stats.chi2.isf(1e-7, 5)
    assert bool(precise.digits) == (error > 0)


def test_one_candidate_needs_no_randomness() -> None:
    assert select_by_halving(np.array([2.0]), 0.1, Recorder(), Randomness(0)) == 0


def test_digits_are_doubled_until_the_decision_is_clear() -> None:
    class Tie(Randomness):
        """Half exactly, as far as anybody looks at first."""

        def bits(self, count: int) -> int:
            return 1 << (count - 1) if count == 64 else super().bits(count) >> 40

    asked = []

    def equal(digits: int) -> tuple[list[Decimal], Decimal]:
        asked.append(digits)
        return [Decimal(1), Decimal(1)], Decimal(10) ** (4 - digits)

    assert select_by_halving(np.ones(2), 1e-9, equal, Tie(1)) == 1
    assert asked[0] == 40


# --- the terms of the margin, each where no other term hides the decision -------------------------


def exactly(weights: list[float]):
    """Precise weights that are the given floats, without an error."""
    return lambda _: ([Decimal(weight) for weight in weights], Decimal(0))


def assert_decided_at_the_border(weights: list[float], offsets: list[int]) -> None:
    """Two halves, and uniform numbers that many 2^-400 from the border between them."""
    middle = len(weights) // 2
    share = sum(map(Fraction, weights[:middle])) / sum(map(Fraction, weights))
    border = (share * 2**400).__floor__()
    for offset in offsets:
        numerator = border + offset
        if not 0 <= numerator < 2**400:
            continue
        # Whatever is chosen in the half after that.
        randomness = Scripted(numerator, *[2**398 + 1] * len(weights))
        chosen = select_by_halving(np.array(weights), 0.0, exactly(weights), randomness)
        assert (chosen >= middle) == (Fraction(numerator, 2**400) >= share), (weights, offset)


NEAR = [side * 2**power for power in (0, 40, 100, 200, 240, 270, 300, 330) for side in (-1, 1)]
"""From 400 to 70 bits behind the point."""


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3, 40, 1000])
def test_the_rounding_of_exact_weights_hides_no_wrong_decision(size) -> None:
    generator = np.random.default_rng(size)
    for _ in range(10):
        assert_decided_at_the_border(generator.exponential(size=size).tolist(), NEAR)


@pytest.mark.parametrize("scale", [2.0**-30, 2.0**-55, 2.0**-60, 1e-30, 1e-40])
@pytest.mark.parametrize("small_first", [False, True])
def test_the_bits_that_follow_the_first_ones_count_at_a_border_near_an_end(
    scale, small_first
) -> None:
    """There the number is known less well, relative to its distance from the end."""
    # Of a unit in the last place of the first 64 bits.
    offsets = [*NEAR, *(2**336 * step // 32 for step in range(-32, 33))]
    for factor in (1 + 1 / 32, 1 + 1 / 3, 1 + 14.5 / 32, 1 + 20 / 32, 1 + 31 / 32):
        small = scale * factor
        assert_decided_at_the_border([small, 1.0] if small_first else [1.0, small], offsets)


@pytest.mark.parametrize("zeros", [1, 64])
def test_weights_given_as_zero_count_beside_others_as_small(zeros) -> None:
    """Among the first half, weights on the left that sum up to about those given as 0 after it."""
    left = [zeros * NEGLIGIBLE] + [0.0] * (zeros - 1)
    right = [0.99 * NEGLIGIBLE] * zeros
    ones = [1.0] * (2 * zeros)
    given = np.array(left + [0.0] * zeros + ones)
    share = Fraction(100, 199)
    for numerator, expected in (
        ((share * 2**400).__floor__() - 2**395, 0),
        ((share * 2**400).__floor__() + 2**395, zeros),
    ):
        # All zeros lead to the first half, and to the first of those chosen from.
        randomness = Scripted(0, numerator, *[0] * zeros)
        chosen = select_by_halving(given, 0.0, exactly(left + right + ones), randomness)
        assert chosen == expected
