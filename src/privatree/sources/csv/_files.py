"""CSV files of any size: every value is text, and what the records hold is never an error.

What is public is the first row, which names the columns. By default every line after it is a record
of its own, whatever stands in it; see :class:`~privatree.schema.CsvDialect`.

A file is read in chunks of whole rows, so what is in memory does not grow with it. A row is ragged
if it has another number of values than the first row, quotes that it does not close, or more than
64 MiB.
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
from privatree.sources._files import DataFile, FileRows, Part
from privatree.sources._paths import is_csv, is_tab_separated, partition_values
from privatree.sources.csv._header import FirstRow, first_row_mistake, read_first_row
from privatree.sources.csv._held_files import ExcelFile, HeldFile
from privatree.sources.csv._raw_files import opened_text
from privatree.sources.csv._rows import MAX_ROW_BYTES, RowChunk, row_chunks
from privatree.sources.csv._values import CsvValues, csv_values

_TOO_LONG = -1  # in the place of a number of values
_MULTILINE = (
    "every row of the CSV files closes its quotes: they are read with multiline, where one that "
    "does not makes one row of all that follow"
)


@dataclass(frozen=True)
class CsvFile(DataFile):
    """A CSV file whose first row has been read.

    Parameters
    ----------
    path : Path
        Where it is.
    dialect : CsvDialect
        How it is written.
    first_row : FirstRow
        What it says. It is public.
    folders : dict
        Names and values of the columns that the names of folders give.
    """

    path: Path
    dialect: CsvDialect
    first_row: FirstRow
    folders: dict[str, str | None]

    if_none_found: ClassVar[str] = " Its first row must name the columns."

    @property
    def own_names(self) -> list[str]:
        """What the first row says."""
        return self.first_row.names

    @property
    def mistake(self) -> str:
        """Why columns are not found, if the first row shows it, to end a message with."""
        return first_row_mistake(self.first_row.names, self.dialect)

    @property
    def has_valid_names(self) -> bool:
        """Whether the first row is text in the encoding."""
        return not any("\ufffd" in name for name in self.first_row.names)

    @property
    def decimal(self) -> str:
        """The decimal mark."""
        return self.dialect.decimal

    def is_text(self, position: int) -> bool:
        """Every column is."""
        return True

    def arrow_type(self, position: int) -> Any:
        """See :class:`~privatree.sources._files.DataFile`."""
        import pyarrow as pa

        return pa.string()

    def chunks(self) -> Iterator[RowChunk]:
        """Read the rows after the first, some at a time.

        Raises
        ------
        SourceError
            If the file has another first row by now.
        ParameterError
            If a compressed file is damaged.
        OSError
            If the file cannot be read.
        """
        first_row = self.first_row
        with opened_text(self.path, self.dialect.encoding) as stream:
            head = _read(stream, len(first_row.head))
            if head != first_row.head or (not first_row.is_ended and stream.read(1)):
                raise SourceError(f"{self.path}: must not change while it is read.")
            yield from row_chunks(stream, self.dialect, returns_end_rows=first_row.returns_end_rows)

    def chunk_rows(self, chunk: RowChunk, positions: Sequence[int]) -> Iterator[FileRows]:
        """Read columns of a chunk as text, some rows at a time. The chunk cannot be used again."""
        for values in self._parse(chunk, positions):
            yield self._file_rows(values, positions, chunk.is_valid)

    def parts(
        self, positions: Sequence[int], *, coded: Collection[int] = (), apart: bool = False
    ) -> Iterator[Part]:
        """See :class:`~privatree.sources._files.DataFile`. Errors are those of :meth:`chunks`."""
        for chunk in self.chunks():
            yield partial(self.chunk_rows, chunk, positions)

    def rows(
        self,
        positions: Sequence[int],
        *,
        coded: Collection[int] = (),
        allow_ragged: bool = True,
    ) -> Iterator[FileRows]:
        """See :class:`~privatree.sources._files.DataFile`.

        Blank lines are left out, unless the file has a single column, in which a blank line is a
        row.

        Raises
        ------
        SchemaError
            About a ragged row, if these are not allowed.
        """
        n_before = self.first_row.n_lines
        for rows in super().rows(positions):
            if not allow_ragged and rows.n_ragged:
                raise self._ragged(rows, n_before)
            n_before += rows.n_rows
            yield rows

    def _parse(self, chunk: RowChunk, positions: Sequence[int]) -> Iterator[CsvValues]:
        """The columns that are in the file itself; a long row is one that is malformed."""
        n_own = len(self.first_row.names)
        own = [position for position in positions if position < n_own]
        returns_end_rows = self.first_row.returns_end_rows
        yield from csv_values(
            chunk.content, self.dialect, n_own, own, returns_end_rows=returns_end_rows
        )
        if chunk.long_row_follows:
            yield CsvValues([_no_text(1)] * len(own), np.array([_TOO_LONG], np.int32))

    def _file_rows(self, values: CsvValues, positions: Sequence[int], is_valid: bool) -> FileRows:
        """Some rows, with the columns that folders give."""
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

    def _ragged(self, rows: FileRows, n_before: int) -> SchemaError:
        """What is wrong with the first ragged row."""
        place = int(np.flatnonzero(rows.is_ragged)[0])
        number, n_values = n_before + place + 1, int(rows.n_values[place])
        if n_values == _TOO_LONG:
            said = f"have no more than {MAX_ROW_BYTES // 2**20} MiB."
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
    """Open a CSV file and read its first row.

    Parameters
    ----------
    path : Path
        The file, compressed if its name ends in ``.gz`` or ``.zst``, with names of the columns in
        the first row.
    dialect : CsvDialect, optional
        How it is written. A workbook's sheet is read by its own rules.

    Returns
    -------
    CsvFile
        Without names if the file is empty.

    Raises
    ------
    SchemaError
        If the first row cannot be read.
    ParameterError
        If a compressed file is damaged.
    OSError
        If the file cannot be read.
    """
    if isinstance(path, HeldFile) and path.dialect is not None:
        dialect = path.dialect
    dialect = (dialect or CsvDialect()).of_file(is_tab_separated=is_tab_separated(path))
    with opened_text(path, dialect.encoding) as stream:
        first_row = read_first_row(path, stream, dialect)
    return CsvFile(path, dialect, first_row, partition_values(path))


def reading_assumptions(files: Sequence[Path], dialect: CsvDialect | None) -> tuple[str, ...]:
    """What has to hold for one row to change one record only; nothing if a line is a row.

    Parameters
    ----------
    files : sequence of Path
        Of one kind. The rows of Parquet files and workbooks are apart by themselves.
    dialect : CsvDialect or None
        How CSV files are read.
    """
    is_multiline = dialect is not None and dialect.multiline
    if is_multiline and any(is_csv(file) and not isinstance(file, ExcelFile) for file in files):
        return (_MULTILINE,)
    return ()


def _no_text(n_rows: int) -> Any:
    import pyarrow as pa

    return pa.nulls(n_rows, pa.string())


def _read(stream: Any, n_bytes: int) -> bytes:
    """Read so many bytes; a stream may give fewer at a time than were asked for."""
    found = b""
    while len(found) < n_bytes and (read := stream.read(n_bytes - len(found))):
        found += read
    return found
