"""The loop that grows a tree level by level; its :class:`Rules` decide splits and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from privatree.baselines.growing._coding import Coding, Split, write_split
from privatree.counting import BinnedRecords
from privatree.model import MAX_NODES, Tree, TreeBuilder
from privatree.privacy import Ledger, Mechanism
from privatree.schema import Schema


class Leaf(NamedTuple):
    """What a leaf predicts."""

    label: int
    probability: tuple[float, ...] | None = None


@dataclass(eq=False)
class OpenNode:
    """A node of the growing tree, with what was released there."""

    numbers: tuple[int, ...]
    """Numbers of the node's copies in the tree."""
    ledger: Ledger
    """Ledger of the node's records."""
    depth: int
    used: frozenset[int] = frozenset()
    """Candidates that were chosen above the node."""
    codes: dict[int, range] = field(default_factory=dict)
    """Codes that are left of the features that were split at a cut above the node."""
    parent: OpenNode | None = None
    noisy_size: float | None = None
    noisy_counts: NDArray[np.float64] | None = None
    """Noisy class counts."""
    children: list[OpenNode] = field(default_factory=list)

    def release(self, mechanism: Mechanism, exact: Any, purpose: str, times: int = 1) -> Any:
        """Charge the node's ledger, and return what the mechanism draws."""
        where = {"node": self.numbers[0], "times": times}
        return self.ledger.release(mechanism, exact, purpose=purpose, **where)


class Rules(Protocol):
    """The decisions that differ between methods. Counts are arrays (class, code) and (class,)."""

    @property
    def max_depth(self) -> int:
        """Number of splits on a path."""

    def split(
        self, node: OpenNode, exact_counts: NDArray[np.int64], exact_totals: NDArray[np.int64]
    ) -> Split | None:
        """Draw a split and charge the node's ledger; None for a leaf."""

    def label(self, node: OpenNode, exact_totals: NDArray[np.int64]) -> Leaf:
        """Draw the label of a leaf and charge the node's ledger."""


def grow_tree(
    schema: Schema, coding: Coding, records: BinnedRecords, rules: Rules, ledger: Ledger
) -> tuple[Tree, OpenNode]:
    """Grow the tree, with one pass over the records for each level. Return it with its root.

    A code without records may be split off, too: the length of a path depends on what was released,
    and on nothing else. A tree has at most ``MAX_NODES`` nodes; what does not fit is not split.
    """
    builder, n_nodes = TreeBuilder(schema), 1
    root = OpenNode((builder.root,), ledger, 0)
    level = [root]
    while level:
        exact_totals = records.class_totals()
        splits: list[Split | None] = [None] * len(level)
        if level[0].depth < rules.max_depth:
            exact_counts = records.class_counts()
            for place, node in enumerate(level):
                split = rules.split(node, exact_counts[place], exact_totals[place])
                if split is not None:
                    more = 2 * len(node.numbers) * coding.n_questions(split)
                    if n_nodes + more <= MAX_NODES:
                        n_nodes, splits[place] = n_nodes + more, split
        for place, node in enumerate(level):
            if splits[place] is None:
                leaf = rules.label(node, exact_totals[place])
                for number in node.numbers:
                    builder.leaf(number, *leaf)
        level = _make_children(level, splits, coding, records, builder)
    return builder.build(), root


def _make_children(
    level: Sequence[OpenNode],
    splits: Sequence[Split | None],
    coding: Coding,
    records: BinnedRecords,
    builder: TreeBuilder,
) -> list[OpenNode]:
    """Add the splits to the tree, assign the records to the children, and return the children."""
    features = np.full(len(level), -1, dtype=np.int32)
    children = np.zeros((len(level), max(coding.n_codes, default=0)), dtype=np.int32)
    next_level: list[OpenNode] = []
    for place, (node, split) in enumerate(zip(level, splits, strict=True)):
        if split is None:
            continue
        candidate, position, child_of_code = split
        features[place] = position
        children[place, : len(child_of_code)] = len(next_level) + child_of_code
        feature, cuts = coding.features[position], coding.cuts[position]
        copies = [write_split(builder, n, feature, cuts, child_of_code) for n in node.numbers]
        numbers = [tuple(n for copy in copies for n in copy[c]) for c in range(len(copies[0]))]
        for child, part in enumerate(node.ledger.parallel(len(numbers))):
            codes = dict(node.codes)
            if cuts is not None:
                own = np.flatnonzero(child_of_code == child)
                left = codes.get(position, range(len(child_of_code)))
                last = min(left.stop, int(own[-1]) + 1)
                codes[position] = range(max(left.start, int(own[0])), last)
            used = node.used | {candidate}
            node.children.append(
                OpenNode(numbers[child], part, node.depth + 1, used, codes, parent=node)
            )
        next_level += node.children
    records.descend(features, children)
    return next_level
