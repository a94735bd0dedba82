"""Exact class counts for every node, feature and code: the only code that touches coded records.

Splits and labels are decided from these counts, through a mechanism. Their names start with
``exact_`` wherever they go: they are secret.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

THREADS = 2
_FEW_RECORDS = 20_000  # below this, starting threads costs more than it saves


class CodedRecords:
    """Records as small integer codes, each at the node of a growing tree it has reached.

    Parameters
    ----------
    codes : sequence of arrays of unsigned integers
        One array for each feature: the code of each record.
    n_codes : sequence of int
        How many codes each feature has.
    labels : array of int32
        The class code of each record.
    n_classes : int
        How many classes there are.

    Notes
    -----
    Active nodes are numbered 0, 1, ... within the current level; at first all records are at
    node 0.
    """

    def __init__(
        self,
        codes: Sequence[NDArray[Any]],
        n_codes: Sequence[int],
        labels: NDArray[np.int32],
        n_classes: int,
    ) -> None:
        self._codes = list(codes)
        self.n_codes = list(n_codes)
        self._labels = labels
        self._n_classes = n_classes
        self._nodes = np.zeros(len(labels), dtype=np.int32)  # -1 once a record is in a leaf

    def class_counts(self, n_nodes: int) -> list[NDArray[np.int64]]:
        """For each feature, an array (node, code, class) of exact counts."""
        slots = self._slots()
        tables = [
            np.zeros((n_nodes * self._n_classes, n_codes), dtype=np.int64)
            for n_codes in self.n_codes
        ]
        self._for_each(
            lambda feature: _count_codes(self._codes[feature], slots, tables[feature]),
            range(len(tables)),
        )
        shape = (n_nodes, self._n_classes, -1)
        return [table.reshape(shape).transpose(0, 2, 1) for table in tables]

    def class_totals(self, n_nodes: int) -> NDArray[np.int64]:
        """An array (node, class) of exact counts."""
        slots = self._slots()
        counts = np.bincount(slots[slots >= 0], minlength=n_nodes * self._n_classes)
        return counts.reshape(n_nodes, self._n_classes).astype(np.int64)

    def descend(self, features: NDArray[np.int32], children: NDArray[np.int32]) -> None:
        """Move every record to the next level.

        Parameters
        ----------
        features : array (node,)
            The feature each node splits on; -1 where it became a leaf.
        children : array (node, code)
            The number, in the next level, of the child that a code goes to.
        """
        was_at = self._nodes
        now_at = np.full_like(was_at, -1)
        self._for_each(
            lambda feature: _move(
                self._codes[feature], np.int32(feature), features, children, was_at, now_at
            ),
            np.unique(features[features >= 0]).tolist(),
        )
        self._nodes = now_at

    def _slots(self) -> NDArray[np.int32]:
        """Node and class of each record as one number; -1 for records already in a leaf."""
        slots = self._nodes * np.int32(self._n_classes) + self._labels
        return np.where(self._nodes >= 0, slots, np.int32(-1))

    def _for_each(self, work: Callable[[int], None], features: Sequence[int]) -> None:
        if len(self._labels) < _FEW_RECORDS:
            for feature in features:
                work(feature)
        else:
            with ThreadPoolExecutor(max_workers=THREADS) as pool:
                list(pool.map(work, features))


def code_numbers(values: NDArray[np.float64], cuts: NDArray[np.float64]) -> NDArray[Any]:
    """How many of the increasing cuts lie below each value, in one byte if they fit."""
    codes = np.empty(len(values), dtype=np.min_scalar_type(len(cuts)))
    _code(values, cuts, codes)
    return codes


@njit(cache=True, nogil=True)
def _count_codes(codes: Any, slots: Any, table: Any) -> None:
    for record in range(codes.size):
        slot = slots[record]
        if slot >= 0:
            table[slot, codes[record]] += 1


@njit(cache=True, nogil=True)
def _move(codes: Any, feature: Any, features: Any, children: Any, was_at: Any, now_at: Any) -> None:
    for record in range(codes.size):
        node = was_at[record]
        if node >= 0 and features[node] == feature:
            now_at[record] = children[node, codes[record]]


@njit(cache=True, nogil=True)
def _code(values: Any, cuts: Any, codes: Any) -> None:
    for record in range(values.size):
        value = values[record]
        low, length = 0, cuts.size
        while length > 0:  # halving without unpredictable branches
            half = (length + 1) >> 1
            low += half if cuts[low + half - 1] < value else 0
            length -= half
        codes[record] = low
