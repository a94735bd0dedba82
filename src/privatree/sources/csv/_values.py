"""The values of CSV rows as columns of text.

A quote opens only at the start of a value, two quotes inside of quotes are one, and what follows
the closing quote is plain. An escape takes the meaning off the character after it. A row is
malformed if its quotes or its escape do not end with it; a ragged row has another number of values
than the first one. Neither changes how any other row is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.kernels.compiling import compiled, compiled_inline
from privatree.schema import CsvDialect

_NEW_LINE, _CARRIAGE_RETURN, _BLANK = b"\n\r "
_NONE = -1  # in place of a character, if there is none
_MAX_VALUES, _MIN_ROWS = 2**20, 2**10  # read at once
_unsigned = np.uint64  # places of this type need no check for being negative
_ZERO, _ONE, _TWO = map(_unsigned, range(3))


@dataclass(frozen=True)
class CsvValues:
    """Some columns of some rows.

    Parameters
    ----------
    columns : list of pyarrow.Array
        Strings, in the order asked for; nulls in rows that are malformed or ragged.
    n_values : array of int
        How many values each row has; 0 if it is malformed.
    """

    columns: list[Any]
    n_values: NDArray[np.int32]


def csv_values(
    content: bytearray,
    dialect: CsvDialect,
    n_columns: int,
    positions: Sequence[int],
    *,
    returns_end_rows: bool,
) -> Iterator[CsvValues]:
    """Read columns of whole rows, some rows at a time.

    Parameters
    ----------
    content : bytearray
        The rows, valid UTF-8. It is overwritten: a value takes no more room than it is written in.
    dialect : CsvDialect
        How they are written.
    n_columns : int
        How many values a row must have. A blank line is a row only if it is one.
    positions : sequence of int
        Which columns to read.
    returns_end_rows : bool
        Whether a carriage return alone ends a row. If not, it stands in a value, where some writers
        leave it; a blank takes its place outside of quotes.

    Yields
    ------
    CsvValues
        So few rows that memory is bounded, also where none of many short lines is a whole row.
    """
    data = np.frombuffer(content, np.uint8)
    n_lines = content.count(b"\n") + 1 + (content.count(b"\r") if returns_end_rows else 0)
    max_rows = min(n_lines, max(_MIN_ROWS, _MAX_VALUES // max(1, len(positions))))
    wanted = np.full(n_columns, -1, np.int64)
    wanted[list(positions)] = np.arange(len(positions))
    marks = [
        _NONE if mark is None else ord(mark)
        for mark in (dialect.delimiter, dialect.quote, dialect.escape)
    ]
    is_mark = np.zeros(256, bool)
    is_mark[[mark for mark in (*marks, _NEW_LINE, _CARRIAGE_RETURN) if mark != _NONE]] = True
    spans = np.empty((2, len(positions), max_rows), np.int32)
    place = 0
    while place < len(data):
        n_values = np.zeros(max_rows, np.int32)
        n_rows, place = _parse(
            data, place, is_mark, *marks, returns_end_rows, dialect.multiline, wanted, *spans,
            n_values,
        )  # fmt: skip
        place, n_values = int(place), n_values[:n_rows]
        starts, sizes = spans[:, :, :n_rows]
        is_whole = n_values == n_columns
        columns = [_strings(data, *column, is_whole) for column in zip(starts, sizes, strict=True)]
        yield CsvValues(columns, n_values)


@compiled
def _parse(
    data: Any,
    first: int,
    is_mark: Any,
    delimiter: int,
    quote: int,
    escape: int,
    returns_end_rows: bool,
    multiline: bool,
    wanted: Any,
    starts: Any,
    sizes: Any,
    n_values: Any,
) -> Any:  # pragma: no cover
    """Find where values start and how long they are, and take quotes and escapes out of them.

    Returns the number of rows, no more than `n_values` has room for, and where they end. Values of
    columns beyond the last are counted only.
    """
    n_bytes, n_columns = _unsigned(len(data)), len(wanted)
    place, row = _unsigned(first), 0
    while place < n_bytes and row < len(n_values):
        width = _line_end(data, place, returns_end_rows)
        if width and n_columns > 1:  # a blank line
            place += width
            continue
        column, is_closed, is_row_open = 0, True, True
        while is_row_open:
            is_quoted = place < n_bytes and data[place] == quote
            if is_quoted:
                place += _ONE
            start = end = place
            while True:
                if end == place:  # ordinary characters, most of them where they are
                    while place < n_bytes and not is_mark[data[place]]:
                        place += _ONE
                    end = place
                else:
                    while place < n_bytes and not is_mark[data[place]]:
                        data[end] = data[place]
                        end += _ONE
                        place += _ONE
                width = _line_end(data, place, returns_end_rows)
                if place >= n_bytes or (width and not (is_quoted and multiline)):
                    is_closed &= not is_quoted
                    is_row_open = False
                    place += width
                    break
                byte = data[place]
                if byte == escape:
                    place += _ONE
                    if place >= n_bytes or (
                        not multiline and _line_end(data, place, returns_end_rows)
                    ):
                        is_closed = False
                        continue
                    byte = data[place]
                elif is_quoted:
                    if byte == quote:
                        place += _ONE
                        if place >= n_bytes or data[place] != quote:
                            is_quoted = False
                            continue
                elif byte == delimiter:
                    place += _ONE
                    break
                elif byte == _CARRIAGE_RETURN:  # that ends no row
                    byte = _BLANK
                data[end] = byte
                end += _ONE
                place += _ONE
            if column < n_columns and wanted[column] >= 0:
                starts[wanted[column], row] = start
                sizes[wanted[column], row] = end - start
            column += 1
        n_values[row] = column if is_closed else 0
        row += 1
    return row, place


@compiled_inline
def _line_end(data: Any, place: Any, returns_end_rows: bool) -> Any:  # pragma: no cover
    """How many bytes the end of a line takes here; 0 if there is none."""
    width = _ZERO
    if place < len(data):
        if data[place] == _NEW_LINE:
            width = _ONE
        elif data[place] == _CARRIAGE_RETURN:
            if place + _ONE < len(data) and data[place + _ONE] == _NEW_LINE:
                width = _TWO
            elif returns_end_rows:
                width = _ONE
    return width


def _strings(data: Any, starts: Any, sizes: Any, is_whole: Any) -> Any:
    """An Arrow array of some spans of text."""
    import pyarrow as pa

    n_rows = len(starts)
    ends = np.zeros(n_rows + 1, np.int32)
    np.cumsum(np.where(is_whole, sizes, 0), out=ends[1:])
    text = np.empty(ends[-1], np.uint8)
    _gather(data, starts, ends, text)
    nulls = None if is_whole.all() else pa.py_buffer(np.packbits(is_whole, bitorder="little"))
    return pa.Array.from_buffers(
        pa.string(), n_rows, [nulls, pa.py_buffer(ends), pa.py_buffer(text)]
    )


@compiled
def _gather(data: Any, starts: Any, ends: Any, text: Any) -> None:  # pragma: no cover
    """Copy spans of text, one after another; `ends` says where each one goes."""
    for row in range(len(starts)):
        start, to = _unsigned(starts[row]), _unsigned(ends[row])
        for offset in range(_unsigned(ends[row + 1]) - to):
            text[to + offset] = data[start + offset]
