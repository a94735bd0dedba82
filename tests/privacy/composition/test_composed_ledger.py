from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NoReturn

import numpy as np
import pytest

from privatree.errors import BudgetExceededError, ParameterError
from privatree.privacy import Ledger, Randomness, RangeGroup, Spend, largest_range
from privatree.privacy._spend import Cost
from privatree.privacy.mechanisms import (
    DenseInterval,
    Exponential,
    Gaussian,
    Geometric,
    JointExponentialQuantiles,
    Laplace,
    PermuteAndFlip,
    SequentialExponential,
    TruncatedGeometric,
)

ONE = Fraction(1)
E6 = Fraction(1, 10**6)
SIZE = largest_range(ONE, E6, [(Fraction(1, 4), 2), (ONE, 20)])
GROUPS = (RangeGroup(SIZE / 4, 2), RangeGroup(SIZE, 20))
SCORES = np.array([0, 1, 2])


class Untouchable(Randomness):
    """A source that must not be used."""

    def words(self, count: int) -> NoReturn:
        raise AssertionError("words were drawn")

    def bits(self, count: int) -> NoReturn:
        raise AssertionError("bits were drawn")


@dataclass(frozen=True)
class Silent:
    """A mechanism that needs no randomness, and says that it has bounded range."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    name: ClassVar[str] = "silent"
    is_bounded_range: ClassVar[bool] = True

    def release(self, exact: Any, randomness: Randomness) -> Any:
        return exact


def new_ledger(epsilon: Fraction = ONE, delta: Fraction = E6) -> Ledger:
    return Ledger(epsilon, Randomness(0), delta=delta)


# --- charging -------------------------------------------------------------------------------------


def test_draws_are_charged_for_once_and_before_they_are_made() -> None:
    ledger = new_ledger(2 * ONE)
    ledger.release(Geometric(ONE / 2), np.array([5]), purpose="a count")
    draws = ledger.compose(ONE, E6, GROUPS)
    assert ledger.total == Cost(ONE * 3 / 2, E6)
    assert ledger.remaining == ONE / 2
    for number in range(22):
        draws.release(Silent(SIZE / 4 if number < 2 else SIZE), None, purpose="a round")
    assert draws.n_left == 0
    assert ledger.total == Cost(ONE * 3 / 2, E6)
    ledger.release(Geometric(ONE / 2), np.array([5]), purpose="a count")
    assert ledger.remaining == 0


def test_spends_are_listed_in_the_order_of_time() -> None:
    ledger = new_ledger(2 * ONE)
    draws = ledger.compose(ONE, E6, GROUPS)
    draws.release(DenseInterval(SIZE / 4, 1, 5), np.zeros(4, np.int64), purpose="interval of x")
    ledger.release(Geometric(ONE / 4), np.array([5]), purpose="a count")
    draws.release(Exponential(SIZE / 8), SCORES, purpose="interval of y")
    draws.open_draw(SequentialExponential(SIZE), purpose="round", node=3).draw_by_score(SCORES)
    assert list(ledger.spends()) == [
        Spend("exponential", SIZE / 4, "interval of x", is_range=True),
        Spend("geometric", ONE / 4, "a count"),
        Spend("exponential", SIZE / 8, "interval of y", is_range=True),
        Spend("exponential", SIZE, "round", 3, is_range=True),
    ]
    assert ledger.composition is draws.composition
    assert draws.composition.groups == GROUPS


def test_draws_are_those_of_the_mechanisms() -> None:
    draws = new_ledger().compose(ONE, E6, GROUPS)
    plain = Randomness(0)
    mechanism = Exponential(SIZE / 4)
    for _ in range(2):
        made = draws.release(mechanism, np.arange(50), purpose="a choice")
        assert made == mechanism.release(np.arange(50), plain)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(ONE * 99 / 100, E6), (ONE, E6 / 2), (ONE, Fraction(0))]
)
def test_what_does_not_fit_the_budget_is_refused(epsilon: Fraction, delta: Fraction) -> None:
    ledger = new_ledger(epsilon, delta)
    with pytest.raises(BudgetExceededError, match="composed draws: this draw would raise"):
        ledger.compose(ONE, E6, GROUPS)
    assert ledger.total == Cost()
    assert ledger.composition is None


def test_what_is_not_certified_is_refused() -> None:
    ledger = new_ledger(10 * ONE)
    larger = SIZE * Fraction(1001, 1000)
    for groups in ([RangeGroup(larger, 21)], [RangeGroup(SIZE, 23)], [*GROUPS, RangeGroup(ONE, 1)]):
        with pytest.raises(BudgetExceededError, match="must cost at most delta=1e-06"):
            ledger.compose(ONE, E6, groups)
    with pytest.raises(BudgetExceededError):
        ledger.compose(ONE, E6, GROUPS, factor=2)
    assert ledger.total == Cost()


def test_a_replaced_record_halves_the_ranges() -> None:
    halves = [RangeGroup(epsilon / 2, times) for epsilon, times in GROUPS]
    ledger = new_ledger()
    draws = ledger.compose(ONE / 2, E6, halves, factor=2)
    assert ledger.total == Cost(ONE / 2, E6)
    with pytest.raises(BudgetExceededError, match="range of at most"):
        draws.release(Silent(SIZE / 4), None, purpose="a round")


def test_without_delta_ranges_add_up() -> None:
    ledger = new_ledger(delta=Fraction(0))
    with pytest.raises(BudgetExceededError):
        ledger.compose(ONE, Fraction(0), [RangeGroup(ONE / 4, 5)])
    draws = ledger.compose(ONE, Fraction(0), [RangeGroup(ONE / 4, 4)])
    assert ledger.total == Cost(ONE)
    assert draws.n_left == 4


def test_there_is_one_composition_for_a_set_of_records() -> None:
    ledger = new_ledger(10 * ONE, 10 * E6)
    left, right = ledger.parallel(2)
    draws = left.compose(ONE, E6, GROUPS)
    assert ledger.composition is right.composition is draws.composition
    assert ledger.total == Cost(ONE, E6)
    assert right.total == Cost()
    for other in (ledger, left, right, right.parallel(1)[0]):
        with pytest.raises(ParameterError, match="at most once"):
            other.compose(ONE, E6, GROUPS)
    draws.release(Silent(SIZE / 4), None, purpose="a round")
    assert [spend.is_range for spend in left.spends()] == [True]


# --- making draws ---------------------------------------------------------------------------------


def test_one_draw_too_many_is_refused() -> None:
    draws = Ledger(ONE, Untouchable(0)).compose(ONE, Fraction(0), [RangeGroup(ONE / 2, 2)])
    for _ in range(2):
        draws.release(Silent(ONE / 2), None, purpose="a round")
    for _ in range(2):
        with pytest.raises(BudgetExceededError, match="all 2 draws of the composition were made"):
            draws.release(Exponential(Fraction(1, 10**9)), SCORES, purpose="a round")
        with pytest.raises(BudgetExceededError):
            draws.open_draw(SequentialExponential(Fraction(1, 10**9)), purpose="a round")


def test_a_range_too_large_is_refused_and_uses_nothing_up() -> None:
    ledger = Ledger(ONE, Untouchable(0), delta=E6)
    draws = ledger.compose(ONE, E6, GROUPS)
    larger = SIZE / 4 + Fraction(1, 10**30)
    with pytest.raises(BudgetExceededError, match="must have a range of at most"):
        draws.release(Exponential(larger), SCORES, purpose="a round")
    with pytest.raises(BudgetExceededError, match="must have a range of at most"):
        draws.open_draw(SequentialExponential(larger), purpose="a round")
    assert draws.n_left == 22
    assert list(ledger.spends()) == []


def test_draws_in_the_wrong_order_are_refused() -> None:
    draws = new_ledger().compose(ONE, E6, GROUPS)
    with pytest.raises(BudgetExceededError):
        draws.release(Silent(SIZE), None, purpose="a round")
    draws.release(Silent(SIZE / 4), None, purpose="an interval")
    with pytest.raises(BudgetExceededError):
        draws.release(Silent(SIZE), None, purpose="a round")
    draws.release(Silent(SIZE / 8), None, purpose="an interval")
    draws.release(Silent(SIZE), None, purpose="a round")


BOUNDED = (Exponential, SequentialExponential, DenseInterval)
OTHERS = (
    Gaussian,
    Geometric,
    JointExponentialQuantiles,
    Laplace,
    PermuteAndFlip,
    TruncatedGeometric,
)


def test_only_exponential_mechanisms_say_that_they_have_bounded_range() -> None:
    assert all(mechanism.is_bounded_range is True for mechanism in BOUNDED)  # type: ignore[attr-defined]
    assert not any(hasattr(mechanism, "is_bounded_range") for mechanism in OTHERS)


@pytest.mark.parametrize(
    "mechanism",
    [
        Geometric(SIZE / 8),
        PermuteAndFlip(SIZE / 8),
        Laplace(SIZE / 8, sensitivity=ONE),
        Silent(SIZE / 8, delta=E6),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_a_mechanism_without_bounded_range_is_refused(mechanism: Any) -> None:
    ledger = Ledger(ONE, Untouchable(0), delta=E6)
    draws = ledger.compose(ONE, E6, GROUPS)
    with pytest.raises(ParameterError, match="must be of bounded range"):
        draws.release(mechanism, np.array([1]), purpose="a round")
    assert draws.n_left == 22
    assert list(ledger.spends()) == []


def test_the_declaration_must_be_true_itself() -> None:
    class Vague(Silent):
        is_bounded_range = 1  # type: ignore[assignment]

    draws = new_ledger().compose(ONE, E6, GROUPS)
    with pytest.raises(ParameterError):
        draws.release(Vague(SIZE / 8), None, purpose="a round")
