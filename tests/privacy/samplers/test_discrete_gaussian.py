from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from privatree.privacy import Randomness
from privatree.privacy.samplers._discrete_gaussian import discrete_gaussian

DRAWS = 10_000
LARGEST = 200


def law(variance: Fraction) -> NDArray[np.float64]:
    """P(z) for z = -LARGEST, ..., LARGEST."""
    weights = np.exp(-(np.arange(-LARGEST, LARGEST + 1) ** 2) / (2 * float(variance)))
    return weights / weights.sum()


@pytest.mark.slow
@pytest.mark.parametrize(
    "variance",
    [Fraction(1, 4), Fraction(1), Fraction(7, 3), Fraction(20), Fraction(901, 7)],
    ids=str,
)
def test_follows_its_law(variance: Fraction, integer_law: Callable[..., float]) -> None:
    draws = discrete_gaussian(variance, DRAWS, Randomness(21))
    assert draws.dtype == np.int64
    assert draws.shape == (DRAWS,)
    assert integer_law(draws, law(variance), -LARGEST) < 1


def test_a_wrong_variance_would_be_caught(integer_law: Callable[..., float]) -> None:
    draws = discrete_gaussian(Fraction(8, 10) * 20, DRAWS, Randomness(21))
    assert integer_law(draws, law(Fraction(20)), -LARGEST) > 1


@pytest.mark.slow
def test_successive_draws_are_independent(chi_square: Callable[..., float]) -> None:
    draws = np.clip(discrete_gaussian(Fraction(1), DRAWS, Randomness(22)), -2, 2) + 2
    single = law(Fraction(1))
    tail = single[: LARGEST - 1].sum()
    single = np.concatenate(([tail], single[LARGEST - 1 : LARGEST + 2], [tail]))
    pairs = 5 * draws[::2][: DRAWS // 2] + draws[1::2]
    counts = np.bincount(pairs, minlength=25)
    assert chi_square(counts, np.outer(single, single).ravel(), DRAWS // 2) < 1


def test_large_variances_and_no_draws() -> None:
    draws = discrete_gaussian(Fraction(10**20), 500, Randomness(23))
    assert 0.8 < np.std(draws / 1e10) < 1.2
    assert discrete_gaussian(Fraction(1), 0, Randomness(1)).tolist() == []
