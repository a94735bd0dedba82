"""CSV files of any size: every value is text, and what the records hold is never an error.

What is public is the first row, which names the columns. By default every line after it is a record
of its own, whatever stands in it; see :class:`~privatree.schema.CsvDialect`.

The names of folders above a file give columns too, if they are of the kind ``NAME=VALUE``: to
whoever reads the file they are columns of text behind its own.

A file is read in chunks of whole rows, so what is in memory does not grow with it unless all of it
is asked for. A row is ragged if it has another number of values than the first row, quotes that it
does not close, or more than 64 MiB. Every reader applies the same rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.errors import SchemaError
from privatree.schema import CsvDialect
from privatree.sources._paths import is_csv, is_tab_separated, partition_values
from privatree.sources.csv._header import FirstRow, first_row_mistake, read_first_row
from privatree.sources.csv._held_files import ExcelFile, HeldFile
from privatree.sources.csv._raw_files import opened_text
from privatree.sources.csv._rows import MAX_ROW_BYTES, RowChunk, row_chunks
from privatree.sources.csv._values import CsvValues, csv_values
from privatree.tables import guessed_column, repeated_text

_TOO_LONG = -1  # in the place of a number of values
_MULTILINE = (
    "every row of the CSV files closes its quotes: they are read with multiline, where one that "
    "does not makes one row of all that follow"
)


@dataclass(frozen=True)
class CsvColumns:
    """Some columns of a CSV file, or of a chunk of it.

    Parameters
    ----------
    columns : list of pyarrow.ChunkedArray
        In the order asked for. In a ragged row every value is null.
    is_ragged : array of bool
        Which rows have not as many values as the first, or are malformed. Both this and how many
        rows there are is private.
    is_valid : bool
        Whether no bytes had to be replaced by U+FFFD to make text of them. **This leaks.**
    """

    columns: list[Any]
    is_ragged: NDArray[np.bool_]
    is_valid: bool

    @property
    def n_rows(self) -> int:
        """How many rows there are, ragged ones included. It is private."""
        return len(self.is_ragged)

    @property
    def n_ragged(self) -> int:
        """How many of them are ragged. **This leaks.**"""
        return int(self.is_ragged.sum())


@dataclass(frozen=True)
class CsvFile:
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

    @property
    def names(self) -> list[str]:
        """What the columns are called, those that folders give last."""
        return [*self.first_row.names, *self.folders]

    @property
    def mistake(self) -> str:
        """Why columns are not found, if the first row shows it, to end a message with."""
        return first_row_mistake(self.first_row.names, self.dialect)

    def chunks(self) -> Iterator[RowChunk]:
        """Read the rows after the first, some at a time.

        Raises
        ------
        ParameterError
            If a compressed file is damaged.
        OSError
            If the file cannot be read.
        """
        with opened_text(self.path, self.dialect.encoding) as stream:
            _skip(stream, self.first_row.n_bytes)
            yield from row_chunks(
                stream, self.dialect, returns_end_rows=self.first_row.returns_end_rows
            )

    def chunk_text(self, chunk: RowChunk, positions: Sequence[int]) -> Iterator[CsvColumns]:
        """Read columns of a chunk as text, some rows at a time. The chunk cannot be used again."""
        for values in self._parse(chunk, positions):
            yield self._joined([values], positions, chunk.is_valid)

    def text(self, positions: Sequence[int], *, allow_ragged: bool) -> CsvColumns:
        """Read columns as text.

        Parameters
        ----------
        positions : sequence of int
            Which columns.
        allow_ragged : bool
            What becomes of a row that has not as many values as the first. True: it is taken,
            without a word, for one of which every value is missing. False: it is an error.

        Returns
        -------
        CsvColumns
            Strings. Blank lines are left out, unless the file has a single column, in which a blank
            line is a row.

        Raises
        ------
        SchemaError
            About a ragged row, if these are not allowed.
        ParameterError, OSError
            If the file cannot be read.
        """
        parsed: list[CsvValues] = []
        is_valid, n_before = True, self.first_row.n_lines
        for chunk in self.chunks():
            is_valid &= chunk.is_valid
            for values in self._parse(chunk, positions):
                if not allow_ragged:
                    self._check_none_ragged(values, n_before)
                n_before += len(values.n_values)
                parsed.append(values)
        return self._joined(parsed, positions, is_valid)

    def guessed(self, positions: Sequence[int]) -> CsvColumns:
        """Read columns of the types that all their values fit. **This leaks.**

        What folders give is text. A row that has not as many values as the first is left out.
        """
        read = self.text(positions, allow_ragged=True)
        whole = np.flatnonzero(~read.is_ragged)
        columns = [
            guessed_column(text.take(whole), self.dialect.decimal)
            if position < len(self.first_row.names)
            else text.take(whole)
            for position, text in zip(positions, read.columns, strict=True)
        ]
        return CsvColumns(columns, np.zeros(len(whole), bool), read.is_valid)

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

    def _joined(
        self, parsed: Sequence[CsvValues], positions: Sequence[int], is_valid: bool
    ) -> CsvColumns:
        """Columns of all these rows, those that folders give among them."""
        import pyarrow as pa
        import pyarrow.compute as pc

        n_own = len(self.first_row.names)
        counts = [values.n_values for values in parsed]
        is_ragged = np.concatenate([np.zeros(0, np.int32), *counts]) != n_own
        own = iter(range(len(positions)))
        columns = []
        for position in positions:
            if position < n_own:
                at = next(own)
                parts = [values.columns[at] for values in parsed]
                columns.append(pa.chunked_array(parts, pa.string()))
            else:
                text = list(self.folders.values())[position - n_own]
                columns.append(pc.if_else(~is_ragged, repeated_text(text, len(is_ragged)), None))
        is_valid &= not any("\ufffd" in name for name in self.first_row.names)
        return CsvColumns(columns, is_ragged, is_valid)

    def _check_none_ragged(self, values: CsvValues, n_before: int) -> None:
        n_own = len(self.first_row.names)
        ragged = np.flatnonzero(values.n_values != n_own)
        if not len(ragged):
            return
        number, n_values = n_before + int(ragged[0]) + 1, int(values.n_values[ragged[0]])
        if n_values == _TOO_LONG:
            said = f"have no more than {MAX_ROW_BYTES // 2**20} MiB."
        elif n_values:
            said = f"have {n_own} values, as the first row has, got {n_values}."
        else:
            said = "close its quotes."
        hint = " or, if values span lines, pass --multiline"
        is_open = n_values == 0 and not self.dialect.multiline
        raise SchemaError(
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


def _skip(stream: Any, n_bytes: int) -> None:
    """Read past the first row; a stream may give fewer bytes at a time than were asked for."""
    while n_bytes > 0 and (read := stream.read(n_bytes)):
        n_bytes -= len(read)
