import csv
import io

import pytest

from privatree import CsvDialect
from privatree.inspection import detect_csv_dialect
from privatree.sources import find_files, read_files_without_schema

ROWS = [[n, f"{n / 8:.2f}", f"grün {n}", "ja, nein; oder\t|", "x"] for n in range(40)]
NAMES = ["nr", "größe", "text", "wörter", "y"]


def content(rows=ROWS, decimal=".", encoding="utf-8", **how):
    text = io.StringIO(newline="")
    writer = csv.writer(text, **({"lineterminator": "\n"} | how))
    writer.writerow(NAMES)
    writer.writerows([[str(v).replace(".", decimal) for v in row] for row in rows])
    return text.getvalue().encode(encoding)


def detected(path, content, **given):
    path.write_bytes(content)
    return detect_csv_dialect(find_files([path]), given)


def as_found(**options):
    return CsvDialect(**options).all_unconfirmed()


@pytest.mark.parametrize(
    ("how", "dialect"),
    [
        ({}, None),
        ({"quoting": csv.QUOTE_ALL, "lineterminator": "\r\n"}, None),
        ({"delimiter": ";", "decimal": ",", "encoding": "latin-1"},
         as_found(delimiter=";", decimal=",", encoding="latin-1")),
        ({"delimiter": "\t", "encoding": "utf-16"}, as_found(delimiter="\t", encoding="utf-16")),
        ({"delimiter": "|", "lineterminator": "\r"}, as_found(delimiter="|")),
        ({"delimiter": "\x01"}, as_found(delimiter="\x01")),
        ({"quotechar": "'", "quoting": csv.QUOTE_ALL}, as_found(quote="'")),
        ({"decimal": ",", "quoting": csv.QUOTE_ALL}, as_found(decimal=",")),
    ],
)  # fmt: skip
def test_how_programs_write(tmp_path, how, dialect):
    path = tmp_path / "data.csv"
    assert detected(path, content(**how)) == dialect
    features = read_files_without_schema(find_files([path]), "y", dialect).features
    assert features.column_names == NAMES[:-1]
    assert features.to_pylist()[9] == {
        "nr": 9, "größe": 1.12, "text": "grün 9", "wörter": "ja, nein; oder\t|",
    }  # fmt: skip


def test_letters_that_only_windows_has(tmp_path):
    rows = [[*row[:3], "10 €", "x"] for row in ROWS]
    path = tmp_path / "data.csv"
    assert detected(path, content(rows, encoding="cp1252")) == as_found(encoding="cp1252")
    late = b"a,y\n" + b"1,x\n" * 400_000 + b"\xfc,x\n"
    assert detected(path, late) == as_found(encoding="latin-1")


def test_escapes_and_lines_only_where_they_make_sense_of_more_rows(tmp_path):
    path = tmp_path / "data.csv"
    plain = "h,y\n" + "1,x\n" * 30
    assert detected(path, (plain + '"5\'11\\"",x\n').encode()) == as_found(escape="\\")
    assert detected(path, (plain + '"two\nlines",x\n').encode()) == as_found(multiline=True)
    both = as_found(escape="\\", multiline=True)
    assert detected(path, (plain + '"5\\" or\n6\\"",x\n').encode()) == both
    assert detected(path, (plain + '"never closed,x\n').encode()) is None
    assert detected(path, (plain + "ragged\n").encode()) is None
    assert detected(path, (plain + "it's,x\nhers',x\n").encode()) is None


def test_what_is_given_is_not_guessed(tmp_path):
    path = tmp_path / "data.csv"
    europe = content(delimiter=";", decimal=",", encoding="latin-1")
    found = detected(path, europe, encoding="cp1252", delimiter=";", decimal=None)
    assert found == CsvDialect(
        delimiter=";", decimal=",", encoding="cp1252", unconfirmed=["decimal"]
    )
    assert detected(path, b"a,y\n1,2\n", delimiter=",") == CsvDialect(delimiter=",")


def test_files_that_are_not_csv_have_no_dialect(tmp_path):
    assert detect_csv_dialect([tmp_path / "a.parquet"], {}) is None
    tabs = tmp_path / "a.tsv"
    assert detected(tabs, content(delimiter="\t")) is None  # as its name says
    assert detected(tabs, b"") is None
    assert detected(tabs, b"a\n") is None
