"""A stream of CSV text cut into chunks of whole rows, in bounded memory.

Where a row ends is what Arrow's parser takes for its end: a quote opens only at the start of a
value, two quotes inside of quotes are one, what follows the closing quote is plain, and lines end
a row outside of quotes only. So the rows do not depend on where the chunks are cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from privatree.compiling import compiled

CHUNK_BYTES = 2**23
"""How many bytes of rows are handed out together, more or less; a longer row comes alone."""
LONGEST_ROW = 2**26
"""A row of more bytes, its end included, is not kept. This bounds memory where a quote is never
closed, and is more than any one value that a person, or most programs, will write."""
_PIECE_BYTES = 2**20  # read and walked over at once: few enough to stay in the cache

_ROW, _VALUE, _PLAIN, _QUOTED, _QUOTE, _RETURN = range(0, 36, 6)
"""Where the walk is: at the start of a row or a value, outside of quotes, inside, after a quote
inside (a second one is text, anything else shows that the first has closed), after a return."""
_COMMA, _DOUBLE_QUOTE, _NEW_LINE, _CARRIAGE_RETURN, _BLANK = b',"\n\r '
_FIRST_CONTINUATION, _FIRST_LEAD = 0x80, 0xC0  # of a character of several bytes
_unsigned = np.uint64


@dataclass(frozen=True)
class RowChunk:
    """Some rows, one after another.

    Parameters
    ----------
    content : bytes
        Valid UTF-8: bytes that were not are replaced by U+FFFD.
    is_utf8 : bool
        Whether none was replaced in what was read for this chunk. **This leaks.**
    long_row_follows : bool
        Whether a row of more than `LONGEST_ROW` bytes comes next, and has been passed over.
    """

    content: bytes
    is_utf8: bool
    long_row_follows: bool


def row_chunks(stream: BinaryIO, *, returns_end_rows: bool) -> Iterator[RowChunk]:
    """Cut a stream into chunks.

    Parameters
    ----------
    stream : binary file
        At the start of a row.
    returns_end_rows : bool
        Whether a carriage return alone ends a row. If not, it stands in a value, where some writers
        leave it, and a blank takes its place outside of quotes: it must not make two rows of one.

    Yields
    ------
    RowChunk
        All rows, in their order.
    """
    rows: list[memoryview] = []  # whole ones, which are handed out together
    open_row: list[memoryview] = []  # the parts of one that has not ended
    n_bytes = n_open = 0
    is_utf8 = True

    def chunk(*, long_row_follows: bool) -> RowChunk:
        nonlocal n_bytes, is_utf8
        made = RowChunk(b"".join(rows), is_utf8, long_row_follows)
        rows.clear()
        n_bytes, is_utf8 = 0, True
        return made

    for part, ends_row, is_valid in _parts(stream, returns_end_rows):
        is_utf8 &= is_valid
        n_open += len(part)
        if n_open > LONGEST_ROW:
            open_row.clear()
        else:
            open_row.append(part)
        if ends_row:
            if n_open > LONGEST_ROW:
                yield chunk(long_row_follows=True)
            else:
                rows += open_row
                n_bytes += n_open
            open_row.clear()
            n_open = 0
        if rows and n_bytes + n_open >= CHUNK_BYTES:
            yield chunk(long_row_follows=False)
    rows += open_row
    open_row.clear()
    if rows or n_open > LONGEST_ROW:
        yield chunk(long_row_follows=n_open > LONGEST_ROW)


def _parts(stream: BinaryIO, returns_end_rows: bool) -> Iterator[tuple[memoryview, bool, bool]]:
    """The stream in parts, each up to the end of a row or without any; and whether it was UTF-8.

    Where a row can be longer than is kept, a part ends where this row does.
    """
    table, state, n_open = _TABLES[returns_end_rows], _ROW, 0
    for piece, is_valid in _valid_pieces(stream):
        data, rest = np.frombuffer(piece, np.uint8), memoryview(piece)
        while rest:
            stops = n_open + len(rest) > LONGEST_ROW
            start = len(piece) - len(rest)
            state, end = _walk(data, start, state, table, returns_end_rows, stops)
            if end > start:
                yield rest[: end - start], True, is_valid
                rest, n_open = rest[end - start :], 0
            if rest and not (stops and end > start):
                yield rest, False, is_valid
                n_open += len(rest)
                break


# --- valid text ---------------------------------------------------------------------------------


def _valid_pieces(stream: BinaryIO) -> Iterator[tuple[bytearray, bool]]:
    """The stream in pieces of valid UTF-8, and whether each was so; never an empty one.

    None ends inside of a character or between a carriage return and what follows it.
    """
    piece = bytearray()
    is_end = False
    while not is_end:
        read = stream.read(_PIECE_BYTES)
        is_end = not read
        piece += read
        whole = len(piece) if is_end else _whole_characters(piece)
        piece, rest = piece[:whole], piece[whole:]
        if piece:
            is_valid = is_utf8(piece)
            yield piece if is_valid else bytearray(repaired(piece)), is_valid
        piece = rest


def _whole_characters(piece: bytearray) -> int:
    """How many bytes do without the next ones; before the start of a character any cut will do."""
    if piece[-1] == _CARRIAGE_RETURN:
        return len(piece) - 1
    for back in range(1, min(len(piece), 3) + 1):
        if piece[-back] >= _FIRST_LEAD:
            return len(piece) - back
        if piece[-back] < _FIRST_CONTINUATION:
            break
    return len(piece)


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


def repaired(content: bytes | bytearray) -> bytes:
    """Replace bytes that are not UTF-8 by U+FFFD; commas, quotes and lines stay."""
    return content.decode("utf-8", errors="replace").encode()


# --- the walk -----------------------------------------------------------------------------------


def _next_state(state: int, byte: int, returns_end_rows: bool) -> int:
    if state == _RETURN:
        if byte == _NEW_LINE:
            return _ROW
        state = _ROW if returns_end_rows else _PLAIN
    if state == _QUOTED:
        return _QUOTE if byte == _DOUBLE_QUOTE else _QUOTED
    if byte == _DOUBLE_QUOTE:
        return _PLAIN if state == _PLAIN else _QUOTED
    return {_COMMA: _VALUE, _NEW_LINE: _ROW, _CARRIAGE_RETURN: _RETURN}.get(byte, _PLAIN)


def _state_table(returns_end_rows: bool) -> NDArray[np.uint64]:
    """For each byte one number that holds, at the bits from each state on, the state that follows.

    So the next state is one shift away, without a branch, whatever the text is.
    """
    states = (_ROW, _VALUE, _PLAIN, _QUOTED, _QUOTE, _RETURN)
    return np.array(
        [
            sum(_next_state(state, byte, returns_end_rows) << state for state in states)
            for byte in range(256)
        ],
        dtype=np.uint64,
    )


_TABLES = {ends: _state_table(ends) for ends in (False, True)}


@compiled
def _walk(
    data: Any, start: int, state: int, table: Any, returns_end_rows: bool, stops: bool
) -> Any:  # pragma: no cover
    """Walk from `start` to the end, or to the first end of a row; put blanks for lone returns.

    Returns the state there, and where the last row ends, `start` if none does. The data must not
    end between a carriage return and what follows it.
    """
    at_row, at_return, bits = _unsigned(_ROW), _unsigned(_RETURN), _unsigned(63)
    first, now = _unsigned(start), _unsigned(state)
    end: Any = first
    for place in range(first, _unsigned(len(data))):
        byte = data[place]
        if now == at_return and byte != _NEW_LINE:
            if returns_end_rows:
                end = place
                if stops:
                    return at_row, end
            else:
                data[place - _unsigned(1)] = _BLANK
        now = (table[byte] >> now) & bits
        end = place + _unsigned(1) if now == at_row else end
        if stops and end > first:
            return at_row, end
    if now == at_return:  # and nothing follows
        if returns_end_rows:
            return at_row, _unsigned(len(data))
        data[len(data) - 1] = _BLANK
        return _unsigned(_PLAIN), end
    return now, end
