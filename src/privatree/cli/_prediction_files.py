"""Writing tables of predictions as CSV or Parquet, and escaping spreadsheet formulas in them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from privatree.cli._output import MAX_BYTES_IN_MEMORY
from privatree.errors import ParameterError

_PARQUET_GROUP_ROWS = 2**20
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# A formula can also begin within a text: a program that expects another delimiter or other quotes
# may read a part of the text as a cell.
_FORMULA_START = re.compile(r"""(^[ "]*|[,;|\t\r\n][\s"]*)(?=[=+\-@\t\r\n＝＋－＠])""")


class BufferedPredictions:
    """A table that is collected in a temporary file and written when all its rows are known.

    So a command that fails at some row has written nothing. There is a second reason: Arrow quotes
    either all text in a CSV file or none, so all rows must be known before the first is written.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._is_quoted = file, False

    def collect_tables(self, tables: Iterable[Any]) -> None:
        """Store one or more Arrow tables with the same columns. A table may be empty."""
        import pyarrow as pa

        remaining = iter(tables)
        first = next(remaining)
        with pa.ipc.new_stream(self._file, first.schema) as stream:
            for table in chain([first], remaining):
                self._is_quoted = self._is_quoted or _predictions_need_quotes(table)
                stream.write_table(table)

    def write_csv(self, file: IO[bytes]) -> None:
        """Write all rows as CSV."""
        import pyarrow as pa
        import pyarrow.csv as pacsv

        style = "needed" if self._is_quoted else "none"
        options = pacsv.WriteOptions(include_header=False, quoting_style=style)
        with self._open_reader() as reader:
            header = io.StringIO(newline="")
            csv.writer(header, lineterminator="\n").writerow(reader.schema.names)
            file.write(header.getvalue().encode())
            try:
                with pacsv.CSVWriter(file, reader.schema, write_options=options) as writer:
                    for batch in reader:
                        if batch.num_rows:  # for an empty batch Arrow writes uninitialised memory
                            writer.write_batch(batch)
            except pa.ArrowException:
                raise ParameterError(
                    "--keep must name columns of types that CSV can hold, but CSV cannot hold the "
                    "type of one of these columns. Write a .parquet file."
                ) from None

    def write_parquet(self, file: IO[bytes]) -> None:
        """Write all rows as Parquet, in groups of 2**20 rows."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        with self._open_reader() as reader, pq.ParquetWriter(file, reader.schema) as writer:
            unwritten = reader.schema.empty_table()
            for batch in reader:
                unwritten = pa.concat_tables([unwritten, pa.Table.from_batches([batch])])
                while unwritten.num_rows >= _PARQUET_GROUP_ROWS:
                    writer.write_table(unwritten.slice(0, _PARQUET_GROUP_ROWS).combine_chunks())
                    unwritten = unwritten.slice(_PARQUET_GROUP_ROWS)
            writer.write_table(unwritten.combine_chunks())

    @contextmanager
    def _open_reader(self) -> Iterator[Any]:
        import pyarrow as pa

        self._file.seek(0)
        with pa.ipc.open_stream(self._file) as reader:
            yield reader


@contextmanager
def buffered_predictions(output: Path | None) -> Iterator[BufferedPredictions]:
    """Yield an empty table. Its temporary file is in the folder of the output, if possible."""
    folder = None
    if output is not None and (output.is_file() or not output.exists()):
        folder = str(output.resolve().parent)
    with SpooledTemporaryFile(MAX_BYTES_IN_MEMORY, dir=folder) as file:
        yield BufferedPredictions(file)


def _predictions_need_quotes(table: Any) -> bool:
    """Return whether any text of the table must be quoted in CSV."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return any(
        pc.any(pc.match_substring_regex(column, '^$|[,"\r\n]')).as_py()
        for column in table.columns
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    )


def escape_formula(text: str) -> str:
    """Return a text with an apostrophe before every formula. A plain number is not changed.

    A spreadsheet computes a cell that begins with ``=`` when it opens a CSV file, and a formula can
    start programs or send data away. OWASP recommends the apostrophe.
    """
    return text if _NUMBER.fullmatch(text) else _FORMULA_START.sub(r"\1'", text)


def escape_predictions(table: Any) -> Any:
    """Apply :func:`escape_formula` to all text and all column names of an Arrow table."""
    import pyarrow as pa

    columns = [_escape_prediction_column(column) for column in table.columns]
    names = [escape_formula(name) for name in table.column_names]
    return pa.Table.from_arrays(columns, names=names)


def _escape_prediction_column(column: Any) -> Any:
    import pyarrow as pa

    is_coded = pa.types.is_dictionary(column.type)
    kind = column.type.value_type if is_coded else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return column
    coded = (column if is_coded else column.dictionary_encode()).combine_chunks()
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    texts = [None if t is None else escape_formula(t) for t in coded.dictionary.to_pylist()]
    return pa.array(texts, kind).take(coded.indices)
