"""One split near the root, scored by how well it separates two groups of classes.

Let A be one of the groups, with a noisy share q of the records. The score of a set S of codes is a
sum over the records in S: a record of A adds 1 - q, any other record adds -q. Up to a factor, this
is the Kolmogorov-Smirnov distance between the two groups. One more record changes each score either
by 0 or by the same amount, at most max(q, 1 - q): this is the range of the score. The score is a
sum over the codes in S, so a subset of categories is drawn exactly, one category at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.kernels.compiling import compiled
from privatree.learners.tree._region import (
    CutGrid,
    FeatureLayout,
    Region,
    codes_in_region,
    feature_of_part,
)
from privatree.privacy.mechanisms import Draw, LogWeights, SequentialExponential
from privatree.privacy.samplers import DECAY_ERROR, UNIT_ROUNDOFF, decay, decay_table, precision

SPLIT_UNITS = 128
"""A record counts as this many units, so that scores are whole numbers."""
_MIN_SHARE, _MAX_SHARE = 4, 124  # about 0.03 and 0.97 of a record, in units


@dataclass(frozen=True)
class SplitScore:
    """The score of a split: what a record of each class adds to the score of its side."""

    steps: tuple[int, ...]
    """For each class, the number of units that a record of this class adds."""

    @property
    def score_range(self) -> int:
        """Largest change of a score by one record. All scores change in the same direction."""
        return max(map(abs, self.steps))


def split_score(noisy_counts: Sequence[int]) -> SplitScore:
    """Return a score that separates two groups of classes with about half of the records each."""
    group = _balanced_class_group(noisy_counts)
    inside = sum(noisy_counts[label] for label in group)
    share = (2 * SPLIT_UNITS * (inside + 1) + sum(noisy_counts) + 2) // (
        2 * (sum(noisy_counts) + 2)
    )
    share = min(max(share, _MIN_SHARE), _MAX_SHARE)
    steps = [
        SPLIT_UNITS - share if label in group else -share for label in range(len(noisy_counts))
    ]
    return SplitScore(tuple(steps))


def _balanced_class_group(noisy_counts: Sequence[int]) -> set[int]:
    """Divide the classes into two groups of similar size, and return one of the groups.

    Each class, the largest first, joins the group that is smaller so far. So the two largest
    classes are always in different groups. Of only two classes, the second one is returned.
    """
    groups: tuple[set[int], set[int]] = set(), set()
    sizes = [0, 0]
    for label in sorted(range(len(noisy_counts)), key=lambda label: -noisy_counts[label]):
        smaller = int(sizes[1] < sizes[0] or (sizes[1] == sizes[0] and not groups[1]))
        groups[smaller].add(label)
        sizes[smaller] += noisy_counts[label]
    return groups[0] if 0 not in groups[0] else groups[1]


class UpperSplit:
    """The weights of all splits of one node, and the draw of one of them.

    `exact_counts` is an array (class, code) of the node's records. `mechanism` makes the draw and
    must have the range of the score `centre`.
    """

    def __init__(
        self,
        exact_counts: NDArray[np.int64],
        centre: SplitScore,
        mechanism: SequentialExponential,
        layout: FeatureLayout,
        fine: CutGrid,
        region: Region,
    ) -> None:
        self._exact_scores = np.array(centre.steps, dtype=np.int64) @ exact_counts
        self._rate, self._layout = mechanism.rate, layout
        self._fine, self._region = fine, region

    def weights(self) -> LogWeights:
        """Return the weight of each cut, and for each categorical feature that of all subsets."""
        n_codes = len(self._exact_scores)
        scores, factors = np.zeros(n_codes, dtype=np.int64), np.zeros(n_codes)
        sizes = np.add.reduceat(np.abs(self._exact_scores), self._layout.offsets[:-1])
        largest = int(sizes.max())  # of one feature: a sum over all of them could overflow
        decays = decay_table(self._rate, largest)
        _fill_split_weights(
            self._exact_scores, self._layout, self._fine, self._region, decays, scores, factors
        )
        error = (n_codes + 2) * DECAY_ERROR + 50 * UNIT_ROUNDOFF
        return LogWeights(scores, factors, error, self._weights_in_decimals)

    def draw(self, draw: Draw) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
        """Draw a split. Return its feature, and the codes of the region on the left and right."""
        part = draw.draw(self.weights())
        feature = feature_of_part(part, self._layout)
        start = self._layout.offsets[feature]
        codes = codes_in_region(self._region, self._layout, feature)
        if not self._layout.is_category[feature]:
            is_left = codes <= part - start
        else:
            draw.expect(len(codes))
            exact_scores = self._exact_scores[start + codes]
            is_left = np.array(
                [draw.draw_by_score(np.array([0, score])) == 1 for score in exact_scores]
            )
        return feature, codes[is_left], codes[~is_left]

    def _weights_in_decimals(self, digits: int) -> tuple[Sequence[Decimal], Decimal]:
        with localcontext(precision(digits)):
            largest = Fraction(0)

            def power(score: int) -> Decimal:
                nonlocal largest
                exponent = self._rate * score
                largest += abs(exponent)  # the exponents of a product add up
                return (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()

            found = [Decimal(0)] * len(self._exact_scores)
            for feature in np.flatnonzero(self._region.n_inside >= 2).tolist():
                start = int(self._layout.offsets[feature])
                codes = start + codes_in_region(self._region, self._layout, feature)
                scores = self._exact_scores[codes].tolist()
                if self._layout.is_category[feature]:
                    found[start] = Decimal(1)
                    for score in scores:
                        found[start] *= (1 + power(score)) / 2
                    continue
                base_measure = [
                    Decimal(mass) for mass in self._fine.base_measure[codes[:-1]].tolist()
                ]
                left = 0
                for code, score, mass in zip(codes.tolist(), scores, base_measure, strict=False):
                    left += score
                    both = power(left) + power(sum(scores) - left)
                    found[code] = mass / sum(base_measure) * both / 2
            error = (8 * int(largest + 1) + Decimal(10) ** 12) * Decimal(10) ** (1 - digits)
            return found, error


@compiled
def _fill_split_weights(
    exact_scores: Any, layout: Any, fine: Any, region: Any, decays: Any, scores: Any, factors: Any
) -> None:
    for feature in range(region.low.size):
        if region.n_inside[feature] < 2:
            continue
        start, stop = layout.offsets[feature], layout.offsets[feature + 1]
        if layout.is_category[feature]:
            best, weight = np.int64(0), 1.0
            for part in range(start, stop):
                best += max(exact_scores[part], 0)
                weight *= 0.5 + 0.5 * decay(decays, abs(exact_scores[part]))
            scores[start], factors[start] = best, weight
            continue
        whole = np.int64(0)
        for part in range(start, stop):
            whole += exact_scores[part]
        first, last = start + region.low[feature], start + region.high[feature] - 1
        share = 0.5 / np.float64(fine.below[last] - fine.below[first])
        left = np.int64(0)
        for part in range(first, last):
            left += exact_scores[part]
            gap = abs(whole - 2 * left)  # between the two choices of S: left or right of the cut
            scores[part] = max(left, whole - left)
            factors[part] = share * fine.base_measure[part] * (1.0 + decay(decays, gap))
