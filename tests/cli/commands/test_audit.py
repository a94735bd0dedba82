import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from run_command import run

from privatree import Categorical, Numeric, Schema, Target
from privatree.audit import known_pairs
from privatree.baselines import methods

SCHEMA = Schema(
    {"age": Numeric(0, 100, integer=True), "ward": Categorical(["east", "west"])}, ["no", "yes"]
)
OWN = ["--data", "a.csv", "--neighbour", "b.csv", "--target", "ill", "--schema", "schema.toml"]


def audit(monkeypatch, *arguments, method="privatree"):
    """With what every call needs, unless it is given."""
    defaults = {"--epsilon": "1", "--runs": "8", "--jobs": "1", "--seed": "0"}
    given = [word for name in defaults if name not in arguments for word in (name, defaults[name])]
    return run(monkeypatch, "audit", method, *given, *arguments)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame(
        {"age": range(20, 80), "ward": ["east", "west"] * 30, "ill": ["no"] * 30 + ["yes"] * 30}
    )
    table.to_csv("a.csv", index=False)
    table[1:].sample(frac=1, random_state=0).to_csv("b.csv", index=False)
    table[1:].to_parquet("b.parquet")
    table[2:].to_csv("c.csv", index=False)
    table.assign(age=table["age"].replace(50, 51)).to_csv("replaced.csv", index=False)
    table.assign(ill=table["ill"].where(table["age"] != 50)).to_csv("unknown.csv", index=False)
    SCHEMA.to_toml("schema.toml")
    return tmp_path


@pytest.mark.slow
def test_help_names_every_method_and_every_pair(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    assert run(monkeypatch, "audit", "--help") == 0
    shown = re.sub(r"[\s│]+", " ", capsys.readouterr().out)
    words = set(re.findall(r"[a-z0-9-]+", shown.replace("- ", "-")))
    assert set(methods.names()) <= words
    assert {*known_pairs(), *known_pairs(numbers=True)} <= words
    assert "Try to refute the privacy claim of a method" in shown


@pytest.mark.slow
def test_it_prints_what_was_found_and_saves_it(folder, monkeypatch, capsys):
    code = audit(monkeypatch, "--pairs", "three-records, first-row", "-o", "report.json")
    assert code == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.startswith("three-records: epsilon >= 0.00\n")
    assert "That does not contradict the claim of 1," in printed.out
    assert printed.out.endswith(
        "Pairs that do not apply to this method: first-row.\nSaved report.json.\n"
    )
    saved = json.loads(Path("report.json").read_text())
    assert (saved["method"], saved["format"]) == ("privatree", "privatree-audit")
    assert (saved["claimed_epsilon"], saved["runs"], saved["skipped"]) == (1.0, 8, ["first-row"])


@pytest.mark.slow
def test_a_false_claim_is_said_to_be_false(monkeypatch, capsys):
    assert audit(monkeypatch, "--pairs", "purity", "--runs", "60", method="privatree-paper") == 0
    shown = capsys.readouterr().out
    assert "event, named by theory: the root splits on f0, and both" in shown
    assert "the claim of 1 is false for whole records." in shown


@pytest.mark.slow
def test_json_is_all_that_is_printed_and_a_seed_repeats_it(folder, monkeypatch, capsys):
    options = ("--pairs", "three-records,no-records", "--json", "-o", "report.json")
    reports = []
    for _ in range(2):
        assert audit(monkeypatch, *options, method="random-tree") == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        reports.append(json.loads(printed.out))
        assert Path("report.json").read_text() == printed.out
    assert reports[0] == reports[1]
    assert [finding["pair"] for finding in reports[0]["findings"]] == [
        "three-records", "no-records",
    ]  # fmt: skip


@pytest.mark.slow
def test_pairs_that_a_method_cannot_take_are_left_out_and_named(monkeypatch, capsys):
    options = ("--pairs", "outlier,three-records")
    assert audit(monkeypatch, *options, "--json", method="dpgdf") == 0
    assert json.loads(capsys.readouterr().out)["skipped"] == ["outlier"]
    assert audit(monkeypatch, *options, method="dpgdf") == 0
    assert "Pairs that do not apply to this method: outlier.\n" in capsys.readouterr().out


@pytest.mark.slow
def test_files_are_read_by_the_reader_that_is_asked_for(monkeypatch, capsys):
    options = ("--pairs", "quoted-newline", "--json")
    assert audit(monkeypatch, *options, "--reader", "pandas", "--runs", "60") == 0
    assert json.loads(capsys.readouterr().out)["refuted"]
    reports = []
    for more in ((), ("--reader", "memory")):
        assert audit(monkeypatch, *options, *more) == 0
        reports.append(json.loads(capsys.readouterr().out))
    assert reports[0] == reports[1]
    assert not reports[0]["refuted"]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["random-tree", "decision-tree"])
def test_methods_that_take_no_files_get_a_table(monkeypatch, capsys, method):
    options = ("--pairs", "odd-bytes,odd-folder", "--json")
    assert audit(monkeypatch, *options, method=method) == 0
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [finding["sizes"] for finding in found] == [[200, 201], [200, 201]]
    assert not any("the error" in finding["event"] for finding in found)


def test_a_method_that_takes_no_files_is_given_none(monkeypatch, capsys):
    assert audit(monkeypatch, "--reader", "stream", method="random-tree") == 2
    assert capsys.readouterr().err.endswith(
        "--reader must be table, because random-tree cannot read files, got 'stream'.\n"
    )


def test_without_privacy_nothing_is_claimed(monkeypatch, capsys):
    assert audit(monkeypatch, "--pairs", "new-class", "--json", method="decision-tree") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["claimed_epsilon"], found["refuted"]) == (None, False)


@pytest.mark.slow
@pytest.mark.parametrize("neighbour", ["b.csv", "b.parquet"])
def test_tables_of_ones_own(neighbour, folder, monkeypatch, capsys):
    own = [neighbour if word == "b.csv" else word for word in OWN]
    assert audit(monkeypatch, *own, "--max-depth", "2") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("own: epsilon >= ")
    assert "tables: 60 and 59 records" in shown


@pytest.mark.slow
def test_a_replaced_record_counts_twice_and_one_without_a_label_not_at_all(
    folder, monkeypatch, capsys
):
    for neighbour, tables in (
        ("replaced.csv", "60 records each, one of them replaced, which counts as one removed and"),
        ("unknown.csv", "60 and 59 records"),
    ):
        own = [neighbour if word == "b.csv" else word for word in OWN]
        assert audit(monkeypatch, *own) == 0
        assert f"tables: {tables}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "unit"), [("csv", []), ("parquet", []), ("csv", ["--unit", "who"])]
)
def test_tables_that_differ_in_all_records_of_one_unit(kind, unit, folder, monkeypatch, capsys):
    replace(SCHEMA, unit=None if unit else "who").to_toml("units.toml")
    frame = pd.read_csv("a.csv").assign(who=[n // 3 for n in range(60)])
    for name, rows in (("all", frame), ("less", frame[3:]), ("torn", frame[1:])):
        file = f"{name}.{kind}"
        rows.to_csv(file, index=False) if kind == "csv" else rows.to_parquet(file)
    own = ["--data", f"all.{kind}", "--target", "ill", "--schema", "units.toml", *unit]
    assert audit(monkeypatch, *own, "--neighbour", f"less.{kind}", "--max-depth", "2") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("own: epsilon >= ")
    assert "60 and 57 records, which differ by all records of one who" in shown
    assert audit(monkeypatch, *own, "--neighbour", f"torn.{kind}") == 2
    assert "the datasets must differ by all records of one who" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("method", ["privatree", "privatree-robust", "privaboost", "decision-tree"])
def test_learners_of_numbers(monkeypatch, capsys, method):
    runs = "60" if method == "decision-tree" else "8"
    assert audit(monkeypatch, "--numbers", "--json", "--runs", runs, method=method) == 0
    found = json.loads(capsys.readouterr().out)
    assert {finding["pair"] for finding in found["findings"]} == {*known_pairs(numbers=True)}
    bounds = [finding["lower_bound"] for finding in found["findings"]]
    assert (min(bounds) > 0) == (method == "decision-tree")
    assert not found["refuted"]
    assert found["delta"] == (1e-6 if method == "privaboost" else 0.0)


def test_pairs_of_classes_and_of_numbers_can_be_named_together(monkeypatch, capsys):
    options = ("--pairs", "far-target,three-records", "--json")
    for method, left_out in (("privatree", []), ("bdpt", ["far-target"])):
        assert audit(monkeypatch, *options, method=method) == 0
        found = json.loads(capsys.readouterr().out)
        named = [finding["pair"] for finding in found["findings"]]
        assert named == [name for name in ("far-target", "three-records") if name not in left_out]
        assert found["skipped"] == left_out


def test_tables_of_ones_own_with_a_numeric_target(folder, monkeypatch, capsys):
    frame = pd.read_csv("a.csv").assign(days=[n / 4 for n in range(60)])
    frame.loc[0, "days"] = None
    frame.to_csv("a.csv", index=False)
    frame[1:].to_csv("without.csv", index=False)
    frame[:-1].to_parquet("b.parquet")
    Schema(SCHEMA.features, target=Target(0, 100)).to_toml("schema.toml")
    own = ["--data", "a.csv", "--target", "days", "--schema", "schema.toml"]
    assert audit(monkeypatch, *own, "--neighbour", "b.parquet") == 0
    assert "tables: 59 and 58 records" in capsys.readouterr().out
    assert audit(monkeypatch, *own, "--neighbour", "without.csv") == 2
    assert "(Records whose target is no number are not counted.)" in capsys.readouterr().err
    assert audit(monkeypatch, *own, "--neighbour", "b.parquet", method="random-tree") == 2
    assert (
        "random-tree must support the columns, and the classes or the numeric target, of these"
        in capsys.readouterr().err
    )


MISTAKES = {
    "epsilon": (["--epsilon", "-1"], "--epsilon must be > 0, got -1.0."),
    "runs": (["--runs", "3"], "--runs must be an integer from 8 to 10000000, got 3."),
    "confidence": (["--confidence", "1"], "--confidence must be between 0 and 1, got 1.0."),
    "depth": (["--max-depth", "0"], "--max-depth must be an integer from 1 to"),
    "pairs": (["--pairs", "pure"], "--pairs must be among purity, "),
    "no-pairs": (["--pairs", ""], "--pairs must be among purity, "),
    "no-usable": (
        ["--pairs", "first-row"],
        "such as the estimators_ of an ensemble",
    ),
    "half": (["--data", "a.csv"], "--data, --neighbour, --target and --schema must be given toge"),
    "other-half": (["--schema", "schema.toml"], "--data, --neighbour, --target and --schema must"),
    "both": ([*OWN, "--pairs", "purity"], "--pairs and --data exclude each other. Leave one out."),
    "reader": (["--reader", "panda"], "--reader must be one of table, stream, memory, multiline, "),
    "reader-alone": (["--pairs", "purity", "--reader", "pandas"], "--reader must be used with"),
    "numbers-and-pairs": (
        ["--numbers", "--pairs", "purity"],
        "--numbers and --pairs exclude each other: --pairs says what is predicted. Leave one out.",
    ),
    "numbers-and-own": (["--numbers", *OWN], "--numbers and --data exclude each other"),
    "numbers-and-reader": (["--numbers", "--reader", "memory"], "--reader must be used with a pa"),
    "unit-of-pairs": (["--unit", "who"], "--unit must be used with --data."),
    "reader-of-own": ([*OWN, "--reader", "pandas"], "--reader and --data exclude each other."),
    "folder": (["-o", "nowhere/r.json"], "nowhere/r.json: there is no folder nowhere. Create it"),
    "overwrite": ([*OWN, "-o", "a.csv"], "a.csv: is also an input file."),
    "too-far": (
        ["--data", "a.csv", "--neighbour", "c.csv", *OWN[4:]],
        "the datasets must differ by one record added, removed or replaced, but 2 records are only "
        "in the first and 0 only in the second. (Records whose label is not in the schema are not "
        "counted.)",
    ),
    "same": (
        ["--data", "a.csv", "--neighbour", "a.csv", *OWN[4:]],
        "0 records are only in the first",
    ),
    "missing": (["--data", "a.csv", "--neighbour", "z.csv", *OWN[4:]], "z.csv"),
    "target": ([*OWN[:4], "--target", "sick", *OWN[6:]], "sick"),
    "schema": ([*OWN[:6], "--schema", "z.toml"], "z.toml"),
    "jobs": (["--jobs", "0"], "--jobs must be at least 1, got 0."),
    "seed": (["--seed", "-1"], "--seed must be >= 0 and < 2**32, got -1."),
}


@pytest.mark.slow
@pytest.mark.parametrize(("options", "message"), MISTAKES.values(), ids=list(MISTAKES))
def test_a_mistake_is_one_line(options, message, folder, monkeypatch, capsys):
    assert audit(monkeypatch, *options) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert message in shown.err
    assert shown.err.count("\n") == 1
    assert not os.path.exists("report.json")


def test_an_unknown_method_comes_with_a_hint(monkeypatch, capsys):
    assert audit(monkeypatch, method="privatre-paper") == 2
    shown = capsys.readouterr().err
    assert "got 'privatre-paper'. Did you mean 'privatree-paper'?" in shown
    assert shown.count("\n") == 1


def test_a_method_whose_library_is_missing_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setattr("privatree.baselines.methods._method.find_spec", lambda name: None)
    assert audit(monkeypatch, method="diffprivlib-forest") == 2
    assert capsys.readouterr().err == (
        "privatree: diffprivlib-forest needs diffprivlib. Install it with: "
        "pip install 'privatree[bench]', best in a separate environment.\n"
    )
