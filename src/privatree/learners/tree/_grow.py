"""The tree learner that is epsilon-DP for whole records (``docs/proofs/record-tree.md``).

Splits near the root are drawn one at a time (``_split.py``). The last levels of every path are
drawn together with their labels (``_subtree.py``). Which draw comes next at a node, and its budget,
follow from released values (``_plan.py``). The learner sees counts, never records.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privatree.counting import Candidates, ClassCounts
from privatree.learners.tree._plan import CountClasses, DrawSubtree, Position, RecordPlan
from privatree.learners.tree._region import (
    FeatureLayout,
    Region,
    coarse_grid,
    fine_grid,
    narrow_region,
    split_of_part,
    whole_region,
)
from privatree.learners.tree._split import SplitScore, UpperSplit, split_score
from privatree.learners.tree._subtree import Subtree, draw_last_level, subtree_weights
from privatree.model import Tree, TreeBuilder
from privatree.privacy import Ledger
from privatree.privacy.mechanisms import Draw, Geometric, LogWeights, SequentialExponential
from privatree.privacy.samplers import decay_table
from privatree.schema import Schema


@dataclass(frozen=True)
class Node:
    """An unfinished node: its number in the tree, and the ledger and region of its records."""

    number: int
    ledger: Ledger
    region: Region


@dataclass(frozen=True)
class OpenNode(Node):
    """A node whose next stage (a count, a split or a subtree) is not yet decided and paid for."""

    at: Position
    exact_totals: NDArray[np.int64]


@dataclass(frozen=True)
class SplittingNode(Node):
    """A node that is about to be split: its split is paid for and not yet drawn."""

    at: Position
    centre: SplitScore
    mechanism: SequentialExponential
    draw: Draw


@dataclass(frozen=True)
class SubtreeNode(Node):
    """A node of a subtree that is paid for, with some levels not yet drawn."""

    subtree: Subtree
    draw: Draw


_Partition = tuple[int, list[tuple[Node, NDArray[np.int64]]]]
"""A feature, and the children of a node, each with the codes whose records go to it."""


def grow_tree(
    records: ClassCounts, candidates: Candidates, plan: RecordPlan, schema: Schema, ledger: Ledger
) -> Tree:
    """Grow the tree level by level, with one pass over the records for each level.

    Notes
    -----
    Neighbours: one record added or removed.
    Guarantee: epsilon-DP with the plan's epsilon, which the ledger enforces on every path.
    Cost: at most the plan's epsilon.
    """
    growth = Growth(records, candidates, plan, TreeBuilder(schema))
    level: list[Node] = [growth.begin(ledger)]
    while level:
        level = growth.next_level([growth.decide_stage(node) for node in level])
    return growth.builder.build()


class Growth:
    """One run of the learner, in steps that an audit can take one at a time."""

    def __init__(
        self,
        records: ClassCounts,
        candidates: Candidates,
        plan: RecordPlan,
        builder: TreeBuilder,
    ) -> None:
        self._records, self._candidates, self._plan = records, candidates, plan
        self.builder = builder
        self._layout = FeatureLayout(candidates.offsets, candidates.is_category)
        self._fine = fine_grid(candidates)

    def begin(self, ledger: Ledger) -> OpenNode:
        """Release the number of records, and return the root."""
        exact_totals = self._records.class_totals()[0]
        at = self._plan.root(self._release_size(exact_totals, ledger))
        return OpenNode(0, ledger, whole_region(self._candidates), at, exact_totals)

    def _release_size(self, exact_totals: NDArray[np.int64], ledger: Ledger) -> int:
        """Return the noisy or the declared size; any number if the schedule does not need it."""
        plan = self._plan
        if not plan.size_epsilon:
            return plan.dataset_size or 1
        noisy_size = ledger.release(
            Geometric(plan.size_epsilon),
            exact_totals.sum(keepdims=True),
            purpose="number of records",
        )
        return int(noisy_size[0])

    def decide_stage(self, node: Node) -> Node:
        """Decide the next stage of an open node, and pay for it."""
        if not isinstance(node, OpenNode):
            return node
        can_split = (node.region.n_inside >= 2).any()
        stage = self._plan.stage(node.at) if can_split else self._plan.label(node.at)
        noisy_counts: list[int] = []
        if isinstance(stage, CountClasses):
            noisy_counts = self._release_class_counts(
                node, node.exact_totals, stage.epsilon, "class counts before a split"
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
            grids.insert(0, coarse_grid(grids[0], node.region, self._layout, n_codes))
        subtree = Subtree(
            mechanism.rate,
            decay_table(mechanism.rate, int(node.exact_totals.sum())),
            tuple(grids),
            node.region,
        ).without_empty_levels(self._layout)
        return SubtreeNode(node.number, node.ledger, node.region, subtree, draw)

    def _release_class_counts(
        self, node: Node, exact_totals: NDArray[np.int64], epsilon: Fraction, purpose: str
    ) -> list[int]:
        noisy = node.ledger.release(
            Geometric(epsilon), exact_totals, purpose=purpose, node=node.number
        )
        clamped: list[int] = np.clip(noisy, 0, self._plan.largest_count).tolist()
        return clamped

    def next_level(self, level: list[Node]) -> list[Node]:
        """Count the records, draw what every node begins with, and send the records on."""
        subtrees = {
            place: node.subtree for place, node in enumerate(level) if isinstance(node, SubtreeNode)
        }
        wanted = {place: subtree.wanted(self._layout) for place, subtree in subtrees.items()}
        self._records.prepare_counts({place: asked for place, asked in wanted.items() if asked})
        exact_counts = self._records.class_counts()
        weights = subtree_weights(self._records, subtrees, exact_counts, self._layout)
        features = np.full(len(level), -1, dtype=np.int32)
        children = np.full((len(level), max(self._records.n_codes)), -1, dtype=np.int32)
        next_level: list[Node] = []
        for place, node in enumerate(level):
            if isinstance(node, SplittingNode):
                features[place], below = self._draw_split(node, exact_counts[place])
            elif isinstance(node, SubtreeNode) and node.subtree.levels > 1:
                features[place], below = self._draw_upper_level(node, weights[place])
            elif isinstance(node, SubtreeNode):
                self._draw_last_level(node, weights[place], exact_counts[place])
                continue
            for child, codes in below:
                children[place, codes] = len(next_level)
                next_level.append(child)
        self._records.descend(features, children)
        return next_level

    def _draw_split(self, node: SplittingNode, exact_counts: NDArray[np.int64]) -> _Partition:
        """Draw one split. If all codes are on one side, the node goes on as it is."""
        upper = UpperSplit(
            exact_counts, node.centre, node.mechanism, self._layout, self._fine, node.region
        )
        feature, *sides = upper.draw(node.draw)
        at = self._plan.child(node.at)
        start = self._layout.offsets[feature]
        children: list[tuple[Node, NDArray[np.int64]]] = []
        for child, codes in zip(self._make_children(node, feature, *sides), sides, strict=True):
            if len(codes):
                exact_totals = exact_counts[:, start + codes].sum(axis=1)
                open_node = OpenNode(child.number, child.ledger, child.region, at, exact_totals)
                children.append((open_node, codes))
        return feature, children

    def _draw_upper_level(self, node: SubtreeNode, weights: LogWeights) -> _Partition:
        """Draw the highest level of a subtree: a split, or none. Each child draws its own below."""
        part = node.draw.draw(weights)
        if part == len(node.region.inside):
            node.draw.expect(1)
            every_code = np.arange(self._records.n_codes[0])
            return 0, [(self._next_in_subtree(node, node), every_code)]
        node.draw.expect(2)
        feature, *sides = split_of_part(part, node.region, self._layout)
        children = self._make_children(node, feature, *sides)
        below = [self._next_in_subtree(node, child) for child in children]
        return feature, list(zip(below, sides, strict=True))

    def _next_in_subtree(self, above: SubtreeNode, node: Node) -> Node:
        subtree = above.subtree.below_top(node.region).without_empty_levels(self._layout)
        return SubtreeNode(node.number, node.ledger, node.region, subtree, above.draw)

    def _draw_last_level(
        self, node: SubtreeNode, weights: LogWeights, exact_counts: NDArray[np.int64]
    ) -> None:
        """Draw the lowest level of a subtree: a label, or a split and two labels."""
        last = draw_last_level(node.draw, weights, exact_counts, node.subtree, self._layout)
        if last.feature is None or not (len(last.left) and len(last.right)):
            label = last.labels[0] if len(last.left) else last.labels[1]
            exact_totals = exact_counts[:, : self._layout.offsets[1]].sum(axis=1)
            self._make_leaf(node, label, exact_totals)
            return
        start = self._layout.offsets[last.feature]
        children = self._make_children(node, last.feature, last.left, last.right)
        sides = (last.left, last.right)
        for child, label, codes in zip(children, last.labels, sides, strict=True):
            self._make_leaf(child, label, exact_counts[:, start + codes].sum(axis=1))

    def _make_children(
        self, node: Node, feature: int, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> list[Node]:
        """Return the two children of a split; twice the node itself if one side has no codes."""
        if not (len(left) and len(right)):
            return [node, node]
        cuts = self._candidates.cuts[feature]
        if cuts is None:
            categories = self._candidates.categories_with_codes(feature, left)
            numbers = self.builder.split_categories(node.number, feature, categories.tolist())
        else:
            numbers = self.builder.split_numeric(node.number, feature, float(cuts[left[-1]]))
        return [
            Node(number, ledger, narrow_region(node.region, self._layout, feature, codes))
            for number, ledger, codes in zip(
                numbers, node.ledger.parallel(2), (left, right), strict=True
            )
        ]

    def _make_leaf(self, node: Node, label: int, exact_totals: NDArray[np.int64]) -> None:
        epsilon = self._plan.leaf_count_epsilon
        if not epsilon:
            self.builder.leaf(node.number, label)
            return
        purpose = "class counts of a leaf"
        noisy_counts = self._release_class_counts(node, exact_totals, epsilon, purpose)
        shares = np.array(noisy_counts) + 1.0  # one more of each, so that no class is impossible
        shares[label] = shares.max()  # the drawn label stays the prediction
        self.builder.leaf(node.number, label, (shares / shares.sum()).tolist())
