"""A table that comes in pieces, and waits on the disk until all of them are there.

So a command that gives up at some row has written nothing. And Arrow quotes all text in CSV or
none: how the first row is written depends on the last.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from privatree.cli._output import MAX_HELD_BYTES
from privatree.errors import ParameterError

_GROUP_ROWS = 2**20  # of Parquet, which are written together


class HeldTable:
    """A table whose pieces are held in a temporary file.

    Parameters
    ----------
    file : binary file
        An empty one.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._is_quoted = file, False

    def hold(self, tables: Iterable[Any]) -> None:
        """Take all pieces.

        Parameters
        ----------
        tables : iterable of pyarrow.Table
            All with the same columns: one at least, which may have no rows.
        """
        import pyarrow as pa

        pieces = iter(tables)
        first = next(pieces)
        with pa.ipc.new_stream(self._file, first.schema) as held:
            for table in chain([first], pieces):
                self._is_quoted = self._is_quoted or _needs_quotes(table)
                held.write_table(table)

    def write_csv(self, file: IO[bytes]) -> None:
        """Write all of it as CSV."""
        import pyarrow as pa
        import pyarrow.csv as pacsv

        style = "needed" if self._is_quoted else "none"
        options = pacsv.WriteOptions(include_header=False, quoting_style=style)
        with self._reader() as reader:
            header = io.StringIO(newline="")
            csv.writer(header, lineterminator="\n").writerow(reader.schema.names)
            file.write(header.getvalue().encode())
            try:
                with pacsv.CSVWriter(file, reader.schema, write_options=options) as writer:
                    for batch in reader:
                        if batch.num_rows:  # else Arrow writes what memory held
                            writer.write_batch(batch)
            except pa.ArrowException:
                raise ParameterError(
                    "--keep names a column of a type that CSV cannot hold. Write a .parquet file."
                ) from None

    def write_parquet(self, file: IO[bytes]) -> None:
        """Write all of it as Parquet."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        with self._reader() as reader, pq.ParquetWriter(file, reader.schema) as writer:
            waiting = reader.schema.empty_table()
            for batch in reader:
                waiting = pa.concat_tables([waiting, pa.Table.from_batches([batch])])
                while waiting.num_rows >= _GROUP_ROWS:
                    writer.write_table(waiting.slice(0, _GROUP_ROWS).combine_chunks())
                    waiting = waiting.slice(_GROUP_ROWS)
            writer.write_table(waiting.combine_chunks())

    @contextmanager
    def _reader(self) -> Iterator[Any]:
        import pyarrow as pa

        self._file.seek(0)
        with pa.ipc.open_stream(self._file) as reader:
            yield reader


@contextmanager
def held_table(output: Path | None) -> Iterator[HeldTable]:
    """Hold a table where there is room for it: beside the file to write, unless that is a device.

    Parameters
    ----------
    output : Path or None
        The file to write later, if it is one.
    """
    folder = None
    if output is not None and (output.is_file() or not output.exists()):
        folder = str(output.resolve().parent)
    with SpooledTemporaryFile(MAX_HELD_BYTES, dir=folder) as file:
        yield HeldTable(file)


def _needs_quotes(table: Any) -> bool:
    """Whether any text does: Arrow quotes all text or none, and few labels need it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return any(
        pc.any(pc.match_substring_regex(column, '^$|[,"\r\n]')).as_py()
        for column in table.columns
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    )
