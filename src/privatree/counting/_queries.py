"""What one pass over records answers: a query, and an answer that adds up.

An answer starts empty, takes batches of rows, and merges with other answers to the same query
by addition of 64-bit integers. So neither the order of the rows nor how they are divided among
threads, files or machines can matter.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from privatree.counting._binner import Binner
from privatree.counting._counts import BinnedRecords, Router, Wanted
from privatree.tables import Batch

_PIECE = 2**20  # counts that are sent together: 8 MiB


class Partial(ABC):
    """What has been counted so far."""

    @abstractmethod
    def add(self, batch: Batch) -> None:
        """Count some more rows."""

    @abstractmethod
    def merge(self, other: Any) -> None:
        """Add what another answer to the same query counted."""


class SerializablePartial(Partial):
    """An answer that can go from one process to another, in parts that add up one by one."""

    @abstractmethod
    def pieces(self) -> Iterator[tuple[int, bytes]]:
        """The number of each part, and its content."""

    @abstractmethod
    def take(self, part: int, content: bytes) -> None:
        """Add a part that was sent."""

    @staticmethod
    @abstractmethod
    def merge_serialized(one: bytes, other: bytes) -> bytes:
        """The sum of the same part of two answers."""


AnyPartial = TypeVar("AnyPartial", bound=Partial)


class Query(ABC, Generic[AnyPartial]):
    """Something to count in one pass. Public: it says what was released so far, no more."""

    @abstractmethod
    def start(self) -> AnyPartial:
        """An answer before any row."""

    @property
    def size(self) -> int:
        """About how many numbers an answer holds."""
        return 0


@dataclass(frozen=True)
class CountQuery(Query["CountPartial"]):
    """Class counts of some nodes.

    Parameters
    ----------
    binner : Binner
        How rows become codes.
    router : Router
        The tree so far, and which of its nodes are asked about.
    wanted : tuple of Wanted or None
        For each of these what is asked besides the class counts.
    """

    binner: Binner
    router: Router
    wanted: tuple[Wanted | None, ...]

    def start(self) -> CountPartial:
        """An answer before any row."""
        return CountPartial(self, np.zeros(self.size, dtype=np.int64))

    @property
    def size(self) -> int:
        """How many counts an answer holds: one is the number of rows."""
        return 1 + sum(int(np.prod(shape)) for shape in self.shapes)

    @cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        """Of the tables: class counts of all nodes, then what is wanted of each."""
        table = (len(self.binner.schema.classes), sum(self.binner.n_codes))
        shapes: list[tuple[int, ...]] = [(len(self.wanted), *table)]
        for wanted in self.wanted:
            if wanted is not None:
                upper = () if wanted.upper is None else (wanted.upper.n_rows,)
                shapes.append((*upper, wanted.rows.n_rows, *table))
        return shapes


class CountPartial(SerializablePartial):
    """Counts, all in one array of 64-bit integers.

    Parameters
    ----------
    query : CountQuery
        What is counted.
    exact : array of int64
        The number of rows, then the tables of the query one after the other.
    """

    def __init__(self, query: CountQuery, exact: NDArray[np.int64]) -> None:
        self._query, self._exact = query, exact

    @property
    def exact_rows(self) -> int:
        """How many rows there are, those without a known label included."""
        return int(self._exact[0])

    @cached_property
    def tables(self) -> list[NDArray[np.int64]]:
        """The tables of the query."""
        ends = np.cumsum([1, *(int(np.prod(shape)) for shape in self._query.shapes)])
        return [
            self._exact[start:stop].reshape(shape)
            for start, stop, shape in zip(ends[:-1], ends[1:], self._query.shapes, strict=True)
        ]

    def add(self, batch: Batch) -> None:
        """Count some more rows."""
        query = self._query
        codes, labels = query.binner.code(batch)
        n_classes = len(query.binner.schema.classes)
        records = BinnedRecords(codes, query.binner.n_codes, labels, n_classes, threads=1)
        records.follow(query.router)
        self._exact[0] += batch.n_rows
        exact_counts, *higher = self.tables
        records.add_class_counts(exact_counts)
        asked = [(node, wanted) for node, wanted in enumerate(query.wanted) if wanted]
        for (node, wanted), table in zip(asked, higher, strict=True):
            records.add_wanted(node, wanted, table)

    def merge(self, other: CountPartial) -> None:
        """Add what another answer to the same query counted."""
        self._exact += other._exact

    def pieces(self) -> Iterator[tuple[int, bytes]]:
        """Everything, to be sent."""
        for part, start in enumerate(range(0, len(self._exact), _PIECE)):
            yield part, self._exact[start : start + _PIECE].tobytes()

    def take(self, part: int, content: bytes) -> None:
        """Add a part that was sent."""
        exact = np.frombuffer(content, dtype=np.int64)
        self._exact[part * _PIECE : part * _PIECE + len(exact)] += exact

    @staticmethod
    def merge_serialized(one: bytes, other: bytes) -> bytes:
        """The sum of the same part of two answers."""
        return (np.frombuffer(one, np.int64) + np.frombuffer(other, np.int64)).tobytes()
