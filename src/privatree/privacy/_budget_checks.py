"""Which charges a budget accepts, and what it says of those that it refuses."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

from privatree._support.escape import escape_text
from privatree.errors import BudgetExceededError, ParameterError
from privatree.privacy._exact_epsilon import format_epsilon
from privatree.privacy._unit_words import UnitWords

_MAX_TEXT_LENGTH = 200


def check_charge_neighbours(of_budget: str, of_charge: str) -> None:
    if of_charge != of_budget:
        raise ParameterError(
            f"the budget is for neighbours={of_budget!r}, but the charge is for "
            f"neighbours={of_charge!r}: their epsilons cannot be added up. Train with "
            f"neighbours={of_budget!r}."
        )


def check_budget_unit(unit: Any) -> None:
    """Raise a ParameterError if a budget cannot be kept for units of this name."""
    if unit is None:
        return
    if not isinstance(unit, str) or not unit.strip() or budget_text(unit) != unit:
        raise ParameterError(
            "unit must be the name of a unit, printable and of at most "
            f"{_MAX_TEXT_LENGTH} characters, or None for single records, got {budget_text(unit)}.",
            "unit",
        )


def check_charge_unit(of_budget: str | None, of_charge: str | None) -> None:
    """Raise a ParameterError if a charge protects something else than the budget."""
    if of_charge == of_budget:
        return
    mine, its = UnitWords(of_budget).whole, UnitWords(of_charge).whole
    if of_charge is None:
        train = f"Train with the unit {of_budget!r}"
    elif of_budget is None:
        train = "Train without units"
    else:
        train = f"Train with the unit {of_budget!r}, if it is the same unit by another name"
    make = "unit=None" if of_charge is None else f"unit={of_charge!r}"
    raise ParameterError(
        f"the budget is for {mine}, but the charge is for {its}: their epsilons cannot be added "
        f"up. Nothing was drawn. {train}, or use another budget, made with {make}.",
        "budget",
    )


def budget_text(text: object) -> str:
    """Return the text as one printable line of at most 200 characters."""
    shown = escape_text(str(text))
    return shown if len(shown) <= _MAX_TEXT_LENGTH else f"{shown[: _MAX_TEXT_LENGTH - 3]}..."


class Balance(Protocol):
    """What is left of a budget, and its limit on delta."""

    @property
    def delta(self) -> Fraction: ...

    @property
    def remaining(self) -> Fraction: ...

    @property
    def remaining_delta(self) -> Fraction: ...


def check_budget_covers(
    balance: Balance,
    epsilon: Fraction,
    delta: Fraction,
    purpose: str,
    later: Fraction = Fraction(0),
    later_delta: Fraction = Fraction(0),
) -> None:
    """Raise a BudgetExceededError if the epsilon or the delta of a charge is more than is left."""
    for name, amount in (("later", later), ("later_delta", later_delta)):
        if amount < 0:
            raise ParameterError(f"{name} must be at least 0, got {amount}.", name)
    _check_epsilon_is_left(epsilon + later, balance.remaining, purpose)
    _check_delta_is_left(delta + later_delta, balance.remaining_delta, balance.delta, purpose)


def _check_epsilon_is_left(epsilon: Fraction, remaining: Fraction, purpose: str) -> None:
    if epsilon <= remaining:
        return
    requested = f"{purpose}: epsilon={format_epsilon(epsilon, up=True)} was requested, but"
    if remaining == 0:
        raise BudgetExceededError(f"{requested} nothing of the budget is left. Nothing was drawn.")
    raise BudgetExceededError(
        f"{requested} only {format_epsilon(remaining, up=False)} of the budget is left. "
        "Nothing was drawn. Lower epsilon."
    )


def _check_delta_is_left(
    delta: Fraction, remaining: Fraction, of_budget: Fraction, purpose: str
) -> None:
    if delta <= remaining:
        return
    requested = f"{purpose}: delta={format_epsilon(delta, up=True)} was requested, but"
    if of_budget == 0:
        raise BudgetExceededError(
            f"{requested} the budget has no delta. Nothing was drawn. Train with delta=0, or use "
            "another budget, made with a delta."
        )
    if remaining == 0:
        raise BudgetExceededError(
            f"{requested} nothing of the budget's delta is left. Nothing was drawn. Train with "
            "delta=0."
        )
    raise BudgetExceededError(
        f"{requested} only {format_epsilon(remaining, up=False)} of the budget's delta is left. "
        "Nothing was drawn. Lower delta."
    )


def share_left(remaining: Fraction, total: Fraction) -> str:
    """Return what is left of an epsilon or a delta as text: "0.75 of 1"."""
    return " of ".join(format_epsilon(amount, up=False) for amount in (remaining, total))
