"""Records in a table of any library: pandas, polars, DuckDB, Arrow and what speaks its format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from privatree.errors import ParameterError, SchemaError
from privatree.schema import Categorical, Feature, Schema
from privatree.sources._files import check_column_type, matched_columns
from privatree.sources._source import BatchSource
from privatree.tables import (
    Batch,
    TableStream,
    call_with_redacted_errors,
    is_instance_by_name,
    open_frame,
    open_table_stream,
)

_DATA = Path("data")  # what messages call it


class ArrowSource(BatchSource):
    """Records in a table of any library, features and labels together.

    Parameters
    ----------
    data : table or function
        A pandas or polars DataFrame, a polars LazyFrame, a DuckDB relation, a pyarrow Table,
        RecordBatch, RecordBatchReader, Dataset or Scanner, anything else that offers an Arrow
        stream, or a function of no arguments that returns one of these anew. Columns that are
        neither features nor the target are ignored; their names are public.
    target : str
        The column of labels.
    progress : bool, optional
        Whether passes are shown on stderr. By default, if it is a terminal.
    in_memory : bool, default=False
        Whether records are read once and kept as codes, a byte for most values, rather than read
        again in each pass.

    Raises
    ------
    ParameterError
        If the data is not such a table.
    SourceError
        If its columns cannot be told.

    Notes
    -----
    Queries (LazyFrames, relations, datasets, scanners, functions) run again in each pass, a batch
    of rows at a time. They must give the same rows each time, in any order; a Scanner made from
    batches cannot. How much memory they need themselves is up to their library: pyarrow's scanner
    decodes whole row groups of Parquet, which
    :class:`~privatree.sources.ParquetSource` does not.

    A stream can be read only once. So the columns needed of a RecordBatchReader, or of an unknown
    object, are held in memory as they come: as many bytes as they have in Arrow's format, 8 for a
    number of 64 bits. A function that returns a new stream spares that.
    """

    def __init__(
        self, data: Any, target: str, *, progress: bool | None = None, in_memory: bool = False
    ) -> None:
        super().__init__(target, progress, in_memory)
        if is_instance_by_name(data, "pyspark.sql.DataFrame"):
            raise ParameterError(
                "data must not be a data frame of Spark, which would all come to this machine. "
                "SparkSource counts it where it is."
            )
        is_function = callable(data) and not hasattr(type(data), "__arrow_c_stream__")
        self._function: Callable[[], Any] | None = data if is_function else None
        self._stream = None if is_function else open_table_stream(data)
        self._wanted: dict[str, Feature] = {}

    def _open(self, schema: Schema) -> None:
        self._wanted = {**schema.features, self.target: Categorical(schema.classes)}
        if self._function is not None:
            self._stream = open_table_stream(call_with_redacted_errors(self._function))
        if self._stream is not None:
            self._matched(self._stream)

    def _parts(self) -> Iterator[tuple[dict[str, str], Any]]:
        stream = self._stream
        if self._function is not None:
            stream = stream or open_table_stream(call_with_redacted_errors(self._function))
            self._stream = None  # the next pass needs another one
        if stream is not None:
            names = self._matched(stream)
            for frame in stream.frames(list(names.values())):
                yield names, frame

    def _batches(self, part: tuple[dict[str, str], Any]) -> Iterator[Batch]:
        names, frame = part
        table = open_frame(frame)
        place = {name: position for position, name in enumerate(table.names or ())}
        columns = {name: table.columns[place[found]] for name, found in names.items()}
        labels = columns.pop(self.target)
        yield Batch(table.n_rows, list(columns.values()), labels)

    def _matched(self, stream: TableStream) -> dict[str, str]:
        """For each wanted column what it is called in the table, its type checked."""
        found = stream.header
        if found.names is None:
            raise SchemaError("data must have columns with names, got none. Name them.")
        positions, unused = matched_columns(_DATA, found.names, self._wanted)
        self.ignored = tuple(unused)
        for name, position in positions.items():
            kind, feature = found.columns[position].type, self._wanted[name]
            check_column_type(_DATA, name, kind, feature, name == self.target)
        return {name: found.names[position] for name, position in positions.items()}
