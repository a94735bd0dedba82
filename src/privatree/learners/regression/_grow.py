"""The learner of regression trees that is epsilon-DP for whole records.

The proof is in ``docs/proofs/regression-tree.md``. An interval that most targets lie in is drawn
first. The levels around it are ordered classes, and the tree is grown as a tree of classes
(``learners/tree/_growth.py``). At the end, every leaf releases noisy sums for its mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privatree.counting import LEAF, Candidates, ClassCounts, FineCells
from privatree.errors import ParameterError
from privatree.learners.first_steps import count_error, release_counts
from privatree.learners.regression._knots import KNOT_WEIGHT, Knots
from privatree.learners.regression._level_scores import LevelScores
from privatree.learners.regression._level_split import level_split_score
from privatree.learners.regression._levels import TargetLevels
from privatree.learners.regression._plan import RegressionPlan
from privatree.learners.regression._target_interval import draw_target_interval
from privatree.learners.tree import CountClasses, Growth, Node, OpenNode, SplitScore
from privatree.model import Tree, TreeBuilder
from privatree.privacy import Ledger
from privatree.schema import TARGET_CODES, Schema, Target


def grow_regression_tree(
    records: ClassCounts,
    candidates: Candidates | FineCells,
    plan: RegressionPlan,
    schema: Schema,
    ledger: Ledger,
    after_size: Callable[[int | None], None] = lambda noisy_size: None,
    counted: str = "records",
) -> Tree:
    """Grow a regression tree level by level, with one pass over the records for each level.

    The classes of `records` are target codes. The other parameters are those of ``grow_tree``.

    Raises
    ------
    TooFewRecordsError
        If the noisy number of records is below the plan's min_records.

    Notes
    -----
    Neighbours: one record, or all records of one unit, added or removed.
    Guarantee: epsilon-DP with the plan's epsilon, which the ledger enforces on every path.
    Cost: at most the plan's epsilon; the plan's size_epsilon if there are too few records or
    `after_size` raises.
    """
    growth = RegressionGrowth(
        records, candidates, plan, TreeBuilder(schema), _target_of(schema), counted
    )
    growth.grow(ledger, after_size)
    growth.release_leaves()
    return growth.builder.build(growth.edges)


@dataclass(frozen=True)
class LeafNode(Node):
    """A leaf whose level is drawn, and whose knot sums are not."""

    level: int


class RegressionGrowth(Growth):
    """One run of the learner of regression trees."""

    _last_levels: ClassVar[tuple[str, str]] = (
        "last level with values",
        "last {} levels with their values",
    )

    def __init__(
        self,
        records: ClassCounts,
        candidates: Candidates | FineCells,
        plan: RegressionPlan,
        builder: TreeBuilder,
        target: Target,
        counted: str = "records",
    ) -> None:
        super().__init__(records, candidates, plan, builder, counted)
        self._regression_plan, self._target = plan, target
        self.levels: TargetLevels | None = None
        """Levels of the target, once an interval is released or declared."""
        self.leaves: list[LeafNode] = []
        self.edges: list[float] | None = None
        """Ends of the intervals of the target for which leaves have shares, if they have any."""

    @property
    def _chosen_levels(self) -> TargetLevels:
        if self.levels is None:
            raise RuntimeError("the levels of the target must be chosen first.")
        return self.levels

    @property
    def _labels(self) -> LevelScores:
        return LevelScores(self._chosen_levels.n_levels)

    # --- before the tree --------------------------------------------------------------------------

    def begin(self, ledger: Ledger, noisy_size: int | None) -> OpenNode:
        """Choose the levels of the target, zoom in, and return the root."""
        size = self._plan.planning_size(noisy_size)
        ends = self._regression_plan.interval
        if ends is None:
            epsilon = self._regression_plan.target_interval_epsilon
            ends = draw_target_interval(self._records, size, epsilon, ledger)
        self.use_levels(TargetLevels.around(ends))
        self._zoom_in(size, ledger)
        return self._root(size, ledger)

    def use_levels(self, levels: TargetLevels) -> None:
        """Make the levels the classes of the records. Class 0 stays empty (``_level_scores``)."""
        self.levels = levels
        classes = (levels.level_of_code() + 1).astype(np.uint8)
        self._records.merge_classes(classes, levels.n_levels + 1)

    # --- splits -----------------------------------------------------------------------------------

    def _count_before_split(
        self, node: OpenNode, stage: CountClasses
    ) -> tuple[list[int], SplitScore]:
        most = self._labels.score_range
        steps = np.arange(most + 1)
        exact_sums = np.stack([steps, steps[::-1]]) @ node.exact_totals[1:]
        purpose = "level sums before a split"
        noisy = release_counts(
            self._records, exact_sums, stage.epsilon, node.ledger, purpose, node.number, most
        )
        low, high = self._clamp_counts(noisy)
        noisy_size = np.array([(low + high) // most])
        return self._clamp_counts(noisy_size), level_split_score((low, high), most + 1)

    # --- leaves -----------------------------------------------------------------------------------

    def _make_leaf(self, node: Node, label: int, exact_totals: NDArray[np.int64]) -> int:
        self.leaves.append(LeafNode(node.number, node.ledger, node.region, node.leaves, label))
        return LEAF - len(self.leaves) + 1

    def release_leaves(self) -> None:
        """Give every leaf its value."""
        if not self._regression_plan.leaf_means:
            for leaf in self.leaves:
                place = self._chosen_levels.middles[leaf.level]
                self.builder.value_leaf(leaf.number, self._value_of(place))
            return
        knots = Knots(self._chosen_levels)
        exact_sums = self._records.target_sums(knots.weights())
        ends = self._target.value_of(knots.edges / TARGET_CODES)
        edges = np.unique(ends)  # clipping to the range can make the first two, or last two, equal
        intervals = np.searchsorted(edges, ends[:-1], side="right").clip(1, len(edges) - 1) - 1
        self.edges = edges.tolist()
        for leaf, exact in zip(self.leaves, exact_sums, strict=True):
            self._release_leaf(leaf, exact, knots, intervals)

    def _release_leaf(
        self,
        leaf: LeafNode,
        exact_sums: NDArray[np.int64],
        knots: Knots,
        intervals: NDArray[np.int64],
    ) -> None:
        epsilon, full_weight = leaf.leaves.epsilon, self._records.full_weight
        purpose = "knot sums of a leaf"
        noisy = release_counts(
            self._records, exact_sums, epsilon, leaf.ledger, purpose, leaf.number, KNOT_WEIGHT
        )
        found = knots.leaf_value(noisy, leaf.level, epsilon)
        most = self._plan.largest_count
        self.builder.value_leaf(
            leaf.number,
            self._value_of(found.place),
            min(max(found.noisy_size, -most), most),
            count_error(epsilon, full_weight * KNOT_WEIGHT, len(noisy)),
            np.bincount(intervals, found.shares).tolist(),
        )

    def _value_of(self, place: float) -> float:
        return float(self._target.value_of(place / TARGET_CODES))


def _target_of(schema: Schema) -> Target:
    if schema.target is None:
        raise ParameterError("schema must have a target, to train a regression tree.", "schema")
    return schema.target
