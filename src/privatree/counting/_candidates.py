"""Candidate splits of every feature, and their base measure: how likely each is beforehand.

Everything here is a function of the schema alone (``_fine_cells.py`` adds cuts around released
intervals). Cut points have several resolutions, so no budget
is spent on finding where the records are. Half of the base measure lies on an even grid. The other
half lies on geometric steps towards both ends of the range, most of them towards the end nearer to
zero. If the range has zero inside, the steps go towards zero and the middle of the range. So a
skewed feature has fine cuts where its records are, and a range that is too wide costs little.

If missing numbers have a place of their own, it is the first bin. The cut above it, at minus
infinity, asks whether a value is missing, and has a fixed part of the base measure.

The base measure consists of integers, which can be added, compared and drawn from exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.schema import Categorical, Numeric, Schema

TOTAL_BASE_MEASURE = 2**40
"""Sum of the base measure over all cuts of one feature."""

IS_MISSING_SHARE = 10
"""The cut that separates missing values from numbers has one part in so many of the measure."""

N_BINS = (256, 64, 16)
"""Numbers of bins of a numeric feature that are chosen by default."""

MAX_GROUPS = 512
"""Largest number of codes of a categorical feature. With more categories, neighbours share one."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidate splits of every feature of a schema.

    Each value has a code: the number of cuts below a number, or the position of a category. Missing
    values that are separate have the first code of a number, and the last of a category. In
    arrays over the codes of all features, the codes of feature i are at the positions from
    ``offsets[i]`` to ``offsets[i + 1] - 1``.

    Parameters
    ----------
    cuts : tuple of ndarray of float64, or None
        Increasing cut points of each numeric feature, None for a categorical one. A value equal to
        a cut belongs to the bin on its left. A first cut of minus infinity has all numbers on its
        right, and only missing values on its left.
    n_codes : tuple of int
        Number of codes of each feature.
    base_measure : ndarray of int64, shape (n_all_codes,)
        Base measure of the cut after each code, 0 after the last code of a feature. Categories have
        0, except for a feature of two categories, which is like two numbers with a cut between.
    offsets : ndarray of int64, shape (n_features + 1,)
        Position of the first code of each feature, and the number of all codes.
    is_category : ndarray of bool, shape (n_features,)
        Whether a feature is split by subsets of its codes. False for a feature of two categories:
        it has only one split, as if it were a number.
    groups : tuple of ndarray of int64, or None
        Code of each category of each categorical feature, and of separate missing values after
        them; None for a numeric feature.
    """

    cuts: tuple[NDArray[np.float64] | None, ...]
    n_codes: tuple[int, ...]
    base_measure: NDArray[np.int64]
    offsets: NDArray[np.int64]
    is_category: NDArray[np.bool_]
    groups: tuple[NDArray[np.int64] | None, ...]

    @classmethod
    def from_schema(cls, schema: Schema, n_bins: int) -> Candidates:
        """List the candidates. A number has at most `n_bins` bins, unless the schema lists cuts."""
        features = schema.features.values()
        kinds = {feature for feature in features if isinstance(feature, Numeric)}
        known = {kind: cut_points(kind, n_bins) for kind in kinds}  # features are often alike
        cuts, base_measure = list[NDArray[np.float64] | None](), list[NDArray[np.int64]]()
        groups = list[NDArray[np.int64] | None]()
        for feature in features:
            if isinstance(feature, Categorical):
                codes = _category_groups(feature)
                groups.append(codes)
                cuts.append(None)
                n_groups = int(codes[-1]) + 1
                base_measure.append(np.zeros(n_groups, dtype=np.int64))
                if n_groups == 2:
                    base_measure[-1][0] = TOTAL_BASE_MEASURE
            else:
                groups.append(None)
                cuts.append(known[feature][0])
                base_measure.append(np.append(known[feature][1], np.int64(0)))
        return cls._from_features(cuts, base_measure, groups)

    @classmethod
    def _from_features(
        cls,
        cuts: Sequence[NDArray[np.float64] | None],
        base_measure: Sequence[NDArray[np.int64]],
        groups: Sequence[NDArray[np.int64] | None],
    ) -> Candidates:
        n_codes = tuple(len(part) for part in base_measure)
        return cls(
            cuts=tuple(cuts),
            n_codes=n_codes,
            base_measure=np.concatenate(base_measure),
            offsets=np.cumsum((0, *n_codes), dtype=np.int64),
            is_category=np.array(
                [part is None and n != 2 for part, n in zip(cuts, n_codes, strict=True)]
            ),
            groups=tuple(groups),
        )

    def with_cuts(
        self, changed: Mapping[int, tuple[NDArray[np.float64], NDArray[np.int64]]]
    ) -> Candidates:
        """Return the candidates with other cuts, and their base measure, for some features."""
        cuts = list(self.cuts)
        base_measure = np.split(self.base_measure, self.offsets[1:-1])
        for feature, (new_cuts, measure) in changed.items():
            cuts[feature] = new_cuts
            base_measure[feature] = np.append(measure, np.int64(0))
        return self._from_features(cuts, base_measure, self.groups)

    def categories_with_codes(self, feature: int, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions of a feature's categories with these codes, missing ones last."""
        groups = self.groups[feature]
        return np.flatnonzero(np.isin(groups if groups is not None else [], codes))


def _category_groups(feature: Categorical) -> NDArray[np.int64]:
    """Return the code of each category, and of separate missing values: they never share one."""
    n_categories = len(feature.categories)
    n_groups = min(n_categories, MAX_GROUPS - feature.separates_missing)
    groups = np.arange(n_categories, dtype=np.int64) * n_groups // n_categories
    return np.append(groups, np.int64(n_groups)) if feature.separates_missing else groups


def default_n_bins(n_features: int) -> int:
    """Return the number of bins of a numeric feature; many features get fewer bins, for speed."""
    return N_BINS[0 if n_features <= 50 else 1 if n_features <= 200 else 2]


def cut_points(feature: Numeric, n_codes: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the public cut points of a feature, and the base measure of each.

    Cuts increase, with ``low <= cut < high``. There is at least one, unless the range is a single
    number or the schema has an empty list of cuts. There are at most ``n_codes - 1``, unless the
    schema lists more. The base measure is positive, with sum `TOTAL_BASE_MEASURE`.

    If missing values are separate, a cut at minus infinity comes first. It counts as one of the
    ``n_codes - 1``, except that there is always room for a cut between numbers.
    """
    if n_codes < 2:
        raise ParameterError(f"n_bins must be at least 2, got {n_codes}.", "n_bins")
    if not feature.separates_missing:
        return _number_cut_points(feature, n_codes, TOTAL_BASE_MEASURE)
    is_missing = TOTAL_BASE_MEASURE // IS_MISSING_SHARE
    cuts, base_measure = _number_cut_points(
        feature, max(2, n_codes - 1), TOTAL_BASE_MEASURE - is_missing
    )
    if not len(cuts):
        is_missing = TOTAL_BASE_MEASURE
    return np.insert(cuts, 0, -np.inf), np.insert(base_measure, 0, is_missing)


def _number_cut_points(
    feature: Numeric, n_codes: int, total: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the cut points between numbers, with a base measure whose sum is `total`."""
    low, high = float(feature.low), float(feature.high)
    if low == high:
        return np.empty(0), np.empty(0, dtype=np.int64)
    if feature.cuts is not None:
        parts = [(1, np.array(feature.cuts, dtype=np.float64))]
    elif feature.integer and high - low < n_codes:
        parts = [(1, low + 0.5 + np.arange(high - low))]
    else:
        parts = _candidate_cut_grids(low, high, n_codes)
        if feature.integer:
            parts = [(share, np.floor(part) + 0.5) for share, part in parts]
    # Rounding can move a cut to the upper end of the range, where no value is above it.
    last = np.nextafter(high, low)
    parts = [(share, np.sort(np.clip(part, low, last))) for share, part in parts if part.size]
    cuts = np.unique(np.concatenate([np.empty(0), *(part for _, part in parts)]))
    base_measure = np.zeros(len(cuts), dtype=np.int64)
    left, shares_left = total, sum(share for share, _ in parts)
    for share, part in parts:
        mass = left * share // shares_left
        np.add.at(base_measure, np.searchsorted(cuts, part), split_base_measure(mass, len(part)))
        left, shares_left = left - mass, shares_left - share
    return cuts, base_measure


def _candidate_cut_grids(
    low: float, high: float, n_codes: int
) -> list[tuple[int, NDArray[np.float64]]]:
    """Return grids of at most n_codes - 1 cuts in all, and the base measure of each grid."""
    width = high - low
    if n_codes < 8:  # too few for more than one resolution
        return [(1, low + width * (np.arange(1, n_codes) / n_codes))]
    n_even, eighth = n_codes // 2 - 1, n_codes // 8
    even = low + width * (np.arange(1, n_even + 1) / (n_even + 1))
    if low < 0 < high:
        # Such a range is often too wide on both sides: values are near zero or in the middle.
        to_middle = _powers_of_one_half(2, 14, eighth)
        middle = np.concatenate((0.5 - to_middle, 0.5 + to_middle))
        to_zero = max(-low, high) * _powers_of_one_half(1, 20, eighth)
        around = np.concatenate((-to_zero, [0.0], to_zero))
        inside = around[(low < around) & (around < high)]
        return [(2, even), (1, low + width * middle), (1, inside)]
    to_an_end = _powers_of_one_half(1, 14, eighth)
    more = _powers_of_one_half(0.5, 13.5, n_codes // 4)
    return [
        (4, even),
        (1, low + width * to_an_end),
        (1, low + width * (1 - to_an_end)),
        (2, low + width * (more if low >= 0 else 1 - more)),
    ]


def _powers_of_one_half(first: float, last: float, n: int) -> NDArray[np.float64]:
    """Return 2**-x for n exponents x; in Python, because numpy's powers may be inexact."""
    return np.array([2.0**-times for times in np.linspace(first, last, n).tolist()])


def split_base_measure(mass: int, n: int) -> NDArray[np.int64]:
    """Split a whole number into n parts; the first ones are larger by 1 if n does not divide it."""
    least, rest = divmod(mass, n)
    return least + (np.arange(n) < rest).astype(np.int64)


def coarsen_base_measure(base_measure: NDArray[np.int64], n_cuts: int) -> NDArray[np.int64]:
    """Move the base measure of one feature to at most `n_cuts` of its cuts; the sum stays.

    Cuts are grouped at equal steps of the base measure. In each group, the cut that reaches half of
    the group's base measure takes all of it; the others get 0, as where there is no cut. The sum
    times `n_cuts` must be below 2^62.
    """
    places = np.flatnonzero(base_measure)
    if len(places) <= n_cuts:
        return base_measure.copy()
    mass = base_measure[places]
    up_to = np.cumsum(mass)
    step = (2 * up_to - mass) * n_cuts // (2 * up_to[-1])  # in which the middle of the cut lies
    starts = np.flatnonzero(np.diff(step, prepend=-1))
    group = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(step)))
    whole = np.add.reduceat(mass, starts)
    within = up_to - (up_to - mass)[starts][group]
    reached = np.flatnonzero(2 * within >= whole[group])
    _, first = np.unique(group[reached], return_index=True)
    result = np.zeros_like(base_measure)
    result[places[reached[first]]] = whole
    return result
