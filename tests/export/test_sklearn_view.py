from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from sklearn.tree import DecisionTreeClassifier, export_text, plot_tree

from privatree import PrivaTreeClassifier, datasets
from privatree.errors import ParameterError
from privatree.export import _sklearn_view as sklearn_view
from privatree.export import as_sklearn
from privatree.model import Model, TreeBuilder
from privatree.privacy import PrivacyStatement
from privatree.schema import Categorical, Numeric, Schema

with warnings.catch_warnings():  # of what it calls in matplotlib
    warnings.simplefilter("ignore")
    import shap


@pytest.fixture(scope="module")
def adult() -> tuple[pd.DataFrame, PrivaTreeClassifier]:
    frame, labels, schema = datasets.load("adult")
    some = frame.iloc[::20]
    model = PrivaTreeClassifier(
        2, max_depth=4, schema=schema, probability_share=0.3, random_state=0
    )
    return some, model.fit(some, labels.iloc[::20])


@pytest.fixture
def model(small_schema, small_tree) -> Model:
    return Model(small_schema, small_tree(True), PrivacyStatement("by hand", 1.0))


def test_it_predicts_what_the_model_predicts(adult) -> None:
    frame, model = adult
    view = as_sklearn(model)
    matrix = view.transform(frame)
    assert (view.predict(matrix) == model.predict(frame)).all()
    assert (view.predict_proba(matrix) == model.predict_proba(frame)).all()
    assert (view.apply(matrix) == model.apply(frame)).all()
    assert view.score(matrix, model.predict(frame)) == 1.0


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_strange_names_and_values(strange, seed) -> None:
    case = strange(seed)
    view, frame = as_sklearn(case.model), case.frame()
    matrix = view.transform(frame)
    assert np.isfinite(matrix.to_numpy()).all()
    assert (view.predict(matrix) == case.model.predict(frame)).all()
    assert (view.predict_proba(matrix) == case.model.predict_proba(frame)).all()
    assert (view.apply(matrix) == case.model.apply(frame)).all()


def test_what_is_released_and_nothing_else(model) -> None:
    """Each split weighs its sides alike."""
    view = as_sklearn(model)
    assert view.tree_.weighted_n_node_samples.tolist() == [4, 2, 2, 1, 1, 1, 1]
    assert view.tree_.n_node_samples.tolist() == [4, 2, 2, 1, 1, 1, 1]
    assert view.tree_.value[:, 0].tolist() == [
        [0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.75, 0.25], [0.25, 0.75], [0.75, 0.25], [0.25, 0.75],
    ]  # fmt: skip
    assert view.tree_.impurity.tolist() == pytest.approx([0.5, 0.5, 0.5] + [0.375] * 4)
    assert view.privacy_ == model.privacy_


def test_columns(model) -> None:
    view = as_sklearn(model)
    assert view.feature_names_in_.tolist() == ["age", "work in {state, none}", "gain"]
    assert view.get_feature_names_out() is view.feature_names_in_
    frame = pd.DataFrame(
        {
            "age": [200.0, None],
            "work": ["private", "?"],
            "gain": [0.1, None],
            "flag": [True, None],
        }
    )
    matrix = view.transform(frame)
    assert (matrix.dtypes == np.float32).all()
    assert matrix.to_numpy().tolist() == [[90, 0, np.float32(0.1)], [17, 1, 0.75]]


def test_scikit_learns_own_text(model) -> None:
    view = as_sklearn(model)
    text = export_text(view, feature_names=view.get_feature_names_out(), decimals=1)
    assert text == "\n".join(
        [
            "|--- age <= 37.0",
            "|   |--- work in {state, none} <= 0.5",
            "|   |   |--- class: high",
            "|   |--- work in {state, none} >  0.5",
            "|   |   |--- class: low",
            "|--- age >  37.0",
            "|   |--- gain <= 0.5",
            "|   |   |--- class: low",
            "|   |--- gain >  0.5",
            "|   |   |--- class: high",
            "",
        ]
    )


def test_scikit_learns_own_plot(model) -> None:
    figure = Figure()
    FigureCanvasAgg(figure)
    view = as_sklearn(model)
    drawn = plot_tree(
        view, ax=figure.subplots(), feature_names=view.get_feature_names_out(), proportion=True
    )
    texts = [box.get_text() for box in drawn]
    assert any("age <= 37.0" in text and "samples = 100.0%" in text for text in texts)


def test_shap_explains_every_probability(adult) -> None:
    frame, model = adult
    view, some = as_sklearn(model), frame.iloc[:200]
    explainer = shap.TreeExplainer(view)
    values = explainer.shap_values(view.transform(some))
    explained = values.sum(axis=1) + explainer.expected_value
    assert explained == pytest.approx(model.predict_proba(some), abs=1e-9)
    assert explainer.expected_value == pytest.approx(view.tree_.value[0, 0])
    assert np.abs(values).max() > 0.05


def test_questions_with_the_same_answer_share_a_column() -> None:
    schema = Schema({"x": Categorical(["a", "b", "c"]), "x in {a}": Numeric(0, 1)}, [0, 1])
    builder = TreeBuilder(schema)
    left, right = builder.split_categories(builder.root, 0, [0])
    low, high = builder.split_categories(left, 0, [0])
    near, far = builder.split_numeric(right, 1, 0.5)
    for node, label in ((low, 0), (high, 1), (near, 1), (far, 0)):
        builder.leaf(node, label)
    tree = builder.build()
    view = as_sklearn(Model(schema, tree, PrivacyStatement("by hand", 1.0)))
    assert view.feature_names_in_.tolist() == ["x in {a}", "x in {a}'"]
    assert view.tree_.feature.tolist()[:3] == [0, 0, 1]


def test_a_lone_leaf(by_hand) -> None:
    builder = TreeBuilder(Schema({"x": Categorical(["a", "b"])}, ["no", "yes"]))
    builder.leaf(builder.root, 1)
    tree = builder.build()
    view = as_sklearn(Model(tree.schema, tree, PrivacyStatement("by hand", 1.0)))
    matrix = view.transform(pd.DataFrame({"x": ["a", None]}))
    assert view.predict(matrix).tolist() == ["yes", "yes"]


def test_the_deepest_tree(chain) -> None:
    model = chain(1000, False)
    view = as_sklearn(model)
    frame = pd.DataFrame({"x": [None, *np.arange(0, 1002, 3.25)]}, dtype=float)
    assert (view.predict(view.transform(frame)) == model.predict(frame)).all()


def test_it_is_a_trained_classifier_that_can_be_kept(model) -> None:
    view = as_sklearn(model)
    assert isinstance(view, DecisionTreeClassifier)
    again = pickle.loads(pickle.dumps(view))
    frame = pd.DataFrame({"age": [20, 80], "work": "private", "gain": 0.9, "flag": True})
    assert (
        again.predict(again.transform(frame)).tolist()
        == view.predict(view.transform(frame)).tolist()
    )
    assert (view.get_depth(), view.get_n_leaves()) == (2, 4)


def test_it_cannot_be_trained(model) -> None:
    for view in (as_sklearn(model), sklearn.base.clone(as_sklearn(model))):
        with pytest.raises(ParameterError, match="cannot be trained"):
            view.fit([[0.0]], [0])


def test_a_release_that_keeps_nodes_otherwise_is_refused(model, monkeypatch) -> None:
    """What scikit-learn keeps of a node is what we fill in, no more and no less."""
    tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]).tree_
    assert set(tree.__reduce__()[2]["nodes"].dtype.names) == sklearn_view._NODE_FIELDS
    assert set(tree.__reduce__()[2]) == {"max_depth", "node_count", "nodes", "values"}
    monkeypatch.setattr(sklearn_view, "_NODE_FIELDS", {"left_child"})
    with pytest.raises(ParameterError, match="a format that privatree cannot write"):
        as_sklearn(model)
