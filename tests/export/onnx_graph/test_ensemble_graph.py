from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.errors import ParameterError
from privatree.export import export_onnx
from privatree.model import EnsembleModel
from privatree.model.ensemble import Branch, Ensemble, Round, Step
from privatree.privacy import PrivacyStatement
from privatree.schema import Categorical, Numeric, Schema


def model(*functions: Any, schema: Schema | None = None, signs: Any = (-1, 1)) -> EnsembleModel:
    schema = schema or Schema({"x": Numeric(0, 10)}, ["no", "yes"])
    found = Ensemble(schema, 0.5, tuple(Round(function, signs) for function in functions))
    return EnsembleModel(schema, found, PrivacyStatement("by hand", 1.0))


def run(model: Any, feeds: dict[str, Any]) -> tuple[Any, Any]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    label, shares = onnxruntime.InferenceSession(export_onnx(model), options).run(None, feeds)
    return label, shares


@pytest.mark.slow
@settings(max_examples=100)
@given(seed=st.integers(0, 2**32))
def test_strange_names_and_values(strange_ensemble, seed) -> None:
    case = strange_ensemble(seed)
    label, shares = run(case.model, case.feeds())
    assert label.tolist() == case.model.predict(case.frame()).tolist()
    assert shares.dtype == np.float64
    assert shares == pytest.approx(case.model.predict_proba(case.frame()), rel=1e-9, abs=1e-200)


@pytest.mark.parametrize("missing", [None, 10, 3.0, "separate"])
@pytest.mark.parametrize("n_switches", [1, 2, 3, 8, 100])
def test_a_step_function_of_many_switches(missing, n_switches) -> None:
    switches = tuple(np.linspace(0, 9.9, n_switches).tolist())
    if missing == "separate" and n_switches % 2:
        switches = (-math.inf, *switches)
    schema = Schema({"x": Numeric(0, 10, missing=missing)}, ["no", "yes"])
    found = model(Step(0, -1, switches), schema=schema)
    finite = [s for s in switches if s > -math.inf]
    around = [float(np.nextafter(s, way)) for s in finite for way in (-math.inf, math.inf)]
    values = [*finite, *around, math.nan, math.inf, -math.inf, -1.0, 11.0]
    label, _ = run(found, {"x": np.array(values).reshape(-1, 1)})
    assert label.tolist() == found.predict(pd.DataFrame({"x": values})).tolist()


@pytest.mark.parametrize("n_rows", [0, 1, 3])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_constants_alone(n_rows, n_classes) -> None:
    schema = Schema({"x": Categorical(["a", "b"])}, list(range(n_classes)))
    signs = (-1, 1) if n_classes == 2 else (-1, 1, -1)
    found = model(Step(0, positive=b"\1\1"), schema=schema, signs=signs)
    label, shares = run(found, {"x": np.full((n_rows, 1), "a", dtype=object)})
    assert label.tolist() == [1] * n_rows
    wanted = found.predict_proba(pd.DataFrame({"x": ["a"] * n_rows}))
    assert shares.shape == (n_rows, n_classes)
    assert shares == pytest.approx(wanted)


def test_the_first_of_equals() -> None:
    schema = Schema({"x": Numeric(0, 10)}, ["a", "b", "c"])
    found = model(Step(0, -1, (5.0,)), schema=schema, signs=(-1, 1, 1))
    label, _ = run(found, {"x": np.array([[1.0], [6.0]])})
    assert label.tolist() == ["a", "b"]
    even = model(Step(0, -1, (5.0,)), Step(0, 1))
    assert run(even, {"x": np.array([[1.0], [6.0]])})[0].tolist() == ["no", "yes"]


def test_the_largest_sums_are_exact() -> None:
    found = model(*[Step(0, -1, (5.0,))] * 5001, *[Step(0, 1, (5.0,))] * 4999)
    label, _ = run(found, {"x": np.array([[1.0], [6.0]])})
    assert label.tolist() == ["no", "yes"]


def test_the_statement_is_in_the_metadata() -> None:
    found = model(Step(0, -1, (5.0,)))
    written = onnx.load_from_string(export_onnx(found))
    metadata = {entry.key: entry.value for entry in written.metadata_props}
    assert PrivacyStatement.from_dict(json.loads(metadata["privatree.privacy"])) == found.privacy_


def test_an_ensemble_alone_promises_nothing() -> None:
    with pytest.raises(TypeError, match="must have a privacy statement"):
        export_onnx(model(Step(0, -1, (5.0,))).ensemble_)


def test_too_many_values_are_refused() -> None:
    schema = Schema({"x": Numeric(0, 10)}, list(range(10_000)))
    found = model(*[Step(0, -1, (5.0,))] * 1000, schema=schema, signs=(1,) * 10_000)
    with pytest.raises(ParameterError, match="ONNX must have at most 20,000,000 values"):
        export_onnx(found)


def test_a_branch_on_missing_numbers() -> None:
    schema = Schema({"x": Numeric(0, 10, missing="separate")}, ["no", "yes"])
    found = model(Branch(0, Step(0, 1), Step(0, -1, (5.0,)), threshold=-math.inf), schema=schema)
    label, _ = run(found, {"x": np.array([[math.nan], [-math.inf], [6.0]])})
    assert label.tolist() == ["yes", "no", "yes"]
