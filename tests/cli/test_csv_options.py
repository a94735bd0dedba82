"""From the draft to predictions for files as people have them, by the commands in the docs."""

import gzip
import json
import re
import subprocess
import sys

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from run_command import run

from privatree import CsvDialect, PrivaTreeClassifier, Schema, export_text, load
from privatree.sources import CsvSource

pytestmark = pytest.mark.slow
N_ROWS = 300


def table():
    rng = np.random.default_rng(0)
    heights, weights = rng.uniform(1.5, 2, N_ROWS).round(2), rng.uniform(50, 110, N_ROWS).round(1)
    smokes = rng.choice(["ja", "nein, früher"], N_ROWS)
    results = np.where(weights / heights**2 > 27, "übergewichtig", "gesund")
    return ["Größe", "Gewicht", "Raucher", "Ergebnis"], list(
        zip(heights.tolist(), weights.tolist(), smokes.tolist(), results.tolist(), strict=True)
    )


def lines(delimiter, decimal, quote='"'):
    names, rows = table()

    def value(cell):
        text = str(cell).replace(".", decimal) if isinstance(cell, float) else cell
        return f"{quote}{text}{quote}" if delimiter in text else text

    return "".join(f"{delimiter.join(map(value, row))}\r\n" for row in [names, *rows])


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def confirm(path):
    """What a person does in an editor, here without looking."""
    path.write_text(re.sub(r"(?m)^unconfirmed = .*\n", "", path.read_text()))


def test_semicolons_commas_and_latin_1_from_the_draft_to_predictions(here, monkeypatch, capsys):
    europe, usual = here / "europa.csv", here / "usual.csv"
    europe.write_bytes(lines(";", ",").encode("latin-1"))
    usual.write_text(lines(",", "."), newline="")
    by_target = ("--target", "Ergebnis")
    fit = (*by_target, "--epsilon", "1", "--seed", "3", "-q")
    assert run(monkeypatch, "schema", "draft", "europa.csv", *by_target, "-o", "s.toml") == 0
    assert run(monkeypatch, "schema", "draft", "usual.csv", *by_target, "-o", "u.toml") == 0
    drafted, plain = Schema.from_toml("s.toml"), Schema.from_toml("u.toml")
    found = CsvDialect(delimiter=";", decimal=",", encoding="latin-1").all_unconfirmed()
    assert (drafted.csv, plain.csv) == (found, None)
    assert drafted.features == plain.features
    assert run(monkeypatch, "fit", "europa.csv", "--schema", "s.toml", *fit, "-o", "m.json") == 2
    assert "csv: delimiter, decimal, encoding" in capsys.readouterr().err
    confirm(here / "s.toml")
    confirm(here / "u.toml")
    assert run(monkeypatch, "schema", "check", "s.toml", "europa.csv", *by_target) == 0
    assert "Every value fits." in capsys.readouterr().out

    for name, data, schema, piped in (
        ("m", "europa.csv", "s.toml", None),
        ("piped", "-", "s.toml", europe.read_bytes()),
        ("packed", "-", "s.toml", gzip.compress(europe.read_bytes())),
        ("usual", "usual.csv", "u.toml", None),
    ):
        command = ("fit", data, "--schema", schema, *fit, "-o", f"{name}.json")
        assert run(monkeypatch, *command, piped=piped) == 0
    for name in ("piped", "packed"):
        assert (here / f"{name}.json").read_bytes() == (here / "m.json").read_bytes()
    assert export_text(load("m.json")) == export_text(load("usual.json"))
    assert load("m.json").schema_.csv == drafted.confirmed().csv

    capsys.readouterr()
    assert run(monkeypatch, "predict", "usual.json", "usual.csv") == 0
    predictions = capsys.readouterr().out
    assert run(monkeypatch, "predict", "m.json", "europa.csv") == 0
    assert capsys.readouterr().out == predictions
    assert run(monkeypatch, "predict", "m.json", "-", piped=europe.read_bytes()) == 0
    assert capsys.readouterr().out == predictions
    options = ("--delimiter", ",", "--decimal", ".", "--encoding", "utf-8")
    assert run(monkeypatch, "predict", "m.json", "usual.csv", *options) == 0
    assert capsys.readouterr().out == predictions
    assert set(predictions.split()) == {"prediction", "gesund", "übergewichtig"}


def test_other_files_give_the_same_model(here, monkeypatch):
    names, rows = table()
    usual = lines(",", ".").encode()
    (here / "a.csv").write_bytes(usual)
    (here / "b.tsv").write_text(lines("\t", "."), encoding="utf-8", newline="")
    (here / "c.csv.zst").write_bytes(pa.compress(usual, codec="zstd", asbytes=True))
    (here / "d.csv").write_text(lines("|", ",", quote="'"), encoding="utf-16", newline="")
    book = openpyxl.Workbook()
    for row in [names, *rows]:
        book.active.append(row)
    book.save("e.xlsx")
    assert run(monkeypatch, "schema", "draft", "a.csv", "--target", "Ergebnis", "-o", "s.toml") == 0
    confirm(here / "s.toml")
    odd = ("--delimiter", "|", "--decimal", ",", "--encoding", "utf-16", "--quote", "'")
    trees = []
    for data, options in (("a.csv", ()), ("b.tsv", ()), ("c.csv.zst", ()), ("d.csv", odd),
                          ("e.xlsx", ()), ("a.csv", ("--engine", "stream"))):  # fmt: skip
        fit = ("--target", "Ergebnis", "--schema", "s.toml", "--epsilon", "1", "--seed", "3")
        assert run(monkeypatch, "fit", data, *fit, *options, "-q", "-o", "m.json") == 0
        trees.append(export_text(load("m.json")))
    assert len(trees) == 6
    assert len(set(trees)) == 1
    assert load("m.json").schema_.csv is None
    assert (
        run(monkeypatch, "schema", "draft", "e.xlsx", "--target", "Ergebnis", "-o", "e.toml") == 0
    )
    assert Schema.from_toml("e.toml") == Schema.from_toml("s.toml").all_unconfirmed()


def test_backslashes_of_spark(here, monkeypatch, capsys):
    rows = [f'"5\'{n}\\"",{"yes" if n > 5 else "no"}' for n in range(12)] * 20
    (here / "a.csv").write_text("\n".join(["height,tall", *rows]))
    assert run(monkeypatch, "schema", "draft", "a.csv", "--target", "tall", "-o", "s.toml") == 0
    schema = Schema.from_toml("s.toml")
    assert schema.csv == CsvDialect(escape="\\").all_unconfirmed()
    assert "5'11\"" in schema.features["height"].categories
    confirm(here / "s.toml")
    assert run(monkeypatch, "schema", "check", "s.toml", "a.csv", "--target", "tall", "--json") == 0
    assert json.loads(capsys.readouterr().out)["ragged_rows"] == 0
    no_escape = ("--escape", "none", "--json")
    assert (
        run(monkeypatch, "schema", "check", "s.toml", "a.csv", "--target", "tall", *no_escape) == 0
    )
    assert json.loads(capsys.readouterr().out)["ragged_rows"] == 240


def test_values_that_span_lines_are_named_wherever_they_matter(here, monkeypatch, capsys):
    rows = [f'"{"north" if n % 2 else "so"}\nwing",{"yes" if n % 2 else "no"}' for n in range(60)]
    (here / "a.csv").write_text("\n".join(["ward,ill", *rows]))
    assert run(monkeypatch, "schema", "draft", "a.csv", "--target", "ill", "-o", "s.toml") == 0
    text = (here / "s.toml").read_text().replace("\n# ", " ")
    assert "some quoted values contain line breaks" in text
    assert (
        "the privacy statement will say that the guarantee holds only if this never happens" in text
    )
    confirm(here / "s.toml")
    fit = ("fit", "a.csv", "--target", "ill", "--schema", "s.toml", "--epsilon", "1")
    assert run(monkeypatch, *fit, "-o", "m.json", "-q") == 0
    rests = "every row of the CSV files closes its quotes"
    assert any(rests in note for note in load("m.json").privacy_.notes)
    assert run(monkeypatch, *fit, "-o", "m.json", "-q", "--no-multiline") == 0
    assert not any(rests in note for note in load("m.json").privacy_.notes)
    capsys.readouterr()
    certify = ("certify", "a.csv", *fit[2:], "--refits", "4", "--poisoned", "1", "--jobs", "1")
    assert run(monkeypatch, *certify, "--json") == 0
    assert any(rests in note for note in json.loads(capsys.readouterr().out)["notes"])


def test_the_same_in_python(here):
    (here / "a.csv").write_bytes(lines(";", ",").encode("latin-1"))
    (here / "u.csv").write_text(lines(",", "."), newline="")
    schema = Schema.from_dict(
        {
            "classes": ["gesund", "übergewichtig"],
            "features": {
                "Größe": {"kind": "numeric", "low": 1, "high": 2.5},
                "Gewicht": {"kind": "numeric", "low": 20, "high": 200},
            },
        }
    )
    learner = PrivaTreeClassifier(1.0, schema=schema, random_state=0)
    usual = export_text(learner.fit(CsvSource("u.csv", "Ergebnis")))
    options = {"delimiter": ";", "decimal": ",", "encoding": "latin-1"}
    assert export_text(learner.fit(CsvSource("a.csv", "Ergebnis", **options))) == usual
    assert learner.privacy_.notes == ()
    learner.fit(CsvSource("a.csv", "Ergebnis", **options, multiline=True))
    assert "closes its quotes" in str(learner.privacy_)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.parquet", "--delimiter", ";"], "--delimiter is for CSV files, and a.parquet is "
         "not one. Leave the option out.\n"),
        (["a.csv", "--multiline", "--quote", "none"], "--multiline must be used with a quote "
         "character, because only quoted values can contain line breaks.\n"),
        (["a.csv", "--encoding", "klingon"], "--encoding must be a character encoding that Python "
         "knows, such as utf-8 or latin-1, got 'klingon'.\n"),
        (["a.csv", "--decimal", ";"], "--decimal must be \".\" or \",\", got ';'.\n"),
        (["-", "--engine", "spark"], "--engine spark must be used with files that executors can "
         "read, not with the standard input.\n"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_nothing_is_written(
    here, monkeypatch, capsys, arguments, message
):
    (here / "a.csv").write_text(lines(",", "."), newline="")
    pq.write_table(pa.table({"x": [1]}), "a.parquet")
    assert run(monkeypatch, "schema", "draft", "a.csv", "--target", "Ergebnis", "-o", "s.toml") == 0
    confirm(here / "s.toml")
    before = sorted(here.iterdir())
    capsys.readouterr()
    fit = ("--target", "Ergebnis", "--schema", "s.toml", "--epsilon", "1", "-o", "m.json")
    assert run(monkeypatch, "fit", *arguments, *fit, piped=b"") == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"privatree: {message}")
    assert sorted(here.iterdir()) == before


def test_predict_tells_of_numbers_in_another_dialect(here, monkeypatch, capsys):
    """Predictions are not private, and all of them would be wrong."""
    (here / "a.csv").write_bytes(lines(";", ",").encode("latin-1"))
    (here / "b.csv").write_text(lines(",", "."), newline="")
    assert run(monkeypatch, "schema", "draft", "a.csv", "--target", "Ergebnis", "-o", "s.toml") == 0
    confirm(here / "s.toml")
    fit = ("--target", "Ergebnis", "--schema", "s.toml", "--epsilon", "1", "-q")
    assert run(monkeypatch, "fit", "a.csv", *fit, "-o", "m.json") == 0
    capsys.readouterr()
    usual = ("--delimiter", ",", "--encoding", "utf-8")
    assert run(monkeypatch, "predict", "m.json", "b.csv", *usual, "-o", "p.csv") == 0
    said = capsys.readouterr().err.splitlines()
    assert [line.partition(" has no ")[0] for line in said] == [
        "Column 'Größe'",
        "Column 'Gewicht'",
    ]
    assert (
        run(monkeypatch, "predict", "m.json", "b.csv", *usual, "--decimal", ".", "-o", "p.csv") == 0
    )
    assert capsys.readouterr().err == ""


def test_what_is_piped_in_is_not_overwritten(here):
    (here / "a.csv").write_text(lines(",", "."), newline="")
    before = (here / "a.csv").read_bytes()
    command = [sys.executable, "-m", "privatree", "schema", "draft", "-", "--target", "Ergebnis"]
    with (here / "a.csv").open("rb") as piped:
        done = subprocess.run(
            [*command, "-o", "a.csv", "--force"], stdin=piped, capture_output=True, text=True
        )
    assert done.returncode == 2
    assert done.stderr == "privatree: a.csv: is also an input file. Choose another output.\n"
    assert (here / "a.csv").read_bytes() == before


@pytest.mark.parametrize("start", [b"PK\x03\x04", b"PAR1"])
def test_what_is_no_text_cannot_be_piped_in(here, monkeypatch, capsys, start):
    fit = ("schema", "draft", "-", "--target", "y", "-o", "s.toml")
    assert run(monkeypatch, *fit, piped=start + b"...") == 2
    assert "standard input: must be CSV text, got a" in capsys.readouterr().err
