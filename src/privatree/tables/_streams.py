"""Tables of other libraries that are read in batches of rows, with bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

from privatree._support.redact_errors import redact_errors
from privatree.errors import ParameterError, SourceError
from privatree.tables._containers import Table, is_instance_by_name
from privatree.tables._opening import open_frame

ROWS = 2**16
"""Largest number of rows in a batch."""

_Result = TypeVar("_Result")
_Read: TypeAlias = Callable[[Sequence[str]], Iterator[Any]]


@dataclass(frozen=True)
class TableStream:
    """A table that can be read in batches of rows.

    `header` has the names and types of the columns, but no content. `read` takes column names and
    yields frames that have these columns, and perhaps others. `read` is called once per pass.
    """

    header: Table
    read: _Read

    def frames(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield batches with these columns.

        An error of the library can show a record, so it is replaced by a SourceError.
        """
        return redact_errors(self.read(names), (Exception,), _unreadable_stream)


def open_table_stream(data: Any) -> TableStream:
    """Open a table of any kind that :class:`~privatree.sources.ArrowSource` accepts."""
    kind = next((kind for kind in _KINDS if is_instance_by_name(data, kind.name)), None)
    if kind is None and not hasattr(type(data), "__arrow_c_stream__"):
        raise ParameterError(
            "data must be a pandas or polars frame, a DuckDB relation, a pyarrow table, reader, "
            "dataset or scanner, an object with an Arrow stream, or a function that returns one of "
            f"these, got {type(data).__name__}.",
            "data",
        )
    if kind is None:
        return call_for_stream(partial(_open_arrow_stream, data))
    header = call_for_stream(partial(kind.header, data))
    return TableStream(open_frame(header), partial(kind.read, data))


def call_for_stream(function: Callable[[], _Result]) -> _Result:
    """Call a function of the user or of a library; replace its error by a SourceError."""
    (result,) = redact_errors(((function(),) for _ in range(1)), (Exception,), _unreadable_stream)
    return result[0]


def _unreadable_stream() -> SourceError:
    return SourceError("data could not be read. Read all of it yourself to see the error.")


@dataclass(frozen=True)
class _Kind:
    """A kind of table: how to get an empty frame with its columns, and how to read batches."""

    name: str
    header: Callable[[Any], Any]
    read: Callable[[Any, Sequence[str]], Iterator[Any]]


# --- in memory ----------------------------------------------------------------------------------


def _stream_pandas(frame: Any, names: Sequence[str]) -> Iterator[Any]:
    for start in range(0, len(frame), ROWS):
        yield frame.iloc[start : start + ROWS]


def _stream_polars(frame: Any, names: Sequence[str]) -> Iterator[Any]:
    for start in range(0, frame.height, ROWS):
        yield frame.slice(start, ROWS)


def _stream_arrow(table: Any, names: Sequence[str]) -> Iterator[Any]:
    part = table.select(names)
    for start in range(0, table.num_rows, ROWS):
        yield part.slice(start, ROWS)


# --- queries, which run again in each pass ------------------------------------------------------


def _lazy_frame_stream_header(query: Any) -> Any:
    import polars as pl

    return pl.DataFrame(schema=query.collect_schema())


def _stream_lazy_frame(query: Any, names: Sequence[str]) -> Iterator[Any]:
    """Run a polars LazyFrame in batches. Old versions of polars collect it as a whole."""
    part = query.select(names)
    if not hasattr(part, "collect_batches"):
        yield from _stream_polars(part.collect(), names)
        return
    for frame in part.collect_batches(chunk_size=ROWS, maintain_order=False):
        yield from _stream_polars(frame, names)


def _duckdb_stream_header(relation: Any) -> Any:
    return _duckdb_stream_reader(relation.limit(0)).schema.empty_table()


def _duckdb_stream_reader(relation: Any) -> Any:
    reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    return reader(ROWS)


def _stream_duckdb(relation: Any, names: Sequence[str]) -> Iterator[Any]:
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
    with _duckdb_stream_reader(relation.project(quoted)) as reader:
        for batch in reader:
            yield from _stream_arrow(batch, names)


def _stream_dataset(dataset: Any, names: Sequence[str]) -> Iterator[Any]:
    scanner = dataset.scanner(
        columns=list(names), batch_size=ROWS, batch_readahead=2, fragment_readahead=1
    )
    return iter(scanner.to_batches())


def _stream_scanner(scanner: Any, names: Sequence[str]) -> Iterator[Any]:
    for batch in scanner.to_batches():
        yield from _stream_arrow(batch, names)


_KINDS = (
    _Kind("pandas.DataFrame", lambda frame: frame, _stream_pandas),
    _Kind("polars.DataFrame", lambda frame: frame, _stream_polars),
    _Kind("pyarrow.Table", lambda frame: frame, _stream_arrow),
    _Kind("pyarrow.RecordBatch", lambda frame: frame, _stream_arrow),
    _Kind("polars.LazyFrame", _lazy_frame_stream_header, _stream_lazy_frame),
    _Kind("duckdb.DuckDBPyRelation", _duckdb_stream_header, _stream_duckdb),
    _Kind("pyarrow.dataset.Dataset", lambda data: data.schema.empty_table(), _stream_dataset),
    _Kind(
        "pyarrow.dataset.Scanner", lambda data: data.projected_schema.empty_table(), _stream_scanner
    ),
)


# --- streams, which can be read only once -------------------------------------------------------


def _open_arrow_stream(data: Any) -> TableStream:
    import pyarrow as pa

    reader = pa.RecordBatchReader.from_stream(data)
    return TableStream(open_frame(reader.schema.empty_table()), _KeptStream(reader).read)


class _KeptStream:
    """A stream that keeps in memory the columns that the first pass reads."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self._batches: list[Any] = []
        self._names: frozenset[str] | None = None

    def read(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield the rows that are kept already, then read, keep and yield the rest."""
        self._names = self._names or frozenset(names)
        if not self._names.issuperset(names):
            raise ParameterError(
                "data is a stream that can be read only once, so every pass must read the same "
                "columns. Pass a new stream to read other columns.",
                "data",
            )
        for batch in self._batches:
            yield from _stream_arrow(batch, names)
        for batch in self._reader:
            self._batches.append(batch.select(sorted(self._names)))
            yield from _stream_arrow(self._batches[-1], names)
