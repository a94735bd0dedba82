"""Spends: what a mechanism costs, and what it costs together with others."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from privatree.errors import ParameterError
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
    is_range : bool
        Whether `epsilon` is the range of a draw of a composition. The cost of these draws is that
        of the composition. Their ranges do not add up.

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
    is_range: bool = False


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


def make_spend(mechanism: Priced, purpose: str, node: int | None, times: int) -> Spend:
    """Return the spend for `times` releases of a mechanism, or raise a ParameterError."""
    if times < 1:
        raise ParameterError(f"times must be >= 1, got {times}.", "times")
    delta = Fraction(getattr(mechanism, "delta", 0))
    if not 0 <= delta < 1:
        raise ParameterError(f"delta must be in [0, 1), got {float(delta)}.", "delta")
    epsilon = positive_fraction("epsilon", mechanism.epsilon)
    return Spend(mechanism.name, epsilon, purpose, node, times, delta)
