"""Selection by halving: a hidden decision is taken precisely, and the law is the exact one."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from scipy import stats

from privatree.privacy.randomness import Randomness
from privatree.privacy.samplers.halving import select_by_halving

WEIGHTS = [Decimal(weight) for weight in (3, 1, 0, 4, 1, 5, 9)]


class Recorder:
    """Precise weights, and how many digits they were asked for."""

    def __init__(self) -> None:
        self.digits: list[int] = []

    def __call__(self, digits: int) -> tuple[list[Decimal], Decimal]:
        self.digits.append(digits)
        return WEIGHTS, Decimal(10) ** -digits


def counts(approximate: np.ndarray, error: float, precise: Recorder, draws: int) -> np.ndarray:
    randomness = Randomness(3)
    chosen = [select_by_halving(approximate, error, precise, randomness) for _ in range(draws)]
    return np.bincount(chosen, minlength=len(WEIGHTS))


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
