"""Tables of other libraries, some rows at a time: each by its own means, in bounded memory."""

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
"""Most rows of a frame that a stream gives."""

_Result = TypeVar("_Result")
_Read: TypeAlias = Callable[[Sequence[str]], Iterator[Any]]


@dataclass(frozen=True)
class TableStream:
    """A table that can be read some rows at a time.

    Parameters
    ----------
    header : Table
        Names and types of the columns; its content is not to be read.
    read : callable
        Takes names of columns and gives frames of some rows that have these columns, and perhaps
        others. It can be called for each pass.
    """

    header: Table
    read: _Read

    def frames(self, names: Sequence[str]) -> Iterator[Any]:
        """Read some columns.

        Raises
        ------
        SourceError
            If the library cannot. Its own error can show a record, so it is not even the context.
        """
        return redact_errors(self.read(names), (Exception,), _unreadable)


def open_table_stream(data: Any) -> TableStream:
    """Find out how to read a table.

    Parameters
    ----------
    data : table
        As :class:`~privatree.sources.ArrowSource` takes it, but no function.

    Raises
    ------
    ParameterError
        If it is none.
    SourceError
        If its columns cannot be told.
    """
    kind = next((kind for kind in _KINDS if is_instance_by_name(data, kind.name)), None)
    if kind is None and not hasattr(type(data), "__arrow_c_stream__"):
        raise ParameterError(
            "data must be a pandas or polars frame, a DuckDB relation, a pyarrow table, reader, "
            "dataset or scanner, an object with an Arrow stream, or a function that returns one of "
            f"these, got {type(data).__name__}.",
            "data",
        )
    if kind is None:
        return call_with_redacted_errors(partial(_once, data))
    header = call_with_redacted_errors(partial(kind.header, data))
    return TableStream(open_frame(header), partial(kind.read, data))


def call_with_redacted_errors(function: Callable[[], _Result]) -> _Result:
    """Call a function that may run code of others.

    Raises
    ------
    SourceError
        If it fails; without the error it failed with, which can show a record.
    """
    (result,) = redact_errors(((function(),) for _ in range(1)), (Exception,), _unreadable)
    return result[0]


def _unreadable() -> SourceError:
    return SourceError("data could not be read. Read all of it yourself to see the error.")


@dataclass(frozen=True)
class _Kind:
    """How a class of tables is read: an empty or full frame for the types, frames by columns."""

    name: str
    header: Callable[[Any], Any]
    read: Callable[[Any, Sequence[str]], Iterator[Any]]


def _starts(n_rows: int) -> range:
    return range(0, n_rows, ROWS)


# --- in memory ----------------------------------------------------------------------------------


def _read_pandas(frame: Any, names: Sequence[str]) -> Iterator[Any]:
    for start in _starts(len(frame)):
        yield frame.iloc[start : start + ROWS]


def _read_polars(frame: Any, names: Sequence[str]) -> Iterator[Any]:
    for start in _starts(frame.height):
        yield frame.slice(start, ROWS)


def _read_arrow(table: Any, names: Sequence[str]) -> Iterator[Any]:
    """Rows of an Arrow table or record batch."""
    part = table.select(names)
    for start in _starts(table.num_rows):
        yield part.slice(start, ROWS)


# --- queries, which run again in each pass ------------------------------------------------------


def _lazy_header(query: Any) -> Any:
    import polars as pl

    return pl.DataFrame(schema=query.collect_schema())


def _read_lazy(query: Any, names: Sequence[str]) -> Iterator[Any]:
    """Rows of a polars LazyFrame; all at once where polars is too old to give some."""
    part = query.select(names)
    if not hasattr(part, "collect_batches"):
        yield from _read_polars(part.collect(), names)
        return
    for frame in part.collect_batches(chunk_size=ROWS, maintain_order=False):
        yield from _read_polars(frame, names)


def _relation_header(relation: Any) -> Any:
    return _relation_reader(relation.limit(0)).schema.empty_table()


def _relation_reader(relation: Any) -> Any:
    reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    return reader(ROWS)


def _read_relation(relation: Any, names: Sequence[str]) -> Iterator[Any]:
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
    with _relation_reader(relation.project(quoted)) as reader:
        for batch in reader:
            yield from _read_arrow(batch, names)


def _dataset_header(dataset: Any) -> Any:
    return dataset.schema.empty_table()


def _read_dataset(dataset: Any, names: Sequence[str]) -> Iterator[Any]:
    scanner = dataset.scanner(
        columns=list(names), batch_size=ROWS, batch_readahead=2, fragment_readahead=1
    )
    return iter(scanner.to_batches())


def _scanner_header(scanner: Any) -> Any:
    return scanner.projected_schema.empty_table()


def _read_scanner(scanner: Any, names: Sequence[str]) -> Iterator[Any]:
    for batch in scanner.to_batches():
        yield from _read_arrow(batch, names)


def _itself(frame: Any) -> Any:
    return frame


_KINDS = (
    _Kind("pandas.DataFrame", _itself, _read_pandas),
    _Kind("polars.DataFrame", _itself, _read_polars),
    _Kind("pyarrow.Table", _itself, _read_arrow),
    _Kind("pyarrow.RecordBatch", _itself, _read_arrow),
    _Kind("polars.LazyFrame", _lazy_header, _read_lazy),
    _Kind("duckdb.DuckDBPyRelation", _relation_header, _read_relation),
    _Kind("pyarrow.dataset.Dataset", _dataset_header, _read_dataset),
    _Kind("pyarrow.dataset.Scanner", _scanner_header, _read_scanner),
)


# --- streams, which can be read once ------------------------------------------------------------


def _once(data: Any) -> TableStream:
    """Anything that offers an Arrow stream."""
    import pyarrow as pa

    reader = pa.RecordBatchReader.from_stream(data)
    return TableStream(open_frame(reader.schema.empty_table()), _Held(reader).read)


class _Held:
    """A stream whose rows are kept as they come, the columns first asked for alone."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self._batches: list[Any] = []
        self._names: frozenset[str] | None = None

    def read(self, names: Sequence[str]) -> Iterator[Any]:
        """Give what was read before, then the rest."""
        self._names = self._names or frozenset(names)
        if not self._names.issuperset(names):
            raise ParameterError(
                "data must be given anew for other columns: it is a stream, which can be read only "
                "once.",
                "data",
            )
        for batch in self._batches:
            yield from _read_arrow(batch, names)
        for batch in self._reader:
            self._batches.append(batch.select(sorted(self._names)))
            yield from _read_arrow(self._batches[-1], names)
