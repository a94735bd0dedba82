from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.privacy import Randomness
from privatree.privacy.mechanisms import PermuteAndFlip

EPSILONS = [Fraction(1), Fraction(8)]
EITHER_WAY = (-1.0, 0.0, 1.0)
SAME_WAY = (0.0, 0.5, 1.0)
VECTORS = [
    np.array(scores)
    for size in (1, 2, 3)
    for scores in itertools.product((0, 1, 2, 9), repeat=size)
]


def by_permutations(scores: NDArray[Any], rate: float) -> NDArray[np.float64]:
    """The law from the definition: every order, every first head."""
    law = np.zeros(len(scores))
    biases = np.exp(rate * (scores - scores.max()))
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        reached = 1.0
        for candidate in order:
            law[candidate] += reached * biases[candidate] / len(orders)
            reached *= 1 - biases[candidate]
    return law


def largest_loss(mechanism: PermuteAndFlip, moves: Iterable[float]) -> float:
    """Over all small vectors of scores, all changes of each score by ``moves``, all choices."""
    moves = tuple(moves)
    loss = 0.0
    for scores in VECTORS:
        before = mechanism.log_probabilities(scores)
        for change in itertools.product(moves, repeat=len(scores)):
            after = mechanism.log_probabilities(
                scores + float(mechanism.sensitivity) * np.array(change)
            )
            loss = max(loss, float(np.max(np.abs(before - after))))
    return loss


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("sensitivity", [Fraction(1), Fraction(5, 2)])
def test_the_law_is_that_of_the_definition(monotone: bool, sensitivity: Fraction) -> None:
    mechanism = PermuteAndFlip(Fraction(3), sensitivity, monotone)
    rate = 3 / float(sensitivity) / (1 if monotone else 2)
    for scores in [*VECTORS, np.array([0, 3, 1, 3]), np.array([0.25, -0.5, 0.0, 0.3])]:
        law = np.exp(mechanism.log_probabilities(scores))
        assert law.sum() == pytest.approx(1, rel=1e-12)
        assert law == pytest.approx(by_permutations(scores, rate), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sensitivity", [Fraction(1), Fraction(1, 2)])
def test_the_loss_is_at_most_epsilon(epsilon: Fraction, sensitivity: Fraction) -> None:
    for mechanism, moves in (
        (PermuteAndFlip(epsilon, sensitivity), EITHER_WAY),
        (PermuteAndFlip(epsilon, sensitivity, monotone=True), SAME_WAY),
    ):
        reached = largest_loss(mechanism, moves)
        assert reached <= float(epsilon) + 1e-9
        assert reached > 0.99 * float(epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_half_the_noise_is_caught(epsilon: Fraction) -> None:
    assert largest_loss(PermuteAndFlip(2 * epsilon), EITHER_WAY) > 1.9 * float(epsilon)
    double = PermuteAndFlip(2 * epsilon, monotone=True)
    assert largest_loss(double, SAME_WAY) > 1.9 * float(epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_scores_claimed_to_be_monotone_that_are_not_are_caught(epsilon: Fraction) -> None:
    claimed = PermuteAndFlip(epsilon, monotone=True)
    assert largest_loss(claimed, EITHER_WAY) > 1.9 * float(epsilon)


@pytest.mark.slow
@pytest.mark.parametrize(
    "scores", [np.array([4]), np.array([0, 1]), np.array([2, 0, 2, 1]), np.array([0.3, 0.1, -1.0])]
)
def test_release_follows_the_law(scores: NDArray[Any], integer_law: Callable[..., float]) -> None:
    mechanism = PermuteAndFlip(Fraction(2))
    source = Randomness(91)
    draws = [mechanism.release(scores, source) for _ in range(4000)]
    if len(scores) == 1:
        assert set(draws) == {0}
        return
    assert integer_law(draws, np.exp(mechanism.log_probabilities(scores))) < 1
    wrong = PermuteAndFlip(Fraction(4)).log_probabilities(scores)
    assert integer_law(draws, np.exp(wrong)) > 1


def test_taking_the_first_head_in_a_fixed_order_is_caught(
    integer_law: Callable[..., float],
) -> None:
    scores = np.array([1, 1, 0])
    draws = np.zeros(2000, dtype=np.int64)  # the first candidate always shows heads
    law = np.exp(PermuteAndFlip(Fraction(1)).log_probabilities(scores))
    assert math.isclose(law.sum(), 1)
    assert integer_law(draws, law) > 1


@pytest.mark.parametrize("name", ["epsilon", "sensitivity"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "1"])
def test_bad_parameters_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=name):
        PermuteAndFlip(**{"epsilon": 1, "sensitivity": 1, name: value})
