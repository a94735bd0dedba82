"""A narrow interval that has most of the records; proof: ``docs/proofs/dense-interval.md``."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.privacy._exact_epsilon import positive_fraction
from privatree.privacy._randomness import Randomness
from privatree.privacy.mechanisms._exponential import Exponential

_MAX_LEVELS = 16


class Interval(NamedTuple):
    """A dyadic interval of a range.

    Examples
    --------
    >>> Interval(level=2, start=3).ends
    (Fraction(3, 8), Fraction(5, 8))
    """

    level: int
    """The width is ``2**-level`` of the range."""
    start: int
    """Number of half widths below the interval."""

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """Return the lower and the upper end, as shares of the range."""
        half = Fraction(1, 2 ** (self.level + 1))
        return self.start * half, (self.start + 2) * half


@dataclass(frozen=True)
class DenseInterval:
    """Exponential mechanism over the dyadic intervals of a range.

    The widths are 1, 1/2, 1/4, ... of the range. Intervals of one width begin at multiples of half
    their width. The score of an interval is its number of records, up to `enough`. The base measure
    of an interval of level j is 8^j, so all intervals of a level together have about 16 times the
    measure of the level above. The narrowest interval that has about `enough` records is therefore
    the most likely one.

    Parameters
    ----------
    epsilon : Fraction
        Privacy cost of one interval.
    levels : int
        Level of the narrowest intervals, 0 to 16. Records are counted in ``2**(levels + 1)`` cells
        of equal width.
    enough : int
        Largest score. It must be public.
    full_weight : int, default=1
        What a record adds to the number of records of its cell at most.

    Notes
    -----
    Neighbours: one record, or all records of one unit, added or removed.
    Range: `full_weight`. Adding records of this weight adds 0 to `full_weight` to each score.
    Guarantee: epsilon-DP, and epsilon-bounded-range. The draw is exact.
    Cost: epsilon.

    Examples
    --------
    >>> mechanism = DenseInterval(Fraction(1), levels=2, enough=60)
    >>> cells = np.array([0, 2, 0, 50, 45, 3, 0, 0])
    >>> mechanism.release(cells, Randomness(seed=0)).ends
    (Fraction(3, 8), Fraction(5, 8))
    """

    epsilon: Fraction
    levels: int
    enough: int
    full_weight: int = 1
    name: ClassVar[str] = "exponential"
    is_bounded_range: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_fraction("epsilon", self.epsilon))
        if not 0 <= self.levels <= _MAX_LEVELS:
            raise ParameterError(
                f"levels must be from 0 to {_MAX_LEVELS}, got {self.levels}.", "levels"
            )
        if self.enough < 1:
            raise ParameterError(f"enough must be at least 1, got {self.enough}.", "enough")

    def release(self, exact_cells: NDArray[np.int64], randomness: Randomness) -> Interval:
        """Draw an interval, given the number of records in each cell."""
        scores = self._exact_scores(exact_cells)
        return self.intervals[self._choice.release(scores, randomness, self._measure)]

    def log_probabilities(self, exact_cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each of the ``intervals``."""
        return self._choice.log_probabilities(self._exact_scores(exact_cells), self._measure)

    @cached_property
    def intervals(self) -> tuple[Interval, ...]:
        """All intervals that can be drawn, the widest first."""
        return tuple(
            Interval(level, start)
            for level in range(self.levels + 1)
            for start in range(2 ** (level + 1) - 1)
        )

    @property
    def _choice(self) -> Exponential:
        return Exponential(self.epsilon, score_range=Fraction(self.full_weight))

    @cached_property
    def _measure(self) -> NDArray[np.float64]:
        return np.array([8.0**interval.level for interval in self.intervals])

    def _exact_scores(self, exact_cells: NDArray[np.int64]) -> NDArray[np.int64]:
        exact_below = np.concatenate([[0], np.cumsum(exact_cells)])
        if len(exact_cells) != 2 ** (self.levels + 1):
            raise ParameterError(
                f"there must be {2 ** (self.levels + 1)} cells, got {len(exact_cells)}.", "cells"
            )
        level, start = np.array(self.intervals).T
        half = 2 ** (self.levels - level)  # of the width, in cells
        exact_inside = exact_below[(start + 2) * half] - exact_below[start * half]
        return np.asarray(np.minimum(exact_inside, self.enough))
