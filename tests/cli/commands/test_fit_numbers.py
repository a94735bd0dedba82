"""The commands for a numeric target: draft, check, fit and predict."""

import json
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from run_command import run as run_command

import privatree
from privatree import Categorical, Numeric, Schema, Target

SCHEMA = Schema(
    {"age": Numeric(18, 92, integer=True), "ward": Categorical(["east", "west"])},
    target=Target(0, 400),
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    age = rng.integers(18, 93, 600)
    frame = pd.DataFrame({"age": age, "ward": rng.choice(["east", "west"], 600)})
    frame["days"] = (age / 4 + rng.gamma(2, 2, 600)).round(1)
    frame["id"] = range(600)
    frame.to_csv("data.csv", index=False)
    SCHEMA.to_toml("schema.toml")
    return tmp_path


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs a command, and returns its exit code and what it printed."""
    return lambda *words: Done(run_command(monkeypatch, *words), *capsys.readouterr())


@pytest.fixture
def fit(run):
    return lambda *options: run(
        "fit", "data.csv", "--target", "days", "--schema", "schema.toml", "--epsilon", "9",
        "-o", "model.json", *options,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_from_a_draft_to_predictions(run, fit):
    drafted = run("schema", "draft", "data.csv", "--target", "days", "-o", "d.toml")
    assert "a number to predict" in drafted.err
    assert Schema.from_toml("d.toml").target.high == pytest.approx(42, abs=8)
    refused = run("fit", "data.csv", "--target", "days", "--schema", "d.toml",
                  "--epsilon", "1", "-o", "model.json")  # fmt: skip
    assert refused.code == 2
    assert "must be confirmed: min_records; target: low, high, integer;" in refused.err
    checked = run("schema", "check", "schema.toml", "data.csv", "--target", "days")
    assert "Every value fits." in checked.out
    done = fit("--seed", "1")
    assert done.code == 0
    assert "predicts      days" in done.out
    assert "PrivaTreeRegressor" in done.out
    run("predict", "model.json", "data.csv", "--keep", "id", "-o", "found.csv")
    found = pd.read_csv("found.csv")
    frame = pd.read_csv("data.csv")
    assert list(found.columns) == ["id", "prediction"]
    assert np.corrcoef(found["prediction"], frame["days"])[0, 1] > 0.8
    again = privatree.load("model.json").predict(frame)
    np.testing.assert_array_equal(found["prediction"], again)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "learner"),
    [
        (["--leaf-values", "median", "--zoom", "--schedule", "robust"], "PrivaTreeRegressor"),
        (["--interval", "5,30", "--unit", "id"], "PrivaTreeRegressor"),
        (["--engine", "stream", "--no-simplify"], "PrivaTreeRegressor"),
        (["--model", "boost", "--interval", "5,30", "--rounds", "3"], "PrivaBoostRegressor"),
    ],
)
def test_options_of_a_regressor(fit, options, learner):
    done = fit(*options, "--json")
    assert done.code == 0
    privacy = json.loads(done.out)["privacy"]
    assert privacy["learner"] == learner
    assert any("interval that most" in text for text in privacy["public"]) == ("5,30" in options)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--class-weight", "balanced"], "--class-weight must be used with a schema that has cla"),
        (["--probability-share", "0.1"], "--probability-share must be used with a schema that ha"),
        (["--interval", "3"], "--interval must be two numbers, such as 0,100, got '3'"),
        (["--interval", "30,5"], "--interval must be two numbers, the smaller one first"),
        (["--interval", "5,500"], "--interval must lie in the range of the target, from 0 to 400"),
        (
            ["--model", "boost", "--leaf-values", "mean"],
            "--leaf-values must be used with --model t",
        ),
    ],
)
def test_a_wrong_option_is_one_line(fit, options, message):
    done = fit(*options)
    assert done.code == 2
    assert message in done.err


@pytest.mark.usefixtures("folder")
def test_options_of_numbers_need_a_target(fit):
    Schema(SCHEMA.features, ["no", "yes"]).to_toml("schema.toml")
    done = fit("--leaf-values", "median")
    assert done.code == 2
    assert "--leaf-values must be used with a schema that has a target, which is a num" in done.err


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_a_number_has_no_probabilities(run, fit):
    assert fit("-q").code == 0
    done = run("predict", "model.json", "data.csv", "--proba")
    assert done.code == 2
    assert "--proba must be used with a model of classes" in done.err


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_a_parquet_target_of_text_is_one_error(run):
    frame = pd.read_csv("data.csv").astype({"days": "str"})
    frame.to_parquet("data.parquet")
    done = run(
        "fit", "data.parquet", "--target", "days", "--schema", "schema.toml",
        "--epsilon", "1", "-o", "model.json",
    )  # fmt: skip
    assert done.code == 2
    assert "column 'days' has type" in done.err
    assert "but the schema declares a numeric target" in done.err
