"""A pass that keeps the records themselves, as codes, for a learner that then counts in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.counting._binner import Binner
from privatree.counting._counts import BinnedRecords
from privatree.counting._queries import Partial, Query
from privatree.tables import Batch


@dataclass(frozen=True)
class CollectQuery(Query["CollectPartial"]):
    """All records that have a known label, in any order."""

    binner: Binner

    def start(self) -> CollectPartial:
        """An answer before any row."""
        return CollectPartial(self.binner)


class CollectPartial(Partial):
    """Coded records, which never leave this process."""

    def __init__(self, binner: Binner) -> None:
        self._coder = binner
        self._parts: list[tuple[NDArray[Any], NDArray[Any]]] = []
        self._exact_rows = 0

    def add(self, batch: Batch) -> None:
        """Keep some more rows."""
        self._parts.append(self._coder.code(batch))
        self._exact_rows += batch.n_rows

    def merge(self, other: CollectPartial) -> None:
        """Add the records of another answer."""
        self._parts += other._parts
        self._exact_rows += other._exact_rows

    def records(self) -> tuple[BinnedRecords, int]:
        """The records, and the number of rows."""
        binner = self._coder
        n_known = sum(len(labels) for _, labels in self._parts)
        n_classes = len(binner.schema.classes)
        codes = np.empty(
            (n_known, len(binner.n_codes)), np.min_scalar_type(max(binner.n_codes) - 1)
        )
        labels = np.empty(n_known, np.min_scalar_type(n_classes - 1))
        self._parts.reverse()
        end = 0
        while self._parts:  # each part is given up as soon as it is copied
            some_codes, some_labels = self._parts.pop()
            start, end = end, end + len(some_labels)
            codes[start:end], labels[start:end] = some_codes, some_labels
        return BinnedRecords(codes, binner.n_codes, labels, n_classes), self._exact_rows
