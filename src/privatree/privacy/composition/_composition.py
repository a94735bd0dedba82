"""Draws of bounded range that cost an epsilon and a delta together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from privatree.errors import BudgetExceededError, ParameterError
from privatree.privacy._exact_epsilon import positive_fraction

MAX_DRAWS = 10_000
"""Largest number of draws of a composition. Ten thousand take a second to certify."""
MIN_RANGE, MAX_RANGE = Fraction(1, 10**30), Fraction(10**12)
"""Smallest and largest range of a draw. Epsilon is at most the largest."""


class RangeGroup(NamedTuple):
    """Draws of equal range, one after the other.

    Parameters
    ----------
    epsilon : Fraction
        Range of each draw: by so much at most, over all outcomes, varies the log-ratio of the
        probabilities of an outcome on neighbouring datasets. For an exponential mechanism it is its
        epsilon.
    times : int
        Number of draws.

    Examples
    --------
    >>> RangeGroup(Fraction(1, 20), 60).epsilon
    Fraction(1, 20)
    """

    epsilon: Fraction
    times: int


@dataclass(frozen=True)
class Composition:
    """What draws of bounded range cost together.

    Parameters
    ----------
    epsilon, delta : Fraction
        Guarantee of all draws together.
    groups : tuple of RangeGroup
        Largest ranges of the draws, in the order of time.

    Raises
    ------
    ParameterError
        If a number is out of its range.

    Examples
    --------
    >>> groups = (RangeGroup(Fraction(6, 100), 60),)
    >>> composition = Composition(Fraction(1), Fraction(1, 10**6), groups)
    >>> composition.n_draws
    60
    >>> composition.certify()
    """

    epsilon: Fraction
    delta: Fraction
    groups: tuple[RangeGroup, ...]

    def __post_init__(self) -> None:
        epsilon = positive_fraction("epsilon", self.epsilon)
        if epsilon > MAX_RANGE:
            raise ParameterError(f"epsilon must be at most {float(MAX_RANGE):g}.", "epsilon")
        if not 0 <= self.delta < 1:
            raise ParameterError("delta must be at least 0 and below 1.", "delta")
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", Fraction(self.delta))
        object.__setattr__(self, "groups", check_range_groups(self.groups))

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return sum(group.times for group in self.groups)

    def ranges(self) -> Iterator[Fraction]:
        """Iterate over the largest range of each draw."""
        for group in self.groups:
            for _ in range(group.times):
                yield group.epsilon

    def certify(self, factor: int = 1, *, tolerance: Fraction = Fraction(0)) -> None:
        """Raise a BudgetExceededError if the draws can cost more than epsilon and delta.

        `factor` multiplies the ranges and epsilon: 2 if a record is replaced, because ranges are
        for one record that is added or removed. `tolerance` is a share of delta, for numbers that
        were rounded.
        """
        from privatree.privacy.composition._bounded_range import certified_delta

        if factor < 1:
            raise ParameterError(f"factor must be >= 1, got {factor}.", "factor")
        groups = [RangeGroup(factor * group.epsilon, group.times) for group in self.groups]
        needed = certified_delta(factor * self.epsilon, groups)
        if Fraction(needed) > self.delta * (1 + tolerance):
            raise BudgetExceededError(
                f"{self.n_draws} draws of bounded range must cost at most delta="
                f"{float(self.delta):.6g} at epsilon={float(self.epsilon):.6g}, got delta="
                f"{needed:.6g}. Make fewer draws, or draws of smaller range."
            )


def check_range_groups(groups: Sequence[RangeGroup]) -> tuple[RangeGroup, ...]:
    """Return the groups without empty ones; raise a ParameterError if a number is wrong."""
    checked = []
    for epsilon, times in groups:
        if isinstance(times, bool) or not isinstance(times, int) or times < 0:
            raise ParameterError(f"times must be a whole number >= 0, got {times!r}.", "groups")
        exact = positive_fraction("groups", epsilon)
        if not MIN_RANGE <= exact <= MAX_RANGE:
            raise ParameterError(
                f"the range of a draw must be from {float(MIN_RANGE):g} to {float(MAX_RANGE):g}, "
                f"got {float(exact):g}.",
                "groups",
            )
        if times:
            checked.append(RangeGroup(exact, times))
    if not 1 <= sum(group.times for group in checked) <= MAX_DRAWS:
        raise ParameterError(f"a composition must have 1 to {MAX_DRAWS} draws.", "groups")
    return tuple(checked)
