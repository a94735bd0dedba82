"""The nested boxes of the tree on the page, and which of them are open at first.

The page draws the boxes from the root at the left to the leaves at the right. On a phone and on
paper, the boxes are an indented list. Of a large tree, only the upper levels that fit are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from privatree.export import (
    name_text,
    node_texts,
    outcome_text,
    share_text,
    support_text,
    value_places,
)
from privatree.model import Tree
from privatree.report.tree._leaf_numbers import leaf_columns

MAX_ENDS = 260
"""Maximum number of drawn leaves and cut-off splits."""
MAX_LEVELS = 12
MAX_OPEN_ENDS = 20
"""Number of leaves and folded splits that the page shows at first."""
_MAX_BARS = 6
"""Maximum number of classes in the bar of a leaf. The others are one grey part."""
_CHARACTER_WIDTH, _LEAF_PADDING = 8.6, 44
_LEAF_WIDTHS, _LEAF_WIDTH_WITH_SUPPORT = (110, 210), 206
"""Smallest and largest width of a leaf's box, and its width with support, in pixels."""


@dataclass(frozen=True)
class BarPart:
    """A part of the bar of class probabilities; `label` is a class code, -1 for other classes."""

    label: int
    per_cent: str


@dataclass(frozen=True)
class NodeBox:
    """A node, and the boxes of its children.

    A box of the kind "more" is a split whose children are not drawn. `answer` is the answer to the
    parent's question that leads to this node. `detail` is the rest of the question, or the
    probability of the class. `question` is the whole text of the node. `label` is the class code of
    a leaf, and -1 otherwise. `place` says where the number of a leaf is between the smallest and
    the largest, in per cent, and `columns` are its noisy distribution; both are empty otherwise.
    `support` is empty if no counts were released.
    """

    node: int
    kind: Literal["split", "leaf", "more"]
    answer: Literal["", "yes", "no"]
    title: str
    detail: str
    question: str
    label: int
    bar: tuple[BarPart, ...]
    place: str
    columns: tuple[str, ...]
    support: str
    has_support: bool
    n_leaves: int
    starts_folded: bool
    children: tuple[NodeBox, ...]


@dataclass(frozen=True)
class TreeDrawing:
    """The drawn part of a tree. `leaf_width` is in pixels."""

    root: NodeBox
    levels: int
    leaves_left_out: int
    leaf_width: int


def draw_report_tree(tree: Tree) -> TreeDrawing:
    """Return the drawing of a tree of any size."""
    levels = _levels_that_fit_drawing(tree)
    drawn = _DrawnTree(tree, levels)
    boxes = dict[int, NodeBox]()
    order = list(tree.preorder(levels))
    for node in reversed(order):  # children come before parents
        boxes[node] = drawn.make_box(node, boxes)
    return TreeDrawing(
        root=boxes[0],
        levels=levels,
        leaves_left_out=sum(box.n_leaves for box in boxes.values() if box.kind == "more"),
        leaf_width=_drawn_leaf_width(tree),
    )


class _DrawnTree:
    """What the boxes of a tree have in common, computed once."""

    def __init__(self, tree: Tree, levels: int) -> None:
        self._tree = tree
        self._texts, self._n_leaves = node_texts(tree), tree.leaf_counts()
        self._is_cut = (tree.feature >= 0) & (tree.depths() == levels)
        self._places = value_places(tree)
        self._open = _nodes_open_at_first(tree, self._is_cut)
        self._answers: dict[int, Literal["yes", "no"]] = dict.fromkeys(tree.left.tolist(), "yes")
        self._answers |= dict.fromkeys(tree.right.tolist(), "no")

    def make_box(self, node: int, boxes: dict[int, NodeBox]) -> NodeBox:
        tree, is_split = self._tree, bool(self._tree.feature[node] >= 0)
        is_cut, label = bool(self._is_cut[node]), int(tree.label[node])
        is_number = not is_split and tree.value is not None
        if is_split:
            name = name_text(tree.schema.names[tree.feature[node]])
        else:
            name = outcome_text(tree, node)
        return NodeBox(
            node=node,
            kind="more" if is_cut else "split" if is_split else "leaf",
            answer=self._answers[node] if node else "",
            title=name,
            detail=self._texts[node][len(name) + 1 :].replace("<= ", "≤\u00a0", 1)
            if is_split
            else _drawn_leaf_probability(tree, node),
            question=self._texts[node],
            label=label,
            bar=() if is_split else _drawn_leaf_bar(tree, node),
            place=f"{100 * self._places[node]:.0f}" if is_number else "",
            columns=() if is_split else leaf_columns(tree, node),
            support="" if is_split else support_text(tree, node),
            has_support=is_split or tree.has_support(node),
            n_leaves=int(self._n_leaves[node]),
            starts_folded=is_split and not is_cut and node not in self._open,
            children=()
            if is_cut or not is_split
            else tuple(boxes[child] for child in tree.children(node)),
        )


def _drawn_leaf_probability(tree: Tree, leaf: int) -> str:
    if tree.probability is None:
        return ""
    return share_text(float(tree.probability[leaf, tree.label[leaf]]))


def _drawn_leaf_bar(tree: Tree, leaf: int) -> tuple[BarPart, ...]:
    """Return the probabilities of the likeliest classes, in the order of the schema."""
    if tree.probability is None:
        return ()
    row = tree.probability[leaf]
    likeliest = sorted(np.argsort(-row, kind="stable")[:_MAX_BARS].tolist())
    parts = [BarPart(code, f"{100 * row[code]:.2f}") for code in likeliest]
    if len(row) > _MAX_BARS:
        parts.append(BarPart(-1, f"{100 * max(0.0, 1 - row[likeliest].sum()):.2f}"))
    return tuple(parts)


# --- what fits ------------------------------------------------------------------------------------


def _nodes_open_at_first(tree: Tree, is_cut: NDArray[np.bool_]) -> set[int]:
    """Return the splits that are open when the page is loaded.

    First the splits with the most records are opened, as an overview. Then leaves are made visible
    one after the other: each time the leaf with the most records per split that must be opened. If
    no counts were released, every leaf counts as one record.
    """
    is_leaf = tree.feature < 0
    records = np.where(is_leaf, 1 if tree.support is None else tree.support, 0).astype(np.int64)
    for node in tree.splits[::-1].tolist():
        records[node] = records[tree.left[node]] + records[tree.right[node]]
    order = [node for node in tree.preorder(MAX_LEVELS) if not is_cut[node]]
    parent = {child: node for node in order if not is_leaf[node] for child in tree.children(node)}
    heaviest = sorted((node for node in order if not is_leaf[node]), key=lambda n: -records[n])
    is_open = {0}
    for node in heaviest:  # a parent has at least the records of its children
        if len(is_open) < MAX_OPEN_ENDS // 2 and parent.get(node, 0) in is_open:
            is_open.add(node)
    paths = {path[-1]: set(path[:-1]) for path in tree.paths(n for n in order if is_leaf[n])}
    while paths:
        costs = {leaf: len(above - is_open) for leaf, above in paths.items()}
        room = MAX_OPEN_ENDS - 1 - len(is_open)  # there is one end more than open splits
        paths = {leaf: above for leaf, above in paths.items() if 0 < costs[leaf] <= room}
        if paths:
            is_open |= paths[max(paths, key=lambda leaf: float(records[leaf]) / costs[leaf])]
    return is_open


def _levels_that_fit_drawing(tree: Tree) -> int:
    depth, levels = tree.depths(), 0
    while levels < min(tree.depth, MAX_LEVELS):
        is_end = (depth == levels + 1) | ((depth <= levels) & (tree.feature < 0))
        if np.count_nonzero(is_end) > MAX_ENDS:
            break
        levels += 1
    return levels


def _drawn_leaf_width(tree: Tree) -> int:
    """Return a width that fits the longest class name, or number, within limits."""
    if tree.value is None:
        longest = max(len(name_text(label)) for label in tree.schema.classes)
    else:
        longest = max(len(outcome_text(tree, leaf)) for leaf in tree.leaves.tolist())
    if tree.probability is not None:
        longest += 7
    width = int(np.clip(round(_LEAF_PADDING + longest * _CHARACTER_WIDTH), *_LEAF_WIDTHS))
    return width if tree.support is None else max(width, _LEAF_WIDTH_WITH_SUPPORT)
