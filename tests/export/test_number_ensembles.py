"""All exports of ensembles that predict a number."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_ensembles import random_ensemble, random_records, walked_number

from privatree import RegressionEnsembleModel, load
from privatree.errors import ParameterError
from privatree.export import export_onnx, export_sql, export_text
from privatree.model.ensemble import Branch, Ensemble, Round, Step
from privatree.privacy import PrivacyStatement
from privatree.schema import Categorical, Numeric, Schema, Target

STATEMENT = PrivacyStatement("by hand", 1.0)
FEATURES = {
    "age": Numeric(0, 120, integer=True, missing="separate"),
    "weight": Numeric(0, 1, missing=0.25),
    "ward": Categorical(["east", "west", "north"], missing="separate"),
}
SCHEMA = Schema(FEATURES, target=Target(0, 60))
LOG_SCHEMA = Schema(FEATURES, target=Target(0, 1e5, log=True))
LINES = [
    "2 rounds, each with a function of at most 2 features; 2 of 3 features are used.",
    "Begin with 12.5. A round adds its amount, or subtracts it: + or -.",
    "The sum is the prediction, clipped to the range from 0 to 60.",
    "round 1 (amount 50): +1 if age > 64, else -1",
    "round 2 (amount 0.25): ward in {east}",
    "├─ yes: +1 for all records",
    "└─ no:  +1 if age > 64, else -1",
]


@pytest.fixture(scope="module")
def model() -> RegressionEnsembleModel:
    step = Step(0, -1, (64.5,))
    branch = Branch(2, Step(0, 1), step, goes_left=b"\1\0\0\0")
    ensemble = Ensemble(SCHEMA, 0.25, (Round(step, (200,)), Round(branch, (1,))), start=12.5)
    return RegressionEnsembleModel(SCHEMA, ensemble, STATEMENT)


def random_case(seed: int, schema: Schema) -> tuple[RegressionEnsembleModel, dict[str, Any]]:
    rng = random.Random(seed)
    ensemble = random_ensemble(rng, schema)
    records = random_records(rng, ensemble, 40)
    return RegressionEnsembleModel(schema, ensemble, STATEMENT), records


def table_of(records: dict[str, Any]) -> Any:
    import pyarrow as pa

    kinds = {"ward": pa.string()}
    return pa.table(
        {name: pa.array(values, kinds.get(name, pa.float64()), from_pandas=False)
         for name, values in records.items()}
    )  # fmt: skip


def test_text(model: RegressionEnsembleModel) -> None:
    assert export_text(model).split("\n") == LINES
    log = Ensemble(LOG_SCHEMA, 0.25, model.ensemble_.rounds, start=2.0)
    assert "The sum is the logarithm of 1 plus the prediction" in export_text(log)


@pytest.mark.parametrize("schema", [SCHEMA, LOG_SCHEMA], ids=["plain", "log"])
@pytest.mark.parametrize("seed", range(15))
def test_predictions_are_those_of_a_walk(schema: Schema, seed: int, tmp_path: Any) -> None:
    model, records = random_case(seed, schema)
    predicted = model.predict(table_of(records))
    rows = zip(*records.values(), strict=True)
    expected = [walked_number(model.ensemble_, list(row)) for row in rows]
    assert predicted == pytest.approx(expected, rel=1e-12, abs=1e-12)
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json") == model
    terms = model.terms()
    scores = terms.decision_function(table_of(records))
    clipped = schema.target.of_score(scores)  # type: ignore[union-attr]
    assert clipped == pytest.approx(predicted, rel=1e-9, abs=1e-9)
    assert abs(
        terms.shap_values(table_of(records)).sum(axis=1) + terms.intercept - scores
    ).max() < (1e-9 * max(1.0, abs(scores).max()))


@pytest.mark.parametrize(
    ("database", "dialect", "schema"),
    [("duckdb", "duckdb", SCHEMA), ("duckdb", "duckdb", LOG_SCHEMA), ("duckdb", None, SCHEMA),
     ("sqlite", "sqlite", SCHEMA), ("sqlserver", "sqlserver", LOG_SCHEMA),
     ("bigquery", "bigquery", SCHEMA)],
)  # fmt: skip
def test_sql(databases: Any, database: str, dialect: str | None, schema: Schema) -> None:
    for seed in range(12):
        model, records = random_case(seed, schema)
        query = export_sql(model, table="t", dialect=dialect)
        rows = databases[database](table_of(records), query)
        predicted = model.predict(table_of(records))
        assert [row[-1] for row in rows] == pytest.approx(predicted, rel=1e-12, abs=1e-12)
        is_end = np.isin(predicted, [schema.target.low, schema.target.high])  # type: ignore[union-attr]
        assert np.array([row[-1] for row in rows])[is_end].tolist() == predicted[is_end].tolist()


def test_sql_needs_exp_for_logarithms() -> None:
    model, _ = random_case(0, LOG_SCHEMA)
    for dialect in (None, "sqlite"):
        with pytest.raises(ParameterError, match="dialect must be a database with EXP"):
            export_sql(model, dialect=dialect)
    with pytest.raises(ParameterError, match="proba must be False"):
        export_sql(model, proba=True)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), log=st.booleans())
def test_onnx(seed: int, log: bool) -> None:
    model, records = random_case(seed, LOG_SCHEMA if log else SCHEMA)
    feeds = {
        name: np.array(
            [("?" if name == "ward" else np.nan) if value is None else value for value in values],
            dtype=object if name == "ward" else float,
        ).reshape(-1, 1)
        for name, values in records.items()
    }
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(export_onnx(model), options)
    (got,) = session.run(None, feeds)
    assert got.dtype == np.float64
    assert got == pytest.approx(model.predict(table_of(records)), rel=1e-12, abs=1e-12)


def test_large_amounts_are_exact_in_onnx() -> None:
    rounds = [Round(Step(1, -1, (0.5,)), (amount,)) for amount in (2**30 + 1, 2**29 + 3, 1)]
    ensemble = Ensemble(SCHEMA, 2.0**-30, tuple(rounds), start=30.0)
    model = RegressionEnsembleModel(SCHEMA, ensemble, STATEMENT)
    session = onnxruntime.InferenceSession(export_onnx(model))
    feeds: dict[str, Any] = {"age": np.zeros((2, 1)), "ward": np.array([["east"]] * 2, object)}
    (got,) = session.run(None, feeds | {"weight": np.array([[0.0], [1.0]])})
    wanted = 30.0 + 2.0**-30 * (2**30 + 2**29 + 5) * np.array([-1, 1])
    assert (
        got.tolist() == wanted.tolist() == model.predict([[0, 0, "east"], [0, 1, "east"]]).tolist()
    )


def test_an_ensemble_of_another_step_is_another_model(model: RegressionEnsembleModel) -> None:
    assert model.ensemble_ == replace(model.ensemble_, start=12.5)
    assert model.ensemble_ != replace(model.ensemble_, start=12.0)
