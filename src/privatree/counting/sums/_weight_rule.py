"""How much a record counts in a round: a whole number from its own score and label alone.

The rule for classes is the gradient of the logistic loss, scaled and clipped to 1. The rule for a
numeric target is the residual, scaled and clipped to 1. Tables and scales are public or released.
So the signed weight of a record depends on the record itself and on released functions, and on no
other record (``docs/proofs/boosting.md``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privatree.counting.sums._kernels import (
    sign_many_classes,
    sign_residuals,
    sign_two_classes,
)

FULL_SIGNED_WEIGHT = 255
"""Largest signed weight of a record that counts once."""
_UNIT = 2**30
"""The power of a score of 0, as a whole number."""


class RecordRule(Protocol):
    """Rule that gives each record its signed weight in one round."""

    def sign_records(
        self,
        scores: NDArray[np.int32],
        labels: NDArray[Any],
        weights: NDArray[np.int32] | None,
        first: int,
        last: int,
        signed: NDArray[Any],
    ) -> None:
        """Write the signed weights of the records from `first` to `last`."""


@dataclass(frozen=True)
class WeightRule:
    """Rule for classes.

    Parameters
    ----------
    table : ndarray of int64
        For two classes, the weight at each margin, from the lowest. For more, powers of scores.
    code : ndarray of int8
        Sign of each class in this round. For two classes it is (-1, +1).
    twice_scale : int
        Twice the scale of the weights: 3 or 4.
    """

    table: NDArray[np.int64]
    code: NDArray[np.int8]
    twice_scale: int

    @classmethod
    def of_round(
        cls, step: float, n_rounds: int, code: Sequence[int], twice_scale: int
    ) -> WeightRule:
        """Return the rule for scores in steps of `step`, of which there are at most `n_rounds`.

        The probability of the wrong class is multiplied by `twice_scale` / 2, and clipped to 1. So
        badly fitted records count fully; with a `twice_scale` of 4, all that are not fitted yet.
        """
        if len(code) == 2:
            margins = range(-n_rounds, n_rounds + 1)
            table = [_logistic_weight(step * margin, twice_scale) for margin in margins]
        else:
            table = [round(_UNIT * math.exp(-step / 2 * k)) for k in range(2 * n_rounds + 1)]
        return cls(np.array(table, dtype=np.int64), np.array(code, dtype=np.int8), twice_scale)

    def sign_records(
        self,
        scores: NDArray[np.int32],
        labels: NDArray[Any],
        weights: NDArray[np.int32] | None,
        first: int,
        last: int,
        signed: NDArray[Any],
    ) -> None:
        if len(self.code) == 2:
            sign_two_classes(scores, labels, weights, self.table, first, last, signed)
        else:
            full, twice_scale = np.int64(FULL_SIGNED_WEIGHT), np.int64(self.twice_scale)
            rule = (self.table, self.code, full, twice_scale)
            sign_many_classes(scores, labels, weights, *rule, first, last, signed)


def _logistic_weight(margin: float, twice_scale: int) -> int:
    """Return the weight of a record whose class has the log-odds `margin`."""
    likelihood = 1.0 / (1.0 + math.exp(min(margin, 700.0)))
    return round(FULL_SIGNED_WEIGHT * min(1.0, twice_scale / 2 * likelihood))


@dataclass(frozen=True)
class ResidualRule:
    """Rule for a numeric target, in fine steps of its codes (``FINE_STEPS``).

    Parameters
    ----------
    start : int
        Prediction of every record before the first round. Later ones are `start` plus the score.
    scale : int
        A residual of at least this size counts fully.
    """

    start: int
    scale: int

    def sign_records(
        self,
        scores: NDArray[np.int32],
        labels: NDArray[Any],
        weights: NDArray[np.int32] | None,
        first: int,
        last: int,
        signed: NDArray[Any],
    ) -> None:
        full = np.int64(FULL_SIGNED_WEIGHT)
        rule = (np.int64(self.start), np.int64(self.scale), full)
        sign_residuals(scores, labels, weights, *rule, first, last, signed)
