"""What a learner could spend along a path, whatever the data: certificates are about that."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

from privatree.errors import ParameterError

MAX_SEQUENCES = 100
"""That a schedule lists."""
MAX_STAGES = 100
"""Of a sequence."""
MAX_TOTAL = 10**12

_ROUNDING = Fraction(1, 10**9)
"""Relative: in a file every amount is rounded up by itself."""


class Stage(NamedTuple):
    """One spend on a path.

    Parameters
    ----------
    kind : {"count", "choice"}
        A noisy count, or a choice by an exponential mechanism, whose range is epsilon.
    epsilon : Fraction
        Its cost.
    """

    kind: Literal["count", "choice"]
    epsilon: Fraction


@dataclass(frozen=True)
class Schedule:
    """Every sequence of stages along a path that any data could lead to.

    Parameters
    ----------
    total, choices, counts : Fraction
        Upper bounds on what all stages, all choices and all counts can add up to along a path.
    sequences : tuple of tuples of Stage
        The sequences themselves, in time order; none if there are too many to list.

    Raises
    ------
    ParameterError
        If its parts contradict each other.
    """

    total: Fraction
    choices: Fraction
    counts: Fraction
    sequences: tuple[tuple[Stage, ...], ...] = ()

    def __post_init__(self) -> None:
        """Refuse bounds that do not cover the sequences: certificates rest on both."""
        if not 0 < self.total <= MAX_TOTAL or min(self.choices, self.counts) < 0:
            raise ParameterError("a schedule must have a total > 0 and no negative sums.")
        if max(self.choices, self.counts) > MAX_TOTAL:
            raise ParameterError(f"the sums of a schedule must be at most {MAX_TOTAL}.")
        lengths = [len(path) for path in self.sequences]
        if len(lengths) > MAX_SEQUENCES or not all(0 < n <= MAX_STAGES for n in lengths):
            raise ParameterError(
                f"a schedule must list at most {MAX_SEQUENCES} sequences of 1 to {MAX_STAGES} "
                "stages."
            )
        if not self.sequences and self.choices + self.counts < self.total * (1 - _ROUNDING):
            raise ParameterError("choices and counts of a schedule must come to its total.")
        for bound, kinds in (
            (self.total, ("choice", "count")),
            (self.choices, ("choice",)),
            (self.counts, ("count",)),
        ):
            if any(_sum(path, kinds) > bound * (1 + _ROUNDING) for path in self.sequences):
                raise ParameterError("a sequence of a schedule must not exceed its sums.")


def _sum(path: tuple[Stage, ...], kinds: tuple[str, ...]) -> Fraction:
    return sum((stage.epsilon for stage in path if stage.kind in kinds), Fraction(0))
