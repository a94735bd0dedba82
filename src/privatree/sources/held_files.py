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
from typing import Any

from privatree.csv_dialect import CsvDialect
from privatree.errors import ParameterError
from privatree.extras import missing_extra

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
        return sys.stdin.buffer.read()


class ExcelFile(HeldFile):
    """The first sheet of an ``.xlsx`` file, its first row the names of the columns.

    A number is written in full, a date as in ISO 8601, and a formula as the value that Excel last
    computed for it. A row with a value beyond the last named column is ragged; empty rows do not
    count.
    """

    # The text is ours, so a line break in a cell never reaches beyond it.
    dialect = CsvDialect(multiline=True)

    @cached_property
    def content(self) -> bytes:
        """The sheet as CSV text."""
        written = io.StringIO(newline="")
        writer = csv.writer(written, lineterminator="\n", quoting=csv.QUOTE_ALL)
        n_columns = 0
        for cells in _cells(self):
            n_filled = max((at for at, cell in enumerate(cells, 1) if cell), default=0)
            n_columns = n_columns or n_filled  # the first row that has any names them
            if n_filled:
                writer.writerow(cells[: max(n_columns, n_filled)])
        return written.getvalue().encode()


def _cells(path: Path) -> list[list[str]]:
    """The rows of the first sheet as text, an empty cell as an empty string."""
    try:
        import python_calamine
    except ImportError:
        raise missing_extra(f"{path}: Excel files need python-calamine", "excel") from None
    with open(path, "rb") as file:
        content = io.BytesIO(file.read())
    try:
        sheet = python_calamine.CalamineWorkbook.from_filelike(content).get_sheet_by_index(0)
        return [[_text(cell) for cell in row] for row in sheet.iter_rows()]
    except Exception:  # of a library whose errors can show a cell
        pass
    raise ParameterError(f"{path}: not an Excel workbook that can be read. Save it as .xlsx.")


def _text(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)
