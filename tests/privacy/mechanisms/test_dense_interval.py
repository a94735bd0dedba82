"""The interval: private, sharp, and drawn by the law of its definition."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.privacy import Randomness
from privatree.privacy.mechanisms import DenseInterval, Exponential, Interval

CELLS = [np.array(cells) for cells in itertools.product((0, 1, 40), repeat=4)]


def law_by_definition(mechanism: DenseInterval, cells: NDArray[np.int64]) -> NDArray[np.float64]:
    """Weight 8^level exp(epsilon min(records inside, enough)), for every dyadic interval."""
    weights = []
    for level in range(mechanism.levels + 1):
        half = Fraction(len(cells), 2 ** (level + 1))
        for start in range(2 ** (level + 1) - 1):
            inside = int(cells[int(start * half) : int((start + 2) * half)].sum())
            score = float(mechanism.epsilon) * min(inside, mechanism.enough)
            weights.append(8.0**level * np.exp(score - float(mechanism.epsilon) * mechanism.enough))
    return np.array(weights) / np.sum(weights)


def largest_loss(mechanism: DenseInterval) -> float:
    """Over all small datasets, all records that can be added and all intervals."""
    loss = 0.0
    for cells in CELLS:
        before = mechanism.log_probabilities(cells)
        for place in range(len(cells)):
            after = mechanism.log_probabilities(cells + (np.arange(len(cells)) == place))
            loss = max(loss, float(np.abs(before - after).max()))
    return loss


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(8)])
@pytest.mark.parametrize("enough", [41, 10**6])
def test_the_loss_is_at_most_epsilon_and_nearly_reaches_it(epsilon: Fraction, enough: int) -> None:
    reached = largest_loss(DenseInterval(epsilon, 1, enough))
    assert 0.9 * float(epsilon) < reached <= float(epsilon) + 1e-9


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(8)])
def test_half_the_range_is_caught(monkeypatch: pytest.MonkeyPatch, epsilon: Fraction) -> None:
    half = Exponential(epsilon, Fraction(1, 2))
    monkeypatch.setattr(DenseInterval, "_choice", property(lambda self: half))
    assert largest_loss(DenseInterval(epsilon, 1, 10**6)) > 1.9 * float(epsilon)


@pytest.mark.parametrize("cells", CELLS[::7])
def test_the_law_is_that_of_the_definition(cells: NDArray[np.int64]) -> None:
    mechanism = DenseInterval(Fraction(1, 3), 1, 30)
    found = np.exp(mechanism.log_probabilities(cells))
    assert found == pytest.approx(law_by_definition(mechanism, cells), rel=1e-9)
    assert found.sum() == pytest.approx(1, rel=1e-12)


def test_intervals_are_dyadic_and_begin_at_half_steps() -> None:
    ends = [interval.ends for interval in DenseInterval(Fraction(1), 2, 1).intervals]
    widths = [stop - start for start, stop in ends]
    assert widths == [1] + [Fraction(1, 2)] * 3 + [Fraction(1, 4)] * 7
    assert ends[1:4] == [(0, 0.5), (0.25, 0.75), (0.5, 1)]
    assert Interval(2, 6).ends == (0.75, 1)


@pytest.mark.slow
def test_release_follows_the_law(integer_law: Callable[..., float]) -> None:
    cells = np.array([1, 0, 3, 2])
    mechanism, source = DenseInterval(Fraction(1), 1, 4), Randomness(5)
    draws = [mechanism.intervals.index(mechanism.release(cells, source)) for _ in range(4000)]
    assert integer_law(draws, law_by_definition(mechanism, cells)) < 1
    wrong = law_by_definition(DenseInterval(Fraction(2), 1, 4), cells)
    assert integer_law(draws, wrong) > 1


def test_the_narrowest_interval_with_enough_records_is_drawn() -> None:
    cells = np.zeros(512, dtype=np.int64)
    cells[300:308] = 1000
    mechanism = DenseInterval(Fraction(1, 100), 8, 6000)
    for seed in range(20):
        start, stop = mechanism.release(cells, Randomness(seed)).ends
        assert cells[int(start * 512) : int(stop * 512)].sum() >= 6000
        assert stop - start <= Fraction(32, 512)


@pytest.mark.parametrize(
    ("name", "value"),
    [("epsilon", 0), ("epsilon", float("nan")), ("levels", -1), ("levels", 17), ("enough", 0)],
)
def test_bad_parameters_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=name):
        DenseInterval(**{"epsilon": 1, "levels": 1, "enough": 1, name: value})


def test_a_wrong_number_of_cells_is_refused() -> None:
    with pytest.raises(ParameterError, match="there must be 4 cells, got 3"):
        DenseInterval(Fraction(1), 1, 1).release(np.zeros(3, dtype=np.int64), Randomness(0))
