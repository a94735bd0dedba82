"""What a value is; what a row is, wherever a file is cut, is in test_rows.py."""

import tracemalloc

import numpy as np
import pytest

from privatree import CsvDialect
from privatree.sources.csv import _values as module
from privatree.sources.csv._values import parse_csv_values

COMMA = CsvDialect(delimiter=",")
BACKSLASH = CsvDialect(delimiter=",", escape="\\")


def values(content, dialect=COMMA, n_columns=2, positions=(0, 1), returns_end_rows=False):
    read = list(
        parse_csv_values(
            bytearray(content), dialect, n_columns, positions, returns_end_rows=returns_end_rows
        )
    )
    columns = [
        [text for part in read for text in part.columns[at].to_pylist()]
        for at in range(len(positions))
    ]
    return columns, [n for part in read for n in part.n_values.tolist()]


@pytest.mark.parametrize(
    ("written", "dialect", "text"),
    [
        (b"x", COMMA, "x"), (b"", COMMA, ""), (b'""', COMMA, ""), (b'"a,b"', COMMA, "a,b"),
        (b'"a""b"', COMMA, 'a"b'), (b'""""', COMMA, '"'), (b'a"b"', COMMA, 'a"b"'),
        (b'"a"b"c"', COMMA, 'ab"c"'), (b' "a"', COMMA, ' "a"'), (b"a\\nb", COMMA, "a\\nb"),
        (b'"5\'11\\""', BACKSLASH, "5'11\""), (b"a\\,b", BACKSLASH, "a,b"),
        (b"a\\\\", BACKSLASH, "a\\"), (b"\\N", BACKSLASH, "N"), (b'"a""b"', BACKSLASH, 'a"b'),
        (b'\\"a\\"', BACKSLASH, '"a"'), ("ü😀".encode(), COMMA, "ü😀"),
        (b"'a,b'", CsvDialect(delimiter=",", quote="'"), "a,b"),
        (b'"a', CsvDialect(delimiter=",", quote=None), '"a'),
        (b'"a\n\nb"', CsvDialect(delimiter=",", multiline=True), "a\n\nb"),
        (b'"a\\\nb"', CsvDialect(delimiter=",", escape="\\", multiline=True), "a\nb"),
    ],
)  # fmt: skip
def test_a_value(written, dialect, text):
    content = b"1,2\n" + written + b",z\r\n3,4"
    assert values(content, dialect) == ([["1", text, "3"], ["2", "z", "4"]], [2, 2, 2])


@pytest.mark.parametrize(
    ("row", "dialect"),
    [
        (b'"a,z', COMMA), (b'a,"z', COMMA), (b'"5\'11\\"",z', COMMA), (b'"""",""",z', COMMA),
        (b"a,z\\", BACKSLASH), (b'"a\\",z', BACKSLASH), (b'a,"z\\', BACKSLASH),
    ],
)  # fmt: skip
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_row_that_is_malformed_is_one_row(row, dialect, end):
    content = end.join([b"1,2", row, b"3,4", row])
    read = values(content, dialect, returns_end_rows=end == b"\r")
    assert read == ([["1", None, "3", None], ["2", None, "4", None]], [2, 0, 2, 0])


def test_columns_come_in_the_order_asked_for_and_others_are_passed_over():
    content = b"1,2,3\n4,5\n\n6,7,8,9\na,b,c\n"
    assert values(content, n_columns=3, positions=[2, 0]) == (
        [["3", None, None, "c"], ["1", None, None, "a"]],
        [3, 2, 4, 3],
    )
    assert values(content, n_columns=3, positions=[]) == ([], [3, 2, 4, 3])
    assert values(b"1\n\n2\n", n_columns=1, positions=[0]) == ([["1", "", "2"]], [1, 1, 1])


def test_parts_together_are_all_rows(monkeypatch):
    monkeypatch.setattr(module, "_MAX_VALUES", 8)
    monkeypatch.setattr(module, "_MIN_ROWS", 3)
    rows = [f'"{n},",{n * n}' for n in range(40)]
    rows[7], rows[20] = "ragged", '"open'
    content = "\n".join(rows).encode()
    columns, counts = values(content)
    assert [n for n, text in enumerate(columns[0]) if text is None] == [7, 20]
    assert columns[1][39] == "1521"
    assert len(counts) == 40


@pytest.mark.slow
def test_many_short_lines_take_little_memory():
    """Though each could be a row of every column, none is."""
    content, n_columns = bytearray(b"x\n" * 2**19), 300
    parts = parse_csv_values(content, COMMA, n_columns, range(n_columns), returns_end_rows=False)
    next(parts)  # compile
    tracemalloc.start()
    try:
        n_rows = sum(len(part.n_values) for part in parts)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert n_rows > 2**19 - 2**13
    assert peak < 64 * 2**20


def test_text_is_valid_for_arrow():
    for part in parse_csv_values(
        bytearray('ü,"😀"\nx\n,é'.encode()), COMMA, 2, [1, 0], returns_end_rows=False
    ):
        for column in part.columns:
            column.validate(full=True)
        np.testing.assert_array_equal(part.n_values, [2, 1, 2])
