"""A privacy budget in memory, for several models that are trained on the same records."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from threading import Lock
from typing import NoReturn

from privatree._support.validation import check_one_of
from privatree.errors import ParameterError
from privatree.privacy._budget_checks import (
    check_budget_covers,
    check_budget_unit,
    check_charge_neighbours,
    check_charge_unit,
    share_left,
)
from privatree.privacy._exact_epsilon import decimal_fraction, delta_fraction
from privatree.privacy._unit_words import UnitWords

NEIGHBOURS = ("add-remove", "replace")


@dataclass(frozen=True)
class Charge:
    """One amount of epsilon, and maybe of delta, that was taken from a budget.

    It is never given back.

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
    delta : Fraction
        Delta that was taken; 0 for a model whose guarantee is pure.

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
    delta: Fraction = Fraction(0)


class Budget:
    """Upper limit on the total epsilon of all models that this process trains on some records.

    There is a limit on the total delta, too. By default it is 0, which is for models whose
    guarantee is pure. A :class:`BudgetStore` keeps the limits in a file, which several processes
    can share for months.

    Parameters
    ----------
    epsilon : float or Fraction
        Largest total epsilon.
    delta : float or Fraction, default=0
        Largest total delta, at least 0 and below 1. It should be much smaller than 1 divided by the
        number of records: with probability delta, the bound of epsilon may fail.
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

    Epsilons and deltas add up separately: models with (e1, d1) and (e2, d2) are together
    (e1 + e2, d1 + d2)-differentially private, also if the second model was chosen by looking at the
    first (basic composition). A charge is refused if either sum would exceed its limit.

    Examples
    --------
    >>> budget = Budget(1.0)
    >>> budget.charge(0.25, purpose="a first model")
    >>> float(budget.remaining)
    0.75

    A budget with a delta, for models that need one:

    >>> budget = Budget(3.0, delta=1e-5)
    >>> budget.charge(1.0, delta=1e-6, purpose="an ensemble")
    >>> budget
    <Budget: epsilon 2 of 3 and delta 9e-06 of 1e-05 left>
    """

    def __init__(
        self,
        epsilon: float | Fraction,
        *,
        delta: float | Fraction = 0,
        neighbours: str = "add-remove",
        unit: str | None = None,
    ) -> None:
        self.epsilon = decimal_fraction("epsilon", epsilon)
        self.delta = delta_fraction("delta", delta)
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

    @property
    def remaining_delta(self) -> Fraction:
        """Delta that is left."""
        return self.delta - sum((charge.delta for charge in self.charges), Fraction(0))

    def __repr__(self) -> str:
        whole = "" if self.unit is None else f" for {UnitWords(self.unit).whole}"
        left = share_left(self.remaining, self.epsilon)
        if self.delta:
            left = f"epsilon {left} and delta {share_left(self.remaining_delta, self.delta)}"
        return f"<Budget: {left} left{whole}>"

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
        delta: float | Fraction = 0,
        purpose: str,
        neighbours: str = "add-remove",
        unit: str | None = None,
        later: Fraction = Fraction(0),
        later_delta: Fraction = Fraction(0),
    ) -> None:
        """Take `epsilon` and `delta` from the budget. Call this before any noise is drawn.

        `unit` is the name of what epsilon protects as a whole, None for single records. `later` and
        `later_delta` are the epsilon and the delta of a second charge that will follow. They must
        be left in the budget, too, but they are not taken yet.

        Raises
        ------
        BudgetExceededError
            If less than ``epsilon + later`` or less than ``delta + later_delta`` is left. Then
            nothing is taken.
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
        amount, exact_delta = decimal_fraction("epsilon", epsilon), delta_fraction("delta", delta)
        with self._lock:
            check_budget_covers(self, amount, exact_delta, purpose, later, later_delta)
            number, now = len(self.charges) + 1, datetime.now(UTC)
            self.charges.append(Charge(number, now, purpose, amount, delta=exact_delta))
