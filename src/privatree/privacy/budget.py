"""A budget that several models of the same records draw from, kept in memory."""

from __future__ import annotations

from fractions import Fraction
from threading import Lock
from typing import NoReturn

from privatree.errors import BudgetExceededError, ParameterError
from privatree.privacy.amounts import positive_fraction


class Budget:
    """What may be spent on one set of records in all.

    Parameters
    ----------
    epsilon : float or Fraction
        The largest total.
    neighbours : {"add-remove", "replace"}, default="add-remove"
        Between which tables it holds. Guarantees between different ones do not add up.

    Examples
    --------
    >>> budget = Budget(1.0)
    >>> budget.charge(0.25, purpose="a first model")
    >>> float(budget.remaining)
    0.75
    """

    def __init__(self, epsilon: float | Fraction, *, neighbours: str = "add-remove") -> None:
        self.epsilon = positive_fraction("epsilon", epsilon)
        if neighbours not in ("add-remove", "replace"):
            raise ParameterError(
                f'neighbours must be "add-remove" or "replace", got {neighbours!r}.'
            )
        self.neighbours = neighbours
        self.charges: list[tuple[str, Fraction]] = []
        self._lock = Lock()

    @property
    def remaining(self) -> Fraction:
        """What is left."""
        return self.epsilon - sum((amount for _, amount in self.charges), Fraction(0))

    def __deepcopy__(self, memo: dict[int, object]) -> Budget:
        """The same account: a cloned estimator draws from it too."""
        return self

    def __reduce__(self) -> NoReturn:
        """Refuse: a copy would be a second account of the same records."""
        raise TypeError("a Budget in memory cannot be pickled: its copy would not be charged.")

    def charge(
        self, epsilon: float | Fraction, *, purpose: str, neighbours: str = "add-remove"
    ) -> None:
        """Take `epsilon` from the budget, before anything is drawn with it.

        Raises
        ------
        BudgetExceededError
            If less is left. Nothing is taken then.
        ParameterError
            If the charge is for other neighbours than the budget.
        """
        if neighbours != self.neighbours:
            raise ParameterError(
                f"the budget is for {self.neighbours} neighbours, the charge for {neighbours}: "
                "they do not add up. Use a budget for each."
            )
        amount = positive_fraction("epsilon", epsilon)
        with self._lock:
            if amount > self.remaining:
                raise BudgetExceededError(
                    f"{purpose}: epsilon={float(amount):.6g} was asked for, but only "
                    f"{float(self.remaining):.6g} of the budget is left. Nothing was drawn."
                )
            self.charges.append((purpose, amount))
