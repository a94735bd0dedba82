"""Charges of a training to a budget, in one step or in two."""

from __future__ import annotations

from typing import Any

from privatree.errors import BudgetExceededError
from privatree.learners.tree import RecordPlan
from privatree.privacy import UnitWords, decimal_fraction, format_epsilon

_PURPOSE = "PrivaTreeClassifier"


class Charges:
    """What a training takes from a budget: all at once, or first the number of records.

    `unit` is the name of the unit that the training protects, None for single records.
    """

    def __init__(
        self, budget: Any, epsilon: Any, neighbours: str, unit: str | None, plan: RecordPlan
    ) -> None:
        self._budget, self._epsilon = budget, epsilon
        self._kind: dict[str, Any] = {"neighbours": neighbours, "unit": unit}
        self._counted = UnitWords(unit).counted
        self._in_two = plan.min_records is not None
        whole = decimal_fraction("epsilon", epsilon)
        self._first = whole * plan.size_epsilon / plan.epsilon
        self._rest = whole - self._first

    def charge_first(self) -> None:
        """Charge for everything that can be drawn before the training may stop."""
        if self._budget is not None and not self._in_two:
            self._budget.charge(self._epsilon, purpose=_PURPOSE, **self._kind)
        elif self._budget is not None:
            self._budget.charge(
                self._first,
                purpose=f"{_PURPOSE}: number of {self._counted}",
                **self._kind,
                later=self._rest,
            )

    def charge_rest(self) -> None:
        """Charge for the tree, once the training goes on."""
        if self._budget is None or not self._in_two:
            return
        try:
            self._budget.charge(self._rest, purpose=f"{_PURPOSE}: tree", **self._kind)
        except BudgetExceededError:
            first, rest = (format_epsilon(e, up=True) for e in (self._first, self._rest))
            raise BudgetExceededError(
                f"{_PURPOSE}: the tree needs epsilon={rest} of the budget, but somebody else took "
                f"it in the meantime. Only the number of {self._counted} was drawn and charged, "
                f"for epsilon={first}. Lower epsilon."
            ) from None

    def explain_stop(self) -> str:
        """Say what a training that stopped has cost, and why it may have stopped."""
        first, rest = format_epsilon(self._first, up=True), format_epsilon(self._rest, up=False)
        charged = " and charged to the budget" if self._budget is not None else ""
        return (
            "Usual causes are a misspelt class, the wrong target, an empty file and a wrong path. "
            f"Training stopped: epsilon {first} was spent on this number{charged}, the other "
            f"{rest} was not."
        )
