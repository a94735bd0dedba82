"""Rows do not depend on where a file is cut; a slow parser here says what they are."""

import gzip
import io
import tracemalloc
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from privatree.errors import SchemaError
from privatree.sources import csv_rows
from privatree.sources.csv_files import open_csv

ENDINGS = [b"\n", b"\r\n", b"\r"]
nasty = st.lists(
    st.sampled_from([b",", b'"', b"\n", b"\r", b"\r\n", b'""', b'"\r', b'\r"', b'","', b"\n\n",
                     b"a", b" ", b"\x00", b"\xff", b"\xc3", b"\xa4", b"\xe2\x82", b"\xf0\x9f\x98",
                     b"\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf", "ä€😀".encode(), b"1,2,3\n",
                     b"1,2\n"])
    | st.binary(max_size=3),
    max_size=30,
).map(b"".join)  # fmt: skip


def rows_of(text, returns_end_rows):
    """The values of each row, how many bytes it takes, and whether it is blank."""
    rows, values, value, start, at = [], [], "", 0, 0
    is_start, is_quoted = True, False

    def end_row():
        nonlocal values, value, start, is_start
        is_blank = is_start and not values
        rows.append(([*values, value], len(text[start:at].encode()), is_blank))
        values, value, start, is_start = [], "", at, True

    while at < len(text):
        letter = text[at]
        at += 1
        if is_quoted and text[at - 1 : at + 1] == '""':
            value += '"'
            at += 1
        elif is_quoted and letter == '"':
            is_quoted = False
        elif is_quoted:
            value += letter
        elif is_start and letter == '"':
            is_start, is_quoted = False, True
        elif letter == ",":
            values, value, is_start = [*values, value], "", True
        elif letter == "\n" or text[at - 1 : at + 1] == "\r\n":
            at += letter == "\r"
            end_row()
        elif letter == "\r" and returns_end_rows:
            end_row()
        else:
            value += " " if letter == "\r" else letter
            is_start = False
    if start < len(text):
        end_row()
    return rows


def expected(content, n_columns, returns_end_rows, longest):
    """The whole rows, how many are ragged, and what is said of the first that is."""
    rows = rows_of(content.decode("utf-8", "replace"), returns_end_rows)
    rows = [row[:2] for row in rows if n_columns == 1 or not row[2]]
    fits = [len(values) == n_columns and size <= longest for values, size in rows]
    whole = [row[0] for row, fit in zip(rows, fits, strict=True) if fit]
    said = None
    if not all(fits):
        first = fits.index(False)
        size = len(rows[first][0])
        said = f"row {first + 2} must have " + (
            "no more than 0 MiB. Look for a quote in it that is never closed."
            if rows[first][1] > longest
            else f"{n_columns} values as the first one, got {size}. Mend it or take it out."
        )
    return whole, len(rows) - len(whole), said


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("csv") / "data.csv"


@pytest.mark.slow
@given(
    content=nasty,
    ending=st.sampled_from(ENDINGS),
    n_columns=st.integers(1, 3),
    sizes=st.tuples(st.integers(1, 12), st.integers(1, 60), st.sampled_from([36, 60, 2**19])),
    bom=st.booleans(),
)
@example(b'x\r"a\rb",c\n', b"\n", 2, (1, 1, 36), False)
@example(b"\xef\xbb\xbf1,2\n\xef\xbb\xbf3,4\n", b"\n", 2, (1, 1, 36), True)
@example(b'1,2\n"' + b"\n" * 70 + b'"\n1,2\n', b"\n", 2, (12, 1, 36), False)
@example(b"1,2\n" + b"\xff" * 40 + b",\n1,2\n", b"\n", 2, (12, 1, 60), False)
@example(b"1,2\r", b"\n", 2, (1, 1, 36), False)
def test_rows_are_the_same_wherever_they_are_cut(path, content, ending, n_columns, sizes, bom):
    header = b"\xef\xbb\xbf" * bom + b",".join([b"x"] * n_columns) + ending
    path.write_bytes(header + content)
    piece, chunk, longest = sizes
    if ending == b"\r" and content.startswith(b"\n"):
        ending, content = b"\r\n", content[1:]
    whole, n_ragged, said = expected(content, n_columns, ending == b"\r", longest)
    limits = {"_PIECE_BYTES": piece, "CHUNK_BYTES": chunk, "LONGEST_ROW": longest}
    with (
        patch.multiple(csv_rows, **limits),
        patch("privatree.sources.csv_files.LONGEST_ROW", longest),
    ):
        read = open_csv(path).text(range(n_columns), allow_ragged=True)
        refused = None
        try:
            open_csv(path).text(range(n_columns), allow_ragged=False)
        except SchemaError as error:
            refused = str(error).removeprefix(f"{path}: ")
    assert [column.to_pylist() for column in read.columns] == [
        [row[at] for row in whole] + [None] * n_ragged for at in range(n_columns)
    ]
    assert (read.n_rows, read.n_ragged) == (len(whole) + n_ragged, n_ragged)
    assert refused == said
    assert read.is_utf8 == (content.decode("utf-8", "ignore").encode() == content)


@given(content=nasty, piece=st.integers(1, 9), chunk=st.integers(1, 50), ending=st.booleans())
def test_chunks_are_whole_rows_and_together_all_there_is(content, piece, chunk, ending):
    with patch.multiple(csv_rows, _PIECE_BYTES=piece, CHUNK_BYTES=chunk):
        chunks = list(csv_rows.row_chunks(io.BytesIO(content), returns_end_rows=ending))
    text = b"".join(each.content for each in chunks).decode()
    same = content.decode("utf-8", "replace")
    assert text.replace("\r", " ") == same.replace("\r", " ")
    rows = [row for each in chunks for row in rows_of(each.content.decode(), ending)]
    assert rows == rows_of(same, ending)
    assert all(each.content for each in chunks)
    assert not any(each.long_row_follows for each in chunks)


@pytest.mark.slow
@pytest.mark.parametrize("content", [b'1,"', b"1,2\n", b"\xff", b"\n"])
def test_memory_does_not_grow_with_the_file(tmp_path, content):
    """Not even where a quote is never closed, or everything has to be replaced."""
    path = tmp_path / "data.csv.gz"
    with gzip.open(path, "wb", 1) as file:
        file.write(b"a,b\n" + content)
        for _ in range(24):
            file.write(content[-1:] * 2**20 if content != b"1,2\n" else content * 2**18)
    limits = {"_PIECE_BYTES": 2**16, "CHUNK_BYTES": 2**18, "LONGEST_ROW": 2**20}
    with patch.multiple(csv_rows, **limits):
        opened = open_csv(path)
        next(opened.chunks())  # compile
        tracemalloc.start()
        try:
            n_bytes = n_long = 0
            for chunk in opened.chunks():
                n_bytes += len(chunk.content)
                n_long += chunk.long_row_follows
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 4 * 2**20
    assert n_long == (content in (b'1,"', b"\xff"))
    assert n_bytes == (0 if n_long else 24 * 2**20 + len(content))
