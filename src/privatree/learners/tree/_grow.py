"""Our learner: epsilon-DP for whole records (``docs/proofs/record-tree.md``).

Splits near the root are drawn one at a time (``_split.py``), the last levels of every path
together with their labels (``_subtree.py``). What is done at a node, and with which budget, follows
from released values (``_plan.py``). The learner sees counts, never records.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.counting import Candidates, ClassCounts
from privatree.learners.tree._plan import CountClasses, DrawSubtree, Position, RecordPlan
from privatree.learners.tree._region import (
    FeatureLayout,
    Region,
    coarse_grid,
    fine_grid,
    narrowed,
    whole_region,
)
from privatree.learners.tree._split import SplitScore, UpperSplit, split_score
from privatree.learners.tree._subtree import Subtree, draw_last_level, first_split, subtree_weights
from privatree.model import Tree, TreeBuilder
from privatree.privacy import Ledger
from privatree.privacy.mechanisms import Draw, Geometric, LogWeights, SequentialExponential
from privatree.privacy.samplers import decay_table
from privatree.schema import Schema


@dataclass(frozen=True)
class Node:
    """A node on its way: its number in the tree, its ledger, and the codes it can have."""

    number: int
    ledger: Ledger
    region: Region


@dataclass(frozen=True)
class OpenNode(Node):
    """A node whose next stage is still to be decided and paid for."""

    at: Position
    exact_totals: NDArray[np.int64]


@dataclass(frozen=True)
class SplittingNode(Node):
    """A node about to be split, its classes counted."""

    at: Position
    centre: SplitScore
    mechanism: SequentialExponential
    draw: Draw


@dataclass(frozen=True)
class SubtreeNode(Node):
    """A node inside a subtree, of which some levels are still to be drawn."""

    subtree: Subtree
    draw: Draw


def grow(
    records: ClassCounts,
    candidates: Candidates,
    plan: RecordPlan,
    schema: Schema,
    ledger: Ledger,
) -> Tree:
    """Grow the tree level by level: one pass over the records for each.

    Parameters
    ----------
    records : ClassCounts
        Answers counts.
    candidates : Candidates
        Public cut points and their base_measure.
    plan : RecordPlan
        Decides the stages.
    schema : Schema
        Features and classes of the tree.
    ledger : Ledger
        Pays for every draw.

    Notes
    -----
    Neighbours: one record added or removed.
    Guarantee: epsilon-DP with the plan's epsilon, which the ledger enforces on every path.
    Cost: at most the plan's epsilon.
    """
    return Growth(records, candidates, plan, TreeBuilder(schema)).run(ledger)


class Growth:
    """One run of the learner. An audit takes its steps one at a time."""

    def __init__(
        self,
        records: ClassCounts,
        candidates: Candidates,
        plan: RecordPlan,
        builder: TreeBuilder,
    ) -> None:
        self._records, self._candidates, self._plan = records, candidates, plan
        self._builder = builder
        self._shape = FeatureLayout(candidates.offsets, candidates.is_category)
        self._fine = fine_grid(candidates)

    def run(self, ledger: Ledger) -> Tree:
        """Everything."""
        level: list[Node] = [self.begin(ledger)]
        while level:
            level = self.next_level([self.ready(node) for node in level])
        return self._builder.build()

    def begin(self, ledger: Ledger) -> OpenNode:
        """The root."""
        exact_totals = self._records.class_totals()[0]
        at = self._plan.root(self._size(exact_totals, ledger))
        return OpenNode(0, ledger, whole_region(self._candidates), at, exact_totals)

    def _size(self, exact_totals: NDArray[np.int64], ledger: Ledger) -> int:
        """The number of records: noisy, declared, or any number if the schedule does not ask."""
        plan = self._plan
        if not plan.size_epsilon:
            return plan.dataset_size or 1
        noisy_size = ledger.release(
            Geometric(plan.size_epsilon),
            exact_totals.sum(keepdims=True),
            purpose="number of records",
        )
        return int(noisy_size[0])

    # --- stages: public decisions, paid for ------------------------------------------------------

    def ready(self, node: Node) -> Node:
        """Decide an open node's next stage and pay for it."""
        if not isinstance(node, OpenNode):
            return node
        if not (node.region.n_inside >= 2).any():
            return self._begin_subtree(node, self._plan.label(node.at))
        stage = self._plan.stage(node.at)
        if isinstance(stage, DrawSubtree):
            return self._begin_subtree(node, stage)
        noisy_counts: list[int] = []
        if isinstance(stage, CountClasses):
            noisy_counts = self._noisy_counts(
                node.number,
                node.ledger,
                node.exact_totals,
                stage.epsilon,
                "class counts before a split",
            )
            node = replace(node, at=self._plan.after_counting(node.at, noisy_counts))
            stage = self._plan.stage(node.at)
        if isinstance(stage, DrawSubtree):
            return self._begin_subtree(node, stage)
        centre = split_score(noisy_counts)
        mechanism = SequentialExponential(stage.epsilon, centre.score_range)
        draw = node.ledger.open_draw(mechanism, purpose="split", node=node.number)
        return SplittingNode(
            node.number, node.ledger, node.region, node.at, centre, mechanism, draw
        )

    def _begin_subtree(self, node: OpenNode, stage: DrawSubtree) -> SubtreeNode:
        mechanism = SequentialExponential(stage.epsilon)
        levels = len(stage.grids) + 1
        what = f"last {levels} levels with their labels" if levels > 1 else "last level with labels"
        draw = node.ledger.open_draw(mechanism, purpose=what, node=node.number)
        grids = [self._fine]
        for n_codes in reversed(stage.grids):
            grids.insert(0, coarse_grid(grids[0], node.region, self._shape, n_codes))
        subtree = Subtree(
            mechanism.rate,
            decay_table(mechanism.rate, int(node.exact_totals.sum())),
            tuple(grids),
            node.region,
        ).without_empty_levels(self._shape)
        return SubtreeNode(node.number, node.ledger, node.region, subtree, draw)

    def _noisy_counts(
        self,
        number: int,
        ledger: Ledger,
        exact_totals: NDArray[np.int64],
        epsilon: Fraction,
        purpose: str,
    ) -> list[int]:
        noisy = ledger.release(Geometric(epsilon), exact_totals, purpose=purpose, node=number)
        clamped: list[int] = np.clip(noisy, 0, self._plan.largest_count).tolist()
        return clamped

    # --- draws: one pass for all nodes of a level ------------------------------------------------

    def next_level(self, level: list[Node]) -> list[Node]:
        """Count, draw what every node begins with, and send the records on."""
        subtrees = {
            place: node.subtree for place, node in enumerate(level) if isinstance(node, SubtreeNode)
        }
        wanted = {place: subtree.wanted(self._shape) for place, subtree in subtrees.items()}
        self._records.prepare_counts({place: asked for place, asked in wanted.items() if asked})
        exact_counts = self._records.class_counts()
        weights = subtree_weights(self._records, subtrees, exact_counts, self._shape)
        features = np.full(len(level), -1, dtype=np.int32)
        children = np.full((len(level), max(self._records.n_codes)), -1, dtype=np.int32)
        next_level: list[Node] = []
        for place, node in enumerate(level):
            if isinstance(node, SplittingNode):
                going = self._split(node, exact_counts[place])
            elif isinstance(node, SubtreeNode) and node.subtree.levels > 1:
                going = self._upper_level(node, weights[place])
            elif isinstance(node, SubtreeNode):
                self._last_level(node, weights[place], exact_counts[place])
                continue
            features[place] = going.feature
            for child, codes in going.children:
                children[place, codes] = len(next_level)
                next_level.append(child)
        self._records.descend(features, children)
        return next_level

    def _split(self, node: SplittingNode, exact_counts: NDArray[np.int64]) -> _Partition:
        """One split; if it has all codes on one side, the node goes on as it is."""
        upper = UpperSplit(
            exact_counts, node.centre, node.mechanism, self._shape, self._fine, node.region
        )
        feature, *sides = upper.draw(node.draw)
        at = self._plan.child(node.at)
        start = self._shape.offsets[feature]
        numbers, ledgers, regions = self._children(node, feature, *sides)
        return _Partition(
            feature,
            [
                (
                    OpenNode(
                        number, ledger, region, at, exact_counts[:, start + codes].sum(axis=1)
                    ),
                    codes,
                )
                for number, ledger, region, codes in zip(
                    numbers, ledgers, regions, sides, strict=True
                )
                if len(codes)
            ],
        )

    def _upper_level(self, node: SubtreeNode, weights: LogWeights) -> _Partition:
        """The highest level of a subtree: a split, or none; every node below has its own choice."""
        part = node.draw.draw(weights)
        if part == len(node.region.inside):
            node.draw.expect(1)
            subtree = node.subtree.below_top(node.region).without_empty_levels(self._shape)
            return _Partition(
                0, [(replace(node, subtree=subtree), np.arange(self._records.n_codes[0]))]
            )
        node.draw.expect(2)
        feature, *sides = first_split(part, node.region, self._shape)
        children = zip(*self._children(node, feature, *sides), sides, strict=True)
        return _Partition(
            feature,
            [
                (
                    SubtreeNode(
                        number,
                        ledger,
                        region,
                        node.subtree.below_top(region).without_empty_levels(self._shape),
                        node.draw,
                    ),
                    codes,
                )
                for number, ledger, region, codes in children
            ],
        )

    def _last_level(
        self, node: SubtreeNode, weights: LogWeights, exact_counts: NDArray[np.int64]
    ) -> None:
        """The lowest level of a subtree: a label, or a split and two labels."""
        outcome = draw_last_level(node.draw, weights, exact_counts, node.subtree, self._shape)
        if outcome.feature is None or not (len(outcome.left) and len(outcome.right)):
            label = outcome.labels[0] if len(outcome.left) else outcome.labels[1]
            exact_totals = exact_counts[:, : self._shape.offsets[1]].sum(axis=1)
            self._leaf(node.number, node.ledger, label, exact_totals)
            return
        start = self._shape.offsets[outcome.feature]
        numbers, ledgers, _ = self._children(node, outcome.feature, outcome.left, outcome.right)
        sides = (outcome.left, outcome.right)
        for number, ledger, label, codes in zip(
            numbers, ledgers, outcome.labels, sides, strict=True
        ):
            self._leaf(number, ledger, label, exact_counts[:, start + codes].sum(axis=1))

    # --- what is released ------------------------------------------------------------------------

    def _children(
        self, node: Node, feature: int, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> tuple[tuple[int, int], tuple[Ledger, ...], list[Region]]:
        """Numbers, ledgers and regions of the children; the node's own if one side has no codes."""
        if not (len(left) and len(right)):
            return (
                (node.number, node.number),
                (node.ledger, node.ledger),
                [node.region, node.region],
            )
        cuts = self._candidates.cuts[feature]
        if cuts is None:
            categories = self._candidates.categories_with_codes(feature, left)
            numbers = self._builder.split_categories(node.number, feature, categories.tolist())
        else:
            numbers = self._builder.split_numeric(node.number, feature, float(cuts[left[-1]]))
        regions = [narrowed(node.region, self._shape, feature, codes) for codes in (left, right)]
        return numbers, node.ledger.parallel(2), regions

    def _leaf(
        self, number: int, ledger: Ledger, label: int, exact_totals: NDArray[np.int64]
    ) -> None:
        epsilon = self._plan.leaf_count_epsilon
        if not epsilon:
            self._builder.leaf(number, label)
            return
        noisy = self._noisy_counts(number, ledger, exact_totals, epsilon, "class counts of a leaf")
        shares = np.array(noisy) + 1.0  # one more of each, so that no class is impossible
        shares[label] = shares.max()  # the drawn label stays the prediction
        self._builder.leaf(number, label, (shares / shares.sum()).tolist())


class _Partition(NamedTuple):
    """Where the records of a node go on: by the codes of a feature."""

    feature: int
    children: list[tuple[Node, NDArray[np.int64]]]
