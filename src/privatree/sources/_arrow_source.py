"""Records in a table of pandas, polars, DuckDB, Arrow or a library that offers Arrow streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from privatree.errors import ParameterError, SchemaError
from privatree.schema import Schema
from privatree.sources._data_file import match_columns
from privatree.sources._source import BatchSource
from privatree.tables import (
    Batch,
    TableStream,
    call_for_stream,
    is_instance_by_name,
    open_frame,
    open_table_stream,
)

_DATA = Path("data")  # name of the table in messages


class ArrowSource(BatchSource):
    """Records in a table of any library, which holds both features and labels.

    Parameters
    ----------
    data : table or function
        A pandas or polars DataFrame, a polars LazyFrame, a DuckDB relation, a pyarrow Table,
        RecordBatch, RecordBatchReader, Dataset or Scanner, any other object that offers an Arrow
        stream, or a function without arguments that returns one of these. Columns that are neither
        features nor the target are ignored; their names are public.
    target : str
        Name of the label column.
    unit : str, optional
        Name of the column that says who a row is about, such as ``"patient_id"``: whole numbers
        or text. Epsilon then holds for all records of a unit together. By default, it is the unit
        of the schema, if the schema has one.
    weight : str, optional
        Name of the column of sample weights.
    progress : bool, optional
        Whether to show each pass on stderr. By default, it is shown if stderr is a terminal.
    in_memory : bool, default=False
        Whether to read the records once and keep them in memory as codes, usually one byte per
        value. If False, the records are read again in each pass.

    Raises
    ------
    ParameterError
        If `data` is not a table.
    SourceError
        If the columns of `data` cannot be read.

    Notes
    -----
    LazyFrames, relations, datasets, scanners and functions run again in each pass, a batch of rows
    at a time. They must return the same rows each time, in any order. A Scanner made from batches
    returns its rows only once. The memory for a pass depends on the library: pyarrow's scanner
    decodes whole row groups of Parquet files; :class:`~privatree.sources.ParquetSource` does not.

    A stream can be read only once. So the needed columns of a RecordBatchReader, or of an unknown
    object, are kept in memory in Arrow's format: 8 bytes for a 64-bit number. A function that
    returns a new stream avoids this.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> frame, labels, schema = datasets.load("adult")
    >>> source = ArrowSource(frame.assign(income=labels, name="?"), target="income")
    >>> model = PrivaTreeClassifier(epsilon=1.0, schema=schema, random_state=0).fit(source)
    >>> source.n_passes, source.ignored
    (3, ('name',))
    """

    def __init__(
        self,
        data: Any,
        target: str,
        *,
        unit: str | None = None,
        weight: str | None = None,
        progress: bool | None = None,
        in_memory: bool = False,
    ) -> None:
        super().__init__(target, progress, in_memory, unit, weight)
        if is_instance_by_name(data, "pyspark.sql.DataFrame"):
            raise ParameterError(
                "data must not be a Spark DataFrame: all rows would come to this machine. Use "
                "SparkSource, which counts them on the cluster."
            )
        is_function = callable(data) and not hasattr(type(data), "__arrow_c_stream__")
        self._function: Callable[[], Any] | None = data if is_function else None
        self._stream = None if is_function else open_table_stream(data)

    def _find_columns(self, schema: Schema) -> None:
        if self._function is not None:
            self._stream = open_table_stream(call_for_stream(self._function))
        if self._stream is not None:
            self._match_columns(self._stream)

    def _list_parts(self) -> Iterator[tuple[dict[str, str], Any]]:
        stream = self._stream
        if self._function is not None:
            stream = stream or open_table_stream(call_for_stream(self._function))
            self._stream = None  # the next pass needs a new stream
        if stream is not None:
            names = self._match_columns(stream)
            for frame in stream.frames(list(names.values())):
                yield names, frame

    def _read_part(self, part: tuple[dict[str, str], Any]) -> Iterator[Batch]:
        names, frame = part
        table = open_frame(frame)
        place = {name: position for position, name in enumerate(table.names or ())}
        columns = {name: table.columns[place[found]] for name, found in names.items()}
        side_columns = {name: columns.pop(name) for name in self._side_names}
        labels = columns.pop(self.target)
        yield self._make_batch(table.n_rows, list(columns.values()), labels, side_columns)

    def _match_columns(self, stream: TableStream) -> dict[str, str]:
        """Return each wanted column's name in the table; raise a SchemaError for a wrong type."""
        found = stream.header
        if found.names is None:
            raise SchemaError("data must have column names, got none. Name the columns.")
        wanted = [*self._wanted, *self._side_names]
        positions, unused = match_columns(_DATA, found.names, wanted)
        self.ignored = tuple(unused)
        for name, position in positions.items():
            self._check_type(_DATA, name, found.columns[position].type)
        return {name: found.names[position] for name, position in positions.items()}
