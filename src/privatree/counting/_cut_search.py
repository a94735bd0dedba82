"""Bins of numbers: how many cuts lie below each, for many numbers of many features at once.

The range of a feature's cuts is divided into equal buckets. A subtraction and a product give the
bucket of a number. A table gives the number of cuts in lower buckets. Most buckets have at most one
cut, so one comparison decides. The result is exact, whatever rounding does: a larger number never
has a lower bucket, and the same function computes the buckets of numbers and of cuts. So all cuts
of lower buckets are below the number, and no cut of a higher bucket is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.kernels.compiling import compiled

_BUCKETS_PER_CUT, _MAX_BUCKETS = 16, 4096
_MANY_CUTS = 2  # buckets per cut, at least, where there are more cuts than that


class CutSearch:
    """Prepared search among the increasing cuts of some features.

    `missing` is the bin of NaN for each feature. All cuts are finite, except that the first may be
    minus infinity: then all numbers are above it, minus infinity too.
    """

    def __init__(self, cuts: Sequence[NDArray[np.float64]], missing: Sequence[int]) -> None:
        finite = [part[np.isfinite(part)] for part in cuts]
        sizes = [_n_cut_buckets(len(part)) for part in finite]
        # Infinity follows the cuts of each feature: no number is above it.
        self._cuts = np.concatenate([np.empty(0), *(np.append(part, np.inf) for part in cuts)])
        self._cut_starts = _cut_search_starts([len(part) + 1 for part in cuts])
        self._sizes = np.array(sizes, dtype=np.int64)
        self._lows = np.array([part[0] if len(part) else 0.0 for part in finite], dtype=np.float64)
        self._scales = np.array(
            [_cut_buckets_per_unit(*pair) for pair in zip(finite, sizes, strict=True)]
        )
        largest = 2 * max((len(part) + 1 for part in cuts), default=0)
        self._below = np.concatenate(
            [np.empty(0, dtype=np.int64)]
            + [self._cuts_below(f, *pair) for f, pair in enumerate(zip(cuts, missing, strict=True))]
        ).astype(np.uint16 if largest < 2**16 else np.uint32)
        self._below_starts = _cut_search_starts([size + 1 for size in sizes])

    def _cuts_below(self, f: int, cuts: NDArray[np.float64], missing: int) -> NDArray[np.int64]:
        """Return, for each bucket of a feature, the number of cuts in lower buckets.

        The last entry is the bin of NaN. The entry of a bucket with several cuts is marked: the
        number of the feature's cuts plus 1 is added to it. A cut of minus infinity is in none.
        """
        size = int(self._sizes[f])
        finite = cuts[np.isfinite(cuts)]
        buckets = np.empty(len(finite), dtype=np.int32)
        _find_cut_buckets(finite, self._lows[f], self._scales[f], size, buckets)
        below = np.searchsorted(buckets, np.arange(size + 1)).astype(np.int64)
        below += len(cuts) - len(finite)
        below[:-1][np.diff(below) > 1] += len(cuts) + 1
        below[-1] = missing
        return below

    def fill_bins(
        self, numbers: NDArray[np.float64], codes: NDArray[Any], places: NDArray[np.int64]
    ) -> None:
        """Write the bins of `numbers`, shape (feature, row), into columns `places` of `codes`.

        Both arrays are C-contiguous; `numbers` may have more rows than `codes`. A number equal to a
        cut belongs to the bin on its left. Numbers beyond the range need no clipping: every cut
        lies inside the range, so they get the first or the last bin.
        """
        _fill_bins(
            numbers, self._lows, self._scales, self._sizes, self._below, self._below_starts,
            self._cuts, self._cut_starts, codes, places,
        )  # fmt: skip


def _n_cut_buckets(n_cuts: int) -> int:
    most = max(_MAX_BUCKETS, _MANY_CUTS * n_cuts)
    return max(1, min(_BUCKETS_PER_CUT * n_cuts, most))


def _cut_search_starts(lengths: Sequence[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *lengths], dtype=np.int64)


def _cut_buckets_per_unit(cuts: NDArray[np.float64], size: int) -> float:
    """Return the number of buckets per unit. With any number from 0 to infinity, bins are exact.

    It is zero if the cuts are very far apart: then all are in one bucket. It is infinite if they
    are very close: then numbers below, at and above the first cut are in different buckets.
    """
    if len(cuts) < 2:
        return 0.0
    with np.errstate(all="ignore"):
        return float(size / (cuts[-1] - cuts[0]))


_unsigned = np.uint64  # with an unsigned index the kernel does not test for negative values


@compiled
def _find_cut_buckets(
    values: Any, low: Any, scale: Any, size: Any, buckets: Any
) -> None:  # pragma: no cover
    """Write the bucket of each value: 0 to `size` - 1, or `size` for NaN."""
    last, of_nan = np.float64(size - 1), np.int32(size)
    for row in range(len(buckets)):
        value = values[row]
        place = (value - low) * scale
        place = place if place > 0.0 else 0.0  # NaN too: zero times infinity
        place = place if place < last else last
        buckets[row] = np.int32(place) if value == value else of_nan


@compiled
def _count_cuts_below(cuts: Any, value: Any, at: Any, end: Any) -> Any:  # pragma: no cover
    """Return how many cuts lie below a value, by bisection from `at` to `end`."""
    while at < end:
        middle = (at + end) >> _unsigned(1)
        if cuts[middle] < value:
            at = middle + _unsigned(1)
        else:
            end = middle
    return at


@compiled
def _fill_bins(
    numbers: Any, lows: Any, scales: Any, sizes: Any, below: Any, below_starts: Any,
    all_cuts: Any, cut_starts: Any, codes: Any, places: Any,
) -> None:  # fmt: skip  # pragma: no cover
    """Write the bins of one feature after the other. Vector code finds its buckets first."""
    n_rows = len(codes)
    buckets = np.empty(n_rows, dtype=np.int32)
    for feature in range(len(places)):
        values, place = numbers[feature, :n_rows], _unsigned(places[feature])
        cuts = all_cuts[cut_starts[feature] : cut_starts[feature + 1]]
        table = below[below_starts[feature] : below_starts[feature + 1]]
        mark = _unsigned(len(cuts))
        _find_cut_buckets(values, lows[feature], scales[feature], sizes[feature], buckets)
        for row in range(_unsigned(n_rows)):
            value = values[row]
            at = _unsigned(table[_unsigned(buckets[row])])
            if at >= mark:
                at = _count_cuts_below(cuts, value, at - mark, mark)
            else:
                at += _unsigned(1) if cuts[at] < value else _unsigned(0)
            codes[row, place] = at
