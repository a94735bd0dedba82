"""The steps of growing a tree, the same for trees of classes and for regression trees.

Splits near the root are drawn one at a time (``_split.py``). The last levels of every path are
drawn together with their labels (``_subtree.py``). Which draw comes next at a node, and its budget,
follow from released values (``_plan.py``). What a label is, and what a leaf releases, is up to the
learner: ``_grow.py`` and ``learners/regression/_grow.py``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.counting import Candidates, ClassCounts, FineCells
from privatree.learners.first_steps import has_enough_records, release_size, too_few_records
from privatree.learners.tree._label_scores import LabelScores
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
from privatree.learners.tree._split import SplitScore, UpperSplit
from privatree.learners.tree._subtree import Subtree, draw_last_level, subtree_weights
from privatree.learners.zoom import zoom_in
from privatree.model import TreeBuilder
from privatree.privacy import Ledger
from privatree.privacy.mechanisms import Draw, LogWeights, SequentialExponential
from privatree.privacy.samplers import decay_table

NO_CHILD = -1
"""Child of a code that no record of a node has, or whose records need no further counts."""


class LeafPlan(NamedTuple):
    """What the leaves below a node release."""

    epsilon: Fraction
    """Budget of the noisy counts of a leaf; 0 if it has none."""
    noisy_counts: tuple[int, ...]
    """Counts that were last released above; all 0 if none were."""


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


class Growth(ABC):
    """One run of the learner, in steps that an audit can take one at a time."""

    _last_levels: ClassVar[tuple[str, str]]
    """Purpose of the draw of a subtree with one level, and with several."""

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

    def grow(self, ledger: Ledger, after_size: Callable[[int | None], None]) -> None:
        """Take all steps. The arguments are those of ``grow_tree``."""
        noisy_size = self.release_size(ledger)
        if noisy_size is not None and not self.has_enough_records(noisy_size):
            error = self._plan.size_error(self._records.full_weight)
            raise too_few_records(noisy_size, self._plan.min_records, error, self._counted)
        after_size(noisy_size)
        level: list[Node] = [self.begin(ledger, noisy_size)]
        while level:
            level = self.next_level([self.decide_stage(node) for node in level])

    def release_size(self, ledger: Ledger) -> int | None:
        """Return the noisy number of records, if the plan pays for one."""
        epsilon = self._plan.size_epsilon
        if not epsilon:
            return None
        return release_size(self._records, epsilon, ledger, self._counted)

    def has_enough_records(self, noisy_size: int) -> bool:
        """Decide from the noisy number of records whether the training goes on."""
        return has_enough_records(noisy_size, self._plan.min_records)

    # --- what depends on the learner --------------------------------------------------------------

    @abstractmethod
    def begin(self, ledger: Ledger, noisy_size: int | None) -> OpenNode:
        """Draw what comes before the tree, and return the root."""

    @property
    @abstractmethod
    def _labels(self) -> LabelScores:
        """What records add to the scores of labels."""

    @abstractmethod
    def _count_before_split(
        self, node: OpenNode, stage: CountClasses
    ) -> tuple[list[int], SplitScore]:
        """Release counts of a node. Return counts to plan with, and the score of its split."""

    @abstractmethod
    def _make_leaf(self, node: Node, label: int, exact_totals: NDArray[np.int64]) -> int:
        """Make a node a leaf. Return its number among the children of the level."""

    # --- the root ---------------------------------------------------------------------------------

    def _zoom_in(self, size: int, ledger: Ledger) -> None:
        """Zoom in, if the records have fine codes."""
        if self._cells is not None:
            epsilon = self._plan.interval_epsilon(size)
            zoom = zoom_in(self._records, self._cells, size, epsilon, ledger)
            self._use_candidates(zoom.candidates)

    def _root(self, size: int, ledger: Ledger) -> OpenNode:
        plan = self._plan
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
        if isinstance(stage, CountClasses):
            noisy_counts, centre = self._count_before_split(node, stage)
            node = replace(
                node,
                at=self._plan.after_counting(node.at, noisy_counts),
                leaves=node.leaves._replace(noisy_counts=tuple(noisy_counts)),
            )
            stage = self._plan.stage(node.at)
        if isinstance(stage, DrawSubtree):
            return self._begin_subtree(node, stage)
        score_range = centre.score_range * self._records.full_weight
        mechanism = SequentialExponential(stage.epsilon, score_range)
        draw = node.ledger.open_draw(mechanism, purpose="split", node=node.number)
        return SplittingNode(
            node.number, node.ledger, node.region, node.leaves, node.at, centre, mechanism, draw
        )

    def _begin_subtree(self, node: OpenNode, stage: DrawSubtree) -> SubtreeNode:
        labels = self._labels
        score_range = labels.score_range * self._records.full_weight
        mechanism = SequentialExponential(stage.epsilon, score_range)
        levels = len(stage.grids) + 1
        purpose = self._last_levels[levels > 1].format(levels)
        draw = node.ledger.open_draw(mechanism, purpose=purpose, node=node.number)
        grids = [self._fine]
        for n_codes in reversed(stage.grids):
            grids.insert(0, coarse_grid(grids[0], node.region, self._layout, n_codes))
        grids = [
            grid._replace(stop_share=stop_share)
            for grid, stop_share in zip(grids, stage.stop_shares, strict=True)
        ]
        subtree = Subtree(
            mechanism.rate,
            decay_table(mechanism.rate, int(node.exact_totals.sum()) * labels.score_range),
            tuple(grids),
            node.region,
            labels,
        ).without_empty_levels(self._layout)
        return SubtreeNode(node.number, node.ledger, node.region, node.leaves, subtree, draw)

    def _clamp_counts(self, noisy: NDArray[np.int64]) -> list[int]:
        clamped: list[int] = np.clip(noisy, 0, self._plan.largest_count).tolist()
        return clamped

    # --- one level --------------------------------------------------------------------------------

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
        children = np.full((len(level), max(self._records.n_codes)), NO_CHILD, dtype=np.int32)
        next_level: list[Node] = []
        for place, node in enumerate(level):
            if isinstance(node, SplittingNode):
                features[place], below = self._draw_split(node, exact_counts[place])
            elif isinstance(node, SubtreeNode) and node.subtree.levels > 1:
                features[place], below = self._draw_upper_level(node, weights[place])
            elif isinstance(node, SubtreeNode):
                leaves = self._draw_last_level(node, weights[place], exact_counts[place])
                for feature, leaf, codes in leaves:
                    if leaf != NO_CHILD:
                        features[place], children[place, codes] = feature, leaf
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
    ) -> list[tuple[int, int, NDArray[np.int64]]]:
        """Draw the lowest level of a subtree: a label, or a split and two labels.

        Return a feature, and the child and the codes of each leaf.
        """
        last = draw_last_level(node.draw, weights, exact_counts, node.subtree, self._layout)
        if last.feature is None or not (len(last.left) and len(last.right)):
            label = last.labels[0] if len(last.left) else last.labels[1]
            exact_totals = exact_counts[:, : self._layout.offsets[1]].sum(axis=1)
            every_code = np.arange(self._layout.offsets[1])
            return [(0, self._make_leaf(node, label, exact_totals), every_code)]
        start = self._layout.offsets[last.feature]
        children = self._make_children(node, last.feature, last.left, last.right)
        sides = (last.left, last.right)
        leaves = []
        for child, label, codes in zip(children, last.labels, sides, strict=True):
            leaf = self._make_leaf(child, label, exact_counts[:, start + codes].sum(axis=1))
            leaves.append((last.feature, leaf, codes))
        return leaves

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
