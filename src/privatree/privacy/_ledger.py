"""The ledger: every draw of noise is charged here before it is made.

A learner holds a ledger and no source of randomness, so it cannot draw without a charge. A draw
that consists of several choices is opened here, and refuses to draw when all choices are made. A
ledger belongs to a set of records. Spends on the same records add up (sequential composition).
:meth:`Ledger.parallel` opens ledgers for *disjoint* subsets of the records, of which only the
largest total counts (parallel composition). Budgets are exact fractions. A ledger is a privacy
filter: it checks every charge before the draw, so spends may depend on what was released before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Protocol

from privatree.errors import BudgetExceededError, ParameterError
from privatree.privacy._exact_epsilon import positive_fraction
from privatree.privacy._randomness import Randomness

if TYPE_CHECKING:
    from privatree.privacy.mechanisms import Draw


class Priced(Protocol):
    """A mechanism that a ledger can charge for: its name, and the epsilon of one release."""

    @property
    def name(self) -> str: ...

    @property
    def epsilon(self) -> Fraction: ...


class Mechanism(Priced, Protocol):
    """A mechanism that makes its whole draw at once."""

    def release(self, exact: Any, randomness: Randomness) -> Any: ...


class SequentialMechanism(Priced, Protocol):
    """A mechanism that makes its draw in several choices."""

    def open(self, randomness: Randomness) -> Draw: ...


@dataclass(frozen=True)
class Spend:
    """One charge in a ledger.

    Attributes
    ----------
    mechanism, purpose : str
        Name of the mechanism, and what was drawn with it.
    epsilon, delta : Fraction
        Privacy cost of one release.
    node : int or None
        Node of the tree for which the draw was made.
    times : int
        Number of releases over the same records, for example one histogram for each of several
        features. The charge is ``times * epsilon``.

    Examples
    --------
    >>> Spend("geometric", Fraction(1, 8), "class counts", node=3).epsilon
    Fraction(1, 8)
    """

    mechanism: str
    epsilon: Fraction
    purpose: str
    node: int | None = None
    times: int = 1
    delta: Fraction = Fraction(0)


@dataclass(frozen=True)
class Cost:
    """An epsilon and a delta."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __add__(self, other: Cost) -> Cost:
        """Return the cost of sequential composition."""
        delta = self.delta + other.delta if other.delta else self.delta
        return Cost(self.epsilon + other.epsilon, delta)

    def __or__(self, other: Cost) -> Cost:
        """Return the cost of parallel composition."""
        return Cost(max(self.epsilon, other.epsilon), max(self.delta, other.delta))


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
        self._charge([_make_ledger_spend(mechanism, purpose, node, times)])
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
        self._charge([_make_ledger_spend(mechanism, purpose, node, 1)])
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
        self._charge([_make_ledger_spend(mechanism, purpose, None, 1) for mechanism in mechanisms])
        sources = self._randomness.spawn(len(mechanisms))
        with ThreadPoolExecutor(max_workers=threads) as pool:
            return list(pool.map(lambda m, e, r: m.release(e, r), mechanisms, exact, sources))

    def spends(self) -> Iterator[Spend]:
        """Iterate over all charges: first those of this ledger, then those of its parts."""
        yield from self._own
        for group in self._groups:
            for part in group:
                yield from part.spends()

    def _charge(self, spends: list[Spend]) -> None:
        cost = sum((Cost(s.times * s.epsilon, s.times * s.delta) for s in spends), Cost())
        # Only this path matters: other parts of a group were checked when they were charged.
        after = self._above() + self.total + cost
        if after.epsilon > self._budget.epsilon or after.delta > self._budget.delta:
            raise BudgetExceededError(
                f"{spends[0].purpose}: this draw would raise the total for the same records to "
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


def _make_ledger_spend(mechanism: Priced, purpose: str, node: int | None, times: int) -> Spend:
    if times < 1:
        raise ParameterError(f"times must be >= 1, got {times}.", "times")
    delta = Fraction(getattr(mechanism, "delta", 0))
    if not 0 <= delta < 1:
        raise ParameterError(f"delta must be in [0, 1), got {float(delta)}.", "delta")
    epsilon = positive_fraction("epsilon", mechanism.epsilon)
    return Spend(mechanism.name, epsilon, purpose, node, times, delta)
