"""Functions that the executors of a Spark cluster run: they count rows and merge counts.

No row leaves its executor. Only serialized parts of the counts do. A task that Spark runs twice,
because it was lost or slow, does not count twice: Spark uses the complete output of one successful
attempt for each partition. (An accumulator would count twice.)
"""

from __future__ import annotations

import pickle
import platform
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from privatree import __version__
from privatree.counting import Query, SerializablePartial
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

OTHER_VERSION = "executors must run the same privatree as the driver"
"""Error of an executor with another version. The driver searches Spark's message for it."""

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

    def read_task_batches(self, table: Any) -> Iterator[Batch]:
        """Return the rows of an Arrow table as a batch."""
        if not self.has_units:
            yield rows_to_batch(table)
            return
        exact_totals = table.column(TOTAL).to_numpy()
        batch = rows_to_batch(table.drop_columns([TOTAL]))
        yield replace(batch, exact_unit_totals=exact_totals)


@dataclass(frozen=True)
class FilesTask:
    """Query about the rows of files that executors read, pickled and sent to executors."""

    query: Query[Any]
    files: FileSource

    def read_task_batches(self, table: Any) -> Iterator[Batch]:
        """Read the rows of the files whose numbers are in an Arrow table."""
        for number in table.column(0).to_pylist():
            yield from self.files.file_batches(number)


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
