"""Where a split may cut: public candidate cut points and how likely each is beforehand.

Everything here is a function of the schema alone. Cut points have several resolutions, so that no
budget is spent on finding where the records are: half of the mass lies on an even grid, the rest
approaches both ends, most of all the one nearer zero, in geometric steps; in a range on both sides
of zero, zero and the middle. A skewed feature keeps resolution where its records are, and a range
declared too wide costs little.

Masses are integers: they can be added, compared and drawn from exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.schema import Categorical, Numeric, Schema

TOTAL_MASS = 2**40
"""What the base_measure of the cuts of one feature add up to."""

MAX_GROUPS = 512
"""Codes of a category feature. With more categories, neighbours in their order share a code."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidate splits of every feature of a schema.

    A record's value of a feature is one of its codes: the number of cuts below the value, or the
    position of its category. The codes of all features are numbered through: those of feature i
    are ``offsets[i]`` to ``offsets[i + 1]``, the latter excluded.

    Parameters
    ----------
    cuts : tuple of ndarray of float64, or None
        For each feature its increasing cut points, None for categories. A value equal to a cut
        belongs to its left.
    n_codes : tuple of int
        How many codes each feature has.
    base_measure : ndarray of int64, shape (n_all_codes,)
        For each code of a number the mass of the cut after it, 0 for the last; all 0 for
        categories, unless there are two: then they are like two numbers with a cut between.
    groups : tuple of ndarray of int64, or None
        For each category feature the code of each category; None for numbers.
    offsets : ndarray of int64, shape (n_features + 1,)
        Where the codes of each feature begin.
    is_category : ndarray of bool, shape (n_features,)
        Which features are split by subsets of their codes. Of two categories there is but one
        split: they count as numbers.
    """

    cuts: tuple[NDArray[np.float64] | None, ...]
    n_codes: tuple[int, ...]
    base_measure: NDArray[np.int64]
    offsets: NDArray[np.int64]
    is_category: NDArray[np.bool_]
    groups: tuple[NDArray[np.int64] | None, ...]

    @classmethod
    def of(cls, schema: Schema, n_bins: int) -> Candidates:
        """List the candidates of a schema.

        Parameters
        ----------
        schema : Schema
            What is public.
        n_bins : int
            How many codes a number has at most, unless the schema gives its cuts; at least 2.
        """
        features = schema.features.values()
        kinds = {feature for feature in features if isinstance(feature, Numeric)}
        known = {kind: cut_points(kind, n_bins) for kind in kinds}  # features are often alike
        cuts, base_measure = list[NDArray[np.float64] | None](), list[NDArray[np.int64]]()
        groups = list[NDArray[np.int64] | None]()
        for feature in features:
            if isinstance(feature, Categorical):
                n_groups = min(len(feature.categories), MAX_GROUPS)
                places = np.arange(len(feature.categories), dtype=np.int64)
                groups.append(places * n_groups // len(feature.categories))
                cuts.append(None)
                base_measure.append(np.zeros(n_groups, dtype=np.int64))
                if n_groups == 2:
                    base_measure[-1][0] = TOTAL_MASS
            else:
                groups.append(None)
                cuts.append(known[feature][0])
                base_measure.append(np.append(known[feature][1], np.int64(0)))
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

    def categories(self, feature: int, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The categories of a feature, by their positions, that have one of some codes."""
        groups = self.groups[feature]
        return np.flatnonzero(np.isin(groups if groups is not None else [], codes))


def automatic_bins(n_features: int) -> int:
    """How many codes a number gets if nobody says: fewer in a wide table, for the sake of cost."""
    return 256 if n_features <= 50 else 64 if n_features <= 200 else 16


def cut_points(feature: Numeric, n_codes: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Public cut points of a feature and their base_measure.

    Parameters
    ----------
    feature : Numeric
        Its range, whether it is whole, and its own cuts if it has any.
    n_codes : int
        How many codes it may have, at least 2; its own cuts may make it more.

    Returns
    -------
    cuts : ndarray of float64
        Increasing, ``low <= cut < high``. There is at least one, unless the range is a single
        number or the schema gives an empty list.
    base_measure : ndarray of int64
        Positive, with sum `TOTAL_MASS` (if there are cuts).

    Raises
    ------
    ParameterError
        If `n_codes` is too small.
    """
    if n_codes < 2:
        raise ParameterError(f"n_bins must be >= 2, got {n_codes}.", "n_bins")
    low, high = float(feature.low), float(feature.high)
    if low == high:
        return np.empty(0), np.empty(0, dtype=np.int64)
    if feature.cuts is not None:
        parts = [(1, np.array(feature.cuts, dtype=np.float64))]
    elif feature.integer and high - low < n_codes:
        parts = [(1, low + 0.5 + np.arange(high - low))]
    else:
        parts = _several_resolutions(low, high, n_codes)
        if feature.integer:
            parts = [(share, np.floor(part) + 0.5) for share, part in parts]
    # Only rounding can have moved a cut up to the end of the range, where it would cut off nothing.
    last = np.nextafter(high, low)
    parts = [(share, np.sort(np.clip(part, low, last))) for share, part in parts if part.size]
    cuts = np.unique(np.concatenate([np.empty(0), *(part for _, part in parts)]))
    base_measure = np.zeros(len(cuts), dtype=np.int64)
    left, shares_left = TOTAL_MASS, sum(share for share, _ in parts)
    for share, part in parts:
        mass = left * share // shares_left
        np.add.at(base_measure, np.searchsorted(cuts, part), _even(mass, len(part)))
        left, shares_left = left - mass, shares_left - share
    return cuts, base_measure


def _several_resolutions(
    low: float, high: float, n_codes: int
) -> list[tuple[int, NDArray[np.float64]]]:
    """Parts of a grid, at most n_codes - 1 cuts in all, each with its share of the mass."""
    width = high - low
    if n_codes < 8:  # too few for more than one resolution
        return [(1, low + width * (np.arange(1, n_codes) / n_codes))]
    n_even, eighth = n_codes // 2 - 1, n_codes // 8
    even = low + width * (np.arange(1, n_even + 1) / (n_even + 1))
    if low < 0 < high:
        # Such a range is often generous on both sides: the values are near zero or in the middle.
        to_middle = _halvings(2, 14, eighth)
        middle = np.concatenate((0.5 - to_middle, 0.5 + to_middle))
        to_zero = max(-low, high) * _halvings(1, 20, eighth)
        around = np.concatenate((-to_zero, [0.0], to_zero))
        inside = around[(low < around) & (around < high)]
        return [(2, even), (1, low + width * middle), (1, inside)]
    to_an_end = _halvings(1, 14, eighth)
    more = _halvings(0.5, 13.5, n_codes // 4)
    return [
        (4, even),
        (1, low + width * to_an_end),
        (1, low + width * (1 - to_an_end)),
        (2, low + width * (more if low >= 0 else 1 - more)),
    ]


def _halvings(first: float, last: float, n: int) -> NDArray[np.float64]:
    """Halved so many times; in Python, as numpy's powers need not be exact for whole exponents."""
    return np.array([2.0**-times for times in np.linspace(first, last, n).tolist()])


def _even(mass: int, n: int) -> NDArray[np.int64]:
    """The mass in n equal parts, those at the front larger by one if it does not divide."""
    least, rest = divmod(mass, n)
    return least + (np.arange(n) < rest).astype(np.int64)


def coarser(base_measure: NDArray[np.int64], n_cuts: int) -> NDArray[np.int64]:
    """Move the mass of many cuts of a feature to few of them.

    Parameters
    ----------
    base_measure : ndarray of int64
        Of one feature, 0 where there is no cut. Their sum times `n_cuts` must be below 2^62.
    n_cuts : int
        How many cuts to leave at most, at least 1.

    Returns
    -------
    ndarray of int64
        As long and with the same sum. Cuts are grouped at equal steps of their mass; the one at
        which half the mass of its group is reached takes all of it, the others get 0.
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
