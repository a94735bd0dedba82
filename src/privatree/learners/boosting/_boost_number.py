"""The learner of a boosted ensemble for a numeric target (``docs/proofs/boosting.md``).

The prediction of a record is a whole number, in fine steps of the target. It begins at a noisy mean
of all records. The signed weight of a record is its residual, what its target is above or below the
prediction, divided by a *scale* and clipped to 1. A function adds a share of the scale to the
prediction, or subtracts it. It begins at a quarter of the interval that most targets lie in. A few
times, noisy counts of the residuals change it: it gets small once most records are fitted well, and
stays large where some are far away.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.counting import ClassCounts
from privatree.counting.sums import FINE_STEPS, RecordRule, ResidualRule
from privatree.learners.boosting._boost import Boosting
from privatree.learners.boosting._number_plan import NumberPlan
from privatree.learners.first_steps import release_counts
from privatree.learners.regression import KNOT_WEIGHT, Knots, TargetLevels, draw_target_interval
from privatree.model.ensemble import Ensemble
from privatree.schema import TARGET_CODES

_FINEST = 32
"""The first residuals that are counted together are up to the interval's width by this number."""
_LIKELY, _SURE = 2.0, 12.0
"""A count of residuals probably has records from the first number on, times 1/epsilon, and surely
from the second one. Above the interval's width, only sure counts are used: false ones do the most
harm there."""
_MAX_FALL, _MAX_RISE = 3, 2
"""So many times smaller or larger the scale gets at most, as long as counts are not sure."""
_LARGEST_EXCESS = 1 / 16
"""At twice the scale, what residuals are above it is at most this share of all residuals."""


class NumberBoosting(Boosting):
    """One run of the learner for a numeric target.

    `declared_interval` is public knowledge of where most targets lie, as shares of the coded range.
    By default an interval is drawn. The other parameters are those of :class:`Boosting`.
    """

    _plan: NumberPlan

    def __init__(
        self, *given: Any, declared_interval: tuple[Fraction, Fraction] | None = None
    ) -> None:
        self._declared_interval = declared_interval
        super().__init__(*given)

    def _begin(self, records: ClassCounts, size: int) -> None:
        """Release where the targets are, and the prediction before the first round."""
        self._records = records
        ends = self._declared_interval or draw_target_interval(
            records, size, self._plan.target_interval_epsilon, self._pure_ledger
        )
        levels = TargetLevels.around(ends)
        self._width = levels.stop - levels.start
        knots = Knots(levels)
        epsilon = self._plan.start_epsilon
        exact_sums = records.class_totals()[0] @ knots.weights()
        noisy_sums = release_counts(
            records, exact_sums, epsilon, self._pure_ledger, "mean of the target",
            sensitivity=KNOT_WEIGHT,
        )  # fmt: skip
        middle = int(levels.level_of_code()[(levels.start + levels.stop) // 2])
        self._start = round(FINE_STEPS * knots.leaf_value(noisy_sums, middle, epsilon).place)
        self._scale = self._width * FINE_STEPS // 4
        records.merge_classes(np.zeros(TARGET_CODES, dtype=np.uint8), 1)

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        """Sizes of residuals up to which they are counted together, in fine steps."""
        ends = [max(1, self._width * FINE_STEPS // _FINEST)]
        while ends[-1] < TARGET_CODES * FINE_STEPS:
            ends.append(ends[-1] + (ends[-1] + 1) // 2)
        return np.array(ends, dtype=np.int64)

    def _next_rule(self, turn: int) -> tuple[Sequence[int], RecordRule]:
        n_rounds = self.rounds.n_rounds
        if turn in self._plan.residual_turns(n_rounds):
            self._scale = self._next_scale()
        amount = max(1, round(self._scale / math.sqrt(n_rounds)))
        return (amount,), ResidualRule(self._start, self._scale)

    def _next_scale(self) -> int:
        """Return the scale that noisy counts of the residuals ask for."""
        epsilon = self._plan.residual_epsilon
        exact_counts = self._sums.residual_counts(self._start, self._ends)
        noisy_counts = release_counts(
            self._records, exact_counts, epsilon, self._pure_ledger, "sizes of residuals"
        )
        return next_scale(self._scale, noisy_counts, self._ends, epsilon)

    def ensemble(self) -> Ensemble:
        target = self._schema.target
        if target is None:
            raise RuntimeError("an ensemble for numbers must have a schema with a target.")
        low, width = target.coded_range
        step = width / (TARGET_CODES * FINE_STEPS)
        return Ensemble(
            self._schema,
            step,
            tuple(self._released),
            self._intervals,
            self._declared_directions,
            low + step * self._start,
        )


def next_scale(
    scale: int, noisy_counts: NDArray[np.int64], ends: NDArray[np.int64], epsilon: Fraction
) -> int:
    """Return the scale after `scale`, given noisy counts of the residuals up to each of the ends.

    With few records, counts are hardly more than noise. So they change the scale a little at a
    time, unless they are sure.
    """
    sure = np.full(len(ends), _SURE) / float(epsilon)
    likely = np.where(ends <= _FINEST * ends[0], _LIKELY / float(epsilon), sure)
    wanted = residual_scale(np.where(noisy_counts >= likely, noisy_counts, 0), ends)
    if not wanted:
        return scale
    certain = residual_scale(np.where(noisy_counts >= sure, noisy_counts, 0), ends)
    largest = max(_MAX_RISE * scale, certain)
    return max(1, min(max(wanted, scale // _MAX_FALL), largest))


def residual_scale(counts: NDArray[np.int64], ends: NDArray[np.int64]) -> int:
    """Return the scale for residuals, given how many are up to each of the ends; 0 for none.

    It is half the first end which residuals exceed by no more than a small share of all of them.
    """
    starts = np.concatenate([[0], ends[:-1]])
    middles = (starts + ends) / 2
    most = _LARGEST_EXCESS * float(counts @ middles)
    if not most:
        return 0
    excess = np.maximum(middles - ends[:, np.newaxis], 0.0) @ counts
    return max(1, int(ends[int(np.argmax(excess <= most))]) // 2)
