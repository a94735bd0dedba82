"""Rows do not depend on where a file is cut; a slow parser here says what they are."""

import gzip
import io
import tracemalloc
from unittest.mock import patch

import numpy as np
import pytest
from all_rows import all_rows
from hypothesis import example, given
from hypothesis import strategies as st

from privatree.errors import SchemaError
from privatree.schema import CsvDialect
from privatree.sources.csv import _rows as csv_rows
from privatree.sources.csv import open_csv

ENDINGS = [b"\n", b"\r\n", b"\r"]
DIALECTS = [
    CsvDialect(delimiter=","),
    CsvDialect(delimiter=",", multiline=True),
    CsvDialect(delimiter=",", escape="\\"),
    CsvDialect(delimiter=",", escape="\\", multiline=True),
    CsvDialect(delimiter=",", quote=None, escape="\\"),
    CsvDialect(delimiter="a", quote="'"),
]
nasty = st.lists(
    st.sampled_from([b",", b'"', b"\n", b"\r", b"\r\n", b'""', b'"\r', b'\r"', b'","', b"\n\n",
                     b"a", b" ", b"\x00", b"\xff", b"\xc3", b"\xa4", b"\xe2\x82", b"\xf0\x9f\x98",
                     b"\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf", "ä€😀".encode(), b"1,2,3\n",
                     b"1,2\n", b"\\", b'\\"', b"\\\n", b"\\\r\n", b"'", b"\\,", b'"1\\"",2\n'])
    | st.binary(max_size=3),
    max_size=30,
).map(b"".join)  # fmt: skip


def line_end(text, at, returns_end_rows):
    """The end of a line that is here, if one is."""
    if text[at : at + 2] == "\r\n":
        return "\r\n"
    return text[at : at + 1] if text[at : at + 1] in ("\n", "\r" * returns_end_rows) else ""


def rows_of(text, returns_end_rows, dialect):
    """The values of each row (None if it is malformed), its bytes, and whether it is blank."""
    rows, values, value, start, at = [], [], "", 0, 0
    is_start, is_quoted, is_closed = True, False, True

    def end_row():
        nonlocal values, value, start, is_start, is_quoted, is_closed
        is_blank = is_start and not values
        whole = [*values, value] if is_closed and not is_quoted else None
        rows.append((whole, len(text[start:at].encode("utf-8", "surrogateescape")), is_blank))
        values, value, start, is_start, is_quoted, is_closed = [], "", at, True, False, True

    while at < len(text):
        ending = line_end(text, at, returns_end_rows)
        if ending and not (is_quoted and dialect.multiline):
            at += len(ending)
            end_row()
            continue
        letter = text[at]
        at += 1
        if letter == dialect.escape:
            is_start = False
            if at == len(text) or (line_end(text, at, returns_end_rows) and not dialect.multiline):
                is_closed = False
            else:
                value += text[at]
                at += 1
        elif is_quoted and letter == dialect.quote == text[at : at + 1]:
            value += letter
            at += 1
        elif is_quoted and letter == dialect.quote:
            is_quoted = False
        elif is_quoted:
            value += letter
        elif is_start and letter == dialect.quote:
            is_start, is_quoted = False, True
        elif letter == dialect.delimiter:
            values, value, is_start = [*values, value], "", True
        else:
            value += " " if letter == "\r" else letter
            is_start = False
    if start < len(text):
        end_row()
    return rows


def expected(content, n_columns, returns_end_rows, longest, dialect):
    """The values of each row, None if it is ragged, and what is said of the first that is."""
    if not dialect.multiline and content[-1:] not in (b"", b"\n", b"\r"[:returns_end_rows]):
        content += b"\n"  # the last line is read as if another followed
    both = (
        rows_of(content.decode("utf-8", errors), returns_end_rows, dialect)
        for errors in ("replace", "surrogateescape")  # the text, and how many bytes it was
    )
    rows = [
        (values, size)
        for (values, _, is_blank), (_, size, _) in zip(*both, strict=True)
        if n_columns == 1 or not is_blank
    ]
    read = [
        values if values is not None and len(values) == n_columns and size <= longest else None
        for values, size in rows
    ]
    said = None
    if None in read:
        first = read.index(None)
        values, size = rows[first]
        said = f"row {first + 2}, blank lines not counted, must " + (
            "have at most 0 MiB."
            if size > longest
            else "close its quotes."
            if values is None
            else f"have {n_columns} values, as the first row has, got {len(values)}."
        )
        is_open = size <= longest and values is None and not dialect.multiline
        hint = " or, if values span lines, pass --multiline" if is_open else ""
        said += f" Fix or remove the row{hint}."
    return read, said


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("csv") / "data.csv"


@pytest.mark.slow
@given(
    content=nasty,
    ending=st.sampled_from(ENDINGS),
    n_columns=st.integers(1, 3),
    sizes=st.tuples(st.integers(1, 36), st.sampled_from([36, 60, 2**19])),
    bom=st.booleans(),
    dialect=st.sampled_from(DIALECTS),
)
@example(b'x\r"a\rb",c\n', b"\n", 2, (1, 36), False, DIALECTS[1])
@example(b"\xef\xbb\xbf1,2\n\xef\xbb\xbf3,4\n", b"\n", 2, (1, 36), True, DIALECTS[0])
@example(b'1,2\n"' + b"\n" * 70 + b'"\n1,2\n', b"\n", 2, (12, 36), False, DIALECTS[1])
@example(b"1,2\n" + b"\xff" * 40 + b",\n1,2\n", b"\n", 2, (12, 60), False, DIALECTS[0])
@example(b"1,2\r", b"\n", 2, (1, 36), False, DIALECTS[0])
@example(b"1,2\r\n1,2\r\r\n", b"\r", 1, (1, 36), False, DIALECTS[0])
@example(b'"5\\"",1\n2,3\n', b"\n", 2, (1, 36), False, DIALECTS[0])
def test_rows_are_the_same_wherever_they_are_cut(
    path, content, ending, n_columns, sizes, bom, dialect
):
    header = b"\xef\xbb\xbf" * bom + dialect.delimiter.encode().join([b"x"] * n_columns) + ending
    path.write_bytes(header + content)
    chunk, longest = sizes
    if ending == b"\r" and content.startswith(b"\n"):
        ending, content = b"\r\n", content[1:]
    rows, said = expected(content, n_columns, ending == b"\r", longest, dialect)
    with (
        patch.multiple(csv_rows, CHUNK_BYTES=chunk, MAX_ROW_BYTES=longest),
        patch("privatree.sources.csv._csv_file.MAX_ROW_BYTES", longest),
    ):
        read = all_rows(open_csv(path, dialect), range(n_columns))
        refused = None
        try:
            all_rows(open_csv(path, dialect), range(n_columns), allow_ragged=False)
        except SchemaError as error:
            refused = str(error).removeprefix(f"{path}: ")
    assert [column.to_pylist() for column in read.columns] == [
        [row and row[at] for row in rows] for at in range(n_columns)
    ]
    np.testing.assert_array_equal(read.is_ragged, [row is None for row in rows])
    assert (read.n_rows, read.n_ragged) == (len(rows), rows.count(None))
    assert refused == said
    assert read.is_valid == (content.decode("utf-8", "ignore").encode() == content)


@given(
    content=nasty,
    chunk=st.integers(1, 50),
    returns=st.booleans(),
    dialect=st.sampled_from(DIALECTS),
)
def test_chunks_are_whole_rows_and_together_all_there_is(content, chunk, returns, dialect):
    with patch.multiple(csv_rows, CHUNK_BYTES=chunk):
        stream = io.BytesIO(content)
        chunks = list(csv_rows.read_row_chunks(stream, dialect, returns_end_rows=returns))
    text = b"".join(each.content for each in chunks).decode()
    same = content.decode("utf-8", "replace")
    is_open = same[-1:] not in ("", "\n", "\r"[:returns])
    same += "\n" * (is_open and not dialect.multiline)
    assert text == same
    rows = [row for each in chunks for row in rows_of(each.content.decode(), returns, dialect)]
    assert rows == rows_of(same, returns, dialect)
    assert all(each.content for each in chunks)
    assert not any(each.long_row_follows for each in chunks)


@pytest.mark.slow
@pytest.mark.parametrize("content", [b'1,"', b"1,2\n", b"\xff", b"\n"])
@pytest.mark.parametrize("multiline", [False, True])
def test_memory_does_not_grow_with_the_file(tmp_path, content, multiline):
    """Not even where a line never ends, or everything has to be replaced."""
    path = tmp_path / "data.csv.gz"
    with gzip.open(path, "wb", 1) as file:
        file.write(b"a,b\n" + content)
        for _ in range(24):
            file.write(content[-1:] * 2**20 if content != b"1,2\n" else content * 2**18)
    with patch.multiple(csv_rows, CHUNK_BYTES=2**18, MAX_ROW_BYTES=2**20):
        opened = open_csv(path, CsvDialect(multiline=multiline))
        next(opened.read_chunks())  # compile
        tracemalloc.start()
        try:
            n_bytes = n_long = 0
            for chunk in opened.read_chunks():
                n_bytes += len(chunk.content)
                n_long += chunk.long_row_follows
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 5 * 2**20
    assert n_long == (content in (b'1,"', b"\xff"))
    is_open = content[-1:] != b"\n" and not multiline
    assert n_bytes == (0 if n_long else 24 * 2**20 + len(content) + is_open)
