"""Charges of a training to a budget, in one step or in two."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

from privatree.errors import BudgetExceededError
from privatree.estimators.holdout import HeldOut
from privatree.privacy import UnitWords, decimal_fraction, delta_fraction, format_epsilon


class SizePlan(Protocol):
    """How a plan divides epsilon between the number of records and everything else."""

    @property
    def epsilon(self) -> Fraction: ...

    @property
    def size_epsilon(self) -> Fraction: ...

    @property
    def min_records(self) -> int | None: ...


class Charges:
    """What a training takes from a budget: all at once, or first the number of records.

    `unit` is the name of the unit that the training protects, None for single records. `delta`
    belongs to what is drawn after the number of records, which is drawn with epsilon alone.
    `learner` and `drawn` are what charges and messages call the learner and what it trains. With a
    held-out part, the larger epsilon of the model and of its scores is charged.
    """

    def __init__(
        self,
        budget: Any,
        epsilon: Any,
        neighbours: str,
        unit: str | None,
        plan: SizePlan,
        delta: Any = 0,
        *,
        learner: str = "PrivaTreeClassifier",
        drawn: str = "tree",
        held_out: HeldOut | None = None,
    ) -> None:
        self._budget, self._learner, self._drawn = budget, learner, drawn
        self._kind: dict[str, Any] = {"neighbours": neighbours, "unit": unit}
        self._counted = UnitWords(unit).counted
        self._in_two = plan.min_records is not None
        self._epsilon = decimal_fraction("epsilon", epsilon)
        self._delta = delta_fraction("delta", delta)
        self._first = self._epsilon * plan.size_epsilon / plan.epsilon
        self._held_out = held_out
        if held_out is not None:
            self._epsilon = max(
                self._epsilon, decimal_fraction("score_epsilon", held_out.score_epsilon)
            )
            self._drawn = f"{drawn} with its scores"
        self._rest = self._epsilon - self._first

    def charge_first(self) -> None:
        """Charge for everything that can be drawn before the training may stop."""
        if self._budget is not None and not self._in_two:
            self._budget.charge(
                self._epsilon, delta=self._delta, purpose=self._learner, **self._kind
            )
        elif self._budget is not None:
            self._budget.charge(
                self._first,
                purpose=f"{self._learner}: number of {self._counted}",
                **self._kind,
                later=self._rest,
                later_delta=self._delta,
            )

    def charge_rest(self) -> None:
        """Charge for everything else, once the training goes on."""
        if self._budget is None or not self._in_two:
            return
        purpose = f"{self._learner}: {self._drawn}"
        try:
            self._budget.charge(self._rest, delta=self._delta, purpose=purpose, **self._kind)
        except BudgetExceededError:
            first, rest = (format_epsilon(e, up=True) for e in (self._first, self._rest))
            delta = f" and delta={format_epsilon(self._delta, up=True)}" if self._delta else ""
            raise BudgetExceededError(
                f"{self._learner}: the {self._drawn} needs epsilon={rest}{delta} of the budget, "
                "but somebody else took it in the meantime. Only the number of "
                f"{self._counted} was drawn and charged, for epsilon={first}. Lower "
                f"epsilon{' or delta' if self._delta else ''}."
            ) from None

    def explain_stop(self) -> str:
        """Say what a training that stopped has cost, and why it may have stopped."""
        first, rest = format_epsilon(self._first, up=True), format_epsilon(self._rest, up=False)
        charged = " and charged to the budget" if self._budget is not None else ""
        part = ""
        if self._held_out is not None:
            share = format_epsilon(100 * self._held_out.share, up=False)
            part = f"This number is that of the training part, without the {share}% held out. "
        return (
            f"{part}Usual causes are the wrong target, a misspelt class, an empty file and a wrong "
            f"path. Training stopped: epsilon {first} was spent on this number{charged}, the other "
            f"{rest} was not{', nor was delta' if self._delta else ''}."
        )
