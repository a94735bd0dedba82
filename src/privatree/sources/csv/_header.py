"""The first row of a CSV file, which names the columns. The first row is public."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from privatree.errors import SchemaError
from privatree.schema import CsvDialect
from privatree.sources.csv import _rows as csv_rows
from privatree.sources.csv._values import parse_csv_values

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n?|\n")
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}
_PIECE_BYTES = 2**16
_MAX_BYTES = 2**24  # largest size of the first row and the blank lines before it


@dataclass(frozen=True)
class FirstRow:
    """First row of a file, after any blank lines."""

    names: list[str]
    """Names of the columns, empty for an empty file. Bytes that are not text are U+FFFD."""
    n_lines: int
    """Number of lines of the first row and of the blank lines before it."""
    head: bytes
    """Bytes of these lines, to notice later if they have changed."""
    returns_end_rows: bool
    """Whether the first row, and so every row, ends with a carriage return alone."""

    @property
    def is_ended(self) -> bool:
        """Whether the first row ends with a line end, and not with the file."""
        return self.head.endswith((b"\n", b"\r"))


def read_first_row(path: Path, stream: BinaryIO, dialect: CsvDialect) -> FirstRow:
    """Read the first row of a stream, after any blank lines.

    Raise a SchemaError, which names the path, if the quotes of the row are never closed, or if the
    row does not end in the first 16 MiB.
    """
    head = b""
    while True:
        read = stream.read(max(len(head), _PIECE_BYTES))
        head += read
        found = _parse_first_row(head, dialect, is_all=not read)
        if found is not None:
            break
        if not read or len(head) > _MAX_BYTES:
            hint = _unreadable_first_row_hint(head, dialect)
            raise SchemaError(
                f"{path}: the first row must name the columns, but cannot be read.{hint}"
            )
    return found


def _parse_first_row(head: bytes, dialect: CsvDialect, *, is_all: bool) -> FirstRow | None:
    """Return the first row, or None if its end has not been read or its quotes are not closed."""
    start = len(BYTE_ORDER_MARK) if head.startswith(BYTE_ORDER_MARK) else 0
    while blank := _LINE_END.match(head, start):
        start = blank.end()
    end = start + _find_first_row_end(head[start:], dialect)
    if end == start or end == len(head):  # a line feed may follow a carriage return
        if not is_all:
            return None
        end = len(head)
    returns_end_rows = head[:end].endswith(b"\r")
    names = _parse_column_names(head[start:end], dialect, returns_end_rows)
    if names is None:
        return None
    n_lines = len(_LINE_END.findall(head[:end]))
    return FirstRow(names, n_lines, head[:end], returns_end_rows)


def _find_first_row_end(head: bytes, dialect: CsvDialect) -> int:
    """Return where the first row ends, or 0 if the bytes do not contain its end."""
    if dialect.multiline:
        return csv_rows.quoted_row_end_finder(dialect, returns_end_rows=True)(head)[0]
    ended = _LINE_END.search(head)
    return 0 if ended is None else ended.end()


def _parse_column_names(
    row: bytes, dialect: CsvDialect, returns_end_rows: bool
) -> list[str] | None:
    """Return the values of one row, or None if its quotes are not closed."""
    content = csv_rows.repair_row_utf8(row)
    if not content:
        return []
    how = {"returns_end_rows": returns_end_rows}
    counted = next(parse_csv_values(bytearray(content), dialect, 1, [], **how))
    n_names = int(counted.n_values[0])
    if not n_names:
        return None
    read = next(parse_csv_values(content, dialect, n_names, range(n_names), **how))
    return [name for column in read.columns for name in column.to_pylist()]


def _unreadable_first_row_hint(head: bytes, dialect: CsvDialect) -> str:
    lines = csv_rows.repair_row_utf8(head).decode().lstrip("\ufeff\r\n").splitlines() or [""]
    hint = first_row_hint(lines[0].split(dialect.delimiter), dialect)
    if not hint and not dialect.multiline and dialect.quote and dialect.quote in lines[0]:
        hint = (
            " It must close its quotes. If a name spans several lines, pass --multiline "
            "(multiline=True in Python)."
        )
    return hint


def first_row_hint(names: Sequence[str], dialect: CsvDialect) -> str:
    """Return why columns are not found, if the names in the first row show it.

    The hint is the end of an error message: a blank and one or two sentences, or nothing. It quotes
    no name, and depends only on the first line of each: after a stray quote, a name can contain
    records.
    """
    if not names:
        return " The file is empty."
    lines = ["".join(name.splitlines()[:1]) for name in names]
    said = ""
    if any("\ufffd" in line for line in lines):
        such_as = "utf-16" if lines[0].startswith("\ufffd\ufffd") else "latin-1"
        said += (
            f" Its first row is not {dialect.encoding} text: pass --encoding, such as {such_as} "
            f'(encoding="{such_as}" in Python).'
        )
    if len(lines) == 1:
        for mark, called in _SEPARATORS.items():
            if mark in lines[0] and mark != dialect.delimiter:
                typed = "tab" if mark == "\t" else mark
                return (
                    f"{said} Its columns are separated by {called}: pass --delimiter '{typed}' "
                    f'(delimiter="{typed}" in Python).'
                )
    return said
