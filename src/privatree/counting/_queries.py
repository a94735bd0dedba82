"""Queries that one pass over all records answers, and the partial sums that add up to an answer.

A partial sum starts empty, takes batches of rows, and merges with other partial sums of the same
query by addition of 64-bit integers. So the result depends neither on the order of the rows nor on
how they are divided among threads, files or machines.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from privatree.counting._binner import Binner
from privatree.counting._counts import BinnedRecords, Router, Wanted
from privatree.tables import Batch

if TYPE_CHECKING:
    from privatree.counting._weights import Weigher

_PART_SIZE = 2**20  # number of counts that are sent together: 8 MiB


def full_weight_of(weigher: Weigher | None) -> int:
    """Return what a record weighs at most; 1 without a weigher, which counts records."""
    return 1 if weigher is None else weigher.full_weight


class Partial(ABC):
    """Partial sum: the answer to a query for the rows that were added so far."""

    @abstractmethod
    def add_batch(self, batch: Batch) -> None: ...

    @abstractmethod
    def merge(self, other: Any) -> None:
        """Add another partial sum of the same query."""


class SerializablePartial(Partial):
    """Partial sum that can be sent to another process in numbered parts, to be added there."""

    @abstractmethod
    def serialize_parts(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number of each part, and its content."""

    @abstractmethod
    def add_serialized(self, part: int, content: bytes) -> None:
        """Add a part that another process sent."""

    @staticmethod
    @abstractmethod
    def merge_serialized(one: bytes, other: bytes) -> bytes:
        """Add up the contents of the same part of two partial sums."""


AnyPartial = TypeVar("AnyPartial", bound=Partial)


class Query(ABC, Generic[AnyPartial]):
    """Question to all records, answered in one pass.

    It holds nothing but released values and, if records have units, the totals of their weights.
    """

    @abstractmethod
    def new_partial(self) -> AnyPartial:
        """Return the partial sum of no rows."""

    @property
    def size(self) -> int:
        """Approximate number of counts in a partial sum."""
        return 0


# --- tables of whole numbers ---------------------------------------------------------------------


class TableQuery(Query[AnyPartial]):
    """Question whose answer is some tables of 64-bit integers."""

    @property
    @abstractmethod
    def shapes(self) -> list[tuple[int, ...]]:
        """Shapes of the tables."""

    @property
    def size(self) -> int:
        return 1 + sum(int(np.prod(shape)) for shape in self.shapes)


AnyTableQuery = TypeVar("AnyTableQuery", bound=TableQuery[Any])


class TablePartial(SerializablePartial, Generic[AnyTableQuery]):
    """Tables in one array of 64-bit integers: the number of rows, then all tables of the query."""

    def __init__(self, query: AnyTableQuery, exact: NDArray[np.int64] | None = None) -> None:
        self._query = query
        self._exact = np.zeros(query.size, dtype=np.int64) if exact is None else exact

    @property
    def exact_rows(self) -> int:
        """Number of rows, including those without a known label."""
        return int(self._exact[0])

    def count_rows(self, n_rows: int) -> None:
        """Add to the number of rows."""
        self._exact[0] += n_rows

    @cached_property
    def tables(self) -> list[NDArray[np.int64]]:
        ends = np.cumsum([1, *(int(np.prod(shape)) for shape in self._query.shapes)])
        return [
            self._exact[start:stop].reshape(shape)
            for start, stop, shape in zip(ends[:-1], ends[1:], self._query.shapes, strict=True)
        ]

    def merge(self, other: TablePartial[AnyTableQuery]) -> None:
        self._exact += other._exact

    def serialize_parts(self) -> Iterator[tuple[int, bytes]]:
        for part, start in enumerate(range(0, len(self._exact), _PART_SIZE)):
            yield part, self._exact[start : start + _PART_SIZE].tobytes()

    def add_serialized(self, part: int, content: bytes) -> None:
        exact = np.frombuffer(content, dtype=np.int64)
        self._exact[part * _PART_SIZE : part * _PART_SIZE + len(exact)] += exact

    @staticmethod
    def merge_serialized(one: bytes, other: bytes) -> bytes:
        return (np.frombuffer(one, np.int64) + np.frombuffer(other, np.int64)).tobytes()


# --- class counts of nodes ----------------------------------------------------------------------


@dataclass(frozen=True)
class CountQuery(TableQuery["CountPartial"]):
    """Class counts of the nodes that `router` reaches, and the pair and triple counts `wanted`."""

    binner: Binner
    router: Router
    wanted: tuple[Wanted | None, ...]
    weigher: Weigher | None = None

    def new_partial(self) -> CountPartial:
        return CountPartial(self)

    @cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        """Shapes of the tables: class counts of all nodes, then pair or triple counts of each."""
        table = (self.binner.n_classes, sum(self.binner.n_codes))
        shapes: list[tuple[int, ...]] = [(len(self.wanted), *table)]
        for wanted in self.wanted:
            if wanted is not None:
                upper = () if wanted.upper is None else (wanted.upper.n_rows,)
                shapes.append((*upper, wanted.rows.n_rows, *table))
        return shapes


class CountPartial(TablePartial["CountQuery"]):
    """Class counts of all nodes, then the pair or triple counts of each node that needs them."""

    def add_batch(self, batch: Batch) -> None:
        query = self._query
        codes, labels, weights = query.binner.bin_and_weigh(batch, query.weigher)
        n_classes = query.binner.n_classes
        records = BinnedRecords(
            codes,
            query.binner.n_codes,
            labels,
            n_classes,
            threads=1,
            weights=weights,
            full_weight=full_weight_of(query.weigher),
        )
        records.follow_router(query.router)
        self.count_rows(batch.n_rows)
        exact_counts, *higher = self.tables
        records.add_class_counts(exact_counts)
        asked = [(node, wanted) for node, wanted in enumerate(query.wanted) if wanted]
        for (node, wanted), table in zip(asked, higher, strict=True):
            records.add_wanted(node, wanted, table)


# --- the records themselves ---------------------------------------------------------------------


@dataclass(frozen=True)
class CollectQuery(Query["CollectPartial"]):
    """Binned records with a known label, in any order, for a learner that counts in memory."""

    binner: Binner
    weigher: Weigher | None = None

    def new_partial(self) -> CollectPartial:
        return CollectPartial(self.binner, self.weigher)


class CollectPartial(Partial):
    """Binned records that were added so far. They never leave this process."""

    def __init__(self, binner: Binner, weigher: Weigher | None) -> None:
        self._binner, self._weigher = binner, weigher
        self._parts: list[tuple[NDArray[Any], NDArray[Any], NDArray[np.int32] | None]] = []
        self._exact_rows = 0

    def add_batch(self, batch: Batch) -> None:
        self._parts.append(self._binner.bin_and_weigh(batch, self._weigher))
        self._exact_rows += batch.n_rows

    def merge(self, other: CollectPartial) -> None:
        self._parts += other._parts
        self._exact_rows += other._exact_rows

    def collected_records(self) -> tuple[BinnedRecords, int]:
        """Return the records, and the number of rows. This can be called only once."""
        n_codes, n_classes = self._binner.n_codes, self._binner.n_classes
        n_known = sum(len(labels) for _, labels, _ in self._parts)
        codes = np.empty((n_known, len(n_codes)), np.min_scalar_type(max(n_codes) - 1))
        labels = np.empty(n_known, np.min_scalar_type(n_classes - 1))
        weights = None if self._weigher is None else np.empty(n_known, np.int32)
        self._parts.reverse()
        end = 0
        while self._parts:  # each part is freed as soon as it is copied
            some_codes, some_labels, some_weights = self._parts.pop()
            start, end = end, end + len(some_labels)
            codes[start:end], labels[start:end] = some_codes, some_labels
            if weights is not None and some_weights is not None:
                weights[start:end] = some_weights
        records = BinnedRecords(
            codes,
            n_codes,
            labels,
            n_classes,
            weights=weights,
            full_weight=full_weight_of(self._weigher),
        )
        return records, self._exact_rows
