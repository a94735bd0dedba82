import datetime
import io
import pickle
import sys

import openpyxl
import pytest

from privatree import Categorical, CsvDialect, Numeric, ParameterError, Schema
from privatree.sources import CsvSource
from privatree.sources.csv_files import open_csv
from privatree.sources.files import read_files, read_files_without_schema
from privatree.sources.held_files import ExcelFile, StandardInput
from privatree.sources.paths import find_files

SCHEMA = Schema(
    {"age": Numeric(0, 120, integer=True), "ward": Categorical(["north", "so\nuth", 'the "east"'])},
    ["no", "yes"],
)


def workbook(path, rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.create_sheet("another").append(["age", "never", "read"])
    book.save(path)
    return path


@pytest.fixture
def path(tmp_path):
    rows = [
        ["age", "ward", "seen", "ill"],
        [65, "north", datetime.date(2024, 5, 1), "yes"],
        [70.5, 'the "east"', datetime.datetime(2024, 5, 1, 12, 30), "no"],
        [],
        [None, "so\nuth", None, "no"],
        ["many", "west", True, "yes"],
        [30, "north", None, "yes", None, "beyond"],
    ]
    return workbook(tmp_path / "visits.xlsx", rows)


def test_a_sheet_is_read_as_text(path):
    (file,) = find_files([path])
    assert isinstance(file, ExcelFile)
    read = open_csv(file).text(range(4), allow_ragged=True)
    assert [column.to_pylist() for column in read.columns] == [
        ["65", "70.5", "", "many", None],
        ["north", 'the "east"', "so\nuth", "west", None],
        ["2024-05-01", "2024-05-01T12:30:00", "", "True", None],
        ["yes", "no", "no", "yes", None],
    ]
    assert read.is_ragged.tolist() == [False] * 4 + [True]


def test_by_a_schema_and_without_one(path, tmp_path):
    records = read_files(find_files([path]), SCHEMA, "ill", allow_ragged=True)
    assert records.features.column("ward").to_pylist() == [
        "north", 'the "east"', "so\nuth", None, None,
    ]  # fmt: skip
    assert records.labels.to_pylist() == ["yes", "no", "no", "yes", None]
    assert records.ignored == ("seen",)
    whole = workbook(tmp_path / "b.xlsx", [["age", "ill"], [65, "yes"], [30, "no"]])
    guessed = read_files_without_schema(find_files([whole]), "ill")
    assert guessed.features.to_pylist() == [{"age": 65}, {"age": 30}]


def test_the_dialect_of_files_does_not_matter_to_a_sheet(path):
    odd = CsvDialect(delimiter=";", decimal=",", encoding="utf-16", multiline=True)
    source = CsvSource(path, "ill")
    source.open(Schema(SCHEMA.features, SCHEMA.classes, csv=odd))
    assert source.assumptions == ()  # rows of a sheet are apart, whatever their quotes
    assert source.ignored == ("seen",)
    again = pickle.loads(pickle.dumps(find_files([path])[0]))  # as to an executor
    assert open_csv(again).names == ["age", "ward", "seen", "ill"]


def test_one_row_more_is_one_record_more(tmp_path):
    """Not even a cell far to the right makes the others ragged."""
    rows = [["age", "ward", "ill"], [65, "north", "yes"], [30, "so\nuth", "no"]]
    odd = ['"', "\n", '=1/"', *[None] * 40, "x"]
    for more in ([], [odd], [['"']], [["a,b,c"]]):
        path = workbook(tmp_path / "a.xlsx", [*rows[:2], *more, *rows[2:]])
        records = read_files(find_files([path]), SCHEMA, "ill", allow_ragged=True)
        known = [label for label in records.labels.to_pylist() if label is not None]
        assert known == ["yes", "no"]
        assert records.features.num_rows == 2 + len(more)


def test_what_is_no_workbook_is_told(tmp_path, monkeypatch):
    path = tmp_path / "a.xlsx"
    path.write_bytes(b"no workbook")
    with pytest.raises(ParameterError, match=r"a\.xlsx: not an Excel workbook that can be read"):
        open_csv(find_files([path])[0])
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(ParameterError, match=r"pip install 'privatree\[excel\]'"):
        open_csv(find_files([path])[0])


def test_an_open_workbook_has_a_shadow_that_is_not_read(path):
    (path.parent / "~$visits.xlsx").write_bytes(b"lock")
    assert find_files([path.parent]) == [path]


def test_standard_input_is_a_file(monkeypatch):
    text = "age,ward,ill\n65,north,yes\n30,north,no\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    (piped,) = find_files(["-"])
    assert isinstance(piped, StandardInput)
    records = read_files([piped], SCHEMA, "ill", allow_ragged=True)
    assert records.labels.to_pylist() == ["yes", "no"]
    assert find_files([piped]) == [piped]
    with pytest.raises(ParameterError, match="standard input: is listed twice"):
        find_files(["-", "-"])
