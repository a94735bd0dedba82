"""The most that a learner can spend along a path of the tree, whatever the records are.

An ensemble is drawn along one path: each of its draws is about all records.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

from privatree.errors import ParameterError

MAX_SEQUENCES = 100
"""Largest number of sequences of a schedule."""
MAX_STAGES = 250
"""Largest number of stages of a sequence."""
MAX_TOTAL = 10**12

_ROUNDING = Fraction(1, 10**9)
"""Relative tolerance, because a model file stores every amount rounded up separately."""


class Stage(NamedTuple):
    """One spend on a path from the root of a tree to a leaf.

    Parameters
    ----------
    kind : {"count", "choice"}
        "count" is a noisy count. "choice" is a draw by an exponential mechanism, which is
        epsilon-bounded-range [DR19].
    epsilon : Fraction
        Privacy cost.

    Examples
    --------
    >>> Stage("count", Fraction(1, 4)).kind
    'count'
    """

    kind: Literal["count", "choice"]
    epsilon: Fraction


@dataclass(frozen=True)
class Schedule:
    """Upper bounds on what a learner spends along a path of the tree, for any records.

    Parameters
    ----------
    total, choices, counts : Fraction
        Upper bounds on the epsilon of all stages, of all choices and of all counts along a path.
    sequences : tuple of tuples of Stage
        All possible sequences of stages, each in the order of time, or sequences that are no better
        than any possible one; empty if they are too many.
    single_path : bool, default=True
        Whether all that is protected as a whole is on one path, as a record is. The records of a
        unit can be on several paths: then the unit is in several sequences at once.

    Raises
    ------
    ParameterError
        If the bounds and the sequences contradict each other.

    Examples
    --------
    >>> path = (Stage("count", Fraction(1, 4)), Stage("choice", Fraction(3, 4)))
    >>> schedule = Schedule(Fraction(1), Fraction(3, 4), Fraction(1, 4), (path,))
    >>> schedule.total
    Fraction(1, 1)
    """

    total: Fraction
    choices: Fraction
    counts: Fraction
    sequences: tuple[tuple[Stage, ...], ...] = ()
    single_path: bool = True

    def __post_init__(self) -> None:
        """Raise a ParameterError if a sequence exceeds the bounds: certificates rely on both."""
        if not 0 < self.total <= MAX_TOTAL or min(self.choices, self.counts) < 0:
            raise ParameterError(
                f"the total of a schedule must be > 0 and at most {MAX_TOTAL}, and its choices and "
                "counts must be >= 0."
            )
        if max(self.choices, self.counts) > MAX_TOTAL:
            raise ParameterError(
                f"choices and counts of a schedule must each be at most {MAX_TOTAL}."
            )
        lengths = [len(path) for path in self.sequences]
        if len(lengths) > MAX_SEQUENCES or not all(0 < n <= MAX_STAGES for n in lengths):
            raise ParameterError(
                f"a schedule must list at most {MAX_SEQUENCES} sequences of 1 to {MAX_STAGES} "
                "stages."
            )
        if not self.sequences and self.choices + self.counts < self.total * (1 - _ROUNDING):
            raise ParameterError(
                "the sum of choices and counts of a schedule must be at least its total."
            )
        for bound, kinds in (
            (self.total, ("choice", "count")),
            (self.choices, ("choice",)),
            (self.counts, ("count",)),
        ):
            if any(_sum_stages(path, kinds) > bound * (1 + _ROUNDING) for path in self.sequences):
                raise ParameterError(
                    "the epsilons in each sequence of a schedule must add up to at most its total, "
                    "those of choices to at most its choices, and those of counts to at most its "
                    "counts."
                )

    @property
    def sequences_of_one(self) -> tuple[tuple[Stage, ...], ...]:
        """The sequences of which one record or unit goes through exactly one.

        Empty if they are too many, or if a unit can be in different ones at once.
        """
        is_one = self.single_path or len(set(self.sequences)) == 1
        return self.sequences if is_one else ()


def _sum_stages(path: tuple[Stage, ...], kinds: tuple[str, ...]) -> Fraction:
    return sum((stage.epsilon for stage in path if stage.kind in kinds), Fraction(0))
