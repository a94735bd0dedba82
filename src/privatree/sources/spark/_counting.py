"""Functions that the executors of a Spark cluster run: they count rows and merge counts.

No row leaves its executor. Only serialized parts of the counts do. A task that Spark runs twice,
because it was lost or slow, does not count twice: Spark uses the complete output of one successful
attempt for each partition. (An accumulator would count twice.)
"""

from __future__ import annotations

import pickle
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from privatree import __version__
from privatree.counting import Query, SerializablePartial
from privatree.counting.dealing import CopyCounter, Part, PassDealing
from privatree.errors import PrivatreeError, SourceError
from privatree.sources._file_sources import FileSource
from privatree.tables import Batch, LazyColumn, arrow_column_type, read_arrow_column

PART_COLUMNS = "part int, sender int, n_rows long, content binary"
"""Output of a task: number of the part, partition, number of rows (only with part 0), content."""

ERROR_PART = -1
"""Number of a part whose content is an error message."""

TARGET = "target"
"""Name of the column of labels. Columns that are not named here are features."""
WEIGHT = "weight"
"""Name of the column of sample weights, if there is one."""
TOTAL = "total"
"""Name of the column of what the records of the row's unit weigh together, if there are units."""
HELD_OUT = "held_out"
"""Name of the column that says whether the row's unit is held out, if there are units."""
FIRST: str = "first"
SECOND: str = "second"
"""Columns of the two halves of the fingerprint of a row, if rows are dealt."""
NUMBER: str = "number"
"""Column of the number of a row among equal rows, if rows are dealt."""

OTHER_VERSION = "executors must run the same privatree as the driver"
"""Error of an executor with another version. The driver searches Spark's message for it."""

CopiesOfFiles: TypeAlias = Mapping[int, tuple[NDArray[np.uint64], NDArray[np.int64]]]

_ROWS = 2**16  # rows that are binned together; Spark sends smaller batches


def versions_for_counting() -> tuple[str, str]:
    """Return the versions of privatree and Python, which must be the same in every process."""
    return __version__, ".".join(platform.python_version_tuple()[:2])


def check_executor_version(version: tuple[str, str]) -> None:
    """Raise a SourceError if an executor has other versions than the driver."""
    if version != versions_for_counting():
        raise SourceError(OTHER_VERSION)


@dataclass(frozen=True)
class RowsTask:
    """Query about the rows of a data frame, pickled and sent to executors."""

    query: Query[Any]
    has_units: bool
    """Whether rows have units, and so must come with the totals of their units."""
    part: Part | None = None
    """The part that counts; None if all rows do."""

    def read_task_batches(self, table: Any) -> Iterator[Batch]:
        """Return the rows of an Arrow table as a batch."""
        side = {name: table.column(name).to_numpy() for name in self._side_columns}
        batch = rows_to_batch(table.drop_columns(list(side)))
        if self.has_units:
            batch = replace(batch, exact_unit_totals=side[TOTAL])
        yield batch if self.part is None else self.part.select(batch, self._are_held_out(side))

    @property
    def _side_columns(self) -> tuple[str, ...]:
        """Columns that are not of the records themselves."""
        if self.has_units:
            return TOTAL, HELD_OUT
        return () if self.part is None else (FIRST, SECOND, NUMBER)

    def _are_held_out(self, side: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
        if self.has_units:
            return side[HELD_OUT]
        fingerprints = np.stack([side[FIRST], side[SECOND]]).view(np.uint64)
        dealing = cast(Part, self.part).dealing
        return dealing.are_held_out(fingerprints, side[NUMBER])


@dataclass(frozen=True)
class FilesTask:
    """Query about the rows of files that executors read, pickled and sent to executors."""

    query: Query[Any]
    files: FileSource
    part: Part | None = None
    """The part that counts; None if all rows do."""
    copies: CopiesOfFiles | None = None
    """For each file, fingerprints of rows that earlier files have, too, and how many there."""

    def read_task_batches(self, table: Any) -> Iterator[Batch]:
        """Read the rows of the files whose numbers are in an Arrow table."""
        for number in table.column(0).to_pylist():
            yield from map(self._select_in(number), self.files.file_batches(number))

    def _select_in(self, number: int) -> Callable[[Batch], Batch]:
        """Return a function that selects the rows of the part from the batches of a file."""
        part, copies = self.part, CopyCounter()
        if part is None:
            return lambda batch: batch
        if self.copies is not None and number in self.copies:
            copies.continue_after(*self.copies[number])
        dealt = PassDealing(part.dealing, copies)
        return lambda batch: part.select(batch, dealt.are_held_out(batch))


@dataclass(frozen=True)
class CountPartition:
    """Function for executors that counts the rows of one partition."""

    version: tuple[str, str]
    """Versions of the driver. They are compared before anything is unpickled."""
    task: Any
    """Pickled task, as bytes or a pyspark.Broadcast."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Take Arrow batches of rows, and yield the parts of their counts."""
        from pyspark import TaskContext

        check_executor_version(self.version)
        content = self.task if isinstance(self.task, bytes) else self.task.value
        task = pickle.loads(content)
        answer: SerializablePartial = task.query.new_partial()
        context = TaskContext.get()
        sender = 0 if context is None else context.partitionId()
        n_rows = 0
        try:
            for table in join_batches_to_count(batches):
                for batch in task.read_task_batches(table):
                    answer.add_batch(batch)
                    n_rows += batch.n_rows
        except PrivatreeError as error:  # Spark would change the message, which may be shown
            yield _counted_part_batch(ERROR_PART, sender, 0, str(error).encode())
            return
        if n_rows == 0:  # an empty partition has nothing to add
            return
        for part, sent in answer.serialize_parts():
            yield _counted_part_batch(part, sender, n_rows if part == 0 else 0, sent)


@dataclass(frozen=True)
class MergeParts:
    """Function for executors that merges the parts with the same number from some partitions."""

    answer: type[SerializablePartial]
    n_groups: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Take parts, and yield merged parts."""
        merged: dict[tuple[int, int], bytes] = {}
        n_rows: dict[tuple[int, int], int] = {}
        for batch in batches:
            for part, sender, rows, content in zip(
                *(column.to_pylist() for column in batch.columns[:3]), batch.column(3), strict=True
            ):
                key = part, sender % self.n_groups
                sent = content.as_py()
                if key in merged and part != ERROR_PART:  # one of several errors is enough
                    sent = self.answer.merge_serialized(merged[key], sent)
                merged[key] = sent
                n_rows[key] = n_rows.get(key, 0) + rows
        for key in list(merged):
            yield _counted_part_batch(*key, n_rows[key], merged.pop(key))


def rows_to_batch(table: Any) -> Batch:
    """Return the rows of an Arrow table as a batch without units."""
    columns = {
        name: LazyColumn(arrow_column_type(column.type), partial(read_arrow_column, column))
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    labels, weight = columns.pop(TARGET), columns.pop(WEIGHT, None)
    return Batch(table.num_rows, list(columns.values()), labels, weight=weight)


def join_batches_to_count(batches: Iterable[Any]) -> Iterator[Any]:
    """Join small batches to tables of at least `_ROWS` rows."""
    import pyarrow as pa

    waiting: list[Any] = []
    n_rows = 0
    for batch in batches:
        waiting.append(batch)
        n_rows += batch.num_rows
        if n_rows >= _ROWS:
            yield pa.Table.from_batches(waiting)
            waiting, n_rows = [], 0
    if n_rows:
        yield pa.Table.from_batches(waiting)


def _counted_part_batch(part: int, sender: int, n_rows: int, content: bytes) -> Any:
    """Return an Arrow batch of one row with the columns `PART_COLUMNS`."""
    import pyarrow as pa

    columns = {
        "part": pa.array([part], pa.int32()),
        "sender": pa.array([sender], pa.int32()),
        "n_rows": pa.array([n_rows], pa.int64()),
        "content": pa.array([content], pa.binary()),
    }
    return pa.record_batch(columns)
