"""Where the boxes of the tree stand on the page: the root at the left, answers to its right.

Every leaf has a row of its own and every level a column, so that texts have room and nothing
overlaps. A large tree is drawn down to the level that still fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from privatree.export import name_text, node_texts
from privatree.model import Tree

MAX_ENDS = 130
"""Leaves and cut branches that are drawn."""
MAX_LEVELS = 12

ROW = 42
"""Height of a row, in pixels; like all that follows."""
SPLIT_HEIGHT, LEAF_HEIGHT = 46, 32
_COLUMNS = {1: (260, 64), 2: (230, 64), 3: (210, 62), 4: (188, 56)}
_MANY_COLUMNS = (146, 44)
"""Width of a box, and of the gap to its answers, by the number of levels."""
_LETTER, _LEAF_PADDING = 8.6, 42
_LEAF_WIDTHS = (84, 210)
_MARGIN = 6
_ANSWERS: tuple[Literal["yes", "no"], ...] = ("yes", "no")


@dataclass(frozen=True)
class Box:
    """A node in its place.

    Parameters
    ----------
    node : int
        Its number.
    kind : {"split", "leaf", "more"}
        More: a split whose answers are not drawn.
    x, y, width, height : int
        Upper left corner and size.
    title : str
        The feature asked about, or the class predicted.
    detail : str
        What is asked of it, the share of the class, or how many leaves are not drawn.
    question : str
        All of it, as one text.
    label : int
        The code of the class; -1 at a split.
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
class Line:
    """From a split to an answer.

    Parameters
    ----------
    child : int
        The node it leads to.
    path : str
        Of an SVG.
    answer : {"yes", "no"}
        What the record answers.
    x, y : int
        Where the answer is written.
    """

    child: int
    path: str
    answer: Literal["yes", "no"]
    x: int
    y: int


@dataclass(frozen=True)
class Drawing:
    """All boxes and lines, and what was left out."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    levels: int
    leaves_left_out: int


def draw(tree: Tree) -> Drawing:
    """Place the boxes of a tree.

    Parameters
    ----------
    tree : Tree
        Of any size.
    """
    depth, leaves = tree.depths(), tree.leaf_counts()
    levels = _levels_that_fit(tree, depth)
    order = list(tree.preorder(levels))
    ends = [node for node in order if tree.feature[node] < 0 or depth[node] == levels]
    row = {node: float(place) for place, node in enumerate(ends)}
    for node in sorted(set(order) - row.keys(), reverse=True):  # children come after parents
        row[node] = sum(row[child] for child in tree.children(node)) / 2

    split_width, gap = _COLUMNS.get(levels, _MANY_COLUMNS)
    leaf_width = _leaf_width(tree)
    column = split_width + gap
    texts = node_texts(tree)

    def box(node: int) -> Box:
        is_split = bool(tree.feature[node] >= 0)
        is_cut = is_split and depth[node] == levels
        height = SPLIT_HEIGHT if is_split and not is_cut else LEAF_HEIGHT
        name = name_text(_name(tree, node))
        if is_cut:
            detail = f"+{int(leaves[node])}"
        elif is_split:
            detail = texts[node][len(name) + 1 :].replace("<= ", "≤ ", 1)
        else:
            detail = _share(tree, node)
        return Box(
            node=node,
            kind="more" if is_cut else "split" if is_split else "leaf",
            x=_MARGIN + int(depth[node]) * column,
            y=_MARGIN + round(row[node] * ROW + (SPLIT_HEIGHT - height) / 2),
            width=split_width if is_split else leaf_width,
            height=height,
            title=name,
            detail=detail,
            question=texts[node],
            label=int(tree.label[node]),
        )

    boxes = {node: box(node) for node in order}
    lines = [
        _line(boxes[node], boxes[child], answer)
        for node in order
        if boxes[node].kind == "split"
        for child, answer in zip(tree.children(node), _ANSWERS, strict=True)
    ]
    return Drawing(
        width=max(b.x + b.width for b in boxes.values()) + _MARGIN,
        height=round((len(ends) - 1) * ROW) + SPLIT_HEIGHT + 2 * _MARGIN,
        boxes=tuple(boxes.values()),
        lines=tuple(lines),
        levels=levels,
        leaves_left_out=sum(int(leaves[b.node]) for b in boxes.values() if b.kind == "more"),
    )


def _name(tree: Tree, node: int) -> str | bool | int | float:
    position = int(tree.feature[node])
    return tree.schema.classes[tree.label[node]] if position < 0 else tree.schema.names[position]


def _share(tree: Tree, node: int) -> str:
    if tree.probability is None:
        return ""
    share = float(tree.probability[node, tree.label[node]])
    return f"{share:.1%}" if 0.99 < share < 1 else f"{share:.0%}"


def _line(parent: Box, child: Box, answer: Literal["yes", "no"]) -> Line:
    """A bracket with one soft corner."""
    start_x, start_y = parent.x + parent.width, parent.y + parent.height // 2
    end_x, end_y = child.x, child.y + child.height // 2
    middle = start_x + 14
    away = abs(end_y - start_y)
    bend = min(9, away) * (1 if end_y > start_y else -1)
    path = f"M{start_x} {start_y}H{middle}V{end_y - bend}"
    path += f"Q{middle} {end_y} {middle + abs(bend)} {end_y}H{end_x}"
    return Line(child.node, path, answer, (middle + end_x) // 2 + 1, end_y - 5)


# --- how much of it -------------------------------------------------------------------------------


def _levels_that_fit(tree: Tree, depth: NDArray[np.int64]) -> int:
    levels = 0
    while levels < min(tree.depth, MAX_LEVELS):
        is_end = (depth == levels + 1) | ((depth <= levels) & (tree.feature < 0))
        if np.count_nonzero(is_end) > MAX_ENDS:
            break
        levels += 1
    return levels


def _leaf_width(tree: Tree) -> int:
    """Wide enough for the longest class, within limits."""
    longest = max(len(name_text(label)) for label in tree.schema.classes)
    if tree.probability is not None:
        longest += 5
    low, high = _LEAF_WIDTHS
    return max(low, min(high, round(_LEAF_PADDING + longest * _LETTER)))
