"""The next stage of the learner of regression trees at a node, from public values alone.

The stages are those of trees of classes (``learners/tree/_plan.py``), with two more: an interval of
the target before the tree, and knot sums of the leaves in the place of class counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from privatree.learners.first_steps import SIZE_SHARE
from privatree.learners.regression._levels import MAX_LEVELS
from privatree.learners.tree import (
    ONE_BY_ONE_SIGNAL,
    CountClasses,
    DrawSubtree,
    Position,
    RecordPlan,
    SplitOnce,
    signal_of,
)
from privatree.privacy import Stage

INTERVAL_SHARE = Fraction(5, 100)
"""Share of the budget for the interval of the target."""
LEAF_SHARE = Fraction(1, 5)
"""Share of the leaves in the budget that is left after the number of records and the interval."""
ONE_LEAF_SIGNAL = 6.5
"""Below this signal, a node becomes a leaf: a split would be noise."""
N_CLASSES = MAX_LEVELS + 1
"""Largest number of classes of the records: the levels, and an empty class."""


@dataclass(frozen=True)
class RegressionPlan(RecordPlan):
    """The parameters of the learner of regression trees that decide its stages."""

    interval: tuple[Fraction, Fraction] | None = None
    """Declared interval that most targets lie in, as shares of the coded range; None to draw it."""
    leaf_means: bool = True
    """Whether leaves release noisy sums for their means."""

    _stage_signals: ClassVar[tuple[float, ...]] = (ONE_BY_ONE_SIGNAL, ONE_LEAF_SIGNAL)

    @property
    def size_epsilon(self) -> Fraction:
        """Budget of the noisy number of records, which the interval of the target needs, too."""
        needed = self.interval is None or self.robust_levels is None
        unknown = needed and self.dataset_size is None
        return self.epsilon * SIZE_SHARE if unknown or self.min_records else Fraction(0)

    @property
    def _free_epsilon(self) -> Fraction:
        return self.epsilon

    @property
    def target_interval_epsilon(self) -> Fraction:
        """Budget of the interval of the target; 0 if it is declared."""
        return self.epsilon * INTERVAL_SHARE if self.interval is None else Fraction(0)

    def leaf_count_epsilon(self, noisy_size: int) -> Fraction:
        """Return the budget of the knot sums of a leaf. It does not depend on the noisy size."""
        if not self.leaf_means:
            return Fraction(0)
        return (self.epsilon - self.size_epsilon - self.target_interval_epsilon) * LEAF_SHARE

    def before_root(self, noisy_size: int) -> tuple[Stage, ...]:
        counted = super().before_root(noisy_size)
        target = self.target_interval_epsilon
        if not target:
            return counted
        n_counts = sum(stage.kind == "count" for stage in counted)
        return (*counted[:n_counts], Stage("choice", target), *counted[n_counts:])

    def stage(self, at: Position) -> CountClasses | SplitOnce | DrawSubtree:
        if self.robust_levels is None and signal_of(at) < ONE_LEAF_SIGNAL:
            return DrawSubtree(at.left, (), (1.0,))
        return super().stage(at)

    def _stop_share(self, at: Position, small: float) -> float:
        """Return the base measure of a small signal: sides may be empty or have the same value."""
        return small

    def _dominates(self, noisy_counts: Sequence[int]) -> bool:
        """Return False: only trees of classes have a class that dominates."""
        return False
