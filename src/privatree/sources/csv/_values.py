"""Find where values of CSV rows begin and end, and return them as columns of text.

A quote opens only at the start of a value. Two quotes inside quotes are one quote, and the text
after the closing quote is plain. The character after an escape has no special meaning. A row is
malformed if its quotes are not closed, or if an escape is its last character. A row is ragged if it
has more or fewer values than the first row. Such a row does not change how any other row is read.
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
_NONE = -1  # stands for a character that the dialect does not have
_MAX_VALUES, _MIN_ROWS = 2**20, 2**10  # limits of a batch
_unsigned = np.uint64  # with an unsigned index the kernel does not test for negative values
_ZERO, _ONE, _TWO = map(_unsigned, range(3))


@dataclass(frozen=True)
class CsvValues:
    """Some columns of some rows of a CSV file."""

    columns: list[Any]
    """Arrow arrays of strings. Every value of a malformed or ragged row is null."""
    n_values: NDArray[np.int32]
    """Number of values of each row, 0 if the row is malformed."""


def parse_csv_values(
    content: bytearray,
    dialect: CsvDialect,
    n_columns: int,
    positions: Sequence[int],
    *,
    returns_end_rows: bool,
) -> Iterator[CsvValues]:
    """Yield the columns at `positions` of whole rows, in batches of bounded size.

    `content` is valid UTF-8. It is overwritten with the values, which are never longer than their
    quoted or escaped text. A row must have `n_columns` values. A blank line is a row only if
    `n_columns` is 1. Without `returns_end_rows`, a carriage return alone ends no row: some programs
    write it into values. Outside quotes it becomes a blank.
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
        n_rows, place = _find_values(
            data, place, is_mark, *marks, returns_end_rows, dialect.multiline, wanted, *spans,
            n_values,
        )  # fmt: skip
        place, n_values = int(place), n_values[:n_rows]
        starts, sizes = spans[:, :, :n_rows]
        is_whole = n_values == n_columns
        spans_of_columns = zip(starts, sizes, strict=True)
        columns = [_value_spans_to_arrow(data, *column, is_whole) for column in spans_of_columns]
        yield CsvValues(columns, n_values)


@compiled
def _find_values(
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
    """Find where values start and how long they are, and remove quotes and escapes from them.

    Return the number of rows, at most the length of `n_values`, and where the last row ends.
    Values beyond the last column are counted, but not read.
    """
    n_bytes, n_columns = _unsigned(len(data)), len(wanted)
    place, row = _unsigned(first), 0
    while place < n_bytes and row < len(n_values):
        width = _line_end_after_value(data, place, returns_end_rows)
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
                if end == place:  # ordinary characters that can stay in their place
                    while place < n_bytes and not is_mark[data[place]]:
                        place += _ONE
                    end = place
                else:
                    while place < n_bytes and not is_mark[data[place]]:
                        data[end] = data[place]
                        end += _ONE
                        place += _ONE
                width = _line_end_after_value(data, place, returns_end_rows)
                if place >= n_bytes or (width and not (is_quoted and multiline)):
                    is_closed &= not is_quoted
                    is_row_open = False
                    place += width
                    break
                byte = data[place]
                if byte == escape:
                    place += _ONE
                    if place >= n_bytes or (
                        not multiline and _line_end_after_value(data, place, returns_end_rows)
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
                elif byte == _CARRIAGE_RETURN:  # a carriage return that ends no row
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
def _line_end_after_value(data: Any, place: Any, returns_end_rows: bool) -> Any:  # pragma: no cover
    """Return the number of bytes of the line end at `place`, 0 if there is no line end."""
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


def _value_spans_to_arrow(data: Any, starts: Any, sizes: Any, is_whole: Any) -> Any:
    """Return an Arrow array of the text of each span, null in a malformed or ragged row."""
    import pyarrow as pa

    n_rows = len(starts)
    ends = np.zeros(n_rows + 1, np.int32)
    np.cumsum(np.where(is_whole, sizes, 0), out=ends[1:])
    text = np.empty(ends[-1], np.uint8)
    _copy_value_spans(data, starts, ends, text)
    nulls = None if is_whole.all() else pa.py_buffer(np.packbits(is_whole, bitorder="little"))
    return pa.Array.from_buffers(
        pa.string(), n_rows, [nulls, pa.py_buffer(ends), pa.py_buffer(text)]
    )


@compiled
def _copy_value_spans(data: Any, starts: Any, ends: Any, text: Any) -> None:  # pragma: no cover
    """Copy spans of `data` next to each other into `text`. Span i is copied to ``ends[i]``."""
    for row in range(len(starts)):
        start, to = _unsigned(starts[row]), _unsigned(ends[row])
        for offset in range(_unsigned(ends[row + 1]) - to):
            text[to + offset] = data[start + offset]
