from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
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
    assert [charge.purpose for charge in budget.charges] == [f"model {n}" for n in range(10)]
    assert [charge.number for charge in budget.charges] == list(range(1, 11))
    assert all(charge.epsilon == Fraction(1, 10) for charge in budget.charges)
    assert all(charge.time.utcoffset() == timedelta(0) for charge in budget.charges)
    with pytest.raises(BudgetExceededError):
        budget.charge(Fraction(1, 10**30), purpose="one more")


@pytest.mark.parametrize(
    ("cap", "each", "times"), [(1, 0.1, 10), (0.3, 0.1, 3), (0.7, 0.1, 7), (1.1, 0.05, 22)]
)
def test_floats_are_the_decimals_that_people_add_up(cap: float, each: float, times: int) -> None:
    """Mutant: as the floats they are, the last charge would not be covered."""
    budget = Budget(cap)
    for _ in range(times):
        budget.charge(each, purpose="model")
    assert budget.remaining == 0
    assert times * Fraction(each) != Fraction(cap)


def test_what_does_not_fit_is_refused_with_what_is_left_and_nothing_is_taken() -> None:
    budget = Budget(1)
    budget.charge(0.75, purpose="first")
    with pytest.raises(BudgetExceededError) as caught:
        budget.charge(0.5, purpose="a second model")
    assert str(caught.value) == (
        "a second model: epsilon=0.5 was requested, but only 0.25 of the budget is left. "
        "Nothing was drawn. Lower epsilon."
    )
    assert budget.remaining == Fraction(1, 4)
    assert len(budget.charges) == 1
    budget.charge(0.25, purpose="third")
    assert budget.remaining == 0


def test_charges_for_other_neighbours_are_refused_and_nothing_is_taken() -> None:
    for mine, its in (("add-remove", "replace"), ("replace", "add-remove")):
        budget = Budget(1, neighbours=mine)
        with pytest.raises(ParameterError, match=f"for neighbours='{mine}', but .*'{its}'"):
            budget.charge(0.25, purpose="model", neighbours=its)
        assert budget.remaining == 1
        budget.charge(0.25, purpose="model", neighbours=mine)
        assert budget.remaining == Fraction(3, 4)
    assert Budget(1).neighbours == "add-remove"


def test_a_copy_is_the_same_account() -> None:
    budget = Budget(1)
    copy.deepcopy({"budget": budget})["budget"].charge(0.25, purpose="a clone's model")
    assert budget.remaining == Fraction(3, 4)


def test_a_refusal_never_shows_as_much_left_as_was_asked_for() -> None:
    budget = Budget(Fraction(1, 4))
    with pytest.raises(BudgetExceededError, match=r"epsilon=0\.25000000001 was .* only 0\.25 of"):
        budget.charge(0.25000000001, purpose="model")
    budget = Budget(0.1 - 1e-12)
    with pytest.raises(BudgetExceededError, match=r"epsilon=0\.1 was .* only 0\.099999999999 of"):
        budget.charge(0.1, purpose="model")


def test_a_pickle_would_be_a_second_account() -> None:
    with pytest.raises(TypeError, match=r"cannot be pickled.*BudgetStore"):
        pickle.dumps(Budget(1))


def test_a_fork_would_be_a_second_account() -> None:
    code = """
import os, sys
from privatree.errors import ParameterError
from privatree.privacy import Budget

budget = Budget(1)
budget.charge(0.25, purpose="before")
if child := os.fork():
    _, status = os.waitpid(child, 0)
    budget.charge(0.25, purpose="after")
    print(os.waitstatus_to_exitcode(status), budget.remaining)
else:
    try:
        budget.charge(0.25, purpose="in the child")
    except ParameterError as error:
        print(error, flush=True)
        os._exit(7)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "a Budget in memory can only be charged by the process that created it, and this process "
        "is a fork of it. Use a privatree.privacy.BudgetStore, which processes share.\n7 1/2\n"
    )


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


@pytest.mark.slow
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
        assert sum(charge.epsilon for charge in budget.charges) == epsilon - left


def test_threads_cannot_overspend(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of eight would find enough left, were it not for the lock."""
    budget = Budget(1)
    arrived = threading.Barrier(8, timeout=600)
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


def test_what_comes_later_must_be_left_but_is_not_taken() -> None:
    budget = Budget(1.0)
    budget.charge(0.03, purpose="first", later=Fraction(97, 100))
    assert budget.remaining == Fraction(97, 100)
    with pytest.raises(
        BudgetExceededError,
        match=r"second: epsilon=0\.98 was requested, but only 0\.97 of",
    ):
        budget.charge(0.5, purpose="second", later=Fraction(48, 100))
    assert budget.remaining == Fraction(97, 100)
    with pytest.raises(ParameterError, match="later must be at least 0, got -1"):
        budget.charge(1.5, purpose="third", later=Fraction(-1))
    assert len(budget.charges) == 1


@pytest.mark.parametrize(
    ("mine", "its", "advice"),
    [
        (None, "patient_id", "Train without units, or .* unit='patient_id'"),
        ("patient_id", None, "Train with the unit 'patient_id', or .* unit=None"),
        ("patient_id", "visit_id", "if it is the same unit by another name, or .* unit='visit_id'"),
    ],
)
def test_charges_for_another_unit_are_refused_and_nothing_is_taken(
    mine: str | None, its: str | None, advice: str
) -> None:
    budget = Budget(1, unit=mine)
    with pytest.raises(ParameterError, match=advice) as caught:
        budget.charge(0.25, purpose="model", unit=its)
    assert "cannot be added up. Nothing was drawn." in str(caught.value)
    assert caught.value.parameter == "budget"
    assert budget.remaining == 1
    budget.charge(0.25, purpose="model", unit=mine)
    assert budget.remaining == Fraction(3, 4)


def test_a_budget_of_units_says_so() -> None:
    assert repr(Budget(1, unit="patient_id")) == (
        "<Budget: 1 of 1 left for all records of one patient_id>"
    )
    assert repr(Budget(1)) == "<Budget: 1 of 1 left>"


@pytest.mark.parametrize("unit", ["", " ", "a\nb", "x" * 201, 7, ("a",)], ids=lambda u: str(u)[:5])
def test_a_unit_without_a_printable_name_is_refused(unit: Any) -> None:
    with pytest.raises(ParameterError, match="unit must be the name of a unit") as caught:
        Budget(1, unit=unit)
    assert caught.value.parameter == "unit"
