"""Regions: the bins and categories that records of a node can have, and how splits narrow them.

A region follows from the splits above the node. These are released, so a region is public.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.counting import Candidates, Groups, coarsen_base_measure


class FeatureLayout(NamedTuple):
    """Where the codes of each feature are in an array of the codes of all features."""

    offsets: NDArray[np.int64]
    is_category: NDArray[np.bool_]


class Region(NamedTuple):
    """The codes that records of a node can have."""

    low: NDArray[np.int64]
    """First code of each numeric feature; 0 for categories."""
    high: NDArray[np.int64]
    """One more than the last code of each numeric feature; number of codes for categories."""
    inside: NDArray[np.bool_]
    """For every code of every feature, whether the code is in the region."""
    n_inside: NDArray[np.int64]
    """Number of codes that each feature has in the region."""

    def copy(self) -> Region:
        return Region(self.low.copy(), self.high.copy(), self.inside.copy(), self.n_inside.copy())


class CutGrid(NamedTuple):
    """The candidate cuts of one level of a subtree. Categories are candidates on all levels."""

    base_measure: NDArray[np.float64]
    """Base measure of the cut after each code: a whole number, 0 where there is no candidate."""
    below: NDArray[np.int64]
    """Sum of the base measure of all codes before each code."""
    stop_share: float = 1.0
    """Base measure of "no split on this level", used only in subtrees."""


class Split(NamedTuple):
    """A candidate of an upper level of a subtree: a cut, or one category against the rest."""

    part: int
    """Position, among the codes of all features, of the code below the cut or of the category."""
    feature: int
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    """Codes on each side."""
    share: Fraction
    """Share of the base measure of all candidates in the region."""


def whole_region(candidates: Candidates) -> Region:
    """Return the region of the root: all bins and categories of every feature."""
    n_codes = np.array(candidates.n_codes, dtype=np.int64)
    return Region(np.zeros_like(n_codes), n_codes, np.full(n_codes.sum(), True), n_codes.copy())


def narrow_region(
    region: Region, layout: FeatureLayout, feature: int, codes: NDArray[np.int64]
) -> Region:
    """Return the part of a region in which a feature has only these codes (in increasing order)."""
    part = region.copy()
    start, stop = layout.offsets[feature], layout.offsets[feature + 1]
    part.inside[start:stop] = False
    part.inside[start + codes] = True
    part.n_inside[feature] = len(codes)
    if not layout.is_category[feature]:
        part.low[feature], part.high[feature] = codes[0], codes[-1] + 1
    return part


def codes_in_region(region: Region, layout: FeatureLayout, feature: int) -> NDArray[np.int64]:
    return np.flatnonzero(region.inside[layout.offsets[feature] : layout.offsets[feature + 1]])


def feature_of_part(part: int, layout: FeatureLayout) -> int:
    """Return the feature of a part. Parts are numbered like the codes of all features."""
    return int(np.searchsorted(layout.offsets, part, side="right")) - 1


def fine_grid(candidates: Candidates) -> CutGrid:
    """Return the grid with every candidate cut."""
    return _make_grid(candidates.base_measure)


def coarse_grid(finer: CutGrid, region: Region, layout: FeatureLayout, n_codes: int) -> CutGrid:
    """Return at most ``n_codes - 1`` cuts of `finer` for each feature in the region."""
    base_measure = np.zeros(len(finer.base_measure), dtype=np.int64)
    for feature in np.flatnonzero(~layout.is_category & (region.n_inside >= 2)):
        start = layout.offsets[feature]
        part = slice(start + region.low[feature], start + region.high[feature] - 1)
        base_measure[part] = coarsen_base_measure(
            finer.base_measure[part].astype(np.int64), n_codes - 1
        )
    return _make_grid(base_measure)


def child_regions(region: Region, layout: FeatureLayout, split: Split) -> tuple[Region, Region]:
    return (
        narrow_region(region, layout, split.feature, split.left),
        narrow_region(region, layout, split.feature, split.right),
    )


def splits_on_grid(grid: CutGrid, region: Region, layout: FeatureLayout) -> list[Split]:
    """Return every candidate on a grid inside a region.

    Features have equal shares, and so have the categories of a feature. The cuts of a feature have
    shares in proportion to their base measure.
    """
    by_feature: dict[int, dict[int, int]] = {}
    for feature in np.flatnonzero(region.n_inside >= 2).tolist():
        parts = layout.offsets[feature] + codes_in_region(region, layout, feature)
        if layout.is_category[feature]:  # of two categories, either against the rest is the same
            parts = parts if len(parts) > 2 else parts[:1]
            measure = dict.fromkeys(parts.tolist(), 1)
        else:
            cuts = zip(parts.tolist(), grid.base_measure[parts[:-1]].tolist(), strict=False)
            measure = {part: int(mass) for part, mass in cuts if mass}
        if measure:
            by_feature[feature] = measure
    return [
        Split(
            part,
            *split_of_part(part, region, layout),
            Fraction(mass, sum(measure.values()) * len(by_feature)),
        )
        for measure in by_feature.values()
        for part, mass in measure.items()
    ]


def split_of_part(
    part: int, region: Region, layout: FeatureLayout
) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """Return the feature that a part of an upper level splits, and the codes on each side."""
    feature = feature_of_part(part, layout)
    codes = codes_in_region(region, layout, feature)
    code = part - layout.offsets[feature]
    is_left = codes == code if layout.is_category[feature] else codes <= code
    return feature, codes[is_left], codes[~is_left]


def rows_by_candidate(grid: CutGrid, region: Region, layout: FeatureLayout) -> Groups:
    """Return the rows of a table of counts from which every candidate of a grid can be counted.

    The codes of a numeric feature between two neighbouring cuts form a row. Each category is a row.
    """
    row_of_code = np.zeros(len(region.inside), dtype=np.int32)
    sizes = []
    for feature in range(len(region.low)):
        start, stop = layout.offsets[feature], layout.offsets[feature + 1]
        inside = region.inside[start:stop]
        if layout.is_category[feature]:
            closes = inside
        else:
            closes = (grid.base_measure[start:stop] > 0) & inside
            if len(codes := np.flatnonzero(inside)):
                closes[codes[-1]] = False  # a cut above the last code separates nothing
        row_of_code[start + 1 : stop] = np.cumsum(closes)[:-1]
        n_rows = int(closes.sum()) + (0 if layout.is_category[feature] else 1)
        sizes.append(n_rows if n_rows >= 2 else 0)
    return Groups(row_of_code, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def _make_grid(base_measure: NDArray[np.int64]) -> CutGrid:
    below = np.concatenate([[0], np.cumsum(base_measure)[:-1]]).astype(np.int64)
    return CutGrid(base_measure.astype(np.float64), below)
