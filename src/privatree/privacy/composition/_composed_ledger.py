"""The ledger of draws of bounded range that were charged for together."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from privatree.errors import BudgetExceededError, ParameterError
from privatree.privacy._randomness import Randomness
from privatree.privacy._spend import Mechanism, Priced, SequentialMechanism, Spend, make_spend
from privatree.privacy.composition._composition import Composition

if TYPE_CHECKING:
    from privatree.privacy.mechanisms import Draw


class ComposedLedger:
    """Makes the draws of a composition, in order, and no more; see :meth:`Ledger.compose`.

    Parameters
    ----------
    composition : Composition
        What was certified and charged.
    randomness : Randomness
        Source of the random bits of all mechanisms.
    record : callable
        Takes the spend of each draw, before the draw is made.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import numpy as np
    >>> from privatree.privacy import Ledger, RangeGroup
    >>> from privatree.privacy.mechanisms import Exponential
    >>> ledger = Ledger(Fraction(4), Randomness(seed=0))
    >>> draws = ledger.compose(Fraction(4), Fraction(0), [RangeGroup(Fraction(2), times=2)])
    >>> draws.release(Exponential(Fraction(2)), np.array([0, 100]), purpose="the best")
    1
    >>> draws.n_left
    1
    """

    def __init__(
        self, composition: Composition, randomness: Randomness, record: Callable[[Spend], None]
    ) -> None:
        self.composition = composition
        self._randomness, self._record = randomness, record
        self._ranges = deque(composition.ranges())

    @property
    def n_left(self) -> int:
        """Number of draws that can still be made."""
        return len(self._ranges)

    def release(
        self, mechanism: Mechanism, exact: Any, *, purpose: str, node: int | None = None
    ) -> Any:
        """Use the next draw of the composition, then return what the mechanism draws.

        Raises
        ------
        BudgetExceededError
            If all draws were made, or if the range is larger than that of the next draw. Then
            nothing is drawn.
        ParameterError
            If the mechanism does not declare that it has bounded range.
        """
        self._use_next_draw(mechanism, purpose, node)
        return mechanism.release(exact, self._randomness)

    def open_draw(
        self, mechanism: SequentialMechanism, *, purpose: str, node: int | None = None
    ) -> Draw:
        """Use the next draw of the composition, then return the draw that makes its choices.

        It raises the errors of :meth:`release`.
        """
        self._use_next_draw(mechanism, purpose, node)
        return mechanism.open(self._randomness)

    def _use_next_draw(self, mechanism: Priced, purpose: str, node: int | None) -> None:
        spend = make_spend(mechanism, purpose, node, 1)
        if getattr(mechanism, "is_bounded_range", False) is not True or spend.delta:
            raise ParameterError(
                f"{purpose}: a composed draw must be of bounded range, got {spend.mechanism}. Use "
                "an exponential mechanism, or charge for the draw by itself."
            )
        if not self._ranges:
            raise BudgetExceededError(
                f"{purpose}: all {self.composition.n_draws} draws of the composition were made. "
                "Nothing was drawn."
            )
        if spend.epsilon > self._ranges[0]:
            raise BudgetExceededError(
                f"{purpose}: the next draw of the composition must have a range of at most "
                f"{float(self._ranges[0]):.6g}, got {float(spend.epsilon):.6g}. Nothing was drawn."
            )
        self._ranges.popleft()
        self._record(replace(spend, is_range=True))
