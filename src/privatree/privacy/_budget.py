"""A budget that several models of the same records draw from, kept in memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from threading import Lock
from typing import NoReturn

from privatree._support.validation import check_one_of
from privatree.errors import BudgetExceededError, ParameterError
from privatree.privacy._exact_epsilon import decimal_fraction, format_epsilon


@dataclass(frozen=True)
class Charge:
    """What was once taken from a budget; it never comes back.

    Attributes
    ----------
    number : int
        1 for the first.
    time : datetime
        When, in UTC, by this machine's clock.
    purpose : str
        What for: the learner.
    epsilon : Fraction
        How much.
    note : str
        Which model, if somebody said so.
    """

    number: int
    time: datetime
    purpose: str
    epsilon: Fraction
    note: str = ""


class Budget:
    """What may be spent on one set of records in all, as long as this process runs.

    :class:`BudgetStore` keeps it in a file, for several processes and for longer.

    Parameters
    ----------
    epsilon : float or Fraction
        The largest total.
    neighbours : {"add-remove", "replace"}, default="add-remove"
        Between which tables it holds. Guarantees between different ones do not add up.

    Attributes
    ----------
    epsilon : Fraction
        The largest total.
    neighbours : str
        As given.
    charges : list of Charge
        What was taken so far.

    Notes
    -----
    A float is the decimal that it is written as, here and in charges: 0.1 is 1/10, so a budget of 1
    covers ten models of 0.1 (as the floats they are, ten times 0.1 is more than 1). No model spends
    more than is charged: learners keep to the float and to the decimal, whichever is less.

    Examples
    --------
    >>> budget = Budget(1.0)
    >>> budget.charge(0.25, purpose="a first model")
    >>> float(budget.remaining)
    0.75
    """

    def __init__(self, epsilon: float | Fraction, *, neighbours: str = "add-remove") -> None:
        self.epsilon = decimal_fraction("epsilon", epsilon)
        self.neighbours = checked_neighbours(neighbours)
        self.charges: list[Charge] = []
        self._lock = Lock()
        self._process = os.getpid()

    @property
    def remaining(self) -> Fraction:
        """What is left."""
        return self.epsilon - sum((charge.epsilon for charge in self.charges), Fraction(0))

    def __repr__(self) -> str:
        """How much there is in all, and how much is left."""
        left, whole = (
            format_epsilon(self.remaining, up=False),
            format_epsilon(self.epsilon, up=False),
        )
        return f"<Budget: {left} of {whole} left>"

    def __deepcopy__(self, memo: dict[int, object]) -> Budget:
        """The same account: a cloned estimator draws from it too."""
        return self

    def __reduce__(self) -> NoReturn:
        """Refuse: a copy would be a second account of the same records."""
        raise TypeError(
            "a Budget in memory cannot be pickled: its copy would not be charged. "
            "Use a privatree.privacy.BudgetStore."
        )

    def charge(
        self, epsilon: float | Fraction, *, purpose: str, neighbours: str = "add-remove"
    ) -> None:
        """Take `epsilon` from the budget, before anything is drawn with it.

        Raises
        ------
        BudgetExceededError
            If less is left. Nothing is taken then.
        ParameterError
            If the charge is for other neighbours than the budget, or in a process that was forked
            from the one the budget was made in: there it is a copy, and copies do not add up.
        """
        if os.getpid() != self._process:
            raise ParameterError(
                "a Budget in memory must be charged in the process that made it: this is a fork, "
                "and its copy would be a second account. Use a privatree.privacy.BudgetStore."
            )
        check_same_neighbours(self.neighbours, neighbours)
        amount = decimal_fraction("epsilon", epsilon)
        with self._lock:
            check_covered(amount, self.remaining, purpose)
            self.charges.append(Charge(len(self.charges) + 1, datetime.now(UTC), purpose, amount))


def checked_neighbours(neighbours: str) -> str:
    """The same, if a budget can be for them."""
    check_one_of("neighbours", neighbours, ("add-remove", "replace"))
    return neighbours


def check_same_neighbours(of_budget: str, of_charge: str) -> None:
    """Refuse a charge that cannot be added to the others."""
    if of_charge != of_budget:
        raise ParameterError(
            f"the budget is for {of_budget} neighbours, the charge for {of_charge}: "
            "they do not add up. Train with those of the budget."
        )


def check_covered(amount: Fraction, remaining: Fraction, purpose: str) -> None:
    """Refuse a charge that is more than what is left, and say how much that is."""
    if amount > remaining:
        raise BudgetExceededError(
            f"{purpose}: epsilon={format_epsilon(amount, up=True)} was asked for, but only "
            f"{format_epsilon(remaining, up=False)} of the budget is left. Nothing was drawn."
        )
