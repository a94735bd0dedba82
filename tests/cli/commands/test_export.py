import json
import sqlite3
import sys
from typing import get_args

import numpy as np
import onnxruntime
import pytest
from run_command import run

import privatree
from privatree import Categorical, Model, Numeric, Schema
from privatree.cli.commands._export import Dialect
from privatree.export import export_dot, export_json, export_sql, export_text
from privatree.export.sql._dialects import DIALECTS
from privatree.model import TreeBuilder
from privatree.privacy import PrivacyStatement
from privatree.report import model_card


@pytest.fixture
def model(tmp_path, monkeypatch):
    """In model.json of the current folder."""
    monkeypatch.chdir(tmp_path)
    schema = Schema({"age": Numeric(0, 100), "ward": Categorical(["a", "b"])}, ["low", "high"])
    builder = TreeBuilder(schema)
    young, old = builder.split_numeric(builder.root, 0, 40.0)
    builder.leaf(young, 0)
    builder.leaf(old, 1)
    made = Model(schema, builder.build(), PrivacyStatement("by hand", epsilon=1.0))
    made.save("model.json")
    return made


@pytest.mark.parametrize(
    ("form", "write"),
    [
        ("text", lambda model: export_text(model) + "\n"),
        ("dot", lambda model: export_dot(model) + "\n"),
        ("json", export_json),
        ("sql", lambda model: export_sql(model) + "\n"),
        ("card", model_card),
    ],
)
def test_forms_on_the_screen_and_in_a_file(model, monkeypatch, capsys, form, write):
    assert run(monkeypatch, "export", "model.json", "--format", form) == 0
    printed = capsys.readouterr()
    assert printed.out == write(model)
    assert printed.err == ""
    assert run(monkeypatch, "export", "model.json", "-f", form, "-o", "any.file") == 0
    with open("any.file", encoding="utf-8", newline="") as file:
        assert file.read() == write(model)


def test_without_a_format_it_is_text(model, monkeypatch, capsys):
    assert run(monkeypatch, "export", "model.json") == 0
    assert capsys.readouterr().out == export_text(model) + "\n"


@pytest.mark.parametrize(
    ("name", "starts"),
    [
        ("a.txt", b"age <= 40"),
        ("a.dot", b"digraph"),
        ("a.GV", b"digraph"),
        ("a.json", b'{\n "format"'),
        ("a.sql", b"CASE"),
        ("a.md", b"---\nlibrary_name"),
        ("a.onnx", b"\x08\x08"),
    ],
)
def test_the_ending_of_the_file_decides(model, monkeypatch, capsys, tmp_path, name, starts):
    assert run(monkeypatch, "export", "model.json", "-o", name) == 0
    assert (tmp_path / name).read_bytes().startswith(starts)
    assert capsys.readouterr() == ("", "")


def test_onnx_in_a_file_predicts(model, monkeypatch):
    assert run(monkeypatch, "export", "model.json", "-o", "model.onnx") == 0
    session = onnxruntime.InferenceSession("model.onnx")
    feeds = {"age": np.array([[40.0], [41.0]]), "ward": np.array([["a"], [""]], dtype=object)}
    assert session.run(["label"], feeds)[0].tolist() == ["low", "high"]


def test_onnx_goes_into_a_pipe_but_not_to_a_terminal(model, monkeypatch, capsysbinary):
    assert run(monkeypatch, "export", "model.json", "--format", "onnx") == 0
    assert capsysbinary.readouterr().out.startswith(b"\x08\x08")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run(monkeypatch, "export", "model.json", "--format", "onnx") == 2
    printed = capsysbinary.readouterr()
    assert printed.out == b""
    assert printed.err == (
        b"privatree: onnx cannot be shown on a terminal. Name a file: -o model.onnx\n"
    )


def test_a_query(model, monkeypatch, capsys):
    assert run(monkeypatch, "export", "model.json", "-f", "sql", "--table", "my t", "--proba") == 0
    query = capsys.readouterr().out
    connection = sqlite3.connect(":memory:")
    connection.execute('CREATE TABLE "my t" (id, age, ward)')
    connection.execute("""INSERT INTO "my t" VALUES (1, 39, 'a'), (2, 41, NULL)""")
    found = connection.execute(query)
    assert [column[0] for column in found.description] == [
        "id", "age", "ward", "prediction", "probability of low", "probability of high",
    ]  # fmt: skip
    assert found.fetchall() == [(1, 39, "a", "low", 1.0, 0.0), (2, 41, None, "high", 0.0, 1.0)]
    connection.close()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_dialects(model, monkeypatch, capsys, dialect):
    """Those of the command are those of the function, and the help names them."""
    arguments = ("export", "model.json", "-f", "sql", "--dialect", dialect, "--table", "c.t")
    assert run(monkeypatch, *arguments) == 0
    assert capsys.readouterr().out == export_sql(model, table="c.t", dialect=dialect) + "\n"
    assert set(get_args(Dialect)) == set(DIALECTS)
    assert run(monkeypatch, "export", "--help") == 0
    assert dialect in capsys.readouterr().out


def test_json_can_be_loaded_again(model, monkeypatch, tmp_path):
    assert run(monkeypatch, "export", "model.json", "-o", "copy.json") == 0
    assert privatree.load("copy.json") == model
    assert json.loads((tmp_path / "copy.json").read_text())["format"] == "privatree-model"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["model.json", "-o", "tree.png"], "tree.png: the name must end in .txt, .dot,"),
        (
            ["model.json", "--table", "t"],
            "--table, --dialect and --proba must be used with",
        ),
        (["model.json", "--dialect", "mysql"], "must be used with --format sql."),
        (["model.json", "-f", "sql", "--dialect", "mysq"], "--dialect must be one of postgresql,"),
        (["model.json", "-f", "sql", "--table", "a..b"], "several names with dots between"),
        (["model.json", "-o", "a.md", "--proba"], "must be used with --format sql."),
        (["model.json", "-o", "model.json"], "is also an input file"),
        (["model.json", "-o", "nowhere/a.dot"], "there is no folder nowhere"),
        (["model.json", "-f", "sql", "--table", ""], "at least one character"),
        (["model.json", "-f", "pdf"], "pdf"),
        (["nothing.json"], "nothing.json"),
        (["notes.json"], "notes.json"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_mistakes_are_one_line(model, monkeypatch, capsys, tmp_path, arguments, says):
    (tmp_path / "notes.json").write_text("{}")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert run(monkeypatch, "export", *arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("privatree: ")
    assert printed.err.count("\n") == 1
    assert says in printed.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_help_has_an_example_of_each(monkeypatch, capsys):
    assert run(monkeypatch, "export", "--help") == 0
    printed = capsys.readouterr().out
    for ending in ("tree.dot", "predict.sql", "model.onnx", "README.md"):
        assert ending in printed


def test_a_tree_has_no_terms(model, monkeypatch, capsys):
    assert run(monkeypatch, "export", "model.json", "--format", "terms") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "model.json: is a tree, and terms are for ensembles only" in line
