"""The first row of a CSV file."""

import io
from pathlib import Path

import pytest
from all_rows import all_rows

from privatree.errors import SchemaError
from privatree.schema import CsvDialect
from privatree.sources.csv import _header as csv_header
from privatree.sources.csv import open_csv


@pytest.mark.parametrize(
    ("content", "names", "head", "n_lines", "returns_end_rows"),
    [
        (b"", [], b"", 0, False),
        (b"a,b", ["a", "b"], b"a,b", 0, False),
        (b"a,b\n1,2\n", ["a", "b"], b"a,b\n", 1, False),
        (b"\xef\xbb\xbf\n\r\na,b\r\n1,2\r\n", ["a", "b"], b"\xef\xbb\xbf\n\r\na,b\r\n", 3, False),
        (b"a,b\r1,2\r", ["a", "b"], b"a,b\r", 1, True),
        (b'"a\nb",c\n1,2\n', ["a\nb", "c"], b'"a\nb",c\n', 2, False),
    ],
)  # fmt: skip
def test_what_it_says_and_where_it_ends(content, names, head, n_lines, returns_end_rows):
    dialect = CsvDialect(delimiter=",", multiline=True)
    found = csv_header.read_first_row(Path("data.csv"), io.BytesIO(content), dialect)
    assert found == csv_header.FirstRow(names, n_lines, head, returns_end_rows)
    assert found.is_ended == head.endswith((b"\n", b"\r"))


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_a_first_row_of_any_length(tmp_path, ending):
    path = tmp_path / "data.csv"
    for length in range(2**16 - 3, 2**16 + 3):  # around what is read at first
        path.write_bytes(f"{'x' * (length - 2)},y{ending}1,2{ending}".encode())
        opened = open_csv(path)
        assert [len(name) for name in opened.names] == [length - 2, 1]
        columns = all_rows(opened, [0, 1], allow_ragged=False).columns
        assert [column.to_pylist() for column in columns] == [["1"], ["2"]]


def test_a_first_row_without_end_is_none(tmp_path, monkeypatch):
    path = tmp_path / "data.csv"
    monkeypatch.setattr(csv_header, "_MAX_BYTES", 2**17)
    for content in (b"x," * 2**18, b"\n" * 2**19 + b"a,b\n"):
        path.write_bytes(content)
        with pytest.raises(
            SchemaError, match=r"the first row must name the columns, but cannot be read\."
        ):
            open_csv(path)
