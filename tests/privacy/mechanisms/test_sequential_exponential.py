from __future__ import annotations

import itertools
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privatree.errors import BudgetExceededError, ParameterError
from privatree.privacy import Randomness
from privatree.privacy.mechanisms import Draw, Exponential, LogWeights, SequentialExponential
from privatree.privacy.mechanisms._sequential_exponential import sequential_weights
from privatree.privacy.samplers import _halving as halving
from privatree.privacy.samplers import precision

RATE = Fraction(1, 3)
CASES = {
    "plain": ([3, 0, 1, 5], [1.0, 1.0, 1.0, 1.0]),
    "factors": ([3, 0, 1, 5], [0.25, 1.5, 1e-3, 0.01]),
    "some impossible": ([90, 2, 7, 4, 1], [0.0, 0.5, 0.0, 0.25, 1.0]),
    "tiny factors, great scores": ([1040, 0, 1041], [2.0**-500, 0.5, 2.0**-501]),
}


def weights_of(
    case: str, rate: Fraction = RATE, calls: list[int] | None = None, error: float = 1e-12
) -> LogWeights:
    scores, factors = CASES[case]

    def precise(digits: int) -> tuple[list[Decimal], Decimal]:
        if calls is not None:
            calls.append(digits)
        with localcontext(precision(digits)):
            found = [
                Decimal(factor) * (Decimal(rate.numerator) * score / rate.denominator).exp()
                for score, factor in zip(scores, factors, strict=True)
            ]
            return found, Decimal(10) ** (6 - digits)

    return LogWeights(np.array(scores), np.array(factors), error, precise)


def law(case: str, rate: Fraction = RATE) -> NDArray[np.float64]:
    found, _ = weights_of(case, rate).precise(40)
    with localcontext(precision(40)):
        return np.array([float(weight / sum(found)) for weight in found])


def forbid_precise(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("decided in arbitrary precision")

    monkeypatch.setattr(halving, "_halve_precisely", refuse)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_choice_follows_the_law_of_its_weight(
    case: str, chi_square: Callable[..., float]
) -> None:
    mechanism, source = SequentialExponential(RATE), Randomness(3)
    weights = weights_of(case)
    draws = [mechanism.open(source).draw(weights) for _ in range(6000)]
    counts = np.bincount(draws, minlength=len(CASES[case][0]))
    assert counts[law(case) == 0].sum() == 0
    assert chi_square(counts, law(case), len(draws)) < 1
    wrong = law(case, 2 * RATE)
    assert chi_square(counts, wrong, len(draws)) > 1, "twice the rate would be seen"


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_with_the_error_infinite_every_draw_is_decided_precisely_and_is_the_same(
    case: str, monkeypatch: pytest.MonkeyPatch, layered: Callable[[int], Randomness]
) -> None:
    calls: list[int] = []
    hidden = weights_of(case, calls=calls, error=np.inf)
    precisely = [Draw(RATE, layered(seed)).draw(hidden) for seed in range(300)]
    assert len(calls) >= 300
    forbid_precise(monkeypatch)
    in_floats = [Draw(RATE, layered(seed)).draw(weights_of(case)) for seed in range(300)]
    assert precisely == in_floats
    assert len(set(in_floats)) > 1


@pytest.mark.parametrize("case", CASES)
def test_relative_weights_are_the_law_in_units_of_the_largest(case: str) -> None:
    found = sequential_weights(weights_of(case), RATE)
    assert found.max() == pytest.approx(1, rel=1e-11)
    assert found / found.sum() == pytest.approx(law(case), rel=1e-11)
    np.testing.assert_array_equal(found == 0, np.array(CASES[case][1]) == 0)


def test_weights_below_all_others_become_zero() -> None:
    weights = weights_of("plain")._replace(exact_scores=np.array([0, 2000, 1000, 949]))
    assert sequential_weights(weights, RATE).tolist()[1] == 1.0
    assert (sequential_weights(weights, RATE) > 0).tolist() == [False, True, True, False]


def test_the_laws_beside_the_draws_are_right() -> None:
    draw = Draw(RATE, Randomness(0))
    for case in CASES:
        logs = draw.log_probabilities(weights_of(case))
        assert np.exp(logs) == pytest.approx(law(case), rel=1e-10)
        assert np.exp(logs).sum() == pytest.approx(1)
    scores = np.array([3, 0, 1, 5])
    by_score = np.exp(draw.log_probabilities_by_score(scores))
    assert by_score == pytest.approx(law("plain"))


def test_choices_by_score_follow_their_law(chi_square: Callable[..., float]) -> None:
    mechanism, source = SequentialExponential(2 * RATE, 2), Randomness(4)
    draws = [mechanism.open(source).draw_by_score(np.array([3, 0, 1, 5])) for _ in range(4000)]
    counts = np.bincount(draws, minlength=4)
    assert chi_square(counts, law("plain"), len(draws)) < 1
    assert chi_square(counts, law("plain", 2 * RATE), len(draws)) > 1


def test_two_choices_together_have_the_law_of_the_whole(chi_square: Callable[..., float]) -> None:
    """A row of a table by the weight of the row, then a cell of it by the cell's."""
    scores = np.array([[4, 1, 0], [2, 2, 5]])
    mechanism = SequentialExponential(Fraction(1))
    source = Randomness(5)

    def sums(digits: int) -> tuple[list[Decimal], Decimal]:
        with localcontext(precision(digits)):
            rows = [[Decimal(int(score)).exp() for score in row] for row in scores]
            return [sum(row) for row in rows], Decimal(10) ** (6 - digits)

    rows = LogWeights(scores.max(axis=1), np.exp(scores - scores.max(axis=1, keepdims=True))
                   .sum(axis=1), 1e-12, sums)  # fmt: skip
    counts = np.zeros((2, 3))
    for _ in range(4000):
        draw = mechanism.open(source)
        row = draw.draw(rows)
        draw.expect(1)
        counts[row, draw.draw_by_score(scores[row])] += 1
    whole = np.exp(Exponential(Fraction(1), Fraction(1)).log_probabilities(scores.ravel()))
    assert chi_square(counts.ravel(), whole, 4000) < 1
    even_rows = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True) / 2
    assert chi_square(counts.ravel(), even_rows.ravel(), 4000) > 1


def largest_loss(mechanism: SequentialExponential, score_range: int) -> float:
    """Over small vectors of scores that move within an interval of this length."""
    draw, worst = mechanism.open(Randomness(0)), 0.0
    for scores in itertools.product((0, 2, 9), repeat=3):
        before = draw.log_probabilities_by_score(np.array(scores))
        for move in itertools.product((0, score_range), repeat=3):
            after = draw.log_probabilities_by_score(np.array(scores) + move)
            worst = max(worst, float(np.abs(before - after).max()))
    return worst


@pytest.mark.parametrize("score_range", [1, 3])
def test_the_loss_is_at_most_epsilon_and_mutants_are_caught(score_range: int) -> None:
    epsilon = Fraction(8)
    assert 7.9 < largest_loss(SequentialExponential(epsilon, score_range), score_range) <= 8 + 1e-9
    assert largest_loss(SequentialExponential(2 * epsilon, score_range), score_range) > 15
    assert largest_loss(SequentialExponential(epsilon, score_range), 2 * score_range) > 15


def test_the_rate_is_epsilon_by_the_range() -> None:
    assert SequentialExponential(Fraction(3, 2), 6).rate == Fraction(1, 4)
    assert SequentialExponential(0.5).rate == Fraction(1, 2)  # type: ignore[arg-type]
    assert SequentialExponential(Fraction(1)).name == "exponential"


@pytest.mark.parametrize("name", ["epsilon", "score_range"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "1"])
def test_bad_parameters_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=name):
        SequentialExponential(**{"epsilon": 1, "score_range": 2, name: value})


# --- a draw gives what was paid for, and no more --------------------------------------------------

SCORES = np.array([3, 0, 1, 5])


def test_a_draw_is_closed_with_its_last_choice_and_refuses() -> None:
    draw = SequentialExponential(RATE).open(Randomness(0))
    assert not draw.is_closed
    draw.draw_by_score(SCORES)
    draw.expect(2)
    draw.draw(weights_of("plain"))
    assert not draw.is_closed
    draw.draw_by_score(SCORES)
    assert draw.is_closed
    for once_more in (lambda: draw.draw_by_score(SCORES), lambda: draw.draw(weights_of("plain"))):
        with pytest.raises(BudgetExceededError, match="the draw is closed"):
            once_more()


def test_a_closed_draw_takes_no_random_bits() -> None:
    used, fresh = Randomness(5), Randomness(5)
    closed = SequentialExponential(RATE).open(used)
    closed.draw_by_score(SCORES)
    SequentialExponential(RATE).open(fresh).draw_by_score(SCORES)
    with pytest.raises(BudgetExceededError):
        closed.draw_by_score(SCORES)
    assert used.bits(64) == fresh.bits(64)


def test_more_choices_are_expected_once_after_each() -> None:
    draw = SequentialExponential(RATE).open(Randomness(0))
    with pytest.raises(BudgetExceededError, match="at most once after each choice"):
        draw.expect(1)
    draw.draw_by_score(SCORES)
    with pytest.raises(BudgetExceededError, match="with n_choices >= 0"):
        draw.expect(-1)
    draw.expect(0)
    with pytest.raises(BudgetExceededError, match="at most once after each choice"):
        draw.expect(1)
    assert draw.is_closed
