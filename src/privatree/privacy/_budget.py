"""A privacy budget in memory, for several models that are trained on the same records."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from threading import Lock
from typing import Any, NoReturn

from privatree._support.escape import escape_text
from privatree._support.validation import check_one_of
from privatree.errors import BudgetExceededError, ParameterError
from privatree.privacy._exact_epsilon import decimal_fraction, format_epsilon
from privatree.privacy._unit_words import UnitWords

NEIGHBOURS = ("add-remove", "replace")
_MAX_TEXT_LENGTH = 200


@dataclass(frozen=True)
class Charge:
    """One amount of epsilon that was taken from a budget. It is never given back.

    Attributes
    ----------
    number : int
        Position among the charges of the budget. The first charge is number 1.
    time : datetime
        Time of the charge in UTC, by the clock of this machine.
    purpose : str
        Name of the learner that was trained.
    epsilon : Fraction
        Amount that was taken.
    note : str
        Optional text that says which model was trained.

    Examples
    --------
    >>> budget = Budget(1.0)
    >>> budget.charge(0.25, purpose="a first model")
    >>> charge = budget.charges[0]
    >>> charge.number, charge.purpose, charge.epsilon
    (1, 'a first model', Fraction(1, 4))
    """

    number: int
    time: datetime
    purpose: str
    epsilon: Fraction
    note: str = ""


class Budget:
    """Upper limit on the total epsilon of all models that this process trains on some records.

    A :class:`BudgetStore` keeps the limit in a file, which several processes can share for months.

    Parameters
    ----------
    epsilon : float or Fraction
        Largest total epsilon.
    neighbours : {"add-remove", "replace"}, default="add-remove"
        Neighbour relation that every charge must have. Epsilons of different relations cannot be
        added up.
    unit : str, optional
        Name of the unit that every charge must protect, such as ``"patient_id"``: the unit of the
        schema or of the source, or ``"unit"`` for ids that ``fit`` gets without a name. By default
        the budget is for single records.

    Attributes
    ----------
    charges : list of Charge
        Charges so far, oldest first.

    Notes
    -----
    A float stands for the decimal number that Python prints, here and in charges: 0.1 is 1/10, so
    a budget of 1 covers ten models of 0.1. (As binary floats, ten times 0.1 is more than 1.) No
    model spends more than is charged: learners spend the smaller of the float and the decimal.

    Examples
    --------
    >>> budget = Budget(1.0)
    >>> budget.charge(0.25, purpose="a first model")
    >>> float(budget.remaining)
    0.75
    """

    def __init__(
        self,
        epsilon: float | Fraction,
        *,
        neighbours: str = "add-remove",
        unit: str | None = None,
    ) -> None:
        self.epsilon = decimal_fraction("epsilon", epsilon)
        check_one_of("neighbours", neighbours, NEIGHBOURS)
        check_budget_unit(unit)
        self.neighbours, self.unit = neighbours, unit
        self.charges: list[Charge] = []
        self._lock = Lock()
        self._process = os.getpid()

    @property
    def remaining(self) -> Fraction:
        """Epsilon that is left."""
        return self.epsilon - sum((charge.epsilon for charge in self.charges), Fraction(0))

    def __repr__(self) -> str:
        left, total = (format_epsilon(x, up=False) for x in (self.remaining, self.epsilon))
        whole = "" if self.unit is None else f" for {UnitWords(self.unit).whole}"
        return f"<Budget: {left} of {total} left{whole}>"

    def __deepcopy__(self, memo: dict[int, object]) -> Budget:
        """Return this budget itself, so that a cloned estimator charges the same budget."""
        return self

    def __reduce__(self) -> NoReturn:
        """Refuse to pickle: charges to the copy would be missing in the original."""
        raise TypeError(
            "a Budget in memory cannot be pickled: charges to the copy would be missing in the "
            "original. Use a privatree.privacy.BudgetStore, which keeps the budget in a file."
        )

    def charge(
        self,
        epsilon: float | Fraction,
        *,
        purpose: str,
        neighbours: str = "add-remove",
        unit: str | None = None,
        later: Fraction = Fraction(0),
    ) -> None:
        """Take `epsilon` from the budget. Call this before any noise is drawn.

        `unit` is the name of what epsilon protects as a whole, None for single records. `later` is
        the epsilon of a second charge that will follow. It must be left in the budget, too, but it
        is not taken yet.

        Raises
        ------
        BudgetExceededError
            If less than ``epsilon + later`` is left. Then nothing is taken.
        ParameterError
            If the neighbours or the unit of the charge are not those of the budget, or if this
            process is a fork of the process that made the budget: the two would not see each
            other's charges.
        """
        if os.getpid() != self._process:
            raise ParameterError(
                "a Budget in memory can only be charged by the process that created it, and this "
                "process is a fork of it. Use a privatree.privacy.BudgetStore, which processes "
                "share."
            )
        check_charge_neighbours(self.neighbours, neighbours)
        check_charge_unit(self.unit, unit)
        amount = decimal_fraction("epsilon", epsilon)
        with self._lock:
            check_budget_covers(amount, self.remaining, purpose, later)
            self.charges.append(Charge(len(self.charges) + 1, datetime.now(UTC), purpose, amount))


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


def check_budget_covers(
    amount: Fraction, remaining: Fraction, purpose: str, later: Fraction = Fraction(0)
) -> None:
    if later < 0:
        raise ParameterError(f"later must be at least 0, got {later}.", "later")
    if amount + later <= remaining:
        return
    requested = f"{purpose}: epsilon={format_epsilon(amount + later, up=True)} was requested, but"
    if remaining == 0:
        raise BudgetExceededError(f"{requested} nothing of the budget is left. Nothing was drawn.")
    raise BudgetExceededError(
        f"{requested} only {format_epsilon(remaining, up=False)} of the budget is left. "
        "Nothing was drawn. Lower epsilon."
    )
