"""Boxes: the codes that records of a node can have, and how splits narrow them.

A box follows from the splits above, which are released: it is public.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.counting import Candidates, Groups, coarser


class Shape(NamedTuple):
    """Where the codes of each feature lie, side by side."""

    offsets: NDArray[np.int64]
    is_category: NDArray[np.bool_]


class Box(NamedTuple):
    """The codes that records of a node can have."""

    low: NDArray[np.int64]
    """First code of each numeric feature; 0 for categories."""
    high: NDArray[np.int64]
    """One more than the last code of each numeric feature; all codes for categories."""
    inside: NDArray[np.bool_]
    """Of every code of every feature, side by side, whether it is in the box."""
    n_inside: NDArray[np.int64]
    """How many codes each feature has in the box."""

    def copy(self) -> Box:
        """A box of its own memory."""
        return Box(self.low.copy(), self.high.copy(), self.inside.copy(), self.n_inside.copy())


class Grid(NamedTuple):
    """Candidate cuts with their masses. Categories have none: they share alike."""

    mass: NDArray[np.float64]
    """Of the cut after each code; whole numbers; 0 where there is no candidate."""
    below: NDArray[np.int64]
    """Sum of the masses before each code."""


class Split(NamedTuple):
    """A candidate of an upper level of a block: a cut, or one category against the rest."""

    part: int
    """Its number among the codes of all features: the code below the cut, or the category."""
    feature: int
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    """Codes on each side."""
    share: Fraction
    """Of the mass of all candidates in the box."""


def whole_box(candidates: Candidates) -> Box:
    """The box of the root."""
    n_codes = np.array(candidates.n_codes, dtype=np.int64)
    return Box(np.zeros_like(n_codes), n_codes, np.full(n_codes.sum(), True), n_codes.copy())


def narrowed(box: Box, shape: Shape, feature: int, codes: NDArray[np.int64]) -> Box:
    """The part of a box in which a feature has only these codes of it (increasing)."""
    part = box.copy()
    start, stop = shape.offsets[feature], shape.offsets[feature + 1]
    part.inside[start:stop] = False
    part.inside[start + codes] = True
    part.n_inside[feature] = len(codes)
    if not shape.is_category[feature]:
        part.low[feature], part.high[feature] = codes[0], codes[-1] + 1
    return part


def codes_inside(box: Box, shape: Shape, feature: int) -> NDArray[np.int64]:
    """The codes of a feature that are in the box."""
    return np.flatnonzero(box.inside[shape.offsets[feature] : shape.offsets[feature + 1]])


def feature_of(part: int, shape: Shape) -> int:
    """The feature that a part, numbered like the codes side by side, belongs to."""
    return int(np.searchsorted(shape.offsets, part, side="right")) - 1


def fine_grid(candidates: Candidates) -> Grid:
    """Every candidate cut."""
    return _grid(candidates.masses)


def coarse_grid(finer: Grid, box: Box, shape: Shape, n_codes: int) -> Grid:
    """At most ``n_codes - 1`` cuts of each feature in the box, nested in the finer grid."""
    mass = np.zeros(len(finer.mass), dtype=np.int64)
    for feature in np.flatnonzero(~shape.is_category & (box.n_inside >= 2)):
        start = shape.offsets[feature]
        part = slice(start + box.low[feature], start + box.high[feature] - 1)
        mass[part] = coarser(finer.mass[part].astype(np.int64), n_codes - 1)
    return _grid(mass)


def both_sides(box: Box, shape: Shape, split: Split) -> tuple[Box, Box]:
    """The boxes of the children of a split."""
    return (
        narrowed(box, shape, split.feature, split.left),
        narrowed(box, shape, split.feature, split.right),
    )


def splits_on(grid: Grid, box: Box, shape: Shape) -> list[Split]:
    """Every candidate on a grid inside a box; features share alike, cuts by their mass."""
    found: list[list[tuple[int, NDArray[np.bool_], int]]] = []
    features = np.flatnonzero(box.n_inside >= 2).tolist()
    inside = {feature: codes_inside(box, shape, feature) for feature in features}
    for feature, codes in inside.items():
        start = int(shape.offsets[feature])
        if shape.is_category[feature]:  # of two categories, either against the rest is the same
            single = codes.tolist() if len(codes) > 2 else codes[:1].tolist()
            found.append([(code, codes == code, 1) for code in single])
        else:
            masses = grid.mass[start + codes[:-1]].astype(np.int64).tolist()
            cuts = zip(codes.tolist(), masses, strict=False)
            found.append([(code, codes <= code, mass) for code, mass in cuts if mass])
    active = sum(1 for options in found if options)
    splits = []
    for (feature, codes), options in zip(inside.items(), found, strict=True):
        start, whole = int(shape.offsets[feature]), sum(mass for *_, mass in options)
        splits += [
            Split(start + code, feature, codes[left], codes[~left], Fraction(mass, whole * active))
            for code, left, mass in options
        ]
    return splits


def groups(grid: Grid, box: Box, shape: Shape) -> Groups:
    """Rows for the candidates of a grid inside a box."""
    row_of_code = np.zeros(len(box.inside), dtype=np.int32)
    sizes = []
    for feature in range(len(box.low)):
        start, stop = shape.offsets[feature], shape.offsets[feature + 1]
        inside = box.inside[start:stop]
        if shape.is_category[feature]:
            closes = inside
        else:
            closes = (grid.mass[start:stop] > 0) & inside
            if len(codes := np.flatnonzero(inside)):
                closes[codes[-1]] = False  # a cut above the last code separates nothing
        row_of_code[start + 1 : stop] = np.cumsum(closes)[:-1]
        n_candidates = int(closes.sum())
        if shape.is_category[feature]:
            sizes.append(n_candidates if n_candidates >= 2 else 0)
        else:
            sizes.append(n_candidates + 1 if n_candidates else 0)
    return Groups(row_of_code, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def _grid(masses: NDArray[np.int64]) -> Grid:
    below = np.concatenate([[0], np.cumsum(masses)[:-1]]).astype(np.int64)
    return Grid(masses.astype(np.float64), below)
