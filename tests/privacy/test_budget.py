from __future__ import annotations

import copy
import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree.errors import BudgetExceededError, ParameterError
from privatree.privacy import Budget


def test_a_new_budget_is_whole() -> None:
    budget = Budget(0.5)
    assert budget.epsilon == budget.remaining == Fraction(1, 2)
    assert budget.charges == []


def test_charges_add_up_exactly() -> None:
    budget = Budget(Fraction(1))
    for turn in range(10):
        budget.charge(Fraction(1, 10), purpose=f"model {turn}")
    assert budget.remaining == 0
    assert [purpose for purpose, _ in budget.charges] == [f"model {turn}" for turn in range(10)]
    with pytest.raises(BudgetExceededError):
        budget.charge(Fraction(1, 10**30), purpose="one more")


def test_floats_are_taken_as_the_numbers_they_are() -> None:
    budget = Budget(0.3)
    for _ in range(3):
        if Fraction(0.1) <= budget.remaining:
            budget.charge(0.1, purpose="model")
    assert budget.remaining == Fraction(0.3) - 2 * Fraction(0.1), "three times 0.1 is over 0.3"
    assert 0 < budget.remaining < Fraction(0.1)


def test_what_does_not_fit_is_refused_with_what_is_left_and_nothing_is_taken() -> None:
    budget = Budget(1)
    budget.charge(0.75, purpose="first")
    with pytest.raises(BudgetExceededError) as caught:
        budget.charge(0.5, purpose="a second model")
    assert str(caught.value) == (
        "a second model: epsilon=0.5 was asked for, but only 0.25 of the budget is left. "
        "Nothing was drawn."
    )
    assert budget.remaining == Fraction(1, 4)
    assert len(budget.charges) == 1
    budget.charge(0.25, purpose="third")
    assert budget.remaining == 0


def test_charges_for_other_neighbours_are_refused_and_nothing_is_taken() -> None:
    for mine, its in (("add-remove", "replace"), ("replace", "add-remove")):
        budget = Budget(1, neighbours=mine)
        with pytest.raises(ParameterError, match=f"for {mine} neighbours, the charge for {its}"):
            budget.charge(0.25, purpose="model", neighbours=its)
        assert budget.remaining == 1
        budget.charge(0.25, purpose="model", neighbours=mine)
        assert budget.remaining == Fraction(3, 4)
    assert Budget(1).neighbours == "add-remove"


def test_a_copy_is_the_same_account() -> None:
    budget = Budget(1)
    copy.deepcopy({"budget": budget})["budget"].charge(0.25, purpose="a clone's model")
    assert budget.remaining == Fraction(3, 4)


BAD = [0, -1, float("nan"), float("inf"), True, "1", None]


@pytest.mark.parametrize("epsilon", BAD)
def test_a_bad_budget_is_refused(epsilon: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        Budget(epsilon)


@pytest.mark.parametrize("epsilon", BAD)
def test_a_bad_charge_is_refused(epsilon: Any) -> None:
    budget = Budget(1)
    with pytest.raises(ParameterError, match="epsilon"):
        budget.charge(epsilon, purpose="a refund?")
    assert budget.remaining == 1


@given(
    st.fractions(Fraction(1, 10), 2, max_denominator=50),
    st.lists(st.fractions(Fraction(1, 50), 1, max_denominator=50), max_size=20),
)
def test_any_charges(epsilon: Fraction, charges: list[Fraction]) -> None:
    budget, left = Budget(epsilon), epsilon
    for charge in charges:
        if charge > left:
            with pytest.raises(BudgetExceededError):
                budget.charge(charge, purpose="model")
        else:
            budget.charge(charge, purpose="model")
            left -= charge
        assert budget.remaining == left
        assert sum(amount for _, amount in budget.charges) == epsilon - left


def test_threads_cannot_overspend(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of eight would find enough left, were it not for the lock."""
    budget = Budget(1)
    arrived = threading.Barrier(8, timeout=10)
    remaining = Budget.remaining.fget
    assert remaining is not None

    def slowly(self: Budget) -> Fraction:
        left: Fraction = remaining(self)
        threading.Event().wait(0.01)
        return left

    monkeypatch.setattr(Budget, "remaining", property(slowly))

    def spend(_: int) -> bool:
        arrived.wait()
        try:
            budget.charge(Fraction(2, 5), purpose="model")
        except BudgetExceededError:
            return False
        return True

    with ThreadPoolExecutor(max_workers=8) as pool:
        assert sum(pool.map(spend, range(8))) == 2
    assert remaining(budget) == Fraction(1, 5)
