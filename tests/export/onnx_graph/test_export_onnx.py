from __future__ import annotations

import json
import math
import sys
import tracemalloc
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
from privatree.model import Model, TreeBuilder
from privatree.privacy import PrivacyStatement
from privatree.schema import Categorical, Numeric, Schema


def session(model: Any) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(export_onnx(model), options)


def run(model: Any, feeds: dict[str, Any]) -> tuple[Any, Any]:
    label, probabilities = session(model).run(None, feeds)
    return label, probabilities


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_strange_names_and_values(strange, seed) -> None:
    case = strange(seed)
    label, probabilities = run(case.model, case.feeds())
    assert label.tolist() == case.model.predict(case.frame()).tolist()
    assert probabilities.dtype == np.float64
    assert probabilities.tolist() == case.model.predict_proba(case.frame()).tolist()


@pytest.mark.parametrize("threshold", [0.1, 1 / 3, 1e15 + 0.5, 1e-310])
@pytest.mark.parametrize("missing", ["left", "right"])
def test_both_sides_of_a_threshold(by_hand, threshold, missing) -> None:
    model = by_hand(
        Numeric(0, 2 * threshold, missing=0 if missing == "left" else 2 * threshold), threshold
    )
    values = [threshold, np.nextafter(threshold, np.inf), math.nan, math.inf, -math.inf, 0.0]
    label, _ = run(model, {"x": np.array(values).reshape(-1, 1)})
    gap = "no" if missing == "left" else "yes"
    assert label.tolist() == ["no", "yes", gap, "yes", "no", "no"]
    assert model.predict(pd.DataFrame({"x": values})).tolist() == label.tolist()


def test_whole_categories_beyond_the_doubles_are_integers(by_hand) -> None:
    model = by_hand(Categorical([2**53, 2**53 + 1, -(2**63)], missing=2**53 + 1), [1])
    values = np.array([[2**53], [2**53 + 1], [-(2**63)], [7]])
    assert run(model, {"x": values})[0].tolist() == ["yes", "no", "yes", "no"]


@pytest.mark.parametrize("n_rows", [0, 1, 3])
def test_numbers_of_records(small_tree, n_rows) -> None:
    from privatree.model import Model

    tree = small_tree()
    model = Model(tree.schema, tree, PrivacyStatement("by hand", 1.0))
    feeds = {
        "age": np.full((n_rows, 1), 30.0),
        "work": np.full((n_rows, 1), "private", dtype=object),
        "gain": np.zeros((n_rows, 1)),
        "flag": np.ones((n_rows, 1)),
    }
    label, probabilities = run(model, feeds)
    assert label.tolist() == ["high"] * n_rows
    assert probabilities.shape == (n_rows, 2)


def test_a_lone_leaf_counts_its_records() -> None:
    from privatree.model import Model, TreeBuilder
    from privatree.schema import Schema

    builder = TreeBuilder(Schema({"x": Categorical(["a", "b"]), "y": Numeric(0, 1)}, [3, 5]))
    builder.leaf(builder.root, 1, [0.25, 0.75])
    tree = builder.build()
    model = Model(tree.schema, tree, PrivacyStatement("by hand", 1.0))
    feeds = {"x": np.array([["a"], ["?"]], dtype=object), "y": np.zeros((2, 1))}
    label, probabilities = run(model, feeds)
    assert label.tolist() == [5, 5]
    assert probabilities.tolist() == [[0.25, 0.75]] * 2


def test_the_deepest_tree(chain) -> None:
    model = chain(1000, True)
    values = np.array([math.nan, -1.0, *np.arange(0, 1002, 7.25), 1e9])
    label, _ = run(model, {"x": values.reshape(-1, 1)})
    assert label.tolist() == model.predict(pd.DataFrame({"x": values})).tolist()


def test_names_types_and_shapes(small_schema, small_tree) -> None:
    from privatree.model import Model

    model = Model(small_schema, small_tree(), PrivacyStatement("by hand", 1.0))
    opened = session(model)
    kinds = {value.name: (value.type, value.shape) for value in opened.get_inputs()}
    number, text = ("tensor(double)", ["records", 1]), ("tensor(string)", ["records", 1])
    assert kinds == {"age": number, "work": text, "gain": number, "flag": number}
    outputs = {value.name: (value.type, value.shape) for value in opened.get_outputs()}
    assert outputs == {
        "label": ("tensor(string)", ["records"]),
        "probabilities": ("tensor(double)", ["records", 2]),
    }


@pytest.mark.parametrize(
    ("classes", "kind"),
    [
        (("a", "b"), "tensor(string)"),
        ((1, 2**62), "tensor(int64)"),
        ((True, False), "tensor(bool)"),
        ((1, 0.5), "tensor(double)"),
    ],
)
def test_types_of_labels(by_hand, classes, kind) -> None:
    model = by_hand(Numeric(0, 1), 0.5, classes=classes)
    assert session(model).get_outputs()[0].type == kind
    assert run(model, {"x": np.array([[0.5], [0.75]])})[0].tolist() == list(classes)


@pytest.mark.parametrize("name", ["label", "probabilities", "privatree_value_0", "privatree"])
def test_a_column_named_like_a_part_of_the_graph(by_hand, name) -> None:
    opened = session(by_hand(Numeric(0, 1), 0.5, name=name))
    assert [value.name for value in opened.get_inputs()] == [name]
    outputs = [value.name for value in opened.get_outputs()]
    assert outputs == [f"{o}_" if o == name else o for o in ("label", "probabilities")]
    assert opened.run(None, {name: np.array([[0.5]])})[0].tolist() == ["no"]


def test_the_statement_is_in_the_metadata(by_hand) -> None:
    model = by_hand(Numeric(0, 1), 0.5)
    written = onnx.load_from_string(export_onnx(model))
    metadata = {entry.key: entry.value for entry in written.metadata_props}
    statement = PrivacyStatement.from_dict(json.loads(metadata["privatree.privacy"]))
    assert statement == model.privacy_
    assert written.producer_name == "privatree"


def test_the_same_model_gives_the_same_bytes(by_hand) -> None:
    assert export_onnx(by_hand(Numeric(0, 1), 0.5)) == export_onnx(by_hand(Numeric(0, 1), 0.5))


@pytest.mark.parametrize(
    ("feature", "how", "name", "classes", "says"),
    [
        (Numeric(0, 1), 0.5, "", ("a", "b"), "at least one character"),
        (Numeric(0, 1), 0.5, "x", (2**63, 1), "labels"),
        (Numeric(0, 1), 0.5, "x", (2**53 + 1, 0.5), "labels"),
        (Categorical([1, 2**64 + 1]), [0], "x", ("a", "b"), "categories"),
        (Categorical([0.5, 2**53 + 1]), [0], "x", ("a", "b"), "categories"),
        (Categorical([1, 10**400]), [0], "x", ("a", "b"), "categories"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_what_onnx_cannot_hold_is_refused(by_hand, feature, how, name, classes, says) -> None:
    with pytest.raises(ParameterError, match=says):
        export_onnx(by_hand(feature, how, name=name, classes=classes))


def test_without_onnx_the_extra_is_named(by_hand, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ParameterError, match=r"pip install 'privatree\[onnx\]'"):
        export_onnx(by_hand(Numeric(0, 1), 0.5))


def test_a_tree_alone_promises_nothing(small_tree) -> None:
    with pytest.raises(TypeError, match="must have a privacy statement"):
        export_onnx(small_tree())


def test_many_classes_take_no_square_of_memory() -> None:
    schema = Schema({"x": Numeric(0, 1)}, list(range(20_000)))
    builder = TreeBuilder(schema)
    builder.leaf(builder.root, 7)
    tree = builder.build()
    tracemalloc.start()
    export_onnx(Model(schema, tree, PrivacyStatement("x", 1.0)))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100e6  # the square would be 3.2e9 bytes
