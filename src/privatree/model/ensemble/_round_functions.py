"""Functions of the rounds of an ensemble, with the values -1 and +1 (``_ensemble.py``)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np


@dataclass(frozen=True, slots=True)
class Step:
    """A step function of one feature, with the values -1 and +1.

    Parameters
    ----------
    feature : int
        Position of the feature in the schema.
    first : {-1, 1}
        Sign of a number below all switches.
    switches : tuple of float
        Increasing numbers above each of which the sign changes.
    positive : bytes, optional
        For a category feature, 1 for each category code with the sign +1, and 0 for the others.

    Examples
    --------
    >>> Step(0, first=-1, switches=(30.5, 60.5)).sign_of(45.0)
    1
    """

    feature: int
    first: int = -1
    switches: tuple[float, ...] = ()
    positive: bytes | None = None

    def sign_of(self, value: float) -> int:
        """Return the sign of a number, or of a category code."""
        if self.positive is not None:
            return 1 if self.positive[int(value)] else -1
        n_below = int(np.searchsorted(self.switches, value))
        return self.first if n_below % 2 == 0 else -self.first


@dataclass(frozen=True, slots=True)
class Branch:
    """A split of the records, with a function on either side.

    Parameters
    ----------
    feature : int
        Position of the feature in the schema.
    left, right : Step or Branch
        Functions of the records that go left and right.
    threshold : float, optional
        For a number: records with ``value <= threshold`` go left. Minus infinity sends only
        separate missing values left.
    goes_left : bytes, optional
        For a category feature, 1 for each category code that goes left, and 0 for the others.
    """

    feature: int
    left: RoundFunction
    right: RoundFunction
    threshold: float | None = None
    goes_left: bytes | None = None


RoundFunction: TypeAlias = Step | Branch


@dataclass(frozen=True, slots=True)
class Round:
    """One round of an ensemble.

    Parameters
    ----------
    function : Step or Branch
        Function with the values -1 and +1.
    amounts : tuple of int
        What a function value of +1 adds to the margins: for each class 1 or -1, and for a numeric
        target one number of at least 1. For two classes it is (-1, 1).
    """

    function: RoundFunction
    amounts: tuple[int, ...]


def nodes_of(function: RoundFunction) -> Iterator[Step | Branch]:
    """Yield the branches and steps of a function, each before what follows on its sides."""
    yield function
    if isinstance(function, Branch):
        yield from nodes_of(function.left)
        yield from nodes_of(function.right)


def depth_of(function: RoundFunction) -> int:
    if isinstance(function, Step):
        return 1
    return 1 + max(depth_of(function.left), depth_of(function.right))
