"""``--model boost``: train, show, predict with and export ensembles."""

import csv
import json
import re
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from run_command import run

import privatree
from privatree import Categorical, Numeric, PrivaBoostClassifier, Schema
from privatree.export import export_terms, term_bars
from privatree.privacy import BudgetStore

SCHEMA = Schema(
    {"age": Numeric(0, 100, integer=True), "ward": Categorical(["east", "west"])}, ["no", "yes"]
)
ENDINGS = {"sql": "CASE", "json": "{", "text": "5 rounds"}


def table(n_rows=1500):
    rng = np.random.default_rng(0)
    age, ward = rng.integers(0, 100, n_rows), rng.choice(["east", "west"], n_rows)
    label = np.where((age > 60) == (ward == "east"), "yes", "no")
    return pd.DataFrame({"age": age, "ward": ward, "ill": label})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table().to_csv("data.csv", index=False)
    SCHEMA.to_toml("schema.toml")
    return tmp_path


def fit(monkeypatch, *arguments, data="data.csv"):
    return run(
        monkeypatch, "fit", data, "--target", "ill", "--epsilon", "5", "--schema", "schema.toml",
        "-o", "model.json", *arguments,
    )  # fmt: skip


@pytest.fixture
def model(folder, monkeypatch, capsys):
    assert fit(monkeypatch, "--model", "boost", "--rounds", "5", "--seed", "0", "-q") == 0
    capsys.readouterr()
    return privatree.load("model.json")


def learner(**parameters):
    return PrivaBoostClassifier(5.0, schema=SCHEMA, random_state=0, **parameters)


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ([], {}),
        (["--depth", "1", "--rounds", "7"], {"max_depth": 1, "rounds": 7}),
        (["--max-depth", "3", "--delta", "0"], {"max_depth": 3, "delta": 0}),
        (["--monotone", "age=1", "--rounds", "9"], {"monotonic_cst": {"age": 1}, "rounds": 9}),
        (["--n-bins", "8"], {"n_bins": 8}),
        (["--class-weight", "balanced"], {"class_weight": "balanced"}),
    ],
)
def test_the_options_are_those_of_the_classifier(folder, monkeypatch, options, parameters) -> None:
    assert fit(monkeypatch, "--model", "boost", "--seed", "0", *options) == 0
    frame = table()
    wanted = learner(**parameters).fit(frame[["age", "ward"]], frame["ill"])
    found = privatree.load("model.json")
    assert found.ensemble_.rounds == wanted.ensemble_.rounds
    assert found.privacy_.delta == wanted.privacy_.delta


@pytest.mark.slow
def test_a_stream_gives_the_same_ensemble(folder, monkeypatch, model) -> None:
    """So does Spark: ``tests/sources/spark/test_source.py``."""
    options = ["--model", "boost", "--rounds", "5", "--seed", "0", "-q", "--engine", "stream"]
    assert fit(monkeypatch, *options) == 0
    assert privatree.load("model.json").ensemble_ == model.ensemble_


def test_fit_and_show_print_terms_and_statement(folder, monkeypatch, capsys) -> None:
    assert fit(monkeypatch, "--model", "boost", "--rounds", "20", "--seed", "0") == 0
    printed = capsys.readouterr().out
    found = privatree.load("model.json")
    assert "Epsilon 5 with delta 1e-06 holds for a whole record." in printed
    expected = (
        f"{term_bars(found)}\n\nAll terms: privatree export model.json --format terms\n"
        f"All rounds: privatree export model.json\n\n{found.privacy_}\n"
    )
    assert printed.endswith(expected)
    assert run(monkeypatch, "show", "model.json") == 0
    assert capsys.readouterr().out.endswith(expected)
    assert run(monkeypatch, "show", "model.json", "--json") == 0
    assert json.loads(capsys.readouterr().out)["version"] == found.version


def test_an_ensemble_that_is_too_large_for_terms_is_shown_by_its_rounds(
    model, monkeypatch, capsys
) -> None:
    monkeypatch.setattr("privatree.model.terms._decomposition.MAX_ORDER", 0)
    assert run(monkeypatch, "show", "model.json") == 0
    shown = capsys.readouterr().out
    assert privatree.export_text(model).split("round 2")[0] in shown
    assert "There are no terms to show: every function of the ensemble" in shown
    assert "All rounds: privatree export model.json" in shown
    assert "--format terms" not in shown
    assert "Privacy statement of PrivaBoost" in shown
    assert run(monkeypatch, "export", "model.json", "--format", "terms") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "must look at no more than 0 features" in line


def test_terms_on_the_screen_and_in_files(model, monkeypatch, capsys, folder) -> None:
    assert run(monkeypatch, "export", "model.json", "--format", "terms") == 0
    assert capsys.readouterr().out == export_terms(model)
    for ending in ("csv", "json"):
        options = ["--max-pairs", "0", "-o", f"terms.{ending}"]
        assert run(monkeypatch, "export", "model.json", "--format", "terms", *options) == 0
        written = (folder / f"terms.{ending}").read_bytes().decode()
        assert written == export_terms(model, ending, max_pairs=0)
    assert run(monkeypatch, "export", "model.json", "-o", "more.csv") == 0
    assert (folder / "more.csv").read_bytes().decode() == export_terms(model)
    assert run(monkeypatch, "export", "model.json", "-o", "model-again.json") == 0
    assert privatree.load("model-again.json") == model


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--format", "terms", "-o", "x.txt"], "must end in .csv or .json"),
        (["--format", "terms", "--max-pairs", "-1"], "--max-pairs must be at least 0, got -1"),
        (["--format", "sql", "--max-pairs", "1"], "--max-pairs must be used with --format terms"),
        (["--format", "terms", "--proba"], "--proba must be used with --format sql"),
        (["--format", "terms", "-o", "model.json"], "model.json: is also an input file"),
    ],
)
def test_mistakes_about_terms(model, monkeypatch, capsys, options, says) -> None:
    assert run(monkeypatch, "export", "model.json", *options) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line


def test_too_many_terms_for_csv(model, monkeypatch, capsys) -> None:
    monkeypatch.setattr("privatree.export.terms._terms_csv._MAX_ROWS", 1)
    assert run(monkeypatch, "export", "model.json", "-o", "terms.csv") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "has too many terms for CSV. Name a file that ends in .json" in line
    assert run(monkeypatch, "export", "model.json", "--format", "terms", "-o", "t.json") == 0


def test_predict(model, monkeypatch, capsys) -> None:
    assert run(monkeypatch, "predict", "model.json", "data.csv", "--proba") == 0
    rows = list(csv.reader(capsys.readouterr().out.splitlines()))
    assert rows[0] == ["prediction", "probability of no", "probability of yes"]
    frame = table()[["age", "ward"]]
    assert [row[0] for row in rows[1:]] == model.predict(frame).tolist()
    shares = np.array([row[1:] for row in rows[1:]], dtype=float)
    assert shares == pytest.approx(model.predict_proba(frame))


@pytest.mark.parametrize("form", ENDINGS)
def test_export(model, monkeypatch, capsys, form) -> None:
    assert run(monkeypatch, "export", "model.json", "--format", form) == 0
    assert capsys.readouterr().out.startswith(ENDINGS[form])


def test_a_query(model, monkeypatch) -> None:
    options = ["--dialect", "sqlite", "--table", "people", "--proba", "-o", "query.sql"]
    assert run(monkeypatch, "export", "model.json", *options) == 0
    frame = table()[["age", "ward"]]
    with closing(sqlite3.connect(":memory:")) as database, open("query.sql") as query:
        frame.to_sql("people", database, index=False)
        rows = database.execute(query.read()).fetchall()
    assert [row[2] for row in rows] == model.predict(frame).tolist()


def test_what_is_for_trees_only(model, monkeypatch, capsys) -> None:
    assert run(monkeypatch, "export", "model.json", "--format", "dot") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "the format dot is for trees only" in line
    assert "privatree show model.json" in line


def test_the_page_and_the_card(model, monkeypatch, folder) -> None:
    assert run(monkeypatch, "report", "model.json", "-o", "page.html") == 0
    assert "Report on an ensemble" in (folder / "page.html").read_text()
    assert run(monkeypatch, "export", "model.json", "-o", "card.md") == 0
    assert "# An ensemble with differential privacy" in (folder / "card.md").read_text()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--model", "boost", "--lookahead", "auto"], "--lookahead must be used with --model tree"),
        (["--model", "boost", "--schedule", "accuracy"], "--schedule must be used with"),
        (["--model", "boost", "--robust-levels", "3"], "--robust-levels must be used with"),
        (["--model", "boost", "--probability-share", "0"], "--probability-share must be used"),
        (["--model", "boost", "--no-simplify"], "--no-simplify must be used with --model tree"),
        (["--model", "boost", "--zoom"], "--zoom must be used with --model tree"),
        (["--delta", "1e-6"], "--delta must be used with --model boost. The epsilon of a tree"),
        (["--rounds", "auto"], "--rounds must be used with --model boost"),
        (["--monotone", "age=1"], "--monotone must be used with --model boost"),
        (["--model", "boost", "--depth", "4"], "--max-depth must be"),
        (["--model", "boost", "--depth", "none"], "--max-depth must be"),
        (["--model", "boost", "--rounds", "0"], "--rounds must be"),
        (["--model", "boost", "--delta", "0.5"], "--delta must be 0, or from"),
        (["--model", "boost", "--delta", "nan"], "--delta must be"),
        (["--model", "boost", "--monotone", "age"], "--monotone must have 1, -1 or 0"),
        (["--model", "boost", "--monotone", "age=1,age=-1"], "--monotone must have 1, -1 or 0"),
        (["--model", "boost", "--monotone", "height=1"], "--monotone must have names"),
        (
            ["--model", "boost", "--monotone", "ward=1"],
            "--monotone must be 0 for a categorical feature",
        ),
    ],
)
def test_options_that_do_not_go_together(folder, monkeypatch, capsys, options, says) -> None:
    """They are refused before records are read, or a budget is charged."""
    store = BudgetStore.create("budget.db", 10.0, delta=1e-5)
    (folder / "data.csv").write_text("nothing of this is read")
    assert fit(monkeypatch, "--budget", "budget.db", *options) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line
    assert len(store.charges) == 0
    assert not (folder / "model.json").exists()


def test_a_tree_has_a_delta_of_0(folder, monkeypatch) -> None:
    assert fit(monkeypatch, "--delta", "0", "-q") == 0
    assert privatree.load("model.json").privacy_.delta == 0


def test_epsilon_and_delta_are_charged(folder, monkeypatch, capsys) -> None:
    assert run(monkeypatch, "budget", "create", "b.db", "--epsilon", "5", "--delta", "1e-6") == 0
    assert fit(monkeypatch, "--model", "boost", "--rounds", "3", "--budget", "b.db") == 0
    assert "Charged epsilon 5 and delta 1e-06 to b.db" in capsys.readouterr().err
    assert fit(monkeypatch, "--model", "boost", "--rounds", "3", "--budget", "b.db") == 2


def test_a_large_delta_is_warned_of(folder, monkeypatch, capsys) -> None:
    assert fit(monkeypatch, "--model", "boost", "--rounds", "3", "--delta", "0.01", "-q") == 0
    assert "Warning: --delta 0.01 gives hardly any privacy" in capsys.readouterr().err


def test_a_name_with_an_equals_sign(folder, monkeypatch) -> None:
    schema = Schema({"a=b": Numeric(0, 100), "ward": SCHEMA.features["ward"]}, ["no", "yes"])
    schema.to_toml("schema.toml")
    table().rename(columns={"age": "a=b"}).to_csv("data.csv", index=False)
    assert fit(monkeypatch, "--model", "boost", "--monotone", "a=b=1", "--rounds", "3") == 0


def test_an_inferred_schema(folder, monkeypatch, capsys) -> None:
    arguments = ["fit", "data.csv", "--target", "ill", "--epsilon", "5", "-o", "model.json"]
    options = ["--infer-schema", "--model", "boost", "--rounds", "3"]
    assert run(monkeypatch, *arguments, *options) == 0
    assert "no finite epsilon holds" in capsys.readouterr().err
    assert privatree.load("model.json").privacy_.epsilon == float("inf")


@pytest.mark.slow
def test_demo(folder, monkeypatch, capsys) -> None:
    assert run(monkeypatch, "demo", "--model", "boost", "--epsilon", "1", "-o", "demo.json") == 0
    printed = capsys.readouterr().out
    assert re.search(r"^  AUC +0\.[89]\d\d ", printed, flags=re.MULTILINE)
    assert "boosted trees without privacy       accuracy 8" in printed
    assert "Wrote report.html. Open it in a browser to try the ensemble" in printed
    assert "Report on an ensemble" in (folder / "report.html").read_text()
    assert privatree.load("demo.json").ensemble_.n_rounds > 10
