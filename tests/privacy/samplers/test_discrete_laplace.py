from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.privacy import Randomness
from privatree.privacy.samplers import _discrete_laplace as module
from privatree.privacy.samplers._discrete_laplace import (
    DENOMINATOR,
    MAX_NOISE,
    add_integer_noise,
    discrete_laplace,
    dyadic_laplace_rate,
)

RATES = [Fraction(1, 100), Fraction(1, 3), Fraction(1, 2), Fraction(7, 10), Fraction(3)]


class Trickle(Randomness):
    """The same stream, but never more than a few words at a time."""

    def __init__(self, seed: int, at_most: int) -> None:
        super().__init__(seed)
        self._at_most = at_most
        self._left = 200_000

    def words(self, count: int) -> NDArray[np.uint64]:
        self._left -= 1
        assert self._left > 0, "the same draw starts again and again"
        return super().words(min(count, self._at_most))


def law(rate: Fraction, largest: int) -> NDArray[np.float64]:
    """P(z) for z = -largest, ..., largest."""
    size = np.abs(np.arange(-largest, largest + 1))
    return np.tanh(float(rate) / 2) * np.exp(-float(rate) * size)


@pytest.mark.slow
@pytest.mark.parametrize("rate", RATES, ids=str)
def test_follows_its_law(rate: Fraction, integer_law: Callable[..., float]) -> None:
    largest = int(40 / rate)
    draws = discrete_laplace(rate, 400_000, Randomness(11))
    assert draws.dtype == np.int64
    assert integer_law(draws, law(rate, largest), -largest) < 1


@pytest.mark.slow
@pytest.mark.parametrize("rate", RATES, ids=str)
def test_a_slightly_wrong_rate_would_be_caught(
    rate: Fraction, integer_law: Callable[..., float]
) -> None:
    largest = int(40 / rate)
    draws = discrete_laplace(rate * Fraction(105, 100), 400_000, Randomness(11))
    assert integer_law(draws, law(rate, largest), -largest) > 1


def test_zero_twice_as_often_would_be_caught(integer_law: Callable[..., float]) -> None:
    """What happens if minus zero is not thrown away."""
    rate = Fraction(1, 2)
    sizes = np.abs(discrete_laplace(rate, 100_000, Randomness(1)))
    keep_zero = sizes[(sizes > 0) | (np.arange(len(sizes)) % 2 == 0)]
    signs = 1 - 2 * (Randomness(2).words(len(sizes)) >> np.uint64(63)).astype(np.int64)
    assert integer_law(sizes * signs, law(rate, 60), -60) < 1
    assert integer_law(keep_zero * signs[: len(keep_zero)], law(rate, 60), -60) > 1


def test_tiny_rates_follow_the_law(integer_law: Callable[..., float]) -> None:
    rate = Fraction(1, 2**40)
    draws = discrete_laplace(rate, 100_000, Randomness(12))
    edges = np.arange(-40, 41) / 4  # in units of 1/rate: the geometric law is exponential there
    upper = np.where(edges < 0, np.exp(edges) / 2, 1 - np.exp(-edges) / 2)
    cells = np.floor(draws * float(rate) * 4)
    assert integer_law(cells, np.diff(upper), -40) < 1


def test_the_smallest_and_the_largest_rate() -> None:
    widest = discrete_laplace(Fraction(1, 2**50), 1000, Randomness(1))
    assert 2**46 < np.median(np.abs(widest)) < 2**52
    assert not discrete_laplace(Fraction(10**9), 1000, Randomness(1)).any()
    assert not discrete_laplace(Fraction(4096), 1000, Randomness(1)).any()


def test_successive_draws_are_independent(chi_square: Callable[..., float]) -> None:
    rate = Fraction(1, 2)
    draws = np.clip(discrete_laplace(rate, 400_000, Randomness(13)), -5, 5) + 5
    single = law(rate, 100)
    single = np.concatenate(([single[:96].sum()], single[96:105], [single[105:].sum()]))
    for lag in (1, 2):
        pairs = 11 * draws[: len(draws) // 4 * 4 : 4] + draws[lag::4][: len(draws) // 4]
        counts = np.bincount(pairs, minlength=121)
        assert chi_square(counts, np.outer(single, single).ravel(), len(pairs)) < 1


def test_a_draw_used_twice_would_be_caught(chi_square: Callable[..., float]) -> None:
    rate = Fraction(1, 2)
    draws = np.clip(discrete_laplace(rate, 10_000, Randomness(13)), -2, 2) + 2
    single = law(rate, 100)
    single = np.concatenate(([single[:99].sum()], single[99:102], [single[102:].sum()]))
    counts = np.bincount(6 * draws, minlength=25)
    assert chi_square(counts, np.outer(single, single).ravel(), len(draws)) > 1


# --- running out of words -----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("at_most", [1, 3, 17])
@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(3)], ids=str)
def test_draws_do_not_depend_on_how_the_words_arrive(rate: Fraction, at_most: int) -> None:
    at_once = discrete_laplace(rate, 3000, Randomness(14))
    trickling = discrete_laplace(rate, 3000, Trickle(14, at_most))
    assert at_once.tolist() == trickling.tolist()


def test_few_words_a_draw_keep_the_law(
    monkeypatch: pytest.MonkeyPatch, integer_law: Callable[..., float]
) -> None:
    monkeypatch.setattr(module, "_WORDS_A_DRAW", 0)
    rate = Fraction(1, 2)
    draws = [discrete_laplace(rate, 1000, Trickle(seed, 9)) for seed in range(60)]
    assert integer_law(np.concatenate(draws), law(rate, 80), -80) < 1


def test_starting_a_cut_draw_again_with_fresh_words_would_be_caught(
    integer_law: Callable[..., float],
) -> None:
    """Draws that need few words are favoured then."""

    def restarting(rate: Fraction, count: int, randomness: Randomness) -> NDArray[np.int64]:
        draws = np.empty(count, dtype=np.int64)
        done = 0
        numerator = np.uint64(int(dyadic_laplace_rate(rate) * DENOMINATOR))
        while done < count:
            done, _ = module._fill_laplace_noise(draws, done, randomness.words(64), numerator)
        return draws

    rate = Fraction(1, 2)
    wrong = restarting(rate, 400_000, Randomness(15))
    assert integer_law(wrong, law(rate, 80), -80) > 1
    right = discrete_laplace(rate, 400_000, Randomness(15))
    assert integer_law(right, law(rate, 80), -80) < 1


def test_no_draws() -> None:
    assert discrete_laplace(Fraction(1), 0, Randomness(1)).tolist() == []


# --- the parts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", [3, 10, 2**50, 2**63 + 1])
def test_below_rejects_the_words_that_would_make_it_uneven(bound: int) -> None:
    rejected = 2**64 % bound
    words = [*range(max(0, rejected - 3), rejected), rejected]
    value, position = module._draw_laplace_uniform(
        np.array(words, dtype=np.uint64), 0, np.uint64(bound)
    )
    assert position == len(words)
    assert value == rejected % bound
    _, position = module._draw_laplace_uniform(
        np.array(words[:-1], dtype=np.uint64), 0, np.uint64(bound)
    )
    assert position == -1


@pytest.mark.parametrize("numerator", [1, 3, 2**50 // 3, 2**50 + 1, 2**62])
@pytest.mark.parametrize("whole", [0, 1, 2, 4095, 5000, 30_000])
@pytest.mark.parametrize("fraction", [0, 1, 2**50 - 1])
@pytest.mark.parametrize("sign", [1, -1])
def test_magnitude_and_sign(numerator: int, whole: int, fraction: int, sign: int) -> None:
    """Words that make the exponential variable ``whole + fraction / 2^50``."""
    accepted = [fraction, 2**50 - 1]
    one_more, no_more = [0, 2], [1]
    words = [*accepted, *one_more * whole, *no_more, 0 if sign > 0 else 1]
    value, position = module._draw_laplace_noise(
        np.array(words, dtype=np.uint64), 0, np.uint64(numerator)
    )
    magnitude = (whole * DENOMINATOR + fraction) // numerator
    if magnitude >= MAX_NOISE:  # the sampler stops before the end, and reads one_more as a plus
        assert value == MAX_NOISE
    elif magnitude == 0 and sign < 0:
        assert position == -1  # minus zero: it starts again, and the words have run out
    else:
        assert (value, position) == (sign * magnitude, len(words))


def test_clamped_sums_do_not_give_large_counts_away() -> None:
    """Clipped noise on neighbouring counts gives the same result, and nothing overflows."""
    counts = np.array([0, 1, 5, 2**60, 2**62, 2**63 - 1, -(2**60), -(2**63)])
    for noise in (MAX_NOISE, -MAX_NOISE):
        noisy = add_integer_noise(counts, np.full(len(counts), noise))
        assert set(noisy.tolist()) == {2**61 if noise > 0 else -(2**61)}
    small = add_integer_noise(counts[:3], np.array([7, -7, 0]))
    assert small.tolist() == [7, -6, 5]
    assert add_integer_noise(counts[3:], np.zeros(5, dtype=np.int64)).tolist() == [
        *[2**60] * 3,
        *[-(2**60)] * 2,
    ]


@pytest.mark.parametrize("rate", [*RATES, Fraction(10**6), Fraction(1, 2**50), Fraction(5, 2**51)])
def test_the_dyadic_rate_is_just_below(rate: Fraction) -> None:
    dyadic = dyadic_laplace_rate(rate)
    assert dyadic <= rate
    assert dyadic == min(rate, 4096) or min(rate, 4096) - dyadic < Fraction(1, 2**50)
    assert (dyadic * 2**50).denominator == 1


def test_a_rate_too_small_is_refused() -> None:
    with pytest.raises(ParameterError, match="Raise epsilon"):
        dyadic_laplace_rate(Fraction(1, 2**50 + 1))
    with pytest.raises(ParameterError):
        discrete_laplace(Fraction(1, 10**30), 1, Randomness(1))
