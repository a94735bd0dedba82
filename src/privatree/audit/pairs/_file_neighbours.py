"""Pairs of files that differ in one line, which some readers are known to read wrongly.

Whoever releases a model considers a line of a file to be one record. If a line changes how other
lines are read (by an open quote, by a byte at which reading stops, by a value that turns a whole
column into text), then one line changes many records, and the learner's epsilon does not hold.

The datasets are so large that noise hardly changes the tree. So a few trainings reveal a reader
that loses records because of one line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np

from privatree.audit.pairs._file_readers import FileTable, Reader, read_table
from privatree.audit.pairs._neighbours import Neighbours, Records
from privatree.schema import Categorical, Numeric, Schema

Files = Mapping[str, bytes]
"""Contents of files, by path."""

TARGET = "y"
_KINDS = ["a", "b", "c"]
_SCHEMA = Schema({"x": Numeric(0, 100), "kind": Categorical(_KINDS)}, [0, 1])
_HEADER = b"x,y,kind,note"
_N_LINES = 200
_LONG = 2_200_000
"""A number of bytes that exceeds the default limits of Arrow's reader and Python's ``csv``."""
_NO_TEXT = os.fsdecode(b"kind=\xff") if sys.platform == "linux" else "kind=%FF"
"""Name of a folder that is not valid UTF-8, where the operating system allows such names."""


@dataclass(frozen=True)
class FileNeighbours(Neighbours):
    """Two datasets in files that differ in one line.

    Parameters
    ----------
    name, after, schema, max_depth, events, needs, effort
        See :class:`~privatree.audit.Neighbours`.
    first, second : Records
        The datasets as they should be read: without lines that have no label.
    files : tuple of two mappings
        Contents of the files of each dataset, by path. They are written once, and read at each
        training.
    target : str
        Column of labels.
    read : callable
        Reader under audit. Takes a folder, the schema and the target; returns records.
    encode : callable, optional
        Takes rows and the schema; returns what the learner takes.

    Examples
    --------
    >>> pair = file_pairs()["long-line"]
    >>> pair.after, pair.sizes
    ('an error if a line is long', (200, 201))
    """

    files: tuple[Files, Files] = field(kw_only=True, repr=False)
    target: str = field(kw_only=True)
    read: Reader = field(default=read_table, kw_only=True)
    encode: Callable[[Any, Schema], Any] | None = field(default=None, kw_only=True)

    @property
    def sizes(self) -> tuple[int, int]:
        """Number of lines of each dataset, without the header lines."""
        first, second = (
            sum(len(content.splitlines()) - 1 for content in of_table.values())
            for of_table in self.files
        )
        return first, second

    def encoded(self, encode: Callable[[Any, Schema], Any]) -> Self:
        """See :meth:`Neighbours.encoded <privatree.audit.Neighbours.encoded>`."""
        return replace(super().encoded(encode), encode=encode)

    @contextmanager
    def given(self) -> Iterator[list[Records]]:
        """Write the files to a temporary folder, and yield both datasets."""
        with TemporaryDirectory(prefix="privatree-audit-") as place:
            tables = []
            for name, files in zip(("first", "second"), self.files, strict=True):
                folder = Path(place, name)
                for path, content in files.items():
                    file = folder / path
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(content)
                read = FileTable(folder, self.schema, self.target, self.read, self.encode)
                tables.append(Records(read, None))
            yield tables


def file_pairs(read: Reader = read_table) -> dict[str, FileNeighbours]:
    """Return all pairs of files, by name.

    Parameters
    ----------
    read : callable
        Reader. Takes a folder, a schema and the name of the target; returns
        :class:`~privatree.audit.Records`.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier
    >>> from privatree.audit import audit, file_pairs
    >>> learner = PrivaTreeClassifier(1.0, random_state=0)
    >>> audit(learner, file_pairs()["open-quote"], runs=40).refuted
    False
    """
    pairs = (
        _pair_with_extra_line(
            "open-quote",
            "a quote that is never closed, as Spark writes one, which takes all lines with it",
            b'50,1,a,"5\'11\\""',
        ),
        _pair_with_extra_line(
            "quoted-newline",
            "a value that goes on in the next line, and takes all up to a quote with it",
            b'50,1,a,"a note of two',
            last=b"51,1,b,5'11\" tall",
        ),
        _pair_with_extra_line(
            "odd-bytes",
            "bytes that are no text, at which reading fails or ends",
            b"\xef\xbb\xbf50,1,a,Jos\xe9\x00 caf\xc3",
            reads=(0.0, "a"),
        ),
        _pair_with_extra_line(
            "text-in-numbers",
            "a column of another type if one of its values is no number",
            b"unknown,1,a,fine",
            reads=(0.0, "a"),
        ),
        _pair_with_extra_line(
            "new-values",
            "ranges or categories taken from the file",
            b"1e9,1,0,fine",
            reads=(1e9, "a"),
        ),
        _pair_with_extra_line(
            "ragged-line",
            "an error, or other columns, if a line has too many values",
            b"50,1,a,well, and more",
        ),
        _pair_with_extra_line(
            "long-line",
            "an error if a line is long",
            b"50,1,a," + _LONG * b"-",
            reads=(50.0, "a"),
        ),
        _pair_with_odd_folder(),
    )
    return {pair.name: replace(pair, read=read) for pair in pairs}


# --- the pairs ------------------------------------------------------------------------------------


def _pair_with_extra_line(
    name: str,
    after: str,
    line: bytes,
    *,
    reads: tuple[float, str] | None = None,
    last: bytes | None = None,
) -> FileNeighbours:
    """Make a pair: a file, and the same file with one more line after the header.

    ``reads`` is the record that a correct reader finds in the line (x and kind; the label is 1). By
    default it finds a record without a label, which is left out. ``last`` replaces the last line of
    both files; a correct reader finds the same record in it.
    """
    lines = [b"%d,%d,%s,fine" % (x, y, kind.encode()) for x, kind, y in _rows_of_files()]
    if last is not None:
        lines[-1] = last
    files = tuple({"part-0.csv": _file_lines([_HEADER, *more, *lines])} for more in ([], [line]))
    return _make_file_pair(name, after, reads, files)


def _pair_with_odd_folder() -> FileNeighbours:
    """Make a pair of partitioned datasets. One record is in a folder with a non-UTF-8 name."""
    first = {
        f"kind={kind}/part-0.csv": _file_lines(
            [b"x,y", *(b"%d,%d" % (x, y) for x, of_row, y in _rows_of_files() if of_row == kind)]
        )
        for kind in ("a", "b")
    }
    second = {**first, f"{_NO_TEXT}/part-0.csv": _file_lines([b"x,y", b"50,1"])}
    after = "an error if the name of a folder is no text"
    return _make_file_pair("odd-folder", after, (50.0, "a"), (first, second))


def _make_file_pair(
    name: str, after: str, reads: tuple[float, str] | None, files: Any
) -> FileNeighbours:
    first = _make_file_records(_rows_of_files())
    second = first if reads is None else _make_file_records([*_rows_of_files(), (*reads, 1)])
    return FileNeighbours(
        name, after, _SCHEMA, first, second, max_depth=2, files=files, target=TARGET
    )


def _rows_of_files() -> list[tuple[float, str, int]]:
    """Return rows in which class 1 means a large x and kind b, so a tree needs both features."""
    return [
        (49.0 + 2 * (place % 2), "ab"[place // 2 % 2], int(place % 4 == 3))
        for place in range(_N_LINES)
    ]


def _make_file_records(rows: list[tuple[float, str, int]]) -> Records:
    import pandas as pd

    x, kind, y = zip(*rows, strict=True)
    return Records(pd.DataFrame({"x": x, "kind": pd.Categorical(kind, _KINDS)}), np.array(y))


def _file_lines(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)
