"""The first row of a CSV file, which names the columns. It is public."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from privatree.errors import SchemaError
from privatree.sources.csv_rows import is_utf8

_LINE = re.compile(rb"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_SEPARATORS = {";": "semicolons", "\t": "tabs"}
_PIECE_BYTES = 2**16
_MOST_BYTES = 2**24  # in which the first row must end


@dataclass(frozen=True)
class FirstRow:
    """What the first row says, and where it ends.

    Parameters
    ----------
    names : list of str
        Bytes that are not UTF-8 are replaced. Without any if the file is empty.
    n_lines, n_bytes : int
        How many lines, and bytes, it and blank ones before it take.
    returns_end_rows : bool
        Whether it ends in a carriage return alone, and so do all others.
    is_utf8 : bool
        Whether no bytes had to be replaced.
    """

    names: list[str]
    n_lines: int
    n_bytes: int
    returns_end_rows: bool
    is_utf8: bool


def read_first_row(path: Path, stream: BinaryIO) -> FirstRow:
    """Read the first row of a file that is not blank.

    Parameters
    ----------
    path : Path
        Where it is, for messages.
    stream : binary file
        Its content, from the start.

    Raises
    ------
    SchemaError
        If the row is none, or does not end in the first 16 MiB.
    """
    head = b""
    while True:
        read = stream.read(max(len(head), _PIECE_BYTES))
        head += read
        lines = _Lines(head)
        names: list[str] | None
        try:
            # Strictly: a quote that is never closed would make a name of the records.
            names = next((row for row in csv.reader(lines, strict=True) if row), [])
        except csv.Error:
            names = None
        if not read or lines.n_bytes < len(head):
            break
        if len(head) > _MOST_BYTES:
            names = None
            break
    if names is None:
        hint = first_row_mistake(_first_line(head).split(","))
        raise SchemaError(f"{path}: the first row must name the columns.{hint}")
    content = head[: lines.n_bytes]
    return FirstRow(names, lines.n_lines, lines.n_bytes, content.endswith(b"\r"), is_utf8(content))


class _Lines:
    """Lines of text, and how many were taken."""

    def __init__(self, head: bytes) -> None:
        self._head = head
        self.n_lines = self.n_bytes = 0

    def __iter__(self) -> Iterator[str]:
        for found in _LINE.finditer(self._head):
            encoding = "utf-8" if self.n_lines else "utf-8-sig"
            self.n_lines, self.n_bytes = self.n_lines + 1, found.end()
            yield found[0].decode(encoding, errors="replace")


def _first_line(head: bytes) -> str:
    """The first line that is not blank, whatever its quotes are."""
    return next((line.strip("\r\n") for line in _Lines(head) if line.strip()), "")


def first_row_mistake(names: Sequence[str]) -> str:
    """Why columns are not found, if the first row shows it, to end a message with.

    Parameters
    ----------
    names : sequence of str
        What the first row says. Of a name only the first line is looked at: a stray quote can hide
        records in the others.

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
        said += " Its first row is not UTF-8: save the file as UTF-8."
    if len(lines) == 1:
        for mark, called in _SEPARATORS.items():
            if mark in lines[0]:
                return f"{said} Its columns have {called} between: save it with commas."
    return said
