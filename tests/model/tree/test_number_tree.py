"""Trees that predict a number: their arrays, files, releases and predictions."""

from __future__ import annotations

import copy
import json
import math
import pickle
import random
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import r2_score

from privatree import RegressionModel, load
from privatree.errors import ModelFormatError, ParameterError
from privatree.model import Model, Tree, TreeBuilder, read_release
from privatree.model.tree import tree_from_dict, tree_to_dict
from privatree.privacy import PrivacyStatement
from privatree.schema import Categorical, Numeric, Schema, Target

STATEMENT = PrivacyStatement("by hand", epsilon=0.5, public=("all of it",))
SCHEMA = Schema(
    {"age": Numeric(0, 120), "ward": Categorical(["east", "west"])},
    target=Target(0, 60, name="days in hospital"),
)


def small_builder() -> TreeBuilder:
    """age <= 50 ? 2.5 days : (ward is east ? 7 days : 30 days)."""
    builder = TreeBuilder(SCHEMA)
    young, old = builder.split_numeric(builder.root, 0, 50.0)
    east, west = builder.split_categories(old, 1, [0])
    builder.value_leaf(young, 2.5, 300, 20, [0.9, 0.1, 0.0])
    builder.value_leaf(east, 7.0, 150, 20, [0.5, 0.5, 0.0])
    builder.value_leaf(west, 30.0, 5, 20, [0.0, 0.25, 0.75])
    return builder


def small_tree() -> Tree:
    return small_builder().build(edges=[0.0, 5.0, 20.0, 60.0])


def small_model() -> RegressionModel:
    return RegressionModel(SCHEMA, small_tree(), STATEMENT)


RECORDS = {"age": [20.0, 70.0, 70.0, math.nan], "ward": ["west", "east", "west", "east"]}


# --- the tree -------------------------------------------------------------------------------------


def test_a_leaf_has_a_number_and_a_support() -> None:
    tree = small_tree()
    assert tree.value is not None
    assert tree.shares is not None
    assert tree.leaves.tolist() == [1, 3, 4]
    assert tree.value[tree.leaves].tolist() == [2.5, 7.0, 30.0]
    assert np.isnan(tree.value[tree.splits]).all()
    assert tree.support is not None
    assert tree.support[tree.leaves].tolist() == [300, 150, 5]
    assert [tree.has_support(leaf) for leaf in (1, 3, 4)] == [True, True, False]
    assert (tree.label == -1).all()
    assert tree.probability is None
    assert tree.shares[4].tolist() == [0.0, 0.25, 0.75]


def test_predictions_are_the_numbers_of_the_leaves() -> None:
    tree = small_tree()
    matrix = np.array([[20.0, 1.0], [70.0, 0.0], [70.0, 1.0], [math.nan, 0.0]])
    assert tree.predict(matrix, [0, 1]).tolist() == [2.5, 7.0, 30.0, 2.5]
    assert tree.predict(matrix, [0, 1]).dtype == np.float64
    assert tree.apply(matrix, [0, 1]).tolist() == [1, 3, 4, 1]
    with pytest.raises(ParameterError, match="no class probabilities"):
        tree.predict_proba(matrix, [0, 1])


@given(seed=st.integers(0, 2**32))
def test_files_and_pickles_keep_every_bit(
    seed: int, random_tree: Callable[..., Tree], number_tree: Callable[..., Tree]
) -> None:
    rng = random.Random(seed)
    tree = number_tree(random_tree(rng), rng)
    written = json.loads(json.dumps(tree_to_dict(tree), allow_nan=False))
    assert tree_from_dict(written, tree.schema) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree == copy.deepcopy(tree)


def test_equality_sees_values_edges_and_counts() -> None:
    tree = small_tree()
    arrays = {field.name: getattr(tree, field.name) for field in fields(tree) if field.init}
    for name, place, number in (("value", 4, 31.0), ("edges", 1, 6.0), ("noisy_counts", 1, 299)):
        changed = arrays[name].copy()
        changed[place] = number
        assert Tree(**arrays | {name: changed}) != tree


@pytest.mark.parametrize(
    ("value", "shares", "message"),
    [
        (60.1, None, "node 0: value must be in the range of the target"),
        (-0.1, None, "value must be in the range"),
        (math.nan, None, "value must be in the range"),
        (math.inf, None, "value must be in the range"),
        (1.0, [0.5, 0.4], "shares of a leaf must sum to 1"),
        (1.0, [1.5, -0.5], "shares must be in 0 to 1"),
        (1.0, [1.0], "every leaf must have 2 shares"),
    ],
)
def test_numbers_that_cannot_be(value: float, shares: list[float] | None, message: str) -> None:
    builder = TreeBuilder(SCHEMA)
    builder.value_leaf(builder.root, value, shares=shares)
    with pytest.raises(ModelFormatError, match=message):
        builder.build(edges=None if shares is None else [0.0, 5.0, 60.0])


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([0.0, 0.0, 60.0], "edges must be finite numbers in increasing order"),
        ([0.0, math.nan, 60.0], "edges must be finite"),
        ([0.0, 5.0, math.inf], "edges must be finite"),
        ([-1.0, 5.0, 60.0], "edges must be in the range of the target"),
        ([0.0, 5.0, 1e308], "edges must be in the range of the target"),
        (None, "every leaf must have 0 shares"),
    ],
)
def test_edges_that_cannot_be(edges: list[float] | None, message: str) -> None:
    builder = TreeBuilder(SCHEMA)
    builder.value_leaf(builder.root, 1.0, shares=[0.5, 0.5])
    with pytest.raises(ModelFormatError, match=message):
        builder.build(edges=edges)


def test_a_tree_of_numbers_has_no_labels() -> None:
    builder = TreeBuilder(SCHEMA)
    builder.leaf(builder.root, 0)
    with pytest.raises(ModelFormatError, match="label must be -1 where the schema has a target"):
        builder.build()
    of_classes = TreeBuilder(Schema(SCHEMA.features, ["no", "yes"]))
    of_classes.value_leaf(of_classes.root, 1.0)
    with pytest.raises(ModelFormatError, match="label must be a class code"):
        of_classes.build()


def test_edges_without_shares() -> None:
    builder = TreeBuilder(SCHEMA)
    builder.value_leaf(builder.root, 1.0)
    with pytest.raises(ModelFormatError, match="edges and shares must be given together"):
        builder.build(edges=[0.0, 60.0])


# --- the file -------------------------------------------------------------------------------------


def test_the_written_form_is_readable() -> None:
    written = small_model().to_dict()
    assert written["version"] == 4
    assert "classes" not in written
    assert written["schema"]["target"]["high"] == 60
    assert written["tree"]["edges"] == [0.0, 5.0, 20.0, 60.0]
    assert written["tree"]["nodes"][1] == {
        "value": 2.5,
        "noisy_counts": [300],
        "support_error": 20,
        "shares": [0.9, 0.1, 0.0],
    }


def test_a_saved_model_is_a_regressor_again(tmp_path: Path) -> None:
    model = small_model()
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert isinstance(loaded, RegressionModel)
    assert loaded == model == read_release(tmp_path / "model.json")
    assert loaded.predict(_frame()).tolist() == [2.5, 7.0, 30.0, 2.5]


@pytest.mark.parametrize(
    ("place", "change", "message"),
    [
        ((), {"version": 3}, "'version' must be at least 4 for this kind of model, got 3"),
        ((), {"classes": []}, "a model must have the keys format, version, schema, tree, privacy"),
        (("tree",), {"edges": [0.0]}, "'edges' must be a list of 2 to"),
        (("tree",), {"edges": [0.0, 5.0, 60.0]}, "'shares' must be a list of 2 numbers"),
        (("tree",), {"extra": 1}, "a tree must be an object with the key 'nodes'"),
        (("tree", "nodes", 1), {"value": "2.5"}, "node 1: 'value' must be a finite number"),
        (("tree", "nodes", 1), {"value": 61}, "node 1: value must be in the range of the target"),
        (("tree", "nodes", 1), {"label": 0}, "a leaf must have the key 'value'"),
        (("tree", "nodes", 1), {"probability": [1.0]}, "a leaf must have the key 'value'"),
        (("tree", "nodes", 1), {"noisy_counts": [1, 2]}, "'noisy_counts' must be a list of 1"),
    ],
)
def test_files_that_are_wrong(place: tuple[Any, ...], change: Any, message: str) -> None:
    written = small_model().to_dict()
    part: Any = written
    for key in place:
        part = part[key]
    part.update(change)
    with pytest.raises(ModelFormatError) as caught:
        RegressionModel.from_dict(written)
    assert message in str(caught.value)


def test_models_of_classes_and_of_numbers_are_not_mixed_up() -> None:
    written = small_model().to_dict()
    with pytest.raises(ModelFormatError, match="must have the keys"):
        Model.from_dict(written)
    with pytest.raises(ModelFormatError, match="must have classes, got one with a target"):
        Model(SCHEMA, small_tree(), STATEMENT)


# --- the regressor --------------------------------------------------------------------------------


def _frame() -> Any:
    import pandas as pd

    return pd.DataFrame(RECORDS)


def test_a_model_is_a_fitted_regressor_of_scikit_learn() -> None:
    model = small_model()
    assert is_regressor(model)
    assert not is_classifier(model)
    for name in ("predict_proba", "predict_log_proba", "classes_"):
        assert not hasattr(model, name)
    assert clone(model) is model
    assert (model.get_depth(), model.get_n_leaves()) == (2, 3)
    assert model.decision_path(_frame()).toarray()[1].tolist() == [1, 0, 1, 1, 0]
    with pytest.raises(ParameterError, match="cannot be trained again"):
        model.fit(_frame(), [0.0])


def test_the_repr_names_the_range_of_the_target() -> None:
    assert repr(small_model()) == (
        "<RegressionModel: a tree by by hand, epsilon 0.5, 2 features, "
        "target from 0 to 60, depth 2, 3 leaves>"
    )


def test_the_score_is_that_of_scikit_learn() -> None:
    actual, weights = [3.0, 9.0, 21.0, 0.0], [1.0, 2.0, 0.5, 1.0]
    predicted = small_model().predict(_frame())
    assert small_model().score(_frame(), actual) == pytest.approx(r2_score(actual, predicted))
    assert small_model().score(_frame(), actual, weights) == pytest.approx(
        r2_score(actual, predicted, sample_weight=weights)
    )
    assert small_model().score(_frame(), [4.0, 4.0, 4.0, 4.0]) == 0.0
    assert small_model().score(_frame()[:1], [2.5]) == 1.0


def test_a_record_without_a_target_is_not_scored() -> None:
    some = small_model().score(_frame(), [3.0, 9.0, math.nan, None])
    assert some == pytest.approx(small_model().score(_frame()[:2], [3.0, 9.0]))
    with pytest.raises(ParameterError, match="y must have a number for at least one record"):
        small_model().score(_frame(), [math.nan] * 4)
    with pytest.raises(ParameterError, match="same number of records"):
        small_model().score(_frame(), [1.0])
