"""Regions: the bins and categories that records of a node can have, and how splits narrow them.

A region follows from the splits above, which are released: it is public.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.counting import Candidates, Groups, coarsen_base_measure


class FeatureLayout(NamedTuple):
    """Where the codes of each feature lie, side by side."""

    offsets: NDArray[np.int64]
    is_category: NDArray[np.bool_]


class Region(NamedTuple):
    """The codes that records of a node can have."""

    low: NDArray[np.int64]
    """First code of each numeric feature; 0 for categories."""
    high: NDArray[np.int64]
    """One more than the last code of each numeric feature; all codes for categories."""
    inside: NDArray[np.bool_]
    """Of every code of every feature, side by side, whether it is in the region."""
    n_inside: NDArray[np.int64]
    """How many codes each feature has in the region."""

    def copy(self) -> Region:
        """A region of its own memory."""
        return Region(self.low.copy(), self.high.copy(), self.inside.copy(), self.n_inside.copy())


class CutGrid(NamedTuple):
    """Candidate cuts with their base_measure. Categories have none: they share alike."""

    mass: NDArray[np.float64]
    """Of the cut after each code; whole numbers; 0 where there is no candidate."""
    below: NDArray[np.int64]
    """Sum of the base_measure before each code."""


class Split(NamedTuple):
    """A candidate of an upper level of a subtree: a cut, or one category against the rest."""

    part: int
    """Its number among the codes of all features: the code below the cut, or the category."""
    feature: int
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    """Codes on each side."""
    share: Fraction
    """Of the mass of all candidates in the region."""


def whole_region(candidates: Candidates) -> Region:
    """The region of the root."""
    n_codes = np.array(candidates.n_codes, dtype=np.int64)
    return Region(np.zeros_like(n_codes), n_codes, np.full(n_codes.sum(), True), n_codes.copy())


def narrowed(
    region: Region, shape: FeatureLayout, feature: int, codes: NDArray[np.int64]
) -> Region:
    """The part of a region in which a feature has only these codes of it (increasing)."""
    part = region.copy()
    start, stop = shape.offsets[feature], shape.offsets[feature + 1]
    part.inside[start:stop] = False
    part.inside[start + codes] = True
    part.n_inside[feature] = len(codes)
    if not shape.is_category[feature]:
        part.low[feature], part.high[feature] = codes[0], codes[-1] + 1
    return part


def bins_inside(region: Region, shape: FeatureLayout, feature: int) -> NDArray[np.int64]:
    """The codes of a feature that are in the region."""
    return np.flatnonzero(region.inside[shape.offsets[feature] : shape.offsets[feature + 1]])


def feature_of(part: int, shape: FeatureLayout) -> int:
    """Return the feature of a part. Parts are numbered feature after feature, as codes are."""
    return int(np.searchsorted(shape.offsets, part, side="right")) - 1


def fine_grid(candidates: Candidates) -> CutGrid:
    """Every candidate cut."""
    return _grid(candidates.base_measure)


def coarse_grid(finer: CutGrid, region: Region, shape: FeatureLayout, n_codes: int) -> CutGrid:
    """At most ``n_codes - 1`` cuts of each feature in the region, nested in the finer grid."""
    mass = np.zeros(len(finer.mass), dtype=np.int64)
    for feature in np.flatnonzero(~shape.is_category & (region.n_inside >= 2)):
        start = shape.offsets[feature]
        part = slice(start + region.low[feature], start + region.high[feature] - 1)
        mass[part] = coarsen_base_measure(finer.mass[part].astype(np.int64), n_codes - 1)
    return _grid(mass)


def both_sides(region: Region, shape: FeatureLayout, split: Split) -> tuple[Region, Region]:
    """The regions of the children of a split."""
    return (
        narrowed(region, shape, split.feature, split.left),
        narrowed(region, shape, split.feature, split.right),
    )


def splits_on(grid: CutGrid, region: Region, shape: FeatureLayout) -> list[Split]:
    """Every candidate on a grid inside a region; features share alike, cuts by their mass."""
    found: list[list[tuple[int, NDArray[np.bool_], int]]] = []
    features = np.flatnonzero(region.n_inside >= 2).tolist()
    inside = {feature: bins_inside(region, shape, feature) for feature in features}
    for feature, codes in inside.items():
        start = int(shape.offsets[feature])
        if shape.is_category[feature]:  # of two categories, either against the rest is the same
            single = codes.tolist() if len(codes) > 2 else codes[:1].tolist()
            found.append([(code, codes == code, 1) for code in single])
        else:
            base_measure = grid.mass[start + codes[:-1]].astype(np.int64).tolist()
            cuts = zip(codes.tolist(), base_measure, strict=False)
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


def groups(grid: CutGrid, region: Region, shape: FeatureLayout) -> Groups:
    """Rows for the candidates of a grid inside a region."""
    row_of_code = np.zeros(len(region.inside), dtype=np.int32)
    sizes = []
    for feature in range(len(region.low)):
        start, stop = shape.offsets[feature], shape.offsets[feature + 1]
        inside = region.inside[start:stop]
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


def _grid(base_measure: NDArray[np.int64]) -> CutGrid:
    below = np.concatenate([[0], np.cumsum(base_measure)[:-1]]).astype(np.int64)
    return CutGrid(base_measure.astype(np.float64), below)
