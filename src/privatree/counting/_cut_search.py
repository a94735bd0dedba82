"""How many cuts lie below a number, for many numbers of many features at once.

The range of a feature's cuts is divided into many equal buckets. Which bucket a number is in takes
a subtraction and a product; a table says how many cuts lie in lower buckets, and most buckets have
no more than one cut, so that one comparison decides. This is exact, whatever rounding does: the
bucket never falls as the number grows, so the cuts of lower buckets are below a number and those of
higher ones are not, as long as one function computes the buckets of numbers and of cuts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.kernels.compiling import compiled

_BUCKETS_PER_CUT, _MAX_BUCKETS = 16, 4096


class CutSearch:
    """A search among the cuts of some features.

    Parameters
    ----------
    cuts : sequence of ndarray of float64
        For each feature its cut points, increasing and finite. There may be none.
    missing : sequence of int
        For each feature the code of NaN.
    """

    def __init__(self, cuts: Sequence[NDArray[np.float64]], missing: Sequence[int]) -> None:
        sizes = [max(1, min(_BUCKETS_PER_CUT * len(part), _MAX_BUCKETS)) for part in cuts]
        # Behind the cuts of each feature comes an infinity: no number is above that.
        self._cuts = np.concatenate([np.empty(0), *(np.append(part, np.inf) for part in cuts)])
        self._cut_starts = _starts([len(part) + 1 for part in cuts])
        self._sizes = np.array(sizes, dtype=np.int64)
        self._lows = np.array([part[0] if len(part) else 0.0 for part in cuts], dtype=np.float64)
        self._scales = np.array([_scale(*pair) for pair in zip(cuts, sizes, strict=True)])
        largest = 2 * max((len(part) + 1 for part in cuts), default=0)
        self._below = np.concatenate(
            [np.empty(0, dtype=np.int64)]
            + [self._cuts_below(f, *pair) for f, pair in enumerate(zip(cuts, missing, strict=True))]
        ).astype(np.uint16 if largest < 2**16 else np.uint32)
        self._below_starts = _starts([size + 1 for size in sizes])

    def _cuts_below(self, f: int, cuts: NDArray[np.float64], missing: int) -> NDArray[np.int64]:
        """For each bucket of a feature how many cuts lie in lower ones; last, the code of NaN.

        Where a bucket has several cuts, their number and one are added as a mark.
        """
        size = int(self._sizes[f])
        buckets = np.empty(len(cuts), dtype=np.int32)
        _find_buckets(cuts, self._lows[f], self._scales[f], size, buckets)
        below = np.searchsorted(buckets, np.arange(size + 1)).astype(np.int64)
        below[:-1][np.diff(below) > 1] += len(cuts) + 1
        below[-1] = missing
        return below

    def code(
        self, numbers: NDArray[np.float64], codes: NDArray[Any], places: NDArray[np.int64]
    ) -> None:
        """Fill some columns of a matrix of codes.

        Parameters
        ----------
        numbers : ndarray of float64, shape (n_features, at least n_rows)
            C-contiguous. Numbers need not be clipped to their range first: every cut lies inside
            it, so a number beyond it has the same cuts below it as the end of the range.
        codes : ndarray of unsigned integers, shape (n_rows, any)
            C-contiguous. How many cuts lie below each number is written into it; a number equal to
            a cut belongs to its left.
        places : ndarray of int64, shape (n_features,)
            The columns to fill.
        """
        _code(
            numbers, self._lows, self._scales, self._sizes, self._below, self._below_starts,
            self._cuts, self._cut_starts, codes, places,
        )  # fmt: skip


def _starts(lengths: Sequence[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *lengths], dtype=np.int64)


def _scale(cuts: NDArray[np.float64], size: int) -> float:
    """Buckets per unit. Nothing else is asked of it than not to be negative or NaN.

    If the cuts are so far apart that it is zero, all are in one bucket; if they are so close that
    it is infinite, numbers below the first, at it and above it are apart.
    """
    if len(cuts) < 2:
        return 0.0
    with np.errstate(all="ignore"):
        return float(size / (cuts[-1] - cuts[0]))


_unsigned = np.uint64  # an unsigned index spares the kernel a test for negative ones


@compiled
def _find_buckets(
    values: Any, low: Any, scale: Any, size: Any, buckets: Any
) -> None:  # pragma: no cover
    """The bucket of each value: 0 to `size` - 1, also for those beyond the cuts; `size` for NaN."""
    last, of_nan = np.float64(size - 1), np.int32(size)
    for row in range(len(buckets)):
        value = values[row]
        place = (value - low) * scale
        place = place if place > 0.0 else 0.0  # so is NaN: no number times infinity or zero
        place = place if place < last else last
        buckets[row] = np.int32(place) if value == value else of_nan


@compiled
def _search(cuts: Any, value: Any, at: Any, end: Any) -> Any:  # pragma: no cover
    """How many cuts lie below a value, of which it is known to be `at` to `end`."""
    while at < end:
        middle = (at + end) >> _unsigned(1)
        if cuts[middle] < value:
            at = middle + _unsigned(1)
        else:
            end = middle
    return at


@compiled
def _code(
    numbers: Any, lows: Any, scales: Any, sizes: Any, below: Any, below_starts: Any,
    all_cuts: Any, cut_starts: Any, codes: Any, places: Any,
) -> None:  # fmt: skip  # pragma: no cover
    """Feature by feature: first all buckets, which the processor finds several at a time."""
    n_rows = len(codes)
    buckets = np.empty(n_rows, dtype=np.int32)
    for feature in range(len(places)):
        values, place = numbers[feature, :n_rows], _unsigned(places[feature])
        cuts = all_cuts[cut_starts[feature] : cut_starts[feature + 1]]
        table = below[below_starts[feature] : below_starts[feature + 1]]
        mark = _unsigned(len(cuts))
        _find_buckets(values, lows[feature], scales[feature], sizes[feature], buckets)
        for row in range(_unsigned(n_rows)):
            value = values[row]
            at = _unsigned(table[_unsigned(buckets[row])])
            if at >= mark:
                at = _search(cuts, value, at - mark, mark)
            else:
                at += _unsigned(1) if cuts[at] < value else _unsigned(0)
            codes[row, place] = at
