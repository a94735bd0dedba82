"""Scores of splits: a number for each child, added up over the children.

A record comes to one child. So the range of a score is that of the change of one child's number.
``docs/proofs/baselines.md`` has a lemma for each score.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privatree.privacy.mechanisms import Exponential

Counts = NDArray[np.float64]


@dataclass(frozen=True)
class Score:
    """A score of splits, with what one record more or less can change.

    Notes
    -----
    Neighbours: one record more or less at the node.
    Range: ``score_range`` for the difference of two scores' changes.
    """

    of_children: Callable[[Counts], NDArray[np.float64]]
    """Takes counts (class, child) and returns a number for each child."""
    sensitivity: Fraction
    """What the paper takes for the largest change of a score."""
    score_range: Fraction
    """Length of an interval that contains the change of every split's score."""
    normalised: bool = False
    """Whether the sum is divided by the number of records, and 1 - 1/K is added to it."""

    def finish(
        self, sums: NDArray[np.float64], exact_totals: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        if not self.normalised:
            return sums
        n_classes, size = len(exact_totals), max(int(exact_totals.sum()), 1)
        return np.asarray((n_classes - 1) / n_classes + sums / size)

    def draw(self, epsilon: Fraction) -> Exponential:
        """Return the published draw, exp(epsilon * score / (2 * sensitivity)), at its real cost."""
        return Exponential(epsilon * self.score_range / (2 * self.sensitivity), self.score_range)


def _minus_gini(counts: Counts) -> NDArray[np.float64]:
    sizes = counts.sum(axis=0)
    return np.asarray((counts**2).sum(axis=0) / np.maximum(sizes, 1) - sizes)


MAX = Score(lambda counts: counts.max(axis=0), Fraction(1), Fraction(1))
"""Records of the largest class of each child."""
GINI = Score(_minus_gini, Fraction(2), Fraction(2))
"""Minus the Gini impurities of the children, each times its number of records."""
NORMALISED_GINI = Score(_minus_gini, Fraction(1, 2), Fraction(1), normalised=True)
"""1 - 1/K minus the Gini impurity of the children, weighted by their shares of the records."""


def entropy_score(max_records: int) -> Score:
    """Return minus the entropies of the children in bits, each times its number of records.

    Beyond ``max_records + 1`` records, x log x goes on as its tangent, so that the range holds for
    tables of any size.
    """
    end = float(max_records + 1)
    slope = math.log2(end) + 1 / math.log(2)

    def phi(x: Counts) -> Counts:
        inside = np.clip(x, 1e-300, end)
        return np.asarray(inside * np.log2(inside) + slope * np.maximum(x - end, 0.0))

    sensitivity = Fraction(math.nextafter(slope, math.inf))
    return Score(
        lambda counts: phi(counts).sum(axis=0) - phi(counts.sum(axis=0)), sensitivity, sensitivity
    )


def gradient_score(regularisation: float) -> Score:
    """Return the gain of gradients: the squared sum of a child's gradients over its size.

    The gradients are 1 for the second class and -1 for the first. ``regularisation`` is added to
    each size.
    """

    def gain(counts: Counts) -> NDArray[np.float64]:
        sizes = counts.sum(axis=0) + regularisation
        return np.asarray((counts[1] - counts[0]) ** 2 / np.where(sizes > 0, sizes, 1.0))

    return Score(gain, Fraction(3), Fraction(4))


def information_gain(counts: NDArray[np.int64]) -> float:
    """Return the information gain of one split in bits, of counts (class, child); at most log K."""
    below = sum(_entropy(child) for child in counts.T)
    return (_entropy(counts.sum(axis=1)) - below) / max(int(counts.sum()), 1)


def _entropy(counts: NDArray[np.int64]) -> float:
    """Return the entropy of class counts, in bits, times their sum."""
    some = counts[counts > 0].astype(np.float64)
    return float((some * np.log2(some.sum() / some)).sum())
