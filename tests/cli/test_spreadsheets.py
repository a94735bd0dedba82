"""What a spreadsheet would run becomes text; everything else stays as it is."""

import csv
import io
import re
import sys

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from privatree import Categorical, Model, Schema
from privatree.cli._app import main
from privatree.cli._spreadsheets import safe_table, safe_text
from privatree.model import TreeBuilder
from privatree.privacy import PrivacyStatement

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
def test_what_is_written(text, written):
    assert safe_text(text) == written


@pytest.mark.slow
@given(st.text(st.sampled_from(SIGNS + ",;|\t\r\n \"'a1.")))
@example("-1;=2")
def test_no_cell_begins_a_formula(text):
    """However the text is cut into cells, with or without its quotes and blanks."""
    is_number = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", text)
    safe = safe_text(text)
    if is_number:
        assert safe == text
        return
    assert not safe.startswith(tuple(SIGNS + "\t\r\n"))
    for cell in re.split(r"[,;|\t\r\n]", safe):
        assert not cell.strip(' "').startswith(tuple(SIGNS))
    assert safe.replace("'", "") == text.replace("'", "")


def test_a_table():
    """Text of all kinds and the names; no numbers."""
    table = pa.table(
        {
            "=a": pa.chunked_array([["=x", None], ["y"]]),
            "n": [-1, 2, 3],
            "d": pa.array(["@", "b", None]).dictionary_encode(),
            "l": pa.array(["-z", "", None], pa.large_string()),
        }
    )
    assert safe_table(table).to_pydict() == {
        "'=a": ["'=x", None, "y"],
        "n": [-1, 2, 3],
        "d": ["'@", "b", None],
        "l": ["'-z", "", None],
    }
    assert safe_table(table.slice(0, 0)).num_rows == 0


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

    def run(*arguments):
        command = ["privatree", "predict", "model.json", "data.csv", "--keep", "=id", *arguments]
        monkeypatch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit) as stopped:
            main()
        return stopped.value.code or 0, capsys.readouterr()

    return run


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
        "privatree: --safe-for-spreadsheets must be used for CSV. Leave it out.\n"
    )
    assert not (tmp_path / "out.parquet").exists()
