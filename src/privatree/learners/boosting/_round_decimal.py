"""Weights of the functions of a round in arbitrary precision.

These weights are needed only if a draw falls within the error bound of floating point, about once
in 10^9 draws. The code is written to be read, not to be fast. All functions must be called in a
decimal context of the wanted precision.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privatree.learners.boosting._measure import (
    ABSENT,
    CHAIN,
    FREE,
    RISING,
    RootMeasure,
    StepMeasure,
)
from privatree.privacy.samplers import DecimalPowers

_MAX_FACTORS = 10**6
"""More powers than that are never multiplied along a chain, or for two sides."""


class PreciseWeights(DecimalPowers):
    """Weights with a given number of digits.

    `rate` is the change of the log-weight for one unit of score.
    """

    def __init__(self, rate: Fraction, measure: StepMeasure, digits: int) -> None:
        super().__init__(rate, digits, _MAX_FACTORS)
        self._measure = measure

    def weigh_features(self, sums: NDArray[np.int64]) -> list[Decimal]:
        """Return the weight of all step functions of each feature."""
        share = Decimal(self._measure.share)
        return [
            share * self._weigh_feature(sums, place) for place in range(len(self._measure.kind))
        ]

    def _weigh_feature(self, sums: NDArray[np.int64], feature: int) -> Decimal:
        kind = self._measure.kind[feature]
        if kind == ABSENT:
            return Decimal(0)
        if kind == CHAIN:
            up, down = self.sweep_chain(sums, feature)[-1]
            return up + down
        first, last = self._measure.offsets[feature : feature + 2].tolist()
        if kind != FREE:
            last = first + int(self._measure.n_missing[feature])
        weight = Decimal(1)
        for exact_sum in sums[first:last].tolist():
            weight *= sum(self.free_weights(exact_sum))
        return weight if kind == FREE else weight * sum(self.weigh_monotone(sums, feature))

    def free_weights(self, exact_sum: int) -> tuple[Decimal, Decimal]:
        """Return the weights of + and - for a code whose sign is free."""
        return self.power(exact_sum) / 2, self.power(-exact_sum) / 2

    def sweep_chain(self, sums: NDArray[np.int64], feature: int) -> list[tuple[Decimal, Decimal]]:
        """Return, for each code, the weights of all sequences up to it that end with + and -."""
        first, last = self._measure.offsets[feature : feature + 2].tolist()
        up = down = Decimal(1) / 2
        found = []
        for code, exact_sum in enumerate(sums[first:last].tolist(), start=first):
            up, down = up * self.power(exact_sum), down * self.power(-exact_sum)
            found.append((up, down))
            switch, stay = Decimal(self._measure.switch[code]), Decimal(self._measure.stay[code])
            up, down = stay * up + switch * down, stay * down + switch * up
        return found

    def weigh_monotone(self, sums: NDArray[np.int64], feature: int) -> list[Decimal]:
        """Return the weight of each function of a monotone number, without missing values."""
        first, last = self._measure.offsets[feature : feature + 2].tolist()
        first += int(self._measure.n_missing[feature])
        sign = 1 if self._measure.kind[feature] == RISING else -1
        quarter = Decimal(1) / 4
        inner = [Decimal(share) for share in self._measure.switch[first : last - 1].tolist()]
        below = np.concatenate([[0], np.cumsum(sums[first:last])])
        scores = (sign * (below[-1] - 2 * below)).tolist()
        factors = [quarter, *inner, quarter]
        return [factor * self.power(score) for factor, score in zip(factors, scores, strict=True)]

    def weigh_roots(
        self,
        sums: NDArray[np.int64],
        rows: NDArray[np.int64],
        roots: RootMeasure,
        no_root_share: float,
    ) -> list[Decimal]:
        """Return the weight of each root of each feature, and last that of no root."""
        weights = []
        for feature in roots.rows.used_features():
            first = int(roots.rows.firsts[feature])
            left = np.zeros_like(sums)
            for root in range(int(roots.n_candidates[feature])):
                row = rows[first + root]
                left = row if roots.is_category[feature] else left + row
                share = Decimal(1 - no_root_share) * Decimal(roots.measure[feature, root])
                sides = sum(self.weigh_features(left)), sum(self.weigh_features(sums - left))
                weights.append(share * sides[0] * sides[1])
        weights.append(Decimal(no_root_share) * sum(self.weigh_features(sums)))
        return weights
