"""The ledger: every draw of noise is charged here before it is made.

A learner holds a ledger and no source of randomness, so it cannot draw without a charge. A draw
that consists of several choices is opened here, and refuses to draw when all choices are made. A
ledger belongs to a set of records. Spends on the same records add up (sequential composition).
:meth:`Ledger.parallel` opens ledgers for *disjoint* subsets of the records, of which only the
largest total counts (parallel composition). :meth:`Ledger.compose` charges once for many draws of
bounded range. Budgets are exact fractions. A ledger is a privacy filter: it checks every charge
before the draw, so spends may depend on what was released before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from privatree.errors import BudgetExceededError, ParameterError
from privatree.privacy._exact_epsilon import positive_fraction
from privatree.privacy._randomness import Randomness
from privatree.privacy._spend import Cost, Mechanism, SequentialMechanism, Spend, make_spend
from privatree.privacy.composition._composed_ledger import ComposedLedger
from privatree.privacy.composition._composition import Composition, RangeGroup

if TYPE_CHECKING:
    from privatree.privacy.mechanisms import Draw


class Ledger:
    """Account of what was spent on a set of records, with a limit on the total.

    Parameters
    ----------
    epsilon : Fraction
        Largest total epsilon.
    randomness : Randomness
        Source of the random bits of all mechanisms.
    delta : Fraction, default=0
        Largest total delta.

    Examples
    --------
    >>> import numpy as np
    >>> from privatree.privacy.mechanisms import Geometric
    >>> ledger = Ledger(Fraction(1), Randomness(seed=0))
    >>> noisy = ledger.release(Geometric(Fraction(1, 4)), np.array([100]), purpose="a count")
    >>> ledger.remaining
    Fraction(3, 4)
    """

    def __init__(
        self, epsilon: Fraction, randomness: Randomness, *, delta: Fraction = Fraction(0)
    ) -> None:
        self._budget = Cost(positive_fraction("epsilon", epsilon), Fraction(delta))
        self._randomness = randomness
        self._own: list[Spend] = []
        self._own_cost = Cost()
        self._groups: list[tuple[Ledger, ...]] = []
        self._above: Callable[[], Cost] = Cost
        self._root = self
        self._composition: Composition | None = None

    @property
    def composition(self) -> Composition | None:
        """The composition that was charged to this ledger, its parts, or what it is a part of.

        There is at most one: draws of two compositions must not be mixed.
        """
        return self._root._composition

    @property
    def total(self) -> Cost:
        """Cost so far: the ledger's own spends, plus the largest total in each group of parts."""
        return self._total_without(None)

    @property
    def remaining(self) -> Fraction:
        """Epsilon that can still be spent on these records."""
        return self._budget.epsilon - (self._above() + self.total).epsilon

    def parallel(self, count: int) -> tuple[Ledger, ...]:
        """Return ledgers for ``count`` disjoint parts of these records."""
        parts = tuple(
            Ledger(self._budget.epsilon, self._randomness, delta=self._budget.delta)
            for _ in range(count)
        )
        for part in parts:
            part._above = lambda: self._above() + self._total_without(parts)
            part._root = self._root
        self._groups.append(parts)
        return parts

    def release(
        self,
        mechanism: Mechanism,
        exact: Any,
        *,
        purpose: str,
        node: int | None = None,
        times: int = 1,
    ) -> Any:
        """Charge for the mechanism, then return what it draws.

        Raises
        ------
        BudgetExceededError
            If the charge does not fit the budget. Then nothing is drawn.
        """
        self._charge_spends([make_spend(mechanism, purpose, node, times)])
        return mechanism.release(exact, self._randomness)

    def open_draw(
        self, mechanism: SequentialMechanism, *, purpose: str, node: int | None = None
    ) -> Draw:
        """Charge for one outcome of the mechanism, then return the draw that makes its choices.

        Raises
        ------
        BudgetExceededError
            If the charge does not fit the budget. Then nothing is opened.
        """
        self._charge_spends([make_spend(mechanism, purpose, node, 1)])
        return mechanism.open(self._randomness)

    def release_all(
        self,
        mechanisms: Sequence[Mechanism],
        exact: Sequence[Any],
        *,
        purpose: str,
        threads: int = 1,
    ) -> list[Any]:
        """Charge for several mechanisms over the same records, then return what they draw.

        Each mechanism has its own randomness, so the result does not depend on ``threads``.
        """
        self._charge_spends([make_spend(mechanism, purpose, None, 1) for mechanism in mechanisms])
        sources = self._randomness.spawn(len(mechanisms))
        with ThreadPoolExecutor(max_workers=threads) as pool:
            return list(pool.map(lambda m, e, r: m.release(e, r), mechanisms, exact, sources))

    def compose(
        self,
        epsilon: Fraction,
        delta: Fraction,
        groups: Sequence[RangeGroup],
        *,
        factor: int = 1,
    ) -> ComposedLedger:
        """Charge once for many draws of bounded range, then return the ledger that makes them.

        Parameters
        ----------
        epsilon, delta : Fraction
            What all draws together cost.
        groups : sequence of RangeGroup
            Largest ranges of the draws, in the order in which they are made.
        factor : int, default=1
            1 if neighbours differ by one record added or removed, and 2 if a record is replaced.
            The draws are certified with `factor` times their ranges at `factor` times epsilon: like
            all that is charged to the ledger, the ranges and epsilon are for one record added or
            removed.

        Raises
        ------
        BudgetExceededError
            If the draws can cost more than (epsilon, delta), or if this does not fit the budget.
        ParameterError
            If groups are wrong, or if there was a composition before.

        Examples
        --------
        >>> from privatree.privacy.mechanisms import SequentialExponential
        >>> ledger = Ledger(Fraction(1), Randomness(seed=0), delta=Fraction(1, 10**6))
        >>> rounds = ledger.compose(
        ...     Fraction(1), Fraction(1, 10**6), [RangeGroup(Fraction(6, 100), 60)]
        ... )
        >>> draw = rounds.open_draw(SequentialExponential(Fraction(6, 100)), purpose="a round")
        >>> ledger.remaining, rounds.n_left
        (Fraction(0, 1), 59)
        """
        if self._root._composition is not None:
            raise ParameterError("a ledger and its parts must compose draws at most once.")
        composition = Composition(epsilon, delta, tuple(groups))
        composition.certify(factor)
        self._charge([], Cost(composition.epsilon, composition.delta), "composed draws")
        self._root._composition = composition
        return ComposedLedger(composition, self._randomness, self._own.append)

    def spends(self) -> Iterator[Spend]:
        """Iterate over all charges: first those of this ledger, then those of its parts."""
        yield from self._own
        for group in self._groups:
            for part in group:
                yield from part.spends()

    def _charge_spends(self, spends: list[Spend]) -> None:
        cost = sum((Cost(s.times * s.epsilon, s.times * s.delta) for s in spends), Cost())
        self._charge(spends, cost, spends[0].purpose if spends else "")

    def _charge(self, spends: list[Spend], cost: Cost, purpose: str) -> None:
        # Only this path matters: other parts of a group were checked when they were charged.
        after = self._above() + self.total + cost
        if after.epsilon > self._budget.epsilon or after.delta > self._budget.delta:
            raise BudgetExceededError(
                f"{purpose}: this draw would raise the total for the same records to "
                f"epsilon={float(after.epsilon):.6g}, delta={float(after.delta):.6g}; the budget "
                f"is epsilon={float(self._budget.epsilon):.6g}, "
                f"delta={float(self._budget.delta):.6g}. Nothing was drawn."
            )
        self._own.extend(spends)
        self._own_cost += cost

    def _total_without(self, skipped: tuple[Ledger, ...] | None) -> Cost:
        total = self._own_cost
        for group in self._groups:
            if group is not skipped:
                total += reduce(or_, (part.total for part in group), Cost())
        return total
