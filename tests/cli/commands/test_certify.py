import json
import os
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privatree import Categorical, Numeric, PrivaBoostClassifier, PrivaTreeClassifier, Schema
from privatree.cli._app import main
from privatree.errors import CertificateError
from privatree.robustness import AccuracyCertificate, accuracy_certificate

SCHEMA = Schema(
    {"age": Numeric(0, 100, integer=True), "ward": Categorical(["east", "west"])}, ["no", "yes"]
)


def table(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, n_rows)
    ward = rng.choice(["east", "west"], n_rows)
    return pd.DataFrame({"age": age, "ward": ward, "ill": np.where(age > 60, "yes", "no")})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table(250).to_csv("data.csv", index=False)
    table(40, seed=1).to_parquet("test.parquet")
    SCHEMA.to_toml("schema.toml")
    return tmp_path


def certify(monkeypatch, *arguments):
    """Run it with what every call needs, unless it is given."""
    defaults = {
        "--target": "ill", "--schema": "schema.toml", "--epsilon": "0.2", "--refits": "12",
        "--seed": "1", "--jobs": "1", "--schedule": "robust",
    }  # fmt: skip
    if "--model" in arguments:
        del defaults["--schedule"]
    given = [word for name in defaults if name not in arguments for word in (name, defaults[name])]
    monkeypatch.setattr(
        sys, "argv", ["privatree", "certify", "data.csv", *given, *map(str, arguments)]
    )
    with pytest.raises(SystemExit) as stopped:
        main()
    return stopped.value.code or 0


def test_it_holds_out_a_part_and_prints_the_certificate(folder, monkeypatch, capsys):
    assert certify(monkeypatch, "--poisoned", "2, 10,1%", "-o", "certificate.json") == 0
    printed = capsys.readouterr()
    saved = AccuracyCertificate.load("certificate.json")
    assert printed.out == f"{saved}\n\nSaved certificate.json.\n"
    assert "Held out for the test: 50 of 250 records (--split-seed 0)" in printed.err
    assert (saved.n_train, saved.n_test, saved.poisoned) == (200, 50, (2, 10))
    assert saved.privacy.schedule is not None
    assert "without privacy: publishing it is outside" in printed.out


def test_it_is_what_the_function_says(folder, monkeypatch, capsys):
    assert certify(monkeypatch, "--test", "test.parquet", "--json", "--confidence", "0.9") == 0
    printed = capsys.readouterr()
    found = AccuracyCertificate.from_dict(json.loads(printed.out))
    train, test = table(250), table(40, seed=1)
    expected = accuracy_certificate(
        PrivaTreeClassifier(0.2, schema=SCHEMA, schedule="robust", random_state=1),
        train[["age", "ward"]],
        train["ill"],
        test[["age", "ward"]],
        test["ill"],
        confidence=0.9,
        refits=12,
    )
    assert found == expected
    assert printed.err == ""


@pytest.mark.slow
def test_the_split_is_the_same_until_another_is_asked_for(folder, monkeypatch, capsys):
    found = []
    for arguments in ((), (), ("--split-seed", "1")):
        assert certify(monkeypatch, "--json", *arguments) == 0
        found.append(json.loads(capsys.readouterr().out)["estimate"])
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--poisoned", "few"), "--poisoned must be numbers and shares"),
        (("--poisoned", "-1"), "--poisoned must be numbers of records >= 0"),
        (("--poisoned", "101%"), "--poisoned must be numbers of records >= 0 or shares"),
        (("--poisoned", ","), "--poisoned must be"),
        (("--poisoned", "5,,6"), "--poisoned must be numbers and shares"),
        (("--test-share", "1"), "--test-share must be between 0 and 1"),
        (("--test-share", "0.001"), "--test-share must leave records"),
        (
            ("--test-share", "0.2", "--test", "test.parquet"),
            "--test must be given without --test-share",
        ),
        (("--split-seed", "-1"), "--split-seed must be >= 0"),
        (("--split-seed", "0", "--test", "test.parquet"), "--test must be given without"),
        (("--jobs", "0"), "--jobs must be at least 1"),
        (("--refits", "0"), "--refits must be an integer"),
        (("--confidence", "99"), "--confidence must be between 0 and 1"),
        (("--epsilon", "-1"), "--epsilon must be"),
        (("--max-depth", "0"), "--max-depth must be an integer from 1"),
        (("--robust-levels", "0"), "--robust-levels must be an integer from 1"),
        (("--seed", "-1"), "--seed must be >= 0"),
        (("--dataset-size", "0"), "--dataset-size must be an integer from 1"),
        (("--dataset-size", "250"), "--dataset-size must be declared from public knowledge"),
        (("--dataset-size", "200"), "--dataset-size must be declared from public knowledge"),
        (("--dataset-size", "many"), "--dataset-size must be a whole number or private"),
        (("--target", "age"), "must not be a feature"),
        (("--schema", "none.toml"), "No such file"),
        (("--test", "none.csv"), "none.csv"),
        (("-o", "data.csv"), "is also an input file"),
        (("-o", "no/where.json"), "there is no folder"),
        (("--infer-schema",), "No such option"),
    ],
)
def test_mistakes_are_one_line(folder, monkeypatch, capsys, arguments, message):
    assert certify(monkeypatch, *arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = [text for text in printed.err.splitlines() if not text.startswith("Held out")]
    assert line.startswith("privatree: ")
    assert message in line


def test_a_round_dataset_size_is_fine(folder, monkeypatch, capsys):
    assert certify(monkeypatch, "--dataset-size", "300", "--schedule", "accuracy") == 0
    assert "dataset_size, as declared" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ("--poisoned", "-1"),
        ("--refits", "0"),
        ("--confidence", "99"),
        ("--epsilon", "-1"),
        ("--test-share", "1"),
        ("--max-depth", "0"),
        ("--seed", "-1"),
    ],
)
def test_options_are_checked_before_anything_is_read(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)  # where there is neither data nor schema
    assert certify(monkeypatch, *arguments) == 2
    assert f"privatree: {arguments[0]} must be" in capsys.readouterr().err


def test_files_without_records_are_named(folder, monkeypatch, capsys):
    table(0).to_csv("none.csv", index=False)
    assert certify(monkeypatch, "--test", "none.csv") == 2
    assert (
        capsys.readouterr().err == "privatree: none.csv: must have at least one record, got none.\n"
    )
    table(0).to_csv("data.csv", index=False)
    assert certify(monkeypatch) == 2
    assert (
        capsys.readouterr().err == "privatree: data.csv: must have at least one record, got none.\n"
    )


def test_unknown_test_labels_are_not_blamed_on_an_option(folder, monkeypatch, capsys):
    table(5).assign(ill="perhaps").to_csv("strange.csv", index=False)
    assert certify(monkeypatch, "--test", "strange.csv") == 2
    assert "privatree: at least one test label must be" in capsys.readouterr().err


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_certificate_that_cannot_be_saved_is_printed_still(folder, monkeypatch, capsys, form):
    replace = os.replace

    def full(source, target):
        if "certificate" in str(target):  # not a compiled kernel, which may be saved meanwhile
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr("privatree._support.atomic_files.os.replace", full)
    assert certify(monkeypatch, "-o", "certificate.json", *form) == 2
    printed = capsys.readouterr()
    assert "certificate.json: No space left on device." in printed.err
    assert "publishing it is outside" in printed.out
    assert "Saved" not in printed.out


def test_show_says_what_a_certificate_is(folder, monkeypatch, capsys):
    assert certify(monkeypatch, "-o", "certificate.json") == 0
    monkeypatch.setattr(sys, "argv", ["privatree", "show", "certificate.json"])
    with pytest.raises(SystemExit):
        main()
    assert (
        "certificate.json: the file must be a model, got a certificate" in capsys.readouterr().err
    )


# --- units ----------------------------------------------------------------------------------------


@pytest.fixture
def visits(folder):
    frame = table(240).assign(patient=[f"P{n // 3}" for n in range(240)])
    frame.loc[:5, "patient"] = None
    frame.to_csv("data.csv", index=False)
    frame.to_parquet("data.parquet")
    replace(SCHEMA, unit="patient").to_toml("units.toml")
    return frame


def test_a_unit_is_one_edit_and_is_held_out_as_a_whole(visits, folder, monkeypatch, capsys):
    assert (
        certify(monkeypatch, "--unit", "patient", "-o", "option.json", "--poisoned", "1,10%") == 0
    )
    printed = capsys.readouterr()
    assert "Held out for the test: 16 of 78 units (--split-seed 0)" in printed.err
    assert "ignored" not in printed.err
    saved = AccuracyCertificate.load("option.json")
    assert (saved.n_train, saved.n_test, saved.poisoned) == (62, 48, (1, 6))
    assert saved.privacy.unit == "patient"
    options = ("--schema", "units.toml", "--json", "--poisoned", "1,10%")
    assert certify(monkeypatch, *options) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((folder / "option.json").read_text())


def test_no_unit_is_in_training_and_in_the_test(visits, monkeypatch):
    seen = []

    def stop(learner, X, y, X_test, y_test, **options):
        seen.append((X["patient"].to_pylist(), X_test["patient"].to_pylist()))
        raise CertificateError("enough")

    monkeypatch.setattr("privatree.robustness.accuracy_certificate", stop, raising=False)
    assert certify(monkeypatch, "--unit", "patient") == 2
    ((train, test),) = seen
    assert len(train) + len(test) == 240
    assert not set(train) & set(test)
    assert "" in train
    assert "" not in test, "they are left out of the training, wherever they are"


def test_test_records_in_files_need_no_ids(visits, monkeypatch, capsys):
    assert certify(monkeypatch, "--schema", "units.toml", "--test", "test.parquet", "--json") == 0
    certificate = json.loads(capsys.readouterr().out)
    assert (certificate["n_train"], certificate["n_test"]) == (78, 40)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--unit who", "lacks 'who'"),
        ("--unit age", "the unit 'age' must not be a feature of the schema"),
        ("--unit ill", "the target 'ill' must not be the unit"),
        ("--class-weight maybe=2", "--class-weight must have classes of the schema as keys"),
        ("--unit patient --test-share 0.001", "--test-share must leave units for training and for "
         "the test, but takes 0 of 78 units. Choose another share."),
        ("--unit patient --dataset-size 78", "--dataset-size must be declared from public "
         "knowledge, but is exactly the number of records or units."),
        ("--unit patient --dataset-size 240", "--dataset-size must be declared from public "
         "knowledge, but is exactly the number of records or units."),
    ],
)  # fmt: skip
def test_a_mistake_about_units_is_one_line(visits, monkeypatch, capsys, options, message):
    assert certify(monkeypatch, *options.split()) == 2
    err = capsys.readouterr().err
    assert message in err
    (line,) = [line for line in err.splitlines() if line.startswith("privatree: ")]
    assert line == err.splitlines()[-1]


def test_classes_can_be_weighed(folder, monkeypatch, capsys):
    for weights in ("balanced", "yes=3,no=1"):
        assert certify(monkeypatch, "--class-weight", weights, "--json") == 0
        notes = json.loads(capsys.readouterr().out)["privacy"]["notes"]
        assert any(note.startswith("Classes were weighed") for note in notes)


# --- ensembles ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        (["--rounds", "3", "--delta", "0"], {"rounds": 3, "delta": 0.0}),
        (["--rounds", "3", "--max-depth", "1"], {"rounds": 3, "max_depth": 1}),
        ([], {}),
    ],
)
def test_an_ensemble_is_certified_like_a_tree(folder, monkeypatch, capsys, options, parameters):
    options = [*options, "--model", "boost", "--test", "test.parquet", "--poisoned", "1,5"]
    assert certify(monkeypatch, *options, "--json") == 0
    found = AccuracyCertificate.from_dict(json.loads(capsys.readouterr().out))
    train, test = table(250), table(40, seed=1)
    expected = accuracy_certificate(
        PrivaBoostClassifier(0.2, schema=SCHEMA, random_state=1, **parameters),
        train[["age", "ward"]],
        train["ill"],
        test[["age", "ward"]],
        test["ill"],
        poisoned=[1, 5],
        refits=12,
    )
    assert found.rows == expected.rows
    assert found.privacy.delta == parameters.get("delta", 1e-6)
    letters = {"A", "B", "AB*"} if not parameters else {"A", "B", "AB*", "C", "C*", "D", "E"}
    assert set(found.bounds(1)) == letters


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "boost", "--schedule", "robust"], "--schedule must be used with --model tree"),
        (["--model", "boost", "--robust-levels", "2"], "--robust-levels must be used with"),
        (["--delta", "1e-6"], "--delta must be used with --model boost"),
        (["--rounds", "9"], "--rounds must be used with --model boost"),
        (["--model", "boost", "--delta", "0.5"], "--delta must be 0, or from"),
        (["--model", "boost", "--rounds", "many"], "--rounds must be a whole number or auto"),
        (["--model", "boost", "--max-depth", "4"], "--max-depth must be"),
        (["--model", "boost", "--max-depth", "none"], "--max-depth must be"),
    ],
)
def test_options_of_another_model_are_refused(folder, monkeypatch, capsys, options, message):
    assert certify(monkeypatch, *options) == 2
    assert message in capsys.readouterr().err
