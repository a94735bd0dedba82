"""``certify`` for a numeric target: errors, and intervals of single predictions."""

import json

import numpy as np
import pandas as pd
import pytest
from run_command import run

from privatree import (
    Categorical,
    Numeric,
    PrivaBoostRegressor,
    PrivaTreeRegressor,
    Schema,
    Target,
)
from privatree.robustness import (
    ErrorCertificate,
    PredictionCertificates,
    PredictionIntervals,
    error_certificate,
    prediction_intervals,
)

SCHEMA = Schema(
    {"age": Numeric(0, 100, integer=True), "ward": Categorical(["east", "west"])},
    target=Target(0, 200),
)
FEATURES = ["age", "ward"]


def table(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, n_rows)
    frame = pd.DataFrame({"age": age, "ward": rng.choice(["east", "west"], n_rows)})
    return frame.assign(days=(age / 4 + rng.gamma(2, 2, n_rows)).round(1))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table(250).to_csv("data.csv", index=False)
    table(30, seed=1).to_parquet("test.parquet")
    SCHEMA.to_toml("schema.toml")
    return tmp_path


def certify(monkeypatch, *arguments):
    """Run it with what every call needs, unless it is given."""
    defaults = {
        "--target": "days", "--schema": "schema.toml", "--epsilon": "0.5", "--refits": "12",
        "--seed": "1", "--jobs": "1", "--poisoned": "1,4",
    }  # fmt: skip
    given = [word for name in defaults if name not in arguments for word in (name, defaults[name])]
    return run(monkeypatch, "certify", "data.csv", *given, *arguments)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "learner", "parameters"),
    [
        (["--leaf-values", "median"], PrivaTreeRegressor, {"leaf_values": "median"}),
        (["--schedule", "robust"], PrivaTreeRegressor, {"schedule": "robust"}),
        (
            ["--model", "boost", "--rounds", "3", "--interval", "0,40"],
            PrivaBoostRegressor,
            {"rounds": 3, "interval": (0.0, 40.0)},
        ),
    ],
)
def test_it_is_what_the_functions_say(
    folder, monkeypatch, capsys, options, learner, parameters
) -> None:
    more = ["--test", "test.parquet", "-o", "error.json", "--predictions", "intervals.json"]
    assert certify(monkeypatch, *more, *options) == 0
    printed = capsys.readouterr()
    error = ErrorCertificate.load("error.json")
    intervals = PredictionIntervals.load("intervals.json")
    assert printed.out == (
        f"{error}\n\nSaved error.json.\n\n{intervals}\n\nSaved intervals.json.\n"
    )
    train, test = table(250), table(30, seed=1)
    estimator = learner(0.5, schema=SCHEMA, random_state=1, **parameters)
    expected = error_certificate(
        estimator, train[FEATURES], train["days"], test[FEATURES], test["days"],
        poisoned=[1, 4], refits=12,
    )  # fmt: skip
    assert (error.rows, error.target_range) == (expected.rows, expected.target_range)
    found = prediction_intervals(
        estimator, train[FEATURES], train["days"], test[FEATURES], poisoned=[1, 4], refits=12
    )
    assert np.array_equal(intervals.values, found.values)


def test_test_records_without_a_target_are_left_out_and_counted(folder, monkeypatch, capsys):
    frame = table(250)
    frame["days"] = frame["days"].astype(object)
    frame.loc[:9, "days"] = "unknown"
    frame.to_csv("data.csv", index=False)
    frame[:5].to_csv("none.csv", index=False)
    assert certify(monkeypatch, "--json", "--predictions", "intervals.json") == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert (found["kind"], found["n_train"]) == ("error", 200)
    (note,) = [note for note in found["notes"] if "as target" in note]
    n_left_out = 50 - found["n_test"]
    assert 0 < n_left_out <= 10
    have = "has" if n_left_out == 1 else "have"
    assert note == f"{n_left_out} of 50 test records {have} no number as target; left out."
    intervals = PredictionIntervals.load("intervals.json")
    assert (len(intervals.values), intervals.notes) == (found["n_test"], (note,))
    assert certify(monkeypatch, "--test", "none.csv") == 2
    assert "X_test and y_test must have at least one record" in capsys.readouterr().err


def test_a_unit_is_one_edit(folder, monkeypatch, capsys):
    table(250).assign(patient=[n // 2 for n in range(250)]).to_csv("data.csv", index=False)
    options = ("--unit", "patient", "-o", "error.json", "--predictions", "intervals.json")
    assert certify(monkeypatch, *options) == 0
    assert "Held out for the test: 25 of 125 units" in capsys.readouterr().err
    for saved in (ErrorCertificate.load("error.json"), PredictionIntervals.load("intervals.json")):
        assert (saved.n_train, saved.privacy.unit) == (100, "patient")


def test_predictions_of_classes_are_certified_too(folder, monkeypatch, capsys):
    frame = table(250)
    frame.assign(days=np.where(frame["age"] > 50, "many", "few")).to_csv("data.csv", index=False)
    Schema(SCHEMA.features, ["few", "many"]).to_toml("schema.toml")
    assert certify(monkeypatch, "--predictions", "classes.json", "--epsilon", "0.1") == 0
    saved = PredictionCertificates.load("classes.json")
    assert saved.counts.shape == (50, 2)
    assert capsys.readouterr().out.endswith(f"\n\n{saved}\n\nSaved classes.json.\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--class-weight", "balanced"], "--class-weight must be used with a schema that has cla"),
        (["--interval", "3"], "--interval must be two numbers, such as 0,100, got '3'"),
        (["--interval", "0,300"], "--interval must lie in the range of the target, from 0 to 200"),
        (
            ["--model", "boost", "--leaf-values", "mean"],
            "--leaf-values must be used with --model tree",
        ),
        (["--predictions", "data.csv"], "data.csv: is also an input file"),
        (["--predictions", "c.json", "-o", "c.json"], "c.json: is also an input file"),
    ],
)
def test_a_mistake_is_one_line(folder, monkeypatch, capsys, options, message):
    assert certify(monkeypatch, *options) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize("option", [["--leaf-values", "mean"], ["--interval", "0,5"]])
def test_options_of_numbers_need_a_target(folder, monkeypatch, capsys, option):
    Schema(SCHEMA.features, ["few", "many"]).to_toml("schema.toml")
    assert certify(monkeypatch, *option) == 2
    assert "must be used with a schema that has a target, which" in capsys.readouterr().err
