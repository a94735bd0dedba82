import datetime
import io
import pickle
import zipfile

import openpyxl
import pytest
from all_rows import all_rows
from rows_of_sources import coded_rows

from privatree import Categorical, CsvDialect, Numeric, ParameterError, Schema
from privatree.sources import CsvSource, find_files, read_files, read_files_without_schema
from privatree.sources.csv import ExcelFile, StandardInput, open_csv

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
    read = all_rows(open_csv(file), range(4))
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


HOSTILE = {  # by format, what Excel can hold and readers choke on
    "[h]:mm:ss": 1e9,
    "yyyy-mm-dd": -1e300,
    "General": 1e308,
    "0.00": "_x0000_",
}


@pytest.mark.parametrize(("form", "value"), HOSTILE.items())
@pytest.mark.parametrize("place", ["B3", "XFD1048576", "A3"])
def test_no_cell_is_an_error_or_changes_another_row(tmp_path, form, value, place):
    """Nor which columns there are: the names in the first row alone say that."""
    book = openpyxl.Workbook()
    sheet = book.active
    for row, cells in enumerate(
        [["age", "ward", "ill"], [65, "north", "yes"], [30, "north", "no"]]
    ):
        for column, cell in enumerate(cells):
            sheet.cell(row + 1 + (row == 2), column + 2, cell)  # from column B on, row 3 empty
    book.save(tmp_path / "a.xlsx")
    before = CsvSource(tmp_path / "a.xlsx", "ill")
    rows, n_rows = coded_rows(before, SCHEMA)
    sheet[place], sheet[place].number_format = value, form
    book.save(tmp_path / "b.xlsx")
    after = CsvSource(tmp_path / "b.xlsx", "ill")
    found, n_found = coded_rows(after, SCHEMA)
    assert (found, after.ignored) == (rows, before.ignored)
    assert n_found - n_rows <= 1
    assert len(rows) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell",
    [
        '<c r="B3" t="n"><v>many</v></c>', '<c r="B3" t="s"><v>99</v></c>',
        '<c r="B3" t="s"><v>-1</v></c>', '<c r="B3" t="e"><v>#ODD!</v></c>', "<c/>",
        '<c r="B3" t="odd"><v>1</v></c>', '<c r="B3" s="999"><v>1</v></c>', '<c r="?"><v>1</v></c>',
        '<c r="B3" t="b"><v>2</v></c>', '<c r="B3" s="x"><v>nan</v></c>', '<c><v>inf</v></c>',
        '<c r="B3" t="inlineStr"/>', '<c r="B3" t="str"/>', '<c r="B3"><v>1e999</v></c>',
    ],
)  # fmt: skip
def test_cells_that_no_excel_writes(tmp_path, cell):
    workbook(tmp_path / "a.xlsx", [["age", "ward", "ill"], [65, "north", "yes"]])
    with zipfile.ZipFile(tmp_path / "a.xlsx") as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    name = "xl/worksheets/sheet1.xml"
    more = f'<row r="3">{cell}</row></sheetData>'
    parts[name] = parts[name].replace(b"</sheetData>", more.encode())
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w") as changed:
        for part, text in parts.items():
            changed.writestr(part, text)
    rows = coded_rows(CsvSource(tmp_path / "a.xlsx", "ill"), SCHEMA)
    found = coded_rows(CsvSource(tmp_path / "b.xlsx", "ill"), SCHEMA)
    assert found[0] == rows[0]
    assert found[1] - rows[1] <= 1


def test_what_is_no_workbook_is_told(tmp_path):
    path = tmp_path / "a.xlsx"
    whole = workbook(tmp_path / "b.xlsx", [["age", "ill"], [1, "no"]]).read_bytes()
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        sheet = archive.getinfo("xl/worksheets/sheet1.xml")
    at = sheet.header_offset + 30 + len(sheet.filename)
    spoilt = whole[:at] + bytes(byte ^ 255 for byte in whole[at : at + 40]) + whole[at + 40 :]
    for content in (b"", b"no workbook", whole[:-40], whole[:200], spoilt):
        path.write_bytes(content)
        with pytest.raises(
            ParameterError, match=r"a\.xlsx: must be an Excel workbook, but cannot be read"
        ):
            open_csv(find_files([path])[0])
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook><sheets/></workbook>")
    with pytest.raises(ParameterError, match="must be an Excel workbook"):
        open_csv(find_files([path])[0])


def test_an_open_workbook_has_a_shadow_that_is_not_read(path):
    (path.parent / "~$visits.xlsx").write_bytes(b"lock")
    assert find_files([path.parent]) == (path,)


def test_standard_input_is_a_file(monkeypatch):
    text = "age,ward,ill\n65,north,yes\n30,north,no\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    (piped,) = find_files(["-"])
    assert isinstance(piped, StandardInput)
    records = read_files([piped], SCHEMA, "ill", allow_ragged=True)
    assert records.labels.to_pylist() == ["yes", "no"]
    assert find_files([piped]) == (piped,)
    with pytest.raises(ParameterError, match="standard input: is listed twice"):
        find_files(["-", "-"])
