"""What a learner could spend along a path, whatever the data: certificates are about that."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple


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
    """

    total: Fraction
    choices: Fraction
    counts: Fraction
    sequences: tuple[tuple[Stage, ...], ...] = ()
