"""The tree learner that is epsilon-DP for whole records (``docs/proofs/record-tree.md``).

Splits near the root are drawn one at a time (``_split.py``). The last levels of every path are
drawn together with their labels (``_subtree.py``). Which draw comes next at a node, and its budget,
follow from released values (``_plan.py``). The learner sees counts, never records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.counting import Candidates, ClassCounts, FineCells
from privatree.learners.first_steps import (
    count_error,
    has_enough_records,
    release_counts,
    release_size,
    too_few_records,
    weigh_classes,
)
from privatree.learners.tree._plan import (
    CountClasses,
    DrawSubtree,
    Position,
    RecordPlan,
)
from privatree.learners.tree._region import (
    FeatureLayout,
    Region,
    coarse_grid,
    fine_grid,
    narrow_region,
    split_of_part,
    whole_region,
)
from privatree.learners.tree._simplify import with_probability
from privatree.learners.tree._split import SplitScore, UpperSplit, split_score
from privatree.learners.tree._subtree import Subtree, draw_last_level, subtree_weights
from privatree.learners.zoom import zoom_in
from privatree.model import NodeDraft, Tree, TreeBuilder
from privatree.privacy import Ledger
from privatree.privacy.mechanisms import Draw, LogWeights, SequentialExponential
from privatree.privacy.samplers import decay_table
from privatree.schema import Schema


class LeafPlan(NamedTuple):
    """How the leaves below a node get their probabilities."""

    epsilon: Fraction
    """Budget of the noisy class counts of a leaf; 0: probabilities come from `noisy_counts`."""
    noisy_counts: tuple[int, ...]
    """Class counts that were last released above; all 0 if none were."""


@dataclass(frozen=True)
class Node:
    """An unfinished node: its number in the tree, and the ledger and region of its records."""

    number: int
    ledger: Ledger
    region: Region
    leaves: LeafPlan


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
    records: ClassCounts,
    candidates: Candidates | FineCells,
    plan: RecordPlan,
    schema: Schema,
    ledger: Ledger,
    after_size: Callable[[int | None], None] = lambda noisy_size: None,
    counted: str = "records",
) -> Tree:
    """Grow the tree level by level, with one pass over the records for each level.

    The codes of `records` are those of `candidates`. With fine cells, the learner zooms in first.
    `after_size` gets the noisy number of records, if the plan pays for one. It may raise an error,
    which ends the training before anything else is drawn. `counted` is what one weight stands for,
    in the words of spends and errors: "records" or "units".

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
    growth = Growth(records, candidates, plan, TreeBuilder(schema), counted)
    noisy_size = growth.release_size(ledger)
    if noisy_size is not None and not growth.has_enough_records(noisy_size):
        error = plan.size_error(records.full_weight)
        raise too_few_records(noisy_size, plan.min_records, error, counted)
    after_size(noisy_size)
    level: list[Node] = [growth.begin(ledger, noisy_size)]
    while level:
        level = growth.next_level([growth.decide_stage(node) for node in level])
    return growth.builder.build()


class Growth:
    """One run of the learner, in steps that an audit can take one at a time."""

    def __init__(
        self,
        records: ClassCounts,
        candidates: Candidates | FineCells,
        plan: RecordPlan,
        builder: TreeBuilder,
        counted: str = "records",
    ) -> None:
        self._records, self._plan, self._counted = records, plan, counted
        self.builder = builder
        self._cells = candidates if isinstance(candidates, FineCells) else None
        self._use_candidates(candidates.plain if isinstance(candidates, FineCells) else candidates)

    def _use_candidates(self, candidates: Candidates) -> None:
        self.candidates = candidates
        self._layout = FeatureLayout(candidates.offsets, candidates.is_category)
        self._fine = fine_grid(candidates)

    def release_size(self, ledger: Ledger) -> int | None:
        """Return the noisy number of records, if the plan pays for one."""
        epsilon = self._plan.size_epsilon
        if not epsilon:
            return None
        return release_size(self._records, epsilon, ledger, self._counted)

    def has_enough_records(self, noisy_size: int) -> bool:
        """Decide from the noisy number of records whether the training goes on."""
        return has_enough_records(noisy_size, self._plan.min_records)

    def begin(self, ledger: Ledger, noisy_size: int | None) -> OpenNode:
        """Zoom in, if the records have fine codes; weigh the classes; and return the root."""
        plan = self._plan
        size = plan.planning_size(noisy_size)
        if self._cells is not None:
            epsilon = plan.interval_epsilon(size)
            zoom = zoom_in(self._records, self._cells, size, epsilon, ledger)
            self._use_candidates(zoom.candidates)
        weigh_classes(
            self._records, plan.class_factors, plan.balance_epsilon, ledger, plan.largest_count
        )
        region = whole_region(self.candidates)
        leaves = LeafPlan(plan.leaf_count_epsilon(size), (0,) * plan.n_classes)
        exact_totals = self._records.class_totals()[0]
        return OpenNode(0, ledger, region, leaves, plan.root(size), exact_totals)

    # --- stages: public decisions, paid for ------------------------------------------------------

    def decide_stage(self, node: Node) -> Node:
        """Decide the next stage of an open node, and pay for it."""
        if not isinstance(node, OpenNode):
            return node
        can_split = (node.region.n_inside >= 2).any()
        stage = self._plan.stage(node.at) if can_split else self._plan.label(node.at)
        noisy_counts: list[int] = []
        if isinstance(stage, CountClasses):
            purpose = "class counts before a split"
            noisy = release_counts(
                self._records, node.exact_totals, stage.epsilon, node.ledger, purpose, node.number
            )
            noisy_counts = self._clamp_counts(noisy)
            node = replace(
                node,
                at=self._plan.after_counting(node.at, noisy_counts),
                leaves=node.leaves._replace(noisy_counts=tuple(noisy_counts)),
            )
            stage = self._plan.stage(node.at)
        if isinstance(stage, DrawSubtree):
            return self._begin_subtree(node, stage)
        centre = split_score(noisy_counts)
        score_range = centre.score_range * self._records.full_weight
        mechanism = SequentialExponential(stage.epsilon, score_range)
        draw = node.ledger.open_draw(mechanism, purpose="split", node=node.number)
        return SplittingNode(
            node.number, node.ledger, node.region, node.leaves, node.at, centre, mechanism, draw
        )

    def _begin_subtree(self, node: OpenNode, stage: DrawSubtree) -> SubtreeNode:
        mechanism = SequentialExponential(stage.epsilon, self._records.full_weight)
        levels = len(stage.grids) + 1
        what = f"last {levels} levels with their labels" if levels > 1 else "last level with labels"
        draw = node.ledger.open_draw(mechanism, purpose=what, node=node.number)
        grids = [self._fine]
        for n_codes in reversed(stage.grids):
            grids.insert(0, coarse_grid(grids[0], node.region, self._layout, n_codes))
        grids = [
            grid._replace(stop_share=stop_share)
            for grid, stop_share in zip(grids, stage.stop_shares, strict=True)
        ]
        subtree = Subtree(
            mechanism.rate,
            decay_table(mechanism.rate, int(node.exact_totals.sum())),
            tuple(grids),
            node.region,
        ).without_empty_levels(self._layout)
        return SubtreeNode(node.number, node.ledger, node.region, node.leaves, subtree, draw)

    def _clamp_counts(self, noisy: NDArray[np.int64]) -> list[int]:
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
                open_node = OpenNode(
                    child.number, child.ledger, child.region, child.leaves, at, exact_totals
                )
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
        return SubtreeNode(node.number, node.ledger, node.region, node.leaves, subtree, above.draw)

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
        cuts = self.candidates.cuts[feature]
        if cuts is None:
            categories = self.candidates.categories_with_codes(feature, left)
            numbers = self.builder.split_categories(node.number, feature, categories.tolist())
        else:
            numbers = self.builder.split_numeric(node.number, feature, float(cuts[left[-1]]))
        return [
            Node(
                number,
                ledger,
                narrow_region(node.region, self._layout, feature, codes),
                node.leaves,
            )
            for number, ledger, codes in zip(
                numbers, node.ledger.parallel(2), (left, right), strict=True
            )
        ]

    def _make_leaf(self, node: Node, label: int, exact_totals: NDArray[np.int64]) -> None:
        epsilon, noisy_counts_above = node.leaves
        if not epsilon:
            shares = np.array(noisy_counts_above) + 1.0
            shares /= shares.sum()
            shares[label] += 1.0  # half of the probability follows the label
            self.builder.leaf(node.number, label, (shares / 2.0).tolist())
            return
        purpose = "class counts of a leaf"
        noisy = release_counts(
            self._records, exact_totals, epsilon, node.ledger, purpose, node.number
        )
        most = self._plan.largest_count
        leaf = NodeDraft(label=label, noisy_counts=np.clip(noisy, -most, most).tolist())
        error = count_error(epsilon, self._records.full_weight, len(noisy))
        self.builder.leaf(
            node.number, label, with_probability(leaf).probability, leaf.noisy_counts, error
        )
