"""What runs on the executors of a Spark cluster: rows are counted where they are, counts merged.

No row leaves its executor. What does is a piece: a part of the counts, as bytes. A task that Spark
runs twice (lost, or slow and raced by a copy of itself) does not count twice: of each partition
Spark takes the output of one successful attempt, whole, and nothing is added up on the way round
it, as an accumulator would be.
"""

from __future__ import annotations

import pickle
import platform
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from privatree import __version__
from privatree.counting import Query, SerializablePartial
from privatree.errors import PrivatreeError, SourceError
from privatree.tables import Batch, LazyColumn, arrow_column_type, read_arrow_column

PIECES = "part int, sender int, n_rows long, content binary"
"""What tasks give: the part of the answer, who counted it, how many rows (with part 0), bytes."""

ERROR = -1
"""The part that is no part of an answer, but why there is none."""

OTHER_VERSION = "executors must run the same privatree as the driver"
"""What an executor says that does not; the driver finds it in Spark's text."""

_ROWS = 2**16  # that are coded together; Spark sends fewer at once


def this_version() -> tuple[str, str]:
    """Of privatree, and of Python: what must be the same wherever parts of a query run."""
    return __version__, ".".join(platform.python_version_tuple()[:2])


@dataclass(frozen=True)
class Shipment:
    """What executors need to know to count. It is pickled as a whole, as bytes.

    Parameters
    ----------
    query : Query
        What to count: the schema and the tree so far are in it.
    """

    query: Query[Any]

    def batches(self, table: Any) -> Iterator[Batch]:
        """The columns of an Arrow table, not yet read; the last one is the target."""
        columns = [
            LazyColumn(arrow_column_type(c.type), partial(read_arrow_column, c))
            for c in table.columns
        ]
        yield Batch(table.num_rows, columns[:-1], columns[-1])


@dataclass(frozen=True)
class Counting:
    """Counts the rows of one partition. To be sent to executors.

    Parameters
    ----------
    version : tuple of str
        Of the driver. It is compared before anything else is unpickled.
    shipment : bytes or pyspark.Broadcast
        A pickled :class:`Shipment`.
    """

    version: tuple[str, str]
    shipment: Any

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Take Arrow batches of rows, give pieces."""
        from pyspark import TaskContext

        if self.version != this_version():
            raise SourceError(OTHER_VERSION)
        content = self.shipment if isinstance(self.shipment, bytes) else self.shipment.value
        shipment = pickle.loads(content)
        answer: SerializablePartial = shipment.query.new_partial()
        task = TaskContext.get()
        sender = 0 if task is None else task.partitionId()
        n_rows = 0
        try:
            for table in _joined(batches):
                for batch in shipment.batches(table):
                    answer.add_batch(batch)
                    n_rows += batch.n_rows
        except (
            PrivatreeError
        ) as error:  # ours, so that it may be shown; Spark would change its text
            yield _piece(ERROR, sender, 0, str(error).encode())
            return
        if n_rows == 0:  # an empty partition has nothing to add
            return
        for part, sent in answer.serialize_parts():
            yield _piece(part, sender, n_rows if part == 0 else 0, sent)


@dataclass(frozen=True)
class Merging:
    """Merges the pieces of one partition. To be sent to executors.

    Parameters
    ----------
    answer : type of SerializablePartial
        How parts are merged.
    n_groups : int
        Pieces of the same part are merged if their senders are in the same of so many groups.
    """

    answer: type[SerializablePartial]
    n_groups: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Take and give pieces."""
        merged: dict[tuple[int, int], bytes] = {}
        n_rows: dict[tuple[int, int], int] = {}
        for batch in batches:
            for part, sender, rows, content in zip(
                *(column.to_pylist() for column in batch.columns[:3]), batch.column(3), strict=True
            ):
                key = part, sender % self.n_groups
                sent = content.as_py()
                if key in merged and part != ERROR:  # of several errors one is enough
                    sent = self.answer.merge_serialized(merged[key], sent)
                merged[key] = sent
                n_rows[key] = n_rows.get(key, 0) + rows
        for key in list(merged):
            yield _piece(*key, n_rows[key], merged.pop(key))


def _joined(batches: Iterable[Any]) -> Iterator[Any]:
    """Tables of about as many rows as are best coded together."""
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


def _piece(part: int, sender: int, n_rows: int, content: bytes) -> Any:
    import pyarrow as pa

    columns = {
        "part": pa.array([part], pa.int32()),
        "sender": pa.array([sender], pa.int32()),
        "n_rows": pa.array([n_rows], pa.int64()),
        "content": pa.array([content], pa.binary()),
    }
    return pa.record_batch(columns)
