"""The delta of a budget, in memory and in a file: a second sum, as exact as that of epsilon."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privatree.errors import BudgetExceededError, BudgetStoreError, ParameterError
from privatree.privacy import Budget, BudgetStore
from privatree.privacy import _budget as budget_module
from privatree.privacy import _budget_store as budget_store
from privatree.privacy import _budget_tables as budget_tables

MICRO = Fraction(1, 10**6)


@pytest.fixture(params=["memory", "file"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Any]:
    """Makes a budget of either kind."""
    numbers = count()

    def new(epsilon: Any, **settings: Any) -> Any:
        if request.param == "memory":
            return Budget(epsilon, **settings)
        return BudgetStore.create(tmp_path / f"{next(numbers)}.db", epsilon, **settings)

    return new


def test_a_budget_has_no_delta_unless_it_is_given_one(make: Callable[..., Any]) -> None:
    budget = make(1)
    assert budget.delta == budget.remaining_delta == 0
    budget.charge(0.5, purpose="model")
    assert budget.charges[0].delta == 0
    budget = make(3, delta=1e-5)
    assert budget.delta == budget.remaining_delta == 10 * MICRO


def test_epsilons_and_deltas_add_up_separately(make: Callable[..., Any]) -> None:
    budget = make(3, delta=1e-5)
    budget.charge(1, delta=4e-6, purpose="an ensemble")
    budget.charge(0.5, purpose="a tree")
    assert (budget.remaining, budget.remaining_delta) == (Fraction(3, 2), 6 * MICRO)
    assert [(charge.epsilon, charge.delta) for charge in budget.charges] == [
        (1, 4 * MICRO),
        (Fraction(1, 2), 0),
    ]


def test_floats_are_the_decimals_that_people_add_up(make: Callable[..., Any]) -> None:
    """Mutant: as the floats they are, the sum would be less, or the last charge not covered."""
    for total, each, times in ((1e-5, 1e-6, 10), (1e-4, 1e-5, 10)):
        assert times * Fraction(each) != Fraction(total)
        budget = make(100, delta=total)
        for _ in range(times):
            budget.charge(1, delta=each, purpose="model")
        assert budget.remaining_delta == 0
        with pytest.raises(BudgetExceededError, match="nothing of the budget's delta is left"):
            budget.charge(1, delta=Fraction(1, 10**30), purpose="one more")


def refusal(budget: Any, *amounts: Any, **more: Any) -> str:
    """What the budget says; it stays as it was."""
    before = budget.remaining, budget.remaining_delta, list(budget.charges)
    with pytest.raises(BudgetExceededError) as caught:
        budget.charge(*amounts, purpose="a second model", **more)
    assert (budget.remaining, budget.remaining_delta, list(budget.charges)) == before
    return str(caught.value)


def test_what_does_not_fit_is_refused_with_what_is_left_and_nothing_is_taken(
    make: Callable[..., Any],
) -> None:
    budget = make(3, delta=1e-5)
    budget.charge(1, delta=9e-6, purpose="first")
    assert refusal(budget, 1, delta=2e-6) == (
        "a second model: delta=2e-06 was requested, but only 1e-06 of the budget's delta is left. "
        "Nothing was drawn. Lower delta."
    )
    budget.charge(1, delta=1e-6, purpose="third")
    assert refusal(budget, 1, delta=1e-6) == (
        "a second model: delta=1e-06 was requested, but nothing of the budget's delta is left. "
        "Nothing was drawn. Train with delta=0."
    )
    assert "epsilon=2 was requested, but only 1 of the budget is left" in refusal(budget, 2)
    assert "epsilon=2 was requested" in refusal(budget, 2, delta=1e-6)
    budget.charge(1, purpose="without a delta")
    assert budget.remaining == budget.remaining_delta == 0


def test_a_budget_without_a_delta_says_what_to_do(make: Callable[..., Any]) -> None:
    assert refusal(make(3), 1, delta=1e-6) == (
        "a second model: delta=1e-06 was requested, but the budget has no delta. Nothing was "
        "drawn. Train with delta=0, or use another budget, made with a delta."
    )


def test_a_refusal_never_shows_as_much_left_as_was_asked_for(make: Callable[..., Any]) -> None:
    said = refusal(make(1, delta=Fraction(1, 3)), 1, delta=Fraction(1, 3) + MICRO**3)
    assert "delta=0.333334 was requested, but only 0.333333 of" in said


def test_what_comes_later_must_be_left_but_is_not_taken(make: Callable[..., Any]) -> None:
    budget = make(1, delta=1e-5)
    budget.charge(0.03, purpose="first", later=Fraction(97, 100), later_delta=10 * MICRO)
    assert (budget.remaining, budget.remaining_delta) == (Fraction(97, 100), 10 * MICRO)
    said = refusal(budget, 0.03, delta=1e-6, later=Fraction(1, 2), later_delta=10 * MICRO)
    assert "delta=1.1e-05 was requested, but only 1e-05 of" in said
    assert "has no delta" in refusal(make(1), 0.03, later=Fraction(1, 2), later_delta=MICRO)
    with pytest.raises(ParameterError, match="later_delta must be at least 0, got -1") as caught:
        budget.charge(0.5, delta=2e-5, purpose="third", later_delta=Fraction(-1))
    assert caught.value.parameter == "later_delta"
    budget.charge(0.97, delta=1e-5, purpose="second")
    assert budget.remaining == budget.remaining_delta == 0


@pytest.mark.parametrize("delta", [-1e-9, 1, 1.0, 2, float("nan"), float("inf"), True, "0", None])
def test_a_bad_delta_is_refused(make: Callable[..., Any], tmp_path: Path, delta: Any) -> None:
    with pytest.raises(ParameterError, match="delta must be") as caught:
        make(1, delta=delta)
    assert caught.value.parameter == "delta"
    assert list(tmp_path.iterdir()) == []
    budget = make(1, delta=0.5)
    with pytest.raises(ParameterError, match="delta must be"):
        budget.charge(0.5, delta=delta, purpose="a refund?")
    assert list(budget.charges) == []


def test_a_delta_with_too_many_digits_is_not_put_into_a_file(tmp_path: Path) -> None:
    long = Fraction(1, 10**400)
    with pytest.raises(ParameterError, match="delta must be a fraction whose denominator"):
        BudgetStore.create(tmp_path / "a.db", 1, delta=long)
    assert list(tmp_path.iterdir()) == []
    store = BudgetStore.create(tmp_path / "a.db", 1, delta=0.5)
    with pytest.raises(ParameterError, match="delta must be a fraction whose denominator"):
        store.charge(0.5, delta=long, purpose="model")
    for tiny in (5e-324, Fraction(1, 3)):
        store.charge(0.01, delta=tiny, purpose="model")
    assert [charge.delta for charge in store.charges] == [Fraction("5e-324"), Fraction(1, 3)]


def test_a_budget_with_a_delta_says_so() -> None:
    budget = Budget(3, delta=1e-5, unit="patient_id")
    budget.charge(1, delta=1e-6, purpose="model", unit="patient_id")
    assert repr(budget) == (
        "<Budget: epsilon 2 of 3 and delta 9e-06 of 1e-05 left for all records of one patient_id>"
    )


@pytest.mark.slow
def test_many_threads_cannot_overspend_the_delta(make: Callable[..., Any]) -> None:
    budget = make(100, delta=1e-5)

    def charge(_: int) -> bool:
        try:
            budget.charge(1, delta=1.5e-6, purpose="model")
        except BudgetExceededError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(charge, range(16))) == 6
    assert (budget.remaining, budget.remaining_delta) == (94, MICRO)


# --- any charges, and mutants that get them wrong -----------------------------------------------

Amounts = tuple[Fraction, Fraction, Fraction, Fraction]
"""Epsilon and delta of a charge, and of the charge that will follow."""


def faults(budget: Any, charges: list[Amounts]) -> list[str]:
    """Compare a budget, charge by charge, with two sums."""
    found, limits, spent = [], (budget.epsilon, budget.delta), [Fraction(0), Fraction(0)]
    taken: list[tuple[Fraction, Fraction]] = []
    for epsilon, delta, later, later_delta in charges:
        sums = spent[0] + epsilon + later, spent[1] + delta + later_delta
        fits = all(total <= limit for total, limit in zip(sums, limits, strict=True))
        try:
            budget.charge(
                epsilon, delta=delta, purpose="model", later=later, later_delta=later_delta
            )
        except BudgetExceededError:
            if fits:
                found.append("refused, but it fits")
        else:
            if not fits:
                found.append("charged, but it does not fit")
            spent = [spent[0] + epsilon, spent[1] + delta]
            taken.append((epsilon, delta))
        try:
            charges_kept = [(charge.epsilon, charge.delta) for charge in budget.charges]
            left = budget.remaining, budget.remaining_delta
        except BudgetStoreError as error:
            return [*found, str(error)]
        if charges_kept != taken:
            found.append("the charges are not those that were made")
        if left != (limits[0] - spent[0], limits[1] - spent[1]):
            found.append("what is left is wrong")
        if spent[0] > limits[0] or spent[1] > limits[1]:
            found.append("more was spent than the limit")
    return found


EPSILONS = st.fractions(Fraction(1, 50), 1, max_denominator=50)
DELTAS = st.just(Fraction(0)) | st.fractions(0, Fraction(1, 2), max_denominator=50)
LATER = st.just(Fraction(0)) | st.fractions(0, Fraction(1, 4), max_denominator=50)


@pytest.mark.slow
@settings(
    max_examples=100,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    epsilon=st.fractions(Fraction(1, 10), 3, max_denominator=50),
    delta=st.just(Fraction(0)) | st.fractions(0, Fraction(49, 50), max_denominator=50),
    charges=st.lists(st.tuples(EPSILONS, DELTAS, LATER, LATER), max_size=12),
)
def test_any_charges(
    make: Callable[..., Any], epsilon: Fraction, delta: Fraction, charges: list[Amounts]
) -> None:
    assert faults(make(epsilon, delta=delta), charges) == []


NONE = Fraction(0)
SOME_CHARGES: list[Amounts] = [
    (Fraction(1, 4), 6 * MICRO, NONE, NONE),
    (Fraction(1, 4), 6 * MICRO, NONE, NONE),  # its delta does not fit
    (Fraction(1, 4), 3 * MICRO, NONE, 2 * MICRO),  # the later delta does not fit
    (Fraction(1, 4), 3 * MICRO, NONE, MICRO),
    (Fraction(9, 10), NONE, NONE, NONE),  # its epsilon does not fit
]


def check_of(change: Callable[..., tuple[Any, ...]]) -> Callable[[pytest.MonkeyPatch], None]:
    """Return a mutant that changes the arguments of the check."""
    right = budget_store.check_budget_covers

    def mutant(balance: Any, *arguments: Any) -> None:
        right(*change(balance, *arguments))

    def apply(patch: pytest.MonkeyPatch) -> None:
        for module in (budget_module, budget_store):
            patch.setattr(module, "check_budget_covers", mutant)

    return apply


def nothing_is_added_up(patch: pytest.MonkeyPatch) -> None:
    for kind in (Budget, budget_tables.Account):
        patch.setattr(kind, "remaining_delta", property(lambda self: self.delta))


def delta_is_dropped(patch: pytest.MonkeyPatch) -> None:
    """The charge is written without its delta."""
    charge, add = budget_module.Charge, budget_store.add_charge_to_budget_file

    def forgetful(*fields: Any, delta: Fraction) -> Any:
        return charge(*fields)

    def add_without(connection: Any, account: Any, epsilon: Any, _: Any, *rest: Any) -> None:
        add(connection, account, epsilon, Fraction(0), *rest)

    patch.setattr(budget_module, "Charge", forgetful)
    patch.setattr(budget_store, "add_charge_to_budget_file", add_without)


MUTANTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "deltas are not added up": nothing_is_added_up,
    "delta is checked against the epsilon that is left": check_of(
        lambda balance, *rest: (
            SimpleNamespace(
                delta=balance.delta,
                remaining=balance.remaining,
                remaining_delta=balance.remaining,
            ),
            *rest,
        )
    ),
    "delta is checked against the whole delta": check_of(
        lambda balance, *rest: (
            SimpleNamespace(
                delta=balance.delta, remaining=balance.remaining, remaining_delta=balance.delta
            ),
            *rest,
        )
    ),
    "delta is not checked": check_of(
        lambda balance, epsilon, _, purpose, later, __: (
            balance, epsilon, NONE, purpose, later, NONE,
        )
    ),
    "the later delta is not checked": check_of(
        lambda balance, epsilon, delta, purpose, later, _: (
            balance, epsilon, delta, purpose, later, NONE,
        )
    ),
    "delta is not charged": delta_is_dropped,
}  # fmt: skip


def test_these_charges_find_no_fault_in_the_code_as_it_is(make: Callable[..., Any]) -> None:
    assert faults(make(1, delta=1e-5), SOME_CHARGES) == []


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(
    make: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    budget = make(1, delta=1e-5)
    with monkeypatch.context() as patch:
        MUTANTS[name](patch)
        found = faults(budget, SOME_CHARGES)
    wrong = "not those that were made" if name == "delta is not charged" else "does not fit"
    assert any(wrong in fault for fault in found), found
