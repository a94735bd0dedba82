"""Positions of the boxes of a plotted tree: close together, but without overlap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MIN_GAP = 0.16
"""Smallest distance between two boxes of a level. All lengths are in inches."""
MIN_LEVEL_GAP, MAX_LEVEL_GAP, SLOPE = 0.42, 1.5, 0.1
"""Limits of the distance between two levels: SLOPE times the widest distance of siblings."""
MARGIN = 0.08
"""Distance between the tree and the border of the plot."""


@dataclass(frozen=True)
class Box:
    """A placed box. `x` is its horizontal centre, and y grows upwards.

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
    """The boxes by node. They lie within 0 .. width and 0 .. height."""

    boxes: Mapping[int, Box]
    width: float
    height: float


@dataclass(frozen=True)
class _Outline:
    """Left and right ends of a subtree on each level, relative to the centre of its root."""

    left: NDArray[np.float64]
    right: NDArray[np.float64]


def lay_out_tree(
    sizes: Mapping[int, tuple[float, float]], children: Mapping[int, tuple[int, int]]
) -> TreeLayout:
    """Place each level below the level above, and each parent in the middle above its children.

    `sizes` has the width and height of the box of each node, and `children` the left and right
    child of each split. Node 0 is the root, and children have larger numbers than their parent.
    """
    apart = _child_distances(sizes, children)
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


def _child_distances(
    sizes: Mapping[int, tuple[float, float]], children: Mapping[int, tuple[int, int]]
) -> dict[int, float]:
    """Return the horizontal distance between the two children of each split."""
    outlines = dict[int, _Outline]()
    apart = dict[int, float]()
    for node in sorted(sizes, reverse=True):
        half = np.array([sizes[node][0] / 2])
        if node not in children:
            outlines[node] = _Outline(-half, half)
            continue
        left, right = (outlines.pop(child) for child in children[node])
        n_common = min(len(left.left), len(right.left))
        apart[node] = MIN_GAP + float(np.max(left.right[:n_common] - right.left[:n_common]))
        aside = apart[node] / 2
        farthest_left = _join_outlines(np.minimum, left.left - aside, right.left + aside)
        farthest_right = _join_outlines(np.maximum, left.right - aside, right.right + aside)
        outlines[node] = _Outline(
            np.concatenate((-half, farthest_left)), np.concatenate((half, farthest_right))
        )
    return apart


def _join_outlines(
    farther: np.ufunc, one: NDArray[np.float64], other: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the outer one of two outlines on each level that either of them reaches."""
    shorter, longer = sorted((one, other), key=len)
    joined = longer.copy()
    joined[: len(shorter)] = farther(shorter, longer[: len(shorter)])
    return joined
