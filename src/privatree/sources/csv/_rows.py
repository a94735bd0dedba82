"""A stream of CSV text cut into chunks of whole rows, in bounded memory.

By default a row is a physical line, whatever stands in it. Where values may span lines, quotes are
followed from row to row, as :mod:`privatree.sources.csv._values` does within one. Either way the
rows do not depend on where the chunks are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from privatree._support.kernels.compiling import compiled
from privatree.schema import CsvDialect

CHUNK_BYTES = 2**23
"""How many bytes are read together, and so about the size of a chunk; a longer row comes alone."""
MAX_ROW_BYTES = 2**26
"""A row of more bytes, its end included, is not kept. This bounds memory where a line never ends,
and is more than any one value that a person, or most programs, will write."""

_PLAIN, _START, _QUOTED, _AFTER_QUOTE = range(4)
"""Where a walk is: in a value, at its start, inside of quotes, after a quote inside of quotes (a
second one is text, anything else shows that the first has closed)."""
_ESCAPED = 4  # added to where the walk goes on after an escaped character
_NEW_LINE, _CARRIAGE_RETURN = b"\n\r"
_REPLACED = "\ufffd".encode()

RowEnds: TypeAlias = Callable[[bytes], tuple[int, int]]
"""From some more bytes to where the first and the last row in them end; 0 if none does."""


@dataclass(frozen=True)
class RowChunk:
    """Some rows, one after another.

    Parameters
    ----------
    content : bytearray
        Valid UTF-8: bytes that were not are replaced by U+FFFD.
    is_valid : bool
        Whether no bytes had to be replaced. **This leaks.**
    long_row_follows : bool
        Whether a row of more than `MAX_ROW_BYTES` bytes comes next, and has been passed over.
    """

    content: bytearray
    is_valid: bool = True
    long_row_follows: bool = False


def row_chunks(
    stream: BinaryIO, dialect: CsvDialect, *, returns_end_rows: bool
) -> Iterator[RowChunk]:
    """Cut a stream into chunks.

    Parameters
    ----------
    stream : binary file
        UTF-8, but for bytes that are not text, at the start of a row.
    dialect : CsvDialect
        Whether values may span lines and, if so, what quotes them.
    returns_end_rows : bool
        Whether a carriage return alone ends a row, as a line feed does.

    Yields
    ------
    RowChunk
        All rows, in their order.
    """
    if dialect.multiline:
        row_ends = quoted_row_ends(dialect, returns_end_rows)
    else:
        row_ends = _any_line_ends if returns_end_rows else _line_ends
    open_row = bytearray()  # what has been read of a row that has not ended
    n_open = 0
    for piece in _pieces(stream, returns_end_rows):
        first, last = row_ends(piece)
        if first and n_open + first > MAX_ROW_BYTES:
            yield RowChunk(bytearray(), long_row_follows=True)
            open_row, n_open, piece, last = bytearray(), 0, piece[first:], last - first
        if last:
            open_row += piece[:last]
            yield _chunk(open_row, dialect)
            open_row, n_open, piece = bytearray(), 0, piece[last:]
        n_open += len(piece)
        if n_open <= MAX_ROW_BYTES:
            open_row += piece
        else:
            open_row.clear()
    if n_open and not dialect.multiline:  # the last line is read as if another followed it
        n_open += 1
        open_row += b"\n"
    if n_open > MAX_ROW_BYTES:
        yield RowChunk(bytearray(), long_row_follows=True)
    elif open_row:
        yield _chunk(open_row, dialect)


def _pieces(stream: BinaryIO, returns_end_rows: bool) -> Iterator[bytes]:
    """The stream in pieces, none of which ends between a return and the line feed that follows."""
    held = b""
    while read := stream.read(CHUNK_BYTES):
        piece = held + read
        held = b"\r" if returns_end_rows and piece.endswith(b"\r") else b""
        if piece := piece[: len(piece) - len(held)]:
            yield piece
    if held:
        yield held


# --- where rows end -----------------------------------------------------------------------------


def _line_ends(piece: bytes) -> tuple[int, int]:
    return piece.find(b"\n") + 1, piece.rfind(b"\n") + 1


def _any_line_ends(piece: bytes) -> tuple[int, int]:
    """The same where carriage returns end rows too."""
    feed, back = piece.find(b"\n"), piece.find(b"\r")
    first = min(at for at in (feed, back, len(piece)) if at >= 0)
    width = 2 if piece[first : first + 2] == b"\r\n" else 1
    last = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
    return (first + width if last else 0), last


def quoted_row_ends(dialect: CsvDialect, returns_end_rows: bool) -> RowEnds:
    """Where rows end whose values may span lines."""
    state = _START
    marks = tuple(-1 if mark is None else ord(mark)
                  for mark in (dialect.delimiter, dialect.quote, dialect.escape))  # fmt: skip

    def row_ends(piece: bytes) -> tuple[int, int]:
        nonlocal state
        data = np.frombuffer(piece, np.uint8)
        state, first, last = _walk(data, state, *marks, returns_end_rows)
        return first, last

    return row_ends


@compiled
def _walk(
    data: Any, state: int, delimiter: int, quote: int, escape: int, returns_end_rows: bool
) -> Any:  # pragma: no cover
    """Walk to the end: the state there, and where the first and the last row end, if any does."""
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


def _chunk(content: bytearray, dialect: CsvDialect) -> RowChunk:
    if not is_utf8(content):
        return RowChunk(repaired(content), is_valid=False)
    # Other encodings were decoded before, and show by the mark itself what was replaced.
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


def repaired(content: bytes | bytearray) -> bytearray:
    """Replace bytes that are not UTF-8 by U+FFFD; delimiters, quotes and lines stay."""
    return bytearray(content.decode("utf-8", errors="replace").encode())
