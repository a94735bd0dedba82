"""CSV text that is not in a CSV file: the standard input, and the first sheet of an Excel workbook.

Both are read once and kept in memory. Their classes are subclasses of Path, so every reader of
files can read them.
"""

from __future__ import annotations

import csv
import io
import sys
from abc import abstractmethod
from functools import cached_property
from pathlib import Path

from privatree.errors import ParameterError
from privatree.schema import CsvDialect
from privatree.sources.csv._excel_sheet import read_excel_sheet

_OTHER_KINDS = {b"PK\x03\x04": "a workbook or a zip file", b"PAR1": "a Parquet file"}
"""First bytes of files that are not text, and the kind of file."""

STANDARD_INPUT = "-"
"""File name that stands for the standard input."""


class InMemoryFile(type(Path())):  # type: ignore[misc]  # before Python 3.12, Path has no subclasses
    """Path whose content is CSV text in memory."""

    dialect: CsvDialect | None = None
    """Dialect of the content, if it is always the same."""

    @property
    @abstractmethod
    def content(self) -> bytes: ...


class StandardInput(InMemoryFile):
    """Standard input of the command, read to its end."""

    def __str__(self) -> str:
        return "standard input"

    @cached_property
    def content(self) -> bytes:
        content = sys.stdin.buffer.read()
        for start, kind in _OTHER_KINDS.items():
            if content.startswith(start):
                raise ParameterError(
                    f"{self}: must be CSV text, got {kind}. Pass the name of the file instead."
                )
        return content


class ExcelFile(InMemoryFile):
    """First sheet of an ``.xlsx`` file, as CSV text.

    The first row that is not empty names the columns. A row with a value outside these columns is
    ragged. Empty rows are left out.
    """

    # privatree writes this text and quotes every cell, so a line break in a cell ends no row.
    dialect = CsvDialect(multiline=True)

    @cached_property
    def content(self) -> bytes:
        written = io.StringIO(newline="")
        writer = csv.writer(written, lineterminator="\n", quoting=csv.QUOTE_ALL)
        columns = range(0)
        for cells in read_excel_sheet(self):
            if cells and not columns:  # the names
                columns = range(min(cells), max(cells) + 1)
            if cells:
                beyond = [text for column, text in cells.items() if column not in columns]
                writer.writerow([*(cells.get(column, "") for column in columns), *beyond])
        return written.getvalue().encode("utf-8", errors="replace")
