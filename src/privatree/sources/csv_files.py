"""CSV files of any size: every value is text, and what the records hold is never an error.

What is public is the first row, which names the columns. A record is a row as a CSV writer writes
it: values with a comma, a quote or a new line in quotes, quotes doubled. A quote that is opened and
never closed makes one value of all that follows it.

The names of folders above a file give columns too, if they are of the kind ``NAME=VALUE``: to
whoever reads the file they are columns of text behind its own.

A file is read in chunks of whole rows, so what is in memory does not grow with it unless all of it
is asked for. A row that is longer than 64 MiB, as an open quote can make it, is not kept: it is
taken for a ragged one, which is one that has not as many values as the first row has names. This
holds wherever files are read, so that nothing depends on how they are.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from privatree.errors import ParameterError, SchemaError
from privatree.sources.csv_header import FirstRow, first_row_mistake, read_first_row
from privatree.sources.csv_rows import LONGEST_ROW, RowChunk, row_chunks
from privatree.sources.csv_text import MISSING_WORDS, repeated_text
from privatree.sources.paths import partition_values

_LARGEST_BLOCK = 2**31 - 1  # bytes that Arrow parses at once
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class CsvColumns:
    """Some columns of a CSV file, or of a chunk of it.

    Parameters
    ----------
    columns : list of pyarrow.ChunkedArray
        In the order asked for.
    n_rows : int
        How many rows, ragged ones included, if they are kept. It is private.
    n_ragged : int
        How many of them, or besides them, have not as many values as the first row. **This leaks.**
    is_utf8 : bool
        Whether no bytes had to be replaced by U+FFFD to make text of them. **This leaks.**
    """

    columns: list[Any]
    n_rows: int
    n_ragged: int
    is_utf8: bool


@dataclass(frozen=True)
class CsvFile:
    """A CSV file whose first row has been read.

    Parameters
    ----------
    path : Path
        Where it is.
    first_row : FirstRow
        What it says. It is public.
    folders : dict
        Names and values of the columns that the names of folders give.
    """

    path: Path
    first_row: FirstRow
    folders: dict[str, str | None]

    @property
    def names(self) -> list[str]:
        """What the columns are called, those that folders give last."""
        return [*self.first_row.names, *self.folders]

    @property
    def mistake(self) -> str:
        """Why columns are not found, if the first row shows it, to end a message with."""
        return first_row_mistake(self.first_row.names)

    def chunks(self) -> Iterator[RowChunk]:
        """Read the rows after the first, some at a time.

        Raises
        ------
        ParameterError
            If a compressed file is damaged.
        OSError
            If the file cannot be read.
        """
        with _opened(self.path) as stream:
            stream.read(self.first_row.n_bytes)
            yield from row_chunks(stream, returns_end_rows=self.first_row.returns_end_rows)

    def chunk_text(self, chunk: RowChunk, positions: Sequence[int]) -> CsvColumns:
        """Read columns of a chunk as text, ragged rows behind the others."""
        parsed = self._parse_text(chunk.content, positions)
        n_ragged = parsed.n_ragged + chunk.long_row_follows
        return self._joined_text([parsed.table], positions, n_ragged, chunk.is_utf8)

    def text(self, positions: Sequence[int], *, allow_ragged: bool) -> CsvColumns:
        """Read columns as text.

        Parameters
        ----------
        positions : sequence of int
            Which columns.
        allow_ragged : bool
            What becomes of a row that has not as many values as the first. True: it is taken,
            without a word, for one of which every value is missing, after all the others. False:
            it is an error.

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
        tables, n_ragged, is_utf8 = [], 0, self.first_row.is_utf8
        n_before = self.first_row.n_lines
        for chunk in self.chunks():
            parsed = self._parse_text(chunk.content, positions)
            if not allow_ragged:
                self._check_none_ragged(parsed, chunk, n_before)
            tables.append(parsed.table)
            n_before += parsed.table.num_rows
            n_ragged += parsed.n_ragged + chunk.long_row_follows
            is_utf8 &= chunk.is_utf8
        return self._joined_text(tables, positions, n_ragged, is_utf8)

    def guessed(self, positions: Sequence[int]) -> CsvColumns:
        """Read columns of the types that all their values fit. **This leaks.**

        A row that has not as many values as the first is left out.
        """
        content, is_utf8, n_long = io.BytesIO(), self.first_row.is_utf8, 0
        for chunk in self.chunks():
            content.write(chunk.content)
            is_utf8 &= chunk.is_utf8
            n_long += chunk.long_row_follows
        words = ["", *sorted(MISSING_WORDS)]
        parsed = self._parse(
            content.getbuffer(), positions, strings_can_be_null=True, null_values=words
        )
        columns = [self._joined_column([parsed.table], position, 0) for position in positions]
        return CsvColumns(columns, parsed.table.num_rows, parsed.n_ragged + n_long, is_utf8)

    def _joined_text(
        self, tables: Sequence[Any], positions: Sequence[int], n_ragged: int, is_utf8: bool
    ) -> CsvColumns:
        """Columns of text, ragged rows behind all others."""
        columns = [self._joined_column(tables, position, n_ragged) for position in positions]
        n_rows = n_ragged + sum(table.num_rows for table in tables)
        return CsvColumns(columns, n_rows, n_ragged, is_utf8)

    def _joined_column(self, tables: Sequence[Any], position: int, n_ragged: int) -> Any:
        """One column of several tables, and nulls behind."""
        import pyarrow as pa

        n_own = len(self.first_row.names)
        if position < n_own:
            parts = [part for table in tables for part in table.column(str(position)).chunks]
        else:
            text = list(self.folders.values())[position - n_own]
            parts = repeated_text(text, sum(table.num_rows for table in tables)).chunks
        if n_ragged:
            parts.append(pa.nulls(n_ragged, pa.string()))
        return pa.chunked_array(parts, parts[0].type if parts else pa.string())

    def _check_none_ragged(self, parsed: _Parsed, chunk: RowChunk, n_before: int) -> None:
        if parsed.first_ragged is not None:
            number, n_values = parsed.first_ragged
            raise SchemaError(
                f"{self.path}: row {n_before + number} must have {len(self.first_row.names)} "
                f"values as the first one, got {n_values}. Mend it or take it out."
            )
        if chunk.long_row_follows:
            raise SchemaError(
                f"{self.path}: row {n_before + parsed.table.num_rows + 1} must have no more than "
                f"{LONGEST_ROW // 2**20} MiB. Look for a quote in it that is never closed."
            )

    def _parse_text(self, content: Any, positions: Sequence[int]) -> _Parsed:
        """Columns as they are written."""
        import pyarrow as pa

        types = {str(position): pa.string() for position in positions}
        return self._parse(content, positions, column_types=types)

    def _parse(self, content: Any, positions: Sequence[int], **how: Any) -> _Parsed:
        """The columns, called by their positions, and what of ragged rows, not among them."""
        import pyarrow as pa
        import pyarrow.csv as pacsv

        n_own = len(self.first_row.names)
        first_ragged, n_ragged = None, 0

        def handle(row: Any) -> str:
            nonlocal first_ragged, n_ragged
            first_ragged = first_ragged or (row.number - n_skipped, row.actual_columns)
            n_ragged += 1
            return "skip"

        # Arrow refuses to read nothing, and takes a mark of the byte order off any start.
        n_skipped = int(not len(content) or content[:3] == _BYTE_ORDER_MARK)
        if n_skipped:
            content = b"\n" + content
        # One block, for where Arrow cuts text into blocks depends on what it holds, and a row
        # must fit into one. Rows have numbers only where a single thread reads them.
        read_options = pacsv.ReadOptions(
            use_threads=False,
            block_size=min(len(content), _LARGEST_BLOCK),
            skip_rows=n_skipped,
            column_names=[str(position) for position in range(n_own)],
        )
        parse_options = pacsv.ParseOptions(
            newlines_in_values=True,
            ignore_empty_lines=n_own > 1,
            invalid_row_handler=handle,
        )
        # Where no column is asked for, one tells how many rows there are.
        included = [str(position) for position in positions if position < n_own] or ["0"]
        convert_options = pacsv.ConvertOptions(check_utf8=False, include_columns=included, **how)
        try:
            table = pacsv.read_csv(
                pa.BufferReader(content), read_options, parse_options, convert_options
            )
            return _Parsed(table, n_ragged, first_ragged)
        except pa.ArrowInvalid:  # it shows the row, so it is not even kept as the context of ours
            pass
        raise SchemaError(f"{self.path}: not a CSV file that can be read.")


@dataclass(frozen=True)
class _Parsed:
    """What Arrow reads, how many ragged rows it leaves out, and number and values of the first."""

    table: Any
    n_ragged: int
    first_ragged: tuple[int, int] | None


def open_csv(path: Path) -> CsvFile:
    """Open a CSV file, compressed if its name ends in ``.gz``, and read its first row.

    Parameters
    ----------
    path : Path
        The file: UTF-8, values separated by commas, names of the columns in the first row.

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
    with _opened(path) as stream:
        return CsvFile(path, read_first_row(path, stream), partition_values(path))


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The content of a file, decompressed on the way."""
    if path.suffix.lower() != ".gz":
        with open(path, "rb") as file:
            yield file
        return
    try:
        with gzip.open(path) as stream:
            yield cast("BinaryIO", stream)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise ParameterError(f"{path}: not a whole gzip file. Compress it again.") from None
