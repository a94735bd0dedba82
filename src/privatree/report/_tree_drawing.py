"""Positions of the boxes and lines of the tree on the page: the root at the left, leaves right.

Every leaf has its own row and every level its own column, so that nothing overlaps. Of a large
tree, only the upper levels that fit are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from privatree.export import name_text, node_texts
from privatree.model import Tree

MAX_ENDS = 130
"""Maximum number of drawn leaves and cut-off splits."""
MAX_LEVELS = 12

ROW = 42
"""Height of a row. All lengths are in pixels."""
SPLIT_HEIGHT, LEAF_HEIGHT = 46, 32
_WIDTHS_BY_LEVELS = {1: (260, 64), 2: (230, 64), 3: (210, 62), 4: (188, 56)}
_WIDTHS_OF_MANY_LEVELS = (146, 44)
"""Width of a split's box, and of the gap to its children, by the number of levels."""
_CHARACTER_WIDTH, _LEAF_PADDING = 8.6, 42
_LEAF_WIDTHS = (84, 210)
_MARGIN = 6
_ANSWERS: tuple[Literal["yes", "no"], ...] = ("yes", "no")


@dataclass(frozen=True)
class NodeBox:
    """The box of a node, with the position of its upper left corner.

    A box of the kind "more" is a split whose children are not drawn. `detail` is the rest of the
    question, the probability of the class, or the number of leaves that are not drawn. `question`
    is the whole text of the node. `label` is the class code of a leaf, and -1 at a split.
    """

    node: int
    kind: Literal["split", "leaf", "more"]
    x: int
    y: int
    width: int
    height: int
    title: str
    detail: str
    question: str
    label: int = -1


@dataclass(frozen=True)
class EdgeLine:
    """The line from a split to a child, as an SVG path, with the position of yes or no."""

    child: int
    path: str
    answer: Literal["yes", "no"]
    x: int
    y: int


@dataclass(frozen=True)
class TreeDrawing:
    width: int
    height: int
    boxes: tuple[NodeBox, ...]
    lines: tuple[EdgeLine, ...]
    levels: int
    leaves_left_out: int


def draw_report_tree(tree: Tree) -> TreeDrawing:
    """Compute the boxes and lines of a tree of any size."""
    depth, leaves = tree.depths(), tree.leaf_counts()
    levels = _levels_that_fit_drawing(tree, depth)
    order = list(tree.preorder(levels))
    ends = [node for node in order if tree.feature[node] < 0 or depth[node] == levels]
    row = {node: float(place) for place, node in enumerate(ends)}
    for node in sorted(set(order) - row.keys(), reverse=True):  # children come after parents
        row[node] = sum(row[child] for child in tree.children(node)) / 2

    split_width, gap = _WIDTHS_BY_LEVELS.get(levels, _WIDTHS_OF_MANY_LEVELS)
    leaf_width = _drawn_leaf_width(tree)
    column = split_width + gap
    texts = node_texts(tree)

    def make_box(node: int) -> NodeBox:
        is_split = bool(tree.feature[node] >= 0)
        is_cut = is_split and depth[node] == levels
        height = SPLIT_HEIGHT if is_split and not is_cut else LEAF_HEIGHT
        position, label = int(tree.feature[node]), int(tree.label[node])
        name = name_text(tree.schema.names[position] if is_split else tree.schema.classes[label])
        if is_cut:
            detail = f"+{int(leaves[node])}"
        elif is_split:
            detail = texts[node][len(name) + 1 :].replace("<= ", "≤ ", 1)
        else:
            detail = _drawn_leaf_probability(tree, node)
        return NodeBox(
            node=node,
            kind="more" if is_cut else "split" if is_split else "leaf",
            x=_MARGIN + int(depth[node]) * column,
            y=_MARGIN + round(row[node] * ROW + (SPLIT_HEIGHT - height) / 2),
            width=split_width if is_split else leaf_width,
            height=height,
            title=name,
            detail=detail,
            question=texts[node],
            label=label,
        )

    boxes = {node: make_box(node) for node in order}
    lines = [
        _drawn_edge_line(boxes[node], boxes[child], answer)
        for node in order
        if boxes[node].kind == "split"
        for child, answer in zip(tree.children(node), _ANSWERS, strict=True)
    ]
    return TreeDrawing(
        width=max(b.x + b.width for b in boxes.values()) + _MARGIN,
        height=round((len(ends) - 1) * ROW) + SPLIT_HEIGHT + 2 * _MARGIN,
        boxes=tuple(boxes.values()),
        lines=tuple(lines),
        levels=levels,
        leaves_left_out=sum(int(leaves[b.node]) for b in boxes.values() if b.kind == "more"),
    )


def _drawn_leaf_probability(tree: Tree, leaf: int) -> str:
    if tree.probability is None:
        return ""
    share = float(tree.probability[leaf, tree.label[leaf]])
    return f"{share:.1%}" if 0.99 < share < 1 else f"{share:.0%}"


def _drawn_edge_line(parent: NodeBox, child: NodeBox, answer: Literal["yes", "no"]) -> EdgeLine:
    """Return a line with a right angle, whose corner is rounded."""
    start_x, start_y = parent.x + parent.width, parent.y + parent.height // 2
    end_x, end_y = child.x, child.y + child.height // 2
    middle = start_x + 14
    away = abs(end_y - start_y)
    bend = min(9, away) * (1 if end_y > start_y else -1)
    path = f"M{start_x} {start_y}H{middle}V{end_y - bend}"
    path += f"Q{middle} {end_y} {middle + abs(bend)} {end_y}H{end_x}"
    return EdgeLine(child.node, path, answer, (middle + end_x) // 2 + 1, end_y - 5)


# --- what fits ------------------------------------------------------------------------------------


def _levels_that_fit_drawing(tree: Tree, depth: NDArray[np.int64]) -> int:
    levels = 0
    while levels < min(tree.depth, MAX_LEVELS):
        is_end = (depth == levels + 1) | ((depth <= levels) & (tree.feature < 0))
        if np.count_nonzero(is_end) > MAX_ENDS:
            break
        levels += 1
    return levels


def _drawn_leaf_width(tree: Tree) -> int:
    """Return a width that fits the longest class name, within limits."""
    longest = max(len(name_text(label)) for label in tree.schema.classes)
    if tree.probability is not None:
        longest += 5
    return int(np.clip(round(_LEAF_PADDING + longest * _CHARACTER_WIDTH), *_LEAF_WIDTHS))
