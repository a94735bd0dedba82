from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.privacy import Randomness
from privatree.privacy.mechanisms import Exponential

EPSILONS = [Fraction(1), Fraction(8)]
SCORES = [np.array(scores) for scores in itertools.product((0, 1, 3, 40), repeat=3)]
MEASURES = [None, np.array([1.0, 1e-3, 50.0])]
EITHER_WAY = list(itertools.product((-1.0, -0.5, 0.0, 1.0), repeat=3))
SAME_WAY = list(itertools.product((0.0, 0.5, 1.0), repeat=3))


def largest_loss(
    mechanism: Exponential,
    changes: Iterable[tuple[float, ...]],
    measure: NDArray[np.float64] | None = None,
) -> float:
    """Over all small vectors of scores, all their changes and all choices."""
    changes = list(changes)
    loss = 0.0
    for scores in SCORES:
        before = mechanism.log_probabilities(scores, measure)
        for change in changes:
            after = mechanism.log_probabilities(scores + np.array(change), measure)
            loss = max(loss, float(np.max(np.abs(before - after))))
    return loss


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("measure", MEASURES)
def test_the_loss_is_at_most_epsilon(
    epsilon: Fraction, measure: NDArray[np.float64] | None
) -> None:
    """Scores that change by at most one, by the range of two, or by one if they move together."""
    for mechanism, changes in (
        (Exponential(epsilon), EITHER_WAY),
        (Exponential(epsilon, 1), SAME_WAY),
    ):
        reached = largest_loss(mechanism, changes, measure)
        assert reached <= float(epsilon) + 1e-9
        assert reached > 0.999 * float(epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("measure", MEASURES)
def test_half_the_range_is_caught(epsilon: Fraction, measure: NDArray[np.float64] | None) -> None:
    assert largest_loss(Exponential(epsilon, 1), EITHER_WAY, measure) > 1.9 * float(epsilon)
    half = Exponential(epsilon, Fraction(1, 2))
    assert largest_loss(half, SAME_WAY, measure) > 1.9 * float(epsilon)
    assert largest_loss(Exponential(2 * epsilon), EITHER_WAY, measure) > 1.9 * float(epsilon)


def test_a_measure_taken_from_the_data_is_caught() -> None:
    mechanism = Exponential(Fraction(1))
    scores = np.array([0, 0])
    before = mechanism.log_probabilities(scores, np.array([1.0, 1.0]))
    after = mechanism.log_probabilities(np.array([1, 0]), np.array([5.0, 1.0]))
    assert np.max(np.abs(before - after)) > 1.2


@pytest.mark.parametrize("measure", MEASURES)
def test_probabilities_add_up_to_one_and_follow_the_definition(
    measure: NDArray[np.float64] | None,
) -> None:
    for scores in SCORES:
        law = np.exp(Exponential(Fraction(3), Fraction(7, 2)).log_probabilities(scores, measure))
        assert law.sum() == pytest.approx(1, rel=1e-12)
        weights = np.exp(6 / 7 * scores) * (1 if measure is None else measure)
        assert law == pytest.approx(weights / weights.sum(), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("measure", [None, np.array([1.0, 0.1, 5.0])])
@pytest.mark.parametrize("scores", [np.array([0, 2, 1]), np.array([0.5, 0.5, -0.25])])
def test_release_follows_the_law(
    scores: NDArray[Any],
    measure: NDArray[np.float64] | None,
    integer_law: Callable[..., float],
) -> None:
    mechanism = Exponential(Fraction(2), Fraction(3, 2))
    source = Randomness(81)
    draws = [mechanism.release(scores, source, measure) for _ in range(4000)]
    law = np.exp(mechanism.log_probabilities(scores, measure))
    assert integer_law(draws, law) < 1
    wrong = np.exp(Exponential(Fraction(2), Fraction(3, 4)).log_probabilities(scores, measure))
    assert integer_law(draws, wrong) > 1


@pytest.mark.parametrize("name", ["epsilon", "score_range"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "1"])
def test_bad_parameters_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=name):
        Exponential(**{"epsilon": 1, "score_range": 2, name: value})
