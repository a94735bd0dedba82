"""A budget that several models of the same records draw from, kept in memory."""

from __future__ import annotations

from fractions import Fraction
from threading import Lock

from privatree.errors import BudgetExceededError
from privatree.privacy.amounts import positive_fraction


class Budget:
    """What may be spent on one set of records in all.

    Parameters
    ----------
    epsilon : float or Fraction
        The largest total.

    Examples
    --------
    >>> budget = Budget(1.0)
    >>> budget.charge(0.25, purpose="a first model")
    >>> float(budget.remaining)
    0.75
    """

    def __init__(self, epsilon: float | Fraction) -> None:
        self.epsilon = positive_fraction("epsilon", epsilon)
        self.charges: list[tuple[str, Fraction]] = []
        self._lock = Lock()

    @property
    def remaining(self) -> Fraction:
        """What is left."""
        return self.epsilon - sum((amount for _, amount in self.charges), Fraction(0))

    def charge(self, epsilon: float | Fraction, *, purpose: str) -> None:
        """Take `epsilon` from the budget, before anything is drawn with it.

        Raises
        ------
        BudgetExceededError
            If less is left. Nothing is taken then.
        """
        amount = positive_fraction("epsilon", epsilon)
        with self._lock:
            if amount > self.remaining:
                raise BudgetExceededError(
                    f"{purpose}: epsilon={float(amount):.6g} was asked for, but only "
                    f"{float(self.remaining):.6g} of the budget is left. Nothing was drawn."
                )
            self.charges.append((purpose, amount))
