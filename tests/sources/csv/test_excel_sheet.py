"""The cells of a workbook's first sheet."""

import datetime

import openpyxl
import pytest

from privatree.errors import ParameterError
from privatree.sources.csv._excel_sheet import read_excel_sheet


def test_cells_are_text_by_the_number_of_their_column(tmp_path):
    book = openpyxl.Workbook()
    book.active["B1"], book.active["AA1"] = "name", "last"
    book.active["B2"], book.active["C2"] = 1.0, 0.1
    book.active["B3"], book.active["C3"] = datetime.date(2024, 5, 1), True
    book.active["D3"] = datetime.datetime(2024, 5, 1, 12, 30)
    book.create_sheet("another")["A1"] = "never read"
    book.save(tmp_path / "a.xlsx")
    assert list(read_excel_sheet(tmp_path / "a.xlsx")) == [
        {2: "name", 27: "last"},
        {2: "1", 3: "0.1"},
        {2: "2024-05-01", 3: "True", 4: "2024-05-01T12:30:00"},
    ]


def test_what_is_no_workbook_shows_nothing_of_it(tmp_path):
    path = tmp_path / "a.xlsx"
    path.write_bytes(b"PK secret-7431")
    with pytest.raises(
        ParameterError, match=r"must be an Excel workbook, but cannot be read"
    ) as stopped:
        list(read_excel_sheet(path))
    assert "secret" not in str(stopped.value)
    assert stopped.value.__context__ is None
