"""CSV files of any size: every value is text, and no content of a record raises an error.

The first row, which names the columns, is public. By default every line after it is one record,
whatever it contains; see :class:`~privatree.schema.CsvDialect`.

A file is read in chunks of whole rows, so memory does not grow with the file. A row is ragged if it
has more or fewer values than the first row, quotes that are not closed, or more than 64 MiB.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from privatree.errors import SchemaError, SourceError
from privatree.schema import CsvDialect
from privatree.sources._data_file import DataFile, FileRows, Part
from privatree.sources._paths import is_csv_path, is_tab_separated_path, partitions_of_path
from privatree.sources.csv._header import FirstRow, first_row_hint, read_first_row
from privatree.sources.csv._in_memory_files import ExcelFile, InMemoryFile
from privatree.sources.csv._rows import MAX_ROW_BYTES, RowChunk, read_row_chunks
from privatree.sources.csv._utf8_stream import open_utf8_stream
from privatree.sources.csv._values import CsvValues, parse_csv_values

_TOO_LONG = -1  # takes the place of the number of values
_MULTILINE = (
    "every row of the CSV files closes its quotes: they are read with multiline, where one that "
    "does not makes one row of all that follow"
)


@dataclass(frozen=True)
class CsvFile(DataFile):
    """CSV file whose first row has been read."""

    path: Path
    dialect: CsvDialect
    first_row: FirstRow
    folders: dict[str, str | None]

    hint_if_none_found: ClassVar[str] = " Its first row must name the columns."

    @property
    def own_names(self) -> list[str]:
        return self.first_row.names

    @property
    def hint_if_not_found(self) -> str:
        return first_row_hint(self.first_row.names, self.dialect)

    @property
    def has_valid_names(self) -> bool:
        return not any("\ufffd" in name for name in self.first_row.names)

    @property
    def decimal(self) -> str:
        return self.dialect.decimal

    def is_text(self, position: int) -> bool:
        return True

    def arrow_type(self, position: int) -> Any:
        import pyarrow as pa

        return pa.string()

    def read_chunks(self) -> Iterator[RowChunk]:
        """Yield chunks of the rows after the first row; raise a SourceError if it has changed."""
        first_row = self.first_row
        with open_utf8_stream(self.path, self.dialect.encoding) as stream:
            head = _read_csv_bytes(stream, len(first_row.head))
            if head != first_row.head or (not first_row.is_ended and stream.read(1)):
                raise SourceError(
                    f"{self.path}: the file must not change while it is read, but has changed. "
                    "Read a copy."
                )
            returns_end_rows = first_row.returns_end_rows
            yield from read_row_chunks(stream, self.dialect, returns_end_rows=returns_end_rows)

    def read_chunk_rows(self, chunk: RowChunk, positions: Sequence[int]) -> Iterator[FileRows]:
        """Yield columns of a chunk as text, in batches of rows. The chunk is overwritten."""
        for values in self._parse_chunk(chunk, positions):
            yield self._file_rows(values, positions, chunk.is_valid)

    def read_parts(
        self, positions: Sequence[int], *, coded: Collection[int] = (), apart: bool = False
    ) -> Iterator[Part]:
        for chunk in self.read_chunks():
            yield partial(self.read_chunk_rows, chunk, positions)

    def read_rows(
        self,
        positions: Sequence[int],
        *,
        coded: Collection[int] = (),
        allow_ragged: bool = True,
    ) -> Iterator[FileRows]:
        """Read a batch of rows at a time, in the order of the file.

        Blank lines are left out, unless the file has a single column: then a blank line is a row.
        Without `allow_ragged`, a ragged row raises a SchemaError.
        """
        n_before = self.first_row.n_lines
        for rows in super().read_rows(positions):
            if not allow_ragged and rows.n_ragged:
                raise self._ragged_row_error(rows, n_before)
            n_before += rows.n_rows
            yield rows

    def _parse_chunk(self, chunk: RowChunk, positions: Sequence[int]) -> Iterator[CsvValues]:
        """Yield the file's own columns. In a row that is too long, every value is missing."""
        n_own = len(self.first_row.names)
        own = [position for position in positions if position < n_own]
        returns_end_rows = self.first_row.returns_end_rows
        yield from parse_csv_values(
            chunk.content, self.dialect, n_own, own, returns_end_rows=returns_end_rows
        )
        if chunk.long_row_follows:
            import pyarrow as pa

            no_text = pa.nulls(1, pa.string())
            yield CsvValues([no_text] * len(own), np.array([_TOO_LONG], np.int32))

    def _file_rows(self, values: CsvValues, positions: Sequence[int], is_valid: bool) -> FileRows:
        import pyarrow as pa
        import pyarrow.compute as pc

        n_own = len(self.first_row.names)
        is_whole = values.n_values == n_own
        own = iter(values.columns)
        columns = [
            pa.chunked_array([next(own)])
            if position < n_own
            else pc.if_else(is_whole, self.folder_text(position, len(is_whole)), None)
            for position in positions
        ]
        return FileRows(columns, values.n_values, n_own, is_valid)

    def _ragged_row_error(self, rows: FileRows, n_before: int) -> SchemaError:
        place = int(np.flatnonzero(rows.is_ragged)[0])
        number, n_values = n_before + place + 1, int(rows.n_values[place])
        if n_values == _TOO_LONG:
            said = f"have at most {MAX_ROW_BYTES // 2**20} MiB."
        elif n_values:
            said = f"have {rows.n_expected} values, as the first row has, got {n_values}."
        else:
            said = "close its quotes."
        hint = " or, if values span lines, pass --multiline"
        is_open = n_values == 0 and not self.dialect.multiline
        return SchemaError(
            f"{self.path}: row {number}, blank lines not counted, must {said} Fix or remove the row"
            f"{hint if is_open else ''}."
        )


def open_csv(path: Path, dialect: CsvDialect | None = None) -> CsvFile:
    """Open a CSV file, and read the names of the columns in its first row.

    A file whose name ends in ``.gz`` or ``.zst`` is decompressed. A workbook has its own dialect.
    An empty file has no columns. Raise a SchemaError if the first row cannot be read.
    """
    if isinstance(path, InMemoryFile) and path.dialect is not None:
        dialect = path.dialect
    dialect = (dialect or CsvDialect()).of_file(is_tab_separated=is_tab_separated_path(path))
    with open_utf8_stream(path, dialect.encoding) as stream:
        first_row = read_first_row(path, stream, dialect)
    return CsvFile(path, dialect, first_row, partitions_of_path(path))


def csv_reading_assumptions(files: Sequence[Path], dialect: CsvDialect | None) -> tuple[str, ...]:
    """Return the assumptions under which a row of a file cannot change how other rows are read.

    Parquet files, workbooks and CSV files with one row per line need no assumption.
    """
    is_multiline = dialect is not None and dialect.multiline
    if is_multiline and any(
        is_csv_path(file) and not isinstance(file, ExcelFile) for file in files
    ):
        return (_MULTILINE,)
    return ()


def _read_csv_bytes(stream: Any, n_bytes: int) -> bytes:
    """Read `n_bytes` bytes, in several steps if the stream returns fewer at a time."""
    found = b""
    while len(found) < n_bytes and (read := stream.read(n_bytes - len(found))):
        found += read
    return found
