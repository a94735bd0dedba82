"""All exports of trees that predict a number."""

from __future__ import annotations

import math
import re
import warnings
from html import unescape
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor
from sklearn.tree import export_text as sklearn_text

import privatree
from privatree import RegressionModel
from privatree.errors import ParameterError
from privatree.export import (
    SklearnRegressorView,
    as_sklearn,
    export_dot,
    export_json,
    export_onnx,
    export_sql,
    export_text,
    plot_tree,
    rules,
    target_intervals,
    value_places,
)
from privatree.export.text._shown_values import value_text
from privatree.model import TreeBuilder
from privatree.privacy import PrivacyStatement
from privatree.schema import Categorical, Numeric, Schema, Target

with warnings.catch_warnings():  # of what it calls in matplotlib
    warnings.simplefilter("ignore")
    import shap

SCHEMA = Schema(
    {"age": Numeric(0, 120, integer=True), "ward": Categorical(["east", "west"])},
    target=Target(0, 60),
)


@pytest.fixture(scope="module")
def model() -> RegressionModel:
    builder = TreeBuilder(SCHEMA)
    young, old = builder.split_numeric(builder.root, 0, 50.0)
    east, west = builder.split_categories(old, 1, [0])
    builder.value_leaf(young, 2.5, 312, 20, [0.7, 0.25, 0.05])
    builder.value_leaf(east, 40 / 3, 155, 20, [0.1, 0.85, 0.05])
    builder.value_leaf(west, 30.0, 5, 20, [0.0, 0.25, 0.75])
    tree = builder.build(edges=[0.0, 5.0, 20.0, 60.0])
    return RegressionModel(SCHEMA, tree, PrivacyStatement("by hand", 1.0))


# --- for people -----------------------------------------------------------------------------------


def test_text(model: RegressionModel) -> None:
    assert export_text(model).split("\n") == [
        "age <= 50",
        "├─ yes: predict 2.5 (95% from 0 to 20), about 312 (± 20) records",
        "└─ no:  ward in {east}",
        "   ├─ yes: predict 13.33 (85% from 5 to 20), about 155 (± 20) records",
        "   └─ no:  predict 30, few or no records",
    ]


@pytest.mark.parametrize(
    ("low", "high", "value", "shown"),
    [
        (0, 60, 0.0, "0"),
        (0, 60, 12.34567, "12.35"),
        (0, 60, 0.0012344, "0.001234"),
        (0, 1e6, 2.5, "2.5"),
        (0, 1e6, 123456.7, "123500"),
        (-20, 20, -3.14159, "-3.142"),
        (1e6, 1e6 + 1, 1e6 + 0.12345, "1000000.123"),
        (-1e100, 1e100, 1.23456e99, "1.235e+99"),
        (0, 1e-94, 5e-324, "4.941e-324"),
        (-1e100, 1e100, 5e-324, "4.941e-324"),
        (1e99, 1.0001e99, 1.00005e99, "1.00005e+99"),
    ],
)
def test_numbers_are_shown_with_four_digits(
    low: float, high: float, value: float, shown: str
) -> None:
    assert value_text(Target(low, high), value) == shown


def test_rules(model: RegressionModel) -> None:
    found = rules(model)
    assert [(rule.label, rule.probability, rule.value) for rule in found] == [
        (None, None, 2.5),
        (None, None, 40 / 3),
        (None, None, 30.0),
    ]
    assert [rule.sentence for rule in found] == [
        "If age is at most 50, predict 2.5 (95% from 0 to 20). About 312 (± 20) records.",
        "If age is at least 51 and ward is east, predict 13.33 (85% from 5 to 20). "
        "About 155 (± 20) records.",
        "If age is at least 51 and ward is west, predict 30. Few or no records.",
    ]


@pytest.mark.parametrize(
    ("shares", "shown"),
    [
        ([0.5, 0.4, 0.0, 0.1, 0.0], "90% at 0"),  # the second interval has no whole number
        ([0.0, 0.0, 0.5, 0.35, 0.15], "85% from 1 to 9"),
        ([0.0, 0.0, 0.0, 0.1, 0.9], "90% from 10 to 60"),
        ([0.1, 0.0, 0.1, 0.8, 0.0], "80% from 3 to 9"),
    ],
)
def test_ranges_of_whole_numbers_end_at_whole_numbers(shares: list[float], shown: str) -> None:
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, target=Target(0, 60, integer=True)))
    builder.value_leaf(builder.root, 2.5, 300, 20, shares)
    tree = builder.build(edges=[0.0, 0.25, 0.75, 2.5, 9.75, 60.0])
    assert export_text(tree) == f"predict 2.5 ({shown}), about 300 (± 20) records"
    found = target_intervals(tree)
    assert found is not None
    assert found.texts == ("0", "1 to 2", "3 to 9", "10 to 60")
    assert found.ends.tolist() == [0.0, 0.75, 2.5, 9.75, 60.0]


def test_places_of_logarithms() -> None:
    schema = Schema({"x": Numeric(0, 1)}, target=Target(0, 9999, log=True))
    builder = TreeBuilder(schema)
    left, right = builder.split_numeric(builder.root, 0, 0.5)
    low, middle = builder.split_numeric(left, 0, 0.25)
    for leaf, value in ((low, 0.0), (middle, 99.0), (right, 9999.0)):
        builder.value_leaf(leaf, value)
    tree = builder.build()
    assert value_places(tree)[[low, middle, right]].tolist() == [0, pytest.approx(0.5), 1]


def test_a_larger_number_has_a_darker_leaf(model: RegressionModel) -> None:
    written = export_dot(model)
    faces = re.findall(r'^ +(\d) \[.*predict.*fillcolor="#(\w+)"', written, flags=re.MULTILINE)
    brightness = {node: int(face[:2], 16) for node, face in faces}
    assert brightness["3"] < brightness["1"]
    assert dict(faces)["4"] == "F2F2F2"  # without support
    assert "predict 13.33 (85% from 5 to 20)" in written.replace("\\n", "")


def test_a_plot_has_the_numbers_and_their_ranges(model: RegressionModel) -> None:
    ax = plot_tree(model)
    shown = [text.get_text() for text in ax.texts]
    assert "2.5\n95% from 0 to 20\nabout 312 (± 20)\nrecords" in shown
    assert "30\nfew or no records" in shown


def test_leaves_of_one_number_can_be_drawn() -> None:
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, target=Target(-1e100, 5e99)))
    left, right = builder.split_numeric(builder.root, 0, 0.5)
    builder.value_leaf(left, -1e100)
    builder.value_leaf(right, -1e100)
    assert export_dot(builder.build()).count("fillcolor") == 3
    alone = TreeBuilder(SCHEMA)
    alone.value_leaf(alone.root, 1.0)
    assert export_text(alone.build()) == "predict 1"


def test_a_notebook_shows_the_tree(model: RegressionModel) -> None:
    html = model._repr_html_()
    assert html is not None
    assert "predict 2.5 (95% from 0 to 20)" in unescape(html)
    assert "target from 0 to 60" in html


# --- for programs ---------------------------------------------------------------------------------


def test_sql_has_a_number_in_each_leaf(model: RegressionModel) -> None:
    assert export_sql(model, dialect="mysql").split("\n") == [
        "CASE",
        "  WHEN (`age` IS NULL OR NOT (CAST(`age` AS DOUBLE) > 50)) THEN CAST(2.5e0 AS DOUBLE)",
        "  WHEN CAST(CONVERT(`ward` USING utf8mb4) AS BINARY) = 'west' THEN CAST(30 AS DOUBLE)",
        "  ELSE CAST(13.333333333333334e0 AS DOUBLE)",
        "END",
    ]
    with pytest.raises(ParameterError, match="proba must be False for a model that predicts a"):
        export_sql(model, proba=True)


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_onnx(strange_number: Any, seed: int) -> None:
    case = strange_number(seed)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(export_onnx(case.model), options)
    (output,) = session.get_outputs()
    assert output.name.rstrip("_") == "prediction"
    assert output.name not in case.model.schema_.names
    (got,) = session.run(None, case.feeds())
    assert got.dtype == np.float64
    assert got.tolist() == case.model.predict(case.frame()).tolist()


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_scikit_learn_and_json(strange_number: Any, seed: int, tmp_path_factory: Any) -> None:
    case = strange_number(seed)
    view, frame = as_sklearn(case.model), case.frame()
    matrix = view.transform(frame)
    assert (view.predict(matrix) == case.model.predict(frame)).all()
    assert (view.apply(matrix) == case.model.apply(frame)).all()
    path = tmp_path_factory.mktemp("json") / "model.json"
    path.write_text(export_json(case.model), encoding="utf-8")
    assert privatree.load(path) == case.model


@pytest.mark.slow
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_every_node_is_one_line(strange_number: Any, seed: int) -> None:
    tree = strange_number(seed).model.tree_
    lines = export_text(tree).split("\n")
    assert len(lines) == tree.n_nodes
    assert sum("predict " in line for line in lines) >= tree.n_leaves == len(rules(tree))


def test_the_view_is_a_regressor(model: RegressionModel) -> None:
    view = as_sklearn(model)
    assert isinstance(view, SklearnRegressorView)
    assert isinstance(view, DecisionTreeRegressor)
    assert view.tree_.value[:, 0, 0].tolist() == pytest.approx(
        [(2.5 + (40 / 3 + 30) / 2) / 2, 2.5, (40 / 3 + 30) / 2, 40 / 3, 30]
    )
    lower = (30 - 40 / 3) ** 2 / 4
    upper = lower / 2 + ((40 / 3 + 30) / 2 - 2.5) ** 2 / 4
    assert view.tree_.impurity.tolist() == pytest.approx([upper, 0, lower, 0, 0])
    assert "value: [2.50]" in sklearn_text(view, feature_names=view.get_feature_names_out())
    with pytest.raises(ParameterError, match="a view of a tree cannot be trained"):
        view.fit([[0]], [0])


def test_shap_explains_the_number(model: RegressionModel) -> None:
    frame = pd.DataFrame({"age": [20.0, 80.0, math.nan], "ward": ["east", "west", None]})
    view = as_sklearn(model)
    explained = shap.TreeExplainer(view)(view.transform(frame))
    totals = explained.values.sum(axis=1) + np.ravel(explained.base_values)
    assert totals.tolist() == pytest.approx([2.5, 30.0, 2.5])
