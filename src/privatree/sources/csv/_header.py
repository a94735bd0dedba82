"""The first row of a CSV file, which names the columns. It is public."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from privatree.errors import SchemaError
from privatree.schema import CsvDialect
from privatree.sources.csv import _rows as csv_rows
from privatree.sources.csv._values import csv_values

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n?|\n")
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}
_PIECE_BYTES = 2**16
_MAX_BYTES = 2**24  # in which the first row must end


@dataclass(frozen=True)
class FirstRow:
    """What the first row says, and where it ends.

    Parameters
    ----------
    names : list of str
        Bytes that are no text are replaced. Without any if the file is empty.
    n_lines : int
        How many lines it and blank ones before it take.
    head : bytes
        These lines, as they are, to see without reading them again that they have not changed.
    returns_end_rows : bool
        Whether it ends in a carriage return alone, and so do all others.
    """

    names: list[str]
    n_lines: int
    head: bytes
    returns_end_rows: bool

    @property
    def is_ended(self) -> bool:
        """Whether it has an end of its own, and not only that of the file."""
        return self.head.endswith((b"\n", b"\r"))


def read_first_row(path: Path, stream: BinaryIO, dialect: CsvDialect) -> FirstRow:
    """Read the first row of a file that is not blank.

    Parameters
    ----------
    path : Path
        Where it is, for messages.
    stream : binary file
        Its content, from the start.
    dialect : CsvDialect
        How it is written.

    Raises
    ------
    SchemaError
        If the row's quotes are never closed, or it does not end in the first 16 MiB.
    """
    head = b""
    while True:
        read = stream.read(max(len(head), _PIECE_BYTES))
        head += read
        found = _first_row(head, dialect, is_all=not read)
        if found is not None:
            break
        if not read or len(head) > _MAX_BYTES:
            raise SchemaError(f"{path}: the first row must name the columns.{_hint(head, dialect)}")
    return found


def _first_row(head: bytes, dialect: CsvDialect, *, is_all: bool) -> FirstRow | None:
    """The first row, if it is there to its end and its quotes are closed."""
    start = len(BYTE_ORDER_MARK) if head.startswith(BYTE_ORDER_MARK) else 0
    while blank := _LINE_END.match(head, start):
        start = blank.end()
    end = start + _row_end(head[start:], dialect)
    if end == start or end == len(head):  # a line feed may follow a return
        if not is_all:
            return None
        end = len(head)
    returns_end_rows = head[:end].endswith(b"\r")
    names = _names(head[start:end], dialect, returns_end_rows)
    if names is None:
        return None
    n_lines = len(_LINE_END.findall(head[:end]))
    return FirstRow(names, n_lines, head[:end], returns_end_rows)


def _row_end(head: bytes, dialect: CsvDialect) -> int:
    """Where the row ends that starts here; 0 if it does not."""
    if dialect.multiline:
        return csv_rows.quoted_row_ends(dialect, returns_end_rows=True)(head)[0]
    ended = _LINE_END.search(head)
    return 0 if ended is None else ended.end()


def _names(row: bytes, dialect: CsvDialect, returns_end_rows: bool) -> list[str] | None:
    """The values of one row; None if its quotes are never closed."""
    content = csv_rows.repaired(row)
    if not content:
        return []
    how = {"returns_end_rows": returns_end_rows}
    counted = next(csv_values(bytearray(content), dialect, 1, [], **how))
    n_names = int(counted.n_values[0])
    if not n_names:
        return None
    read = next(csv_values(content, dialect, n_names, range(n_names), **how))
    return [name for column in read.columns for name in column.to_pylist()]


def _hint(head: bytes, dialect: CsvDialect) -> str:
    """What is wrong with a first row that cannot be read."""
    lines = csv_rows.repaired(head).decode().lstrip("\ufeff\r\n").splitlines() or [""]
    hint = first_row_mistake(lines[0].split(dialect.delimiter), dialect)
    if not hint and not dialect.multiline and dialect.quote and dialect.quote in lines[0]:
        hint = (
            " It must close its quotes. If a name spans several lines, pass --multiline "
            "(multiline=True in Python)."
        )
    return hint


def first_row_mistake(names: Sequence[str], dialect: CsvDialect) -> str:
    """Why columns are not found, if the first row shows it, to end a message with.

    Parameters
    ----------
    names : sequence of str
        What the first row says. Of a name only the first line is looked at: a stray quote can hide
        records in the others.
    dialect : CsvDialect
        How the file was read.

    Returns
    -------
    str
        One or two sentences after a blank, or nothing. They quote nothing.
    """
    if not names:
        return " The file is empty."
    lines = ["".join(name.splitlines()[:1]) for name in names]
    said = ""
    if any("\ufffd" in line for line in lines):
        such_as = "utf-16" if lines[0].startswith("\ufffd\ufffd") else "latin-1"
        said += (
            f" Its first row is not {dialect.encoding}: pass --encoding, such as {such_as} "
            f'(encoding="{such_as}" in Python).'
        )
    if len(lines) == 1:
        for mark, called in _SEPARATORS.items():
            if mark in lines[0] and mark != dialect.delimiter:
                typed = "tab" if mark == "\t" else mark
                return (
                    f"{said} Its columns have {called} between: pass --delimiter '{typed}' "
                    f'(delimiter="{typed}" in Python).'
                )
    return said
