"""Positions of the boxes of a plotted tree: close together, but without overlap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MIN_GAP = 0.16
"""Smallest distance between two boxes of a level. All lengths are in inches."""
MIN_LEVEL_GAP, MAX_LEVEL_GAP, SLOPE = 0.42, 1.5, 0.1
"""Distance of two levels: SLOPE times the widest distance of siblings, within two limits."""
MARGIN = 0.08
"""Distance between the tree and the border of the plot."""


@dataclass(frozen=True)
class Box:
    """A box in the layout. `x` is its horizontal centre. Vertical positions grow upwards.

    `floor` is the lower side of the tallest box of the level: edges below it cross no box.
    """

    x: float
    top: float
    floor: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        """Lower side of the box."""
        return self.top - self.height


@dataclass(frozen=True)
class TreeLayout:
    """The box of each node. All boxes are between 0 and `width`, and between 0 and `height`."""

    boxes: Mapping[int, Box]
    width: float
    height: float


def lay_out_tree(
    sizes: Mapping[int, tuple[float, float]], children: Mapping[int, tuple[int, int]]
) -> TreeLayout:
    """Return a layout with each level below the one above, and parents centred over children.

    `sizes` has the width and height of the box of each node, and `children` the left and right
    child of each split. Node 0 is the root, and children have larger numbers than their parent.
    """
    apart = _child_distances_in_layout(sizes, children)
    x, depth = {0: 0.0}, {0: 0}
    for node in sorted(children):
        for child, side in zip(children[node], (-0.5, 0.5), strict=True):
            x[child] = x[node] + side * apart[node]
            depth[child] = depth[node] + 1
    heights, gaps = (np.zeros(max(depth.values()) + 1) for _ in range(2))
    for node, (_, height) in sizes.items():
        heights[depth[node]] = max(heights[depth[node]], height)
        gaps[depth[node]] = max(gaps[depth[node]], SLOPE * apart.get(node, 0.0))
    steps = heights[:-1] + np.clip(gaps[:-1], MIN_LEVEL_GAP, MAX_LEVEL_GAP)
    first = min(x[node] - width / 2 for node, (width, _) in sizes.items()) - MARGIN
    last = max(x[node] + width / 2 for node, (width, _) in sizes.items()) + MARGIN
    whole = float(steps.sum() + heights[-1]) + 2 * MARGIN
    tops = whole - MARGIN - np.cumsum([0.0, *steps])
    floors = tops - heights
    boxes = {
        node: Box(
            x[node] - first, float(tops[depth[node]]), float(floors[depth[node]]), *sizes[node]
        )
        for node in sorted(sizes)
    }
    return TreeLayout(boxes, last - first, whole)


def _child_distances_in_layout(
    sizes: Mapping[int, tuple[float, float]], children: Mapping[int, tuple[int, int]]
) -> dict[int, float]:
    """Return the horizontal distance between the two children of each split."""
    reach = dict[int, NDArray[np.float64]]()  # of subtrees: to the left and right, on each level
    apart = dict[int, float]()
    for node in sorted(sizes, reverse=True):
        reach[node] = np.full((2, 1), sizes[node][0] / 2)
        if node not in children:
            continue
        left, right = (reach.pop(child) for child in children[node])
        n_levels = sorted((left.shape[1], right.shape[1]))
        apart[node] = MIN_GAP + float(np.max(left[1, : n_levels[0]] + right[0, : n_levels[0]]))
        below = np.full((2, n_levels[1]), -np.inf)
        for subtree, side in ((left, 1), (right, -1)):
            shifted = subtree + side * np.array([[apart[node] / 2], [-apart[node] / 2]])
            below[:, : subtree.shape[1]] = np.maximum(below[:, : subtree.shape[1]], shifted)
        reach[node] = np.hstack((reach[node], below))
    return apart
