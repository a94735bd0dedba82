"""What makes a row of a CSV file, and what a changed file is."""

import pytest
from all_rows import all_rows

from privatree.errors import SourceError
from privatree.sources.csv import open_csv


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_carriage_return_in_a_value_does_not_end_its_row(tmp_path, end):
    path = tmp_path / "data.csv"
    path.write_bytes(end.join(["a,b", "1,x\ry", '2,"p\rq"', "3,z"]).encode())
    opened = open_csv(path)
    assert [
        column.to_pylist() for column in all_rows(opened, [0, 1], allow_ragged=False).columns
    ] == [
        ["1", "2", "3"],
        ["x y", "p\rq", "z"],
    ]


def test_where_carriage_returns_end_the_first_row_they_end_all(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"a,b\r1,x\r2,y\r")
    (column, _) = all_rows(open_csv(path), [0, 1], allow_ragged=False).columns
    assert column.to_pylist() == ["1", "2"]


@pytest.mark.parametrize("content", [b"a,b", b"a,b\n", b"a,b\r\n"])
def test_a_first_row_alone_is_a_file_without_records(tmp_path, content):
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    assert [len(column) for column in all_rows(open_csv(path), [0, 1]).columns] == [
        0,
        0,
    ]


def test_blank_lines_before_the_first_row_do_not_hide_a_record(tmp_path):
    path = tmp_path / "data.csv"
    for blank in (b"\r", b"\r\r\n", b"\n\r", b"\xef\xbb\xbf\r"):
        path.write_bytes(blank + b"a,b\n1,x\n2,y\n")
        (column, _) = all_rows(open_csv(path), [0, 1], allow_ragged=False).columns
        assert column.to_pylist() == ["1", "2"]


def test_rows_that_are_added_are_no_change_of_the_first_row(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"a,b\n")
    opened = open_csv(path)
    path.write_bytes(b"a,b\n1,x\n")
    (column, _) = all_rows(opened, [0, 1]).columns
    assert column.to_pylist() == ["1"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a,b\n1,x\n", b"b,a\n1,x\n"),
        (b"a,b\n1,x\n", b"a,b"),
        (b"a,b\n1,x\n", b""),
        (b"a,b", b"a,b,c\n1,2,3\n"),
        (b"a,b", b"a,b\n1,2\n"),
        (b"\na,b\n1,x\n", b"a,b\n1,x\n"),
    ],
)
def test_another_first_row_is_an_error(tmp_path, before, after):
    path = tmp_path / "data.csv"
    path.write_bytes(before)
    opened = open_csv(path)
    path.write_bytes(after)
    with pytest.raises(SourceError, match=r"data\.csv: the file must not change while it is read"):
        list(opened.read_chunks())
