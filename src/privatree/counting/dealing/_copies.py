"""Numbers of rows that are equal: 1, 2, 3 and so on, in the order in which they come."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from privatree.counting.dealing._kernels import move_copies, number_copies
from privatree.errors import SourceError

MAX_DISTINCT = 10**8
"""Largest number of different rows that one process can number: about 6 GB."""


class CopyCounter:
    """Counter of equal rows in one pass. Several threads can use it.

    Which of several equal rows gets which number depends on who comes first. The set of numbers
    does not, and equal rows are equal.

    Examples
    --------
    >>> counter = CopyCounter()
    >>> rows = np.array([[5, 7, 5], [0, 0, 0]], dtype=np.uint64)
    >>> counter.number(rows).tolist(), counter.number(rows[:, :1]).tolist()
    ([1, 1, 2], [3])
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._exact_distinct = 0
        self._keys = np.empty((2, 0), dtype=np.uint64)
        self._exact_counts = np.zeros(0, dtype=np.int64)

    def number(self, fingerprints: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the number of each row among its equals. `fingerprints` is an array (2, row)."""
        numbers = np.empty(fingerprints.shape[1], dtype=np.int64)
        with self._turn:
            self._make_room(len(numbers))
            self._exact_distinct += number_copies(
                fingerprints, self._keys, self._exact_counts, numbers
            )
            if self._exact_distinct > MAX_DISTINCT:
                raise SourceError(
                    f"there must be at most {MAX_DISTINCT:,} different rows for a hold-out without "
                    "units in one process. Name a unit, whose records are dealt by its id, or "
                    "train with Spark: SparkSource numbers equal rows on the cluster."
                )
        return numbers

    def exact_copies(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Return the different fingerprints so far, an array (2, row), and how many each has."""
        here = self._exact_counts > 0
        return self._keys[:, here], self._exact_counts[here]

    def continue_after(
        self, fingerprints: NDArray[np.uint64], exact_counts: NDArray[np.int64]
    ) -> None:
        """Number as if so many rows of different fingerprints had come before."""
        with self._turn:
            self._make_room(len(exact_counts))
            places = (self._keys, self._exact_counts)
            move_copies(np.ascontiguousarray(fingerprints), exact_counts, *places)
            self._exact_distinct += len(exact_counts)

    def _make_room(self, n_rows: int) -> None:
        """Make the table so large that a third of it stays free after `n_rows` new rows."""
        wanted = 3 * (self._exact_distinct + n_rows) // 2 + 1
        if wanted <= len(self._exact_counts):
            return
        size = 1 << max(10, (wanted - 1).bit_length())
        keys, exact_counts = np.empty((2, size), np.uint64), np.zeros(size, np.int64)
        move_copies(self._keys, self._exact_counts, keys, exact_counts)
        self._keys, self._exact_counts = keys, exact_counts
