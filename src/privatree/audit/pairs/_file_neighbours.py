"""Pairs of files that differ in one line, at which readers are known to give way.

To whoever releases a model, a record is a line of a file. If a line can take others with it (by a
quote that it opens, by a byte at which reading stops, by a value that makes text of a whole
column), then one record is many, and the learner's epsilon is not that of the model.

All tables are of one kind, and large enough for the tree to be nearly certain. A reader that loses
them to one line is seen after a few trainings.
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
"""Contents by path."""

TARGET = "y"
_KINDS = ["a", "b", "c"]
_SCHEMA = Schema({"x": Numeric(0, 100), "kind": Categorical(_KINDS)}, [0, 1])
_HEADER = b"x,y,kind,note"
_N_LINES = 200
_LONG = 2_200_000
"""More bytes than Arrow's reader, or Python's ``csv``, takes in a line by default."""
_NO_TEXT = os.fsdecode(b"kind=\xff") if sys.platform == "linux" else "kind=%FF"
"""A folder's name that is not UTF-8; not every system lets a byte stand for itself."""


@dataclass(frozen=True)
class FileNeighbours(Neighbours):
    """Two tables in files that differ in one line.

    Parameters
    ----------
    name, after, schema, max_depth, events, needs, effort
        See :class:`~privatree.audit.pairs._neighbours.Neighbours`.
    first, second : Records
        The tables as they should be read: without lines that have no label.
    files : tuple of two mappings
        What is trained on: the contents of files, by their paths. They are written once, and read
        at each training.
    target : str
        The column of labels.
    read : callable
        From a folder, the schema and the target to records: what is audited with the learner.
    encode : callable, optional
        Turns rows, given the schema, into what the learner takes.
    """

    files: tuple[Files, Files] = field(kw_only=True, repr=False)
    target: str = field(kw_only=True)
    read: Reader = field(default=read_table, kw_only=True)
    encode: Callable[[Any, Schema], Any] | None = field(default=None, kw_only=True)

    @property
    def sizes(self) -> tuple[int, int]:
        """Number of lines but for the first of each file, however they are read."""
        first, second = (
            sum(len(content.splitlines()) - 1 for content in of_table.values())
            for of_table in self.files
        )
        return first, second

    def encoded(self, encode: Callable[[Any, Schema], Any]) -> Self:
        """See :meth:`Neighbours.encoded <privatree.audit.pairs._neighbours.Neighbours.encoded>`."""
        return replace(super().encoded(encode), encode=encode)

    @contextmanager
    def given(self) -> Iterator[list[Records]]:
        """Write the files to a folder that is gone afterwards."""
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
    """Every pair of files, by name.

    Parameters
    ----------
    read : callable
        What reads them: takes a folder, a schema and the name of the target, and gives
        :class:`~privatree.audit.pairs._neighbours.Records`.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier
    >>> from privatree.audit._blackbox import audit
    >>> from privatree.audit.pairs._file_neighbours import file_pairs
    >>> learner = PrivaTreeClassifier(1.0, random_state=0)
    >>> audit(learner, file_pairs()["open-quote"], runs=40).refuted
    False
    """
    pairs = (
        _one_file(
            "open-quote",
            "a quote that is never closed, as Spark writes one, which takes all lines with it",
            b'50,1,a,"5\'11\\""',
        ),
        _one_file(
            "quoted-newline",
            "a value that goes on in the next line, and takes all up to a quote with it",
            b'50,1,a,"a note of two',
            last=b"51,1,b,5'11\" tall",
        ),
        _one_file(
            "odd-bytes",
            "bytes that are no text, at which reading fails or ends",
            b"\xef\xbb\xbf50,1,a,Jos\xe9\x00 caf\xc3",
            reads=(0.0, "a"),
        ),
        _one_file(
            "text-in-numbers",
            "a column of another type if one of its values is no number",
            b"unknown,1,a,fine",
            reads=(0.0, "a"),
        ),
        _one_file(
            "new-values",
            "ranges or categories taken from the file",
            b"1e9,1,0,fine",
            reads=(1e9, "a"),
        ),
        _one_file(
            "ragged-line",
            "an error, or other columns, if a line has too many values",
            b"50,1,a,well, and more",
        ),
        _one_file(
            "long-line",
            "an error if a line is long",
            b"50,1,a," + _LONG * b"-",
            reads=(50.0, "a"),
        ),
        _odd_folder(),
    )
    return {pair.name: replace(pair, read=read) for pair in pairs}


# --- the pairs ------------------------------------------------------------------------------------


def _one_file(
    name: str,
    after: str,
    line: bytes,
    *,
    reads: tuple[float, str] | None = None,
    last: bytes | None = None,
) -> FileNeighbours:
    """A file, and the same with one line more, which comes first.

    Parameters
    ----------
    name, after
        Of the pair.
    line : bytes
        The line; its label, if it has one, is 1.
    reads : tuple of x and kind, optional
        What it should be read as; by default as a record without a label, which does not count.
    last : bytes, optional
        Another last line, which reads as it would otherwise.
    """
    lines = [b"%d,%d,%s,fine" % (x, y, kind.encode()) for x, kind, y in _rows()]
    if last is not None:
        lines[-1] = last
    files = tuple({"part-0.csv": _text([_HEADER, *more, *lines])} for more in ([], [line]))
    return _pair(name, after, reads, files)


def _odd_folder() -> FileNeighbours:
    """A partitioned table; the record with an odd value has a folder of its own."""
    first = {
        f"kind={kind}/part-0.csv": _text(
            [b"x,y", *(b"%d,%d" % (x, y) for x, of_row, y in _rows() if of_row == kind)]
        )
        for kind in ("a", "b")
    }
    second = {**first, f"{_NO_TEXT}/part-0.csv": _text([b"x,y", b"50,1"])}
    after = "an error if the name of a folder is no text"
    return _pair("odd-folder", after, (50.0, "a"), (first, second))


def _pair(name: str, after: str, reads: tuple[float, str] | None, files: Any) -> FileNeighbours:
    first = _records(_rows())
    second = first if reads is None else _records([*_rows(), (*reads, 1)])
    return FileNeighbours(
        name, after, _SCHEMA, first, second, max_depth=2, files=files, target=TARGET
    )


def _rows() -> list[tuple[float, str, int]]:
    """Class 1 has the larger x and the second kind: to see it, both must be read as they are."""
    return [
        (49.0 + 2 * (place % 2), "ab"[place // 2 % 2], int(place % 4 == 3))
        for place in range(_N_LINES)
    ]


def _records(rows: list[tuple[float, str, int]]) -> Records:
    import pandas as pd

    x, kind, y = zip(*rows, strict=True)
    return Records(pd.DataFrame({"x": x, "kind": pd.Categorical(kind, _KINDS)}), np.array(y))


def _text(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)
