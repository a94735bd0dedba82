"""Where the boxes of a drawn tree stand: as near to each other as they can without touching."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BESIDE = 0.16
"""Least distance of two boxes side by side, in inches; like all that follows."""
BELOW, FARTHEST_BELOW, SLOPE = 0.42, 1.5, 0.1
"""Distance of a level to the one above it: more where lines between them would be too flat."""
MARGIN = 0.08
"""Around the whole tree."""


@dataclass(frozen=True)
class Box:
    """A box in its place, with y growing upwards.

    Parameters
    ----------
    x : float
        Of its middle.
    top, floor : float
        Its upper side, and the lower side of the tallest box of its level: what lies below touches
        none of them.
    width, height : float
        Its size.
    """

    x: float
    top: float
    floor: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        """Its lower side."""
        return self.top - self.height


@dataclass(frozen=True)
class Layout:
    """All boxes, by their nodes; they stand within 0 .. width and 0 .. height."""

    boxes: Mapping[int, Box]
    width: float
    height: float


@dataclass(frozen=True)
class _Outline:
    """How far a subtree reaches to both sides of its root's middle, on each level."""

    left: NDArray[np.float64]
    right: NDArray[np.float64]


def layout(
    sizes: Mapping[int, tuple[float, float]], children: Mapping[int, tuple[int, int]]
) -> Layout:
    """Place the boxes of a tree: a level below the other, parents in the middle above children.

    Parameters
    ----------
    sizes : mapping of int to (width, height)
        Of the box of each node. A parent's number is smaller than those of its children; 0 is the
        root.
    children : mapping of int to (left, right)
        Of each node that has some.
    """
    apart = _distances(sizes, children)
    x, depth = {0: 0.0}, {0: 0}
    for node in sorted(children):
        for child, side in zip(children[node], (-0.5, 0.5), strict=True):
            x[child] = x[node] + side * apart[node]
            depth[child] = depth[node] + 1
    heights, gaps = (np.zeros(max(depth.values()) + 1) for _ in range(2))
    for node, (_, height) in sizes.items():
        heights[depth[node]] = max(heights[depth[node]], height)
        gaps[depth[node]] = max(gaps[depth[node]], SLOPE * apart.get(node, 0.0))
    steps = heights[:-1] + np.clip(gaps[:-1], BELOW, FARTHEST_BELOW)
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
    return Layout(boxes, last - first, whole)


def _distances(
    sizes: Mapping[int, tuple[float, float]], children: Mapping[int, tuple[int, int]]
) -> dict[int, float]:
    """For each node with children how far apart these stand."""
    outlines = dict[int, _Outline]()
    apart = dict[int, float]()
    for node in sorted(sizes, reverse=True):
        half = np.array([sizes[node][0] / 2])
        if node not in children:
            outlines[node] = _Outline(-half, half)
            continue
        left, right = (outlines.pop(child) for child in children[node])
        n_common = min(len(left.left), len(right.left))
        apart[node] = BESIDE + float(np.max(left.right[:n_common] - right.left[:n_common]))
        aside = apart[node] / 2
        farthest_left = _joined(np.minimum, left.left - aside, right.left + aside)
        farthest_right = _joined(np.maximum, left.right - aside, right.right + aside)
        outlines[node] = _Outline(
            np.concatenate((-half, farthest_left)), np.concatenate((half, farthest_right))
        )
    return apart


def _joined(
    farther: np.ufunc, one: NDArray[np.float64], other: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The outer outline of two; where only one of them goes so deep, its own."""
    shorter, longer = sorted((one, other), key=len)
    joined = longer.copy()
    joined[: len(shorter)] = farther(shorter, longer[: len(shorter)])
    return joined
