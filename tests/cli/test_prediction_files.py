"""Tables of predictions are written completely or not at all, on request without formulas."""

import csv
import io
import re

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from run_command import run

from privatree import Categorical, Model, Schema
from privatree.cli import _prediction_files
from privatree.cli._prediction_files import (
    BufferedPredictions,
    buffered_predictions,
    escape_formula,
    escape_predictions,
)
from privatree.errors import ParameterError
from privatree.model import TreeBuilder
from privatree.privacy import PrivacyStatement

ARROW_SCHEMA = pa.schema([("name", pa.string()), ("x", pa.float64())])


def pieces(*names):
    for some in names:
        yield pa.table({"name": list(some), "x": [0.5] * len(some)}, ARROW_SCHEMA)


def buffered(*names):
    table = BufferedPredictions(io.BytesIO())
    table.collect_tables(pieces(*names))
    return table


def csv_of(table):
    file = io.BytesIO()
    table.write_csv(file)
    return file.getvalue().decode()


def test_one_text_that_needs_quotes_quotes_all():
    assert csv_of(buffered([], ["a", "b"], [], ["c"])) == "name,x\na,0.5\nb,0.5\nc,0.5\n"
    assert csv_of(buffered([], ["a"], ["b,c"])) == 'name,x\n"a",0.5\n"b,c",0.5\n'


def test_no_rows_are_a_header():
    assert csv_of(buffered([])) == "name,x\n"
    file = io.BytesIO()
    buffered([]).write_parquet(file)
    assert pq.read_table(file).schema == ARROW_SCHEMA


def test_parquet_is_the_same_however_it_came(monkeypatch):
    names = [f"n{number}" for number in range(1000)]
    monkeypatch.setattr(_prediction_files, "_PARQUET_GROUP_ROWS", 300)
    whole, cut = io.BytesIO(), io.BytesIO()
    pq.write_table(next(pieces(names)), whole, row_group_size=300)
    buffered([], names[:10], names[10:950], names[950:]).write_parquet(cut)
    assert cut.getvalue() == whole.getvalue()
    assert pq.ParquetFile(cut).num_row_groups == 4


def test_a_type_that_csv_cannot_hold():
    table = BufferedPredictions(io.BytesIO())
    table.collect_tables([pa.table({"x": [[1, 2]]})])
    with pytest.raises(ParameterError, match=r"must name columns of types that CSV can hold"):
        table.write_csv(io.BytesIO())


def test_the_temporary_file_is_beside_the_output_and_gone_afterwards(tmp_path, monkeypatch):
    monkeypatch.setattr(_prediction_files, "MAX_BYTES_IN_MEMORY", 1)
    asked = []
    real = _prediction_files.SpooledTemporaryFile

    def watched(size, dir):
        asked.append(dir)
        return real(size, dir=dir)

    monkeypatch.setattr(_prediction_files, "SpooledTemporaryFile", watched)
    for output in (tmp_path / "out.csv", None):
        with buffered_predictions(output) as table:
            table.collect_tables(pieces(["a"]))
            assert csv_of(table) == "name,x\na,0.5\n"
    assert asked == [str(tmp_path), None]
    assert not list(tmp_path.iterdir())


# --- formulas ------------------------------------------------------------------------------------

SIGNS = "=+-@＝＋－＠"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("+1+1", "'+1+1"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("＝1", "'＝1"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("a;=1", "a;'=1"),
        ('a,"=1', "a,\"'=1"),
        (' "=1', " \"'=1"),
        ("line\n=1", "line\n'=1"),
        ("-", "'-"),
        *(
            (same, same)
            for same in ("-5", "+3.5", "-1e-3", "a=b", "<=50K", "x - y", "", "'=1", "ä")
        ),
    ],
)
def test_formulas_in_a_text(text, written):
    assert escape_formula(text) == written


@pytest.mark.slow
@given(st.text(st.sampled_from(SIGNS + ",;|\t\r\n \"'a1.")))
@example("-1;=2")
def test_no_cell_begins_a_formula(text):
    """However the text is cut into cells, with or without its quotes and blanks."""
    is_number = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", text)
    safe = escape_formula(text)
    if is_number:
        assert safe == text
        return
    assert not safe.startswith(tuple(SIGNS + "\t\r\n"))
    for cell in re.split(r"[,;|\t\r\n]", safe):
        assert not cell.strip(' "').startswith(tuple(SIGNS))
    assert safe.replace("'", "") == text.replace("'", "")


def test_formulas_in_a_table():
    """Text of all kinds and the names; no numbers."""
    table = pa.table(
        {
            "=a": pa.chunked_array([["=x", None], ["y"]]),
            "n": [-1, 2, 3],
            "d": pa.array(["@", "b", None]).dictionary_encode(),
            "l": pa.array(["-z", "", None], pa.large_string()),
        }
    )
    assert escape_predictions(table).to_pydict() == {
        "'=a": ["'=x", None, "y"],
        "n": [-1, 2, 3],
        "d": ["'@", "b", None],
        "l": ["'-z", "", None],
    }
    assert escape_predictions(table.slice(0, 0)).num_rows == 0


# --- predict -------------------------------------------------------------------------------------


@pytest.fixture
def predict(tmp_path, monkeypatch, capsys):
    """Runs the command on two rows; gives what it printed."""
    monkeypatch.chdir(tmp_path)
    schema = Schema({"x": Categorical(["a", "b"])}, ["=1+1", "-no"])
    builder = TreeBuilder(schema)
    for code, leaf in enumerate(builder.split_categories(builder.root, 0, [0])):
        builder.leaf(leaf, code)
    Model(schema, builder.build(), PrivacyStatement("by hand", epsilon=1.0)).save("model.json")
    frame = pd.DataFrame({"x": ["a", "b"], "=id": ["@1", "-7"]})
    frame.to_csv("data.csv", index=False)

    def predict(*arguments):
        command = ("predict", "model.json", "data.csv", "--keep", "=id", *arguments)
        return run(monkeypatch, *command), capsys.readouterr()

    return predict


def test_the_default_is_exact(predict):
    code, printed = predict()
    assert code == 0
    assert list(csv.reader(io.StringIO(printed.out))) == [
        ["=id", "prediction"], ["@1", "=1+1"], ["-7", "-no"],
    ]  # fmt: skip


def test_labels_kept_columns_and_names(predict, tmp_path):
    wanted = [["'=id", "prediction"], ["'@1", "'=1+1"], ["-7", "'-no"]]
    code, printed = predict("--safe-for-spreadsheets")
    assert code == 0
    assert list(csv.reader(io.StringIO(printed.out))) == wanted
    assert predict("--safe-for-spreadsheets", "-o", "out.csv")[0] == 0
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == wanted


def test_it_is_for_csv(predict, tmp_path):
    code, printed = predict("--safe-for-spreadsheets", "-o", "out.parquet")
    assert code == 2
    assert printed.err == (
        "privatree: --safe-for-spreadsheets must be used with CSV output, got .parquet. Leave the "
        "option out.\n"
    )
    assert not (tmp_path / "out.parquet").exists()
