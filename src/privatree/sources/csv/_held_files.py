"""CSV text that is not in a CSV file: the standard input, and the first sheet of an Excel workbook.

Both are read once, and kept in memory. They pass for paths, so that whatever reads files reads
them.
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
from privatree.sources.csv._excel_sheet import sheet_rows

_OTHER_KINDS = {b"PK\x03\x04": "a workbook or a zip file", b"PAR1": "a Parquet file"}
"""How files begin that are no text."""

STANDARD_INPUT = "-"
"""What stands for the standard input in place of a file's name."""


class HeldFile(type(Path())):  # type: ignore[misc]  # before Python 3.12 Path itself has no subclasses
    """A path whose content is text that is in memory."""

    dialect: CsvDialect | None = None
    """How the content is written, if that does not depend on whoever wrote it."""

    @property
    @abstractmethod
    def content(self) -> bytes:
        """CSV text."""


class StandardInput(HeldFile):
    """What is piped into the command."""

    def __str__(self) -> str:
        return "standard input"

    @cached_property
    def content(self) -> bytes:
        """Everything up to its end."""
        content = sys.stdin.buffer.read()
        for start, kind in _OTHER_KINDS.items():
            if content.startswith(start):
                raise ParameterError(
                    f"{self}: must be CSV text, got {kind}. Name the file instead."
                )
        return content


class ExcelFile(HeldFile):
    """The first sheet of an ``.xlsx`` file, its first row the names of the columns.

    The first row that is not empty alone decides which columns there are. A row with a value in
    another one is ragged; empty rows do not count.
    """

    # The text is ours, so a line break in a cell never reaches beyond it.
    dialect = CsvDialect(multiline=True)

    @cached_property
    def content(self) -> bytes:
        """The sheet as CSV text."""
        written = io.StringIO(newline="")
        writer = csv.writer(written, lineterminator="\n", quoting=csv.QUOTE_ALL)
        columns = range(0)
        for cells in sheet_rows(self):
            if cells and not columns:  # the names
                columns = range(min(cells), max(cells) + 1)
            if cells:
                beyond = [text for column, text in cells.items() if column not in columns]
                writer.writerow([*(cells.get(column, "") for column in columns), *beyond])
        return written.getvalue().encode("utf-8", errors="replace")
