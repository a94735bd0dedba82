"""A target that cannot be trained on is one error, and the budget in a file stays as it was."""

from pathlib import Path

import pandas as pd
import pytest
from run_command import run

from privatree import Numeric, PrivaBoostRegressor, PrivaTreeRegressor, Schema, Target
from privatree.errors import SchemaError
from privatree.privacy import BudgetStore
from privatree.sources import ParquetSource

FEATURES = {"age": Numeric(0, 100, integer=True)}
SCHEMA = Schema(FEATURES, target=Target(0, 400))
LEARNERS = {"tree": PrivaTreeRegressor, "boost": PrivaBoostRegressor}
RANGES = {
    "reversed": ("high = 1", "low = 5", "low must be < high for a target, got low=5 and high=1"),
    "empty": ("high = 5", "low = 5", "low must be < high for a target, got low=5 and high=5"),
    "infinite": ("high = inf", "low = 0", "high of the target must be a finite number, got inf"),
    "minus-infinite": ("high = 0", "low = -inf", "low of the target must be a finite number, got"),
    "nan": ("high = nan", "low = 0", "high of the target must be a finite number, got nan"),
    "text": ('high = "400"', "low = 0", "high of the target must be a number, got '400'"),
    "missing": ("", "low = 0", "'target' must have the key 'high', but lacks it. Add it."),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"age": range(100), "days": [f"{n} days" for n in range(100)]})
    frame.to_csv("data.csv", index=False)
    frame.to_parquet("data.parquet")
    SCHEMA.to_toml("schema.toml")
    BudgetStore.create("patients.db", 1, delta=1e-3)
    return tmp_path


@pytest.fixture
def fit(monkeypatch, capsys):
    """Runs a training that must be refused, and returns the error of one line."""

    def refused(data, model):
        before = Path("patients.db").read_bytes()
        code = run(
            monkeypatch, "fit", data, "--target", "days", "--schema", "schema.toml", "--epsilon",
            "0.5", "-o", "model.json", "--budget", "patients.db", "--model", model,
        )  # fmt: skip
        assert code == 2
        assert Path("patients.db").read_bytes() == before
        assert BudgetStore("patients.db").charges == []
        assert not Path("model.json").exists()
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.count("\n") == 1
        return printed.err

    return refused


@pytest.mark.parametrize("model", LEARNERS)
@pytest.mark.parametrize("wrong", RANGES)
def test_a_range_that_is_none(fit, wrong, model):
    high, low, message = RANGES[wrong]
    written = Path("schema.toml").read_text()
    assert "low = 0\nhigh = 400" in written
    Path("schema.toml").write_text(written.replace("low = 0\nhigh = 400", f"{low}\n{high}"))
    assert message in fit("data.csv", model)


@pytest.mark.parametrize("model", LEARNERS)
def test_a_column_of_text(fit, model):
    message = fit("data.parquet", model)
    assert "column 'days' has type" in message
    assert "but the schema declares a numeric target. Convert the column to numbers" in message


@pytest.mark.parametrize("learner", LEARNERS.values())
def test_a_column_of_text_in_memory_and_in_a_source(learner):
    before = Path("patients.db").read_bytes()
    estimator = learner(0.5, schema=SCHEMA, budget=BudgetStore("patients.db"))
    frame = pd.read_csv("data.csv")
    with pytest.raises(SchemaError, match=r"y has type .*, but the schema declares a numeric targ"):
        estimator.fit(frame[["age"]], frame["days"])
    with pytest.raises(SchemaError, match=r"'days' has type .*, but the schema declares a numeri"):
        estimator.fit(ParquetSource("data.parquet", target="days"))
    assert Path("patients.db").read_bytes() == before
    assert not hasattr(estimator, "privacy_")


@pytest.mark.parametrize("model", LEARNERS)
def test_csv_text_is_no_error_because_one_record_could_cause_it(monkeypatch, capsys, model):
    """Each record is left out on its own, and min_records stops the training for 3%."""
    assert run(
        monkeypatch, "fit", "data.csv", "--target", "days", "--schema", "schema.toml", "--epsilon",
        "1", "-o", "model.json", "--budget", "patients.db", "--model", model,
        "--min-records", "1000", "--seed", "0",
    ) == 2  # fmt: skip
    assert "at least min_records = 1,000 records" in capsys.readouterr().err
    assert [float(charge.epsilon) for charge in BudgetStore("patients.db").charges] == [0.03]
