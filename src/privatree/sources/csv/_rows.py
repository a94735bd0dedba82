"""Find where rows of CSV text begin and end, and cut a stream into chunks of whole rows.

By default a row is a physical line, whatever it contains. Where values may span lines, the quotes
decide, by the rules of ``_values.py``. Either way, memory is bounded, and the rows do not depend on
where the chunks are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from privatree._support.kernels.compiling import compiled
from privatree.schema import CsvDialect

CHUNK_BYTES = 2**23
"""Number of bytes that are read at once, and so the approximate size of a chunk."""
MAX_ROW_BYTES = 2**26
"""Largest size of a row, including its end. Longer rows are dropped: this bounds memory if a line
never ends. Hardly any program writes rows of this size."""

_PLAIN, _START, _QUOTED, _AFTER_QUOTE = range(4)
"""States of the parser: inside a value, at its start, inside quotes, after a quote inside quotes.
In the last state, a second quote is text; otherwise the first quote has closed the value."""
_ESCAPED = 4  # is added to the state that follows the escaped character
_NEW_LINE, _CARRIAGE_RETURN = b"\n\r"
_REPLACED = "\ufffd".encode()

RowEnds: TypeAlias = Callable[[bytes], tuple[int, int]]
"""Takes the next bytes of a stream; returns where the first and last row in them end, or 0."""


@dataclass(frozen=True)
class RowChunk:
    """Some whole rows of a file."""

    content: bytearray
    """Valid UTF-8: other bytes became U+FFFD."""
    is_valid: bool = True
    """Whether all bytes were valid text. **This leaks.**"""
    long_row_follows: bool = False
    """Whether a row of more than `MAX_ROW_BYTES` comes next in the file, and has been dropped."""


def read_row_chunks(
    stream: BinaryIO, dialect: CsvDialect, *, returns_end_rows: bool
) -> Iterator[RowChunk]:
    """Yield chunks of whole rows of a UTF-8 stream that is at the start of a row.

    The stream may contain bytes that are not text. With `returns_end_rows`, a carriage return alone
    ends a row, as a line feed does.
    """
    if dialect.multiline:
        find_row_ends = quoted_row_end_finder(dialect, returns_end_rows)
    else:
        find_row_ends = _find_any_line_ends if returns_end_rows else _find_line_ends
    open_row = bytearray()  # the start of a row that has not ended
    n_open = 0
    for piece in _read_row_pieces(stream, returns_end_rows):
        first, last = find_row_ends(piece)
        if first and n_open + first > MAX_ROW_BYTES:
            yield RowChunk(bytearray(), long_row_follows=True)
            open_row, n_open, piece, last = bytearray(), 0, piece[first:], last - first
        if last:
            open_row += piece[:last]
            yield _make_row_chunk(open_row, dialect)
            open_row, n_open, piece = bytearray(), 0, piece[last:]
        n_open += len(piece)
        if n_open <= MAX_ROW_BYTES:
            open_row += piece
        else:
            open_row.clear()
    if n_open and not dialect.multiline:  # the last line may lack its end
        n_open += 1
        open_row += b"\n"
    if n_open > MAX_ROW_BYTES:
        yield RowChunk(bytearray(), long_row_follows=True)
    elif open_row:
        yield _make_row_chunk(open_row, dialect)


def _read_row_pieces(stream: BinaryIO, returns_end_rows: bool) -> Iterator[bytes]:
    """Yield pieces of the stream. None ends between a carriage return and its line feed."""
    held = b""
    while read := stream.read(CHUNK_BYTES):
        piece = held + read
        held = b"\r" if returns_end_rows and piece.endswith(b"\r") else b""
        if piece := piece[: len(piece) - len(held)]:
            yield piece
    if held:
        yield held


# --- where rows end -----------------------------------------------------------------------------


def _find_line_ends(piece: bytes) -> tuple[int, int]:
    return piece.find(b"\n") + 1, piece.rfind(b"\n") + 1


def _find_any_line_ends(piece: bytes) -> tuple[int, int]:
    """Return where the first and last line end, if a carriage return alone also ends a line."""
    feed, back = piece.find(b"\n"), piece.find(b"\r")
    first = min(at for at in (feed, back, len(piece)) if at >= 0)
    width = 2 if piece[first : first + 2] == b"\r\n" else 1
    last = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
    return (first + width if last else 0), last


def quoted_row_end_finder(dialect: CsvDialect, returns_end_rows: bool) -> RowEnds:
    """Return a function that finds the ends of rows whose values may span lines."""
    state = _START
    marks = tuple(-1 if mark is None else ord(mark)
                  for mark in (dialect.delimiter, dialect.quote, dialect.escape))  # fmt: skip

    def find_row_ends(piece: bytes) -> tuple[int, int]:
        nonlocal state
        data = np.frombuffer(piece, np.uint8)
        state, first, last = _find_quoted_row_ends(data, state, *marks, returns_end_rows)
        return first, last

    return find_row_ends


@compiled
def _find_quoted_row_ends(
    data: Any, state: int, delimiter: int, quote: int, escape: int, returns_end_rows: bool
) -> Any:  # pragma: no cover
    """Return the state after the last byte, and where the first and last row end, or 0."""
    first = last = 0
    for place in range(len(data)):
        byte = data[place]
        if state >= _ESCAPED:
            state -= _ESCAPED
            continue
        if state == _QUOTED:
            if byte == quote:
                state = _AFTER_QUOTE
            elif byte == escape:
                state = _ESCAPED + _QUOTED
            continue
        if byte == quote and state != _PLAIN:
            state = _QUOTED
        elif byte == escape:
            state = _ESCAPED + _PLAIN
        elif byte == delimiter:
            state = _START
        elif byte == _NEW_LINE or (byte == _CARRIAGE_RETURN and returns_end_rows):
            state, last = _START, place + 1
            first = last if first == 0 else first
            if byte == _NEW_LINE and first == place and data[place - 1] == _CARRIAGE_RETURN:
                first = last
        else:
            state = _PLAIN
    return state, first, last


# --- valid text ---------------------------------------------------------------------------------


def _make_row_chunk(content: bytearray, dialect: CsvDialect) -> RowChunk:
    if not is_utf8(content):
        return RowChunk(repair_row_utf8(content), is_valid=False)
    # Other encodings were decoded before: there U+FFFD shows that bytes were replaced.
    return RowChunk(content, dialect.encoding == "utf-8" or _REPLACED not in content)


def is_utf8(content: bytes | bytearray) -> bool:
    """Tell whether bytes are valid UTF-8."""
    import pyarrow as pa

    ends = pa.py_buffer(np.array([0, len(content)], dtype=np.int64))
    whole = pa.Array.from_buffers(pa.large_string(), 1, [None, ends, pa.py_buffer(content)])
    try:
        whole.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def repair_row_utf8(content: bytes | bytearray) -> bytearray:
    """Return the bytes with U+FFFD in place of invalid UTF-8. Other bytes are unchanged."""
    return bytearray(content.decode("utf-8", errors="replace").encode())
