"""Knots: public sizes of errors, and public places of targets, among which records are divided.

A record whose error lies between two knots counts in part for each, the more the closer it is, as
measured by the square of the error: so the sum of the squares of all errors is kept. Knots are a
constant factor apart. A range of the target that is ten times too wide costs little where the
errors are: a release first draws a *limit*, above which noise hides how many there are, and then
needs few knots.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.model import Tree
from privatree.model.ensemble import Ensemble
from privatree.schema import Target

KNOT_UNIT = 2**7
"""What a record of weight 1 adds to both its knots together."""
STEPS_OF_OCTAVE = 4
"""Number of knots between an error and twice that error."""
N_OCTAVES = 12
"""The smallest knot above 0 is 1/4,096 of the largest."""
_KEPT = (0, *range(4, 25), 28, 32)
"""Steps below the limit of the knots that a release has, besides 0: most where most errors are."""


@dataclass(frozen=True, eq=False)
class Knots:
    """Knots from 0 to a largest number, on one or on both sides of 0.

    Parameters
    ----------
    largest : float
        The last knot.
    two_sided : bool
        Whether there are negative knots, too. They come first.
    """

    largest: float
    two_sided: bool

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """The knots that are not negative, in increasing order."""
        steps = np.arange(N_OCTAVES * STEPS_OF_OCTAVE, -1, -1.0)
        return np.concatenate([[0.0], self.largest * 2.0 ** (-steps / STEPS_OF_OCTAVE)])

    @property
    def unit(self) -> int:
        """What a record of weight 1 adds to a table."""
        return KNOT_UNIT

    @property
    def n_knots(self) -> int:
        return 2 * len(self.sizes) - 1 if self.two_sided else len(self.sizes)

    def add(
        self,
        values: NDArray[np.float64],
        weights: NDArray[np.integer[Any]],
        exact: NDArray[np.int64],
    ) -> None:
        """Add the weight of each value to the two knots around it."""
        sizes = self.sizes
        size = np.abs(values)
        right = np.searchsorted(sizes, size).clip(1, len(sizes) - 1)
        low, high = sizes[right - 1] ** 2, sizes[right] ** 2
        share = np.clip((size**2 - low) / (high - low), 0.0, 1.0)
        of_right = np.rint(share * KNOT_UNIT).astype(np.int64)
        side = np.where((values < 0) & self.two_sided, -1, 1)
        centre = len(sizes) - 1 if self.two_sided else 0
        np.add.at(exact, centre + side * right, of_right * weights)
        np.add.at(exact, centre + side * (right - 1), (KNOT_UNIT - of_right) * weights)

    # --- the limit ------------------------------------------------------------------------------

    def octaves(self, exact: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sums of the knots by factors of two, the largest first."""
        folded = self._fold(exact)[1:][::-1]
        whole = len(folded) // STEPS_OF_OCTAVE * STEPS_OF_OCTAVE
        sums: NDArray[np.int64] = folded[:whole].reshape(-1, STEPS_OF_OCTAVE).sum(axis=1)
        return sums

    def _fold(self, exact: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the table by size, whatever the sign."""
        if not self.two_sided:
            return exact
        centre = len(self.sizes) - 1
        folded = exact[centre:].copy()
        folded[1:] += exact[:centre][::-1]
        return folded

    def limited(self, octave: int) -> LimitedKnots:
        """Return the knots up to the largest divided by 2^octave."""
        return LimitedKnots(self, octave)


@dataclass(frozen=True, eq=False)
class LimitedKnots:
    """A few of the knots, up to a limit. What is beyond counts as the limit."""

    knots: Knots
    octave: int

    @cached_property
    def _kept(self) -> NDArray[np.int64]:
        """Positions of the kept knots among the sizes."""
        last = len(self.knots.sizes) - 1 - self.octave * STEPS_OF_OCTAVE
        places = [0, *(last - step for step in sorted(_KEPT, reverse=True) if last > step)]
        return np.array(places, dtype=np.int64)

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        sizes: NDArray[np.float64] = self.knots.sizes[self._kept]
        return sizes

    @property
    def limit(self) -> float:
        return float(self.sizes[-1])

    @property
    def values(self) -> NDArray[np.float64]:
        """What each knot stands for, in increasing order."""
        if not self.knots.two_sided:
            return self.sizes
        return np.concatenate([-self.sizes[:0:-1], self.sizes])

    @property
    def unit(self) -> int:
        """What a record of weight 1 adds to a table."""
        return KNOT_UNIT**2

    def merge(self, exact: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a table of all knots as one of these, in units of 1/`KNOT_UNIT`."""
        if not self.knots.two_sided:
            return self._shares @ exact
        centre = len(self.knots.sizes) - 1
        above, below = exact[centre:].copy(), exact[centre::-1].copy()
        below[0] = 0
        right, left = self._shares @ above, self._shares @ below
        merged = np.concatenate([left[:0:-1], right])
        merged[len(left) - 1] += left[0]
        return merged

    @cached_property
    def _shares(self) -> NDArray[np.int64]:
        """Share of each knot among the kept ones, an array (kept, knot); columns add up alike."""
        squares, kept = self.knots.sizes**2, self.sizes**2
        right = np.searchsorted(kept, squares).clip(1, len(kept) - 1)
        share = np.clip((squares - kept[right - 1]) / (kept[right] - kept[right - 1]), 0.0, 1.0)
        of_right = np.rint(share * KNOT_UNIT).astype(np.int64)
        shares = np.zeros((len(kept), len(squares)), dtype=np.int64)
        shares[right, np.arange(len(squares))] = of_right
        shares[right - 1, np.arange(len(squares))] = KNOT_UNIT - of_right
        return shares


@dataclass(frozen=True, eq=False)
class ErrorKnots:
    """Knots for the errors of a model, and for its targets.

    Parameters
    ----------
    low, high : float
        Public range of the target.
    centre : float
        Number from the released model, near which most targets are.
    """

    low: float
    high: float
    centre: float

    @classmethod
    def of(cls, target: Target, predictor: Tree | Ensemble) -> ErrorKnots:
        """Return the knots for a model: their centre is a typical prediction."""
        low, high = float(target.low), float(target.high)
        return cls(low, high, float(np.clip(_typical_prediction(predictor, target), low, high)))

    @cached_property
    def errors(self) -> Knots:
        """Knots of the sizes of errors."""
        return Knots(self.high - self.low, two_sided=False)

    @cached_property
    def targets(self) -> Knots:
        """Knots of the differences of targets from the centre."""
        return Knots(max(self.high - self.centre, self.centre - self.low), two_sided=True)

    def add_errors(
        self,
        actual: NDArray[np.float64],
        predicted: NDArray[np.float64],
        weights: NDArray[np.integer[Any]],
        exact_tables: list[NDArray[np.int64]],
    ) -> None:
        """Add the errors and the targets of some records to the two tables."""
        targets = np.clip(actual, self.low, self.high)
        self.errors.add(targets - predicted, weights, exact_tables[0])
        self.targets.add(targets - self.centre, weights, exact_tables[1])


def _typical_prediction(predictor: Tree | Ensemble, target: Target) -> float:
    """Return a prediction of the model, from released values alone."""
    if isinstance(predictor, Ensemble):
        return float(target.of_score(predictor.start))
    values = predictor.value
    if values is None:
        return (float(target.low) + float(target.high)) / 2
    leaves = predictor.leaves
    support = None if predictor.support is None else predictor.support[leaves].astype(np.float64)
    if support is None or not support.sum() > 0:
        return float(np.mean(values[leaves]))
    return float(np.average(values[leaves], weights=support))
