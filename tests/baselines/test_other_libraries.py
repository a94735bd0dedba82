"""Classifiers of other libraries get bounds and classes from the schema, and repeat themselves."""

import warnings

import numpy as np
import pandas as pd
import pytest

from privatree import Categorical, Numeric, Schema
from privatree.baselines import methods
from privatree.baselines._other_libraries import (
    EBM_DELTA,
    ScaledLogisticRegression,
    diffprivlib_bounds,
    diffprivlib_centre_and_scale,
    diffprivlib_row_norm,
    public_ebm_options,
)
from privatree.baselines.methods import Training

TREE, LOGISTIC, EBM = map(methods.get, ("diffprivlib-tree", "diffprivlib-logistic", "dp-ebm"))
SCHEMA = Schema(
    {
        "x": Numeric(-1.5, 2.5),
        "kind": Categorical(["a", "b", "c"]),
        "same": Numeric(7, 7),
        "one": Categorical(["only"]),
    },
    ["0", "1"],
)
NUMBERS = Schema(
    {"x": Numeric(0, 1000), "y": Numeric(-1, 1), "same": Numeric(0.1, 0.1)}, ["0", "1"]
)


def records(n):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": rng.uniform(-1.5, 2.5, n),
            "kind": pd.Categorical(rng.choice(["a", "b"], n), categories=["a", "b", "c"]),
            "same": 7,
            "one": pd.Categorical(["only"] * n),
        }
    )
    return frame, pd.Series(np.where(frame["x"] > 0, "1", "0"), name="target")


def numbers(n=500):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.uniform(0, 1000, n), "y": rng.uniform(-1, 1, n), "same": 0.1})
    return frame, pd.Series(np.where(frame["x"] > 500, "1", "0"), name="target")


@pytest.mark.parametrize(
    ("method", "title", "library"),
    [
        (TREE, "DiffPrivLib", "diffprivlib"),
        (LOGISTIC, "DiffPrivLib LR", "diffprivlib"),
        (EBM, "DP-EBM", "interpret"),
    ],
)
def test_methods_are_described(method, title, library):
    assert (method.title, method.requires) == (title, library)
    assert method.private


# --- DiffPrivLib ----------------------------------------------------------------------------------


def test_bounds_are_those_of_the_schema():
    lows, highs = diffprivlib_bounds(SCHEMA)
    assert lows.tolist() == [-1.5, 0, 7, 0]
    assert highs.tolist() == [2.5, 2, 7, 0]
    assert lows.dtype == highs.dtype == np.float64


def test_the_tree_is_told_what_is_public_and_repeats_itself():
    pytest.importorskip("diffprivlib")
    frame, labels = records(400)
    X = TREE.encode(frame, SCHEMA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, again, other = (
            TREE.classifier(Training(SCHEMA, 1.0, 3, seed)).fit(X, labels) for seed in (5, 5, 6)
        )
        predicted = first.predict(X)
    assert first.max_depth == 3
    assert first.classes_.tolist() == ["0", "1"]
    assert set(predicted) <= {"0", "1"}
    np.testing.assert_array_equal(predicted, again.predict(X))
    assert first.tree_.threshold.tolist() != other.tree_.threshold.tolist()


def test_with_little_noise_the_tree_learns():
    pytest.importorskip("diffprivlib")
    frame, labels = records(400)
    X = TREE.encode(frame, SCHEMA)
    scores = [
        TREE.classifier(Training(SCHEMA, 100.0, 6, seed)).fit(X, labels).predict(X) == labels
        for seed in range(5)
    ]
    assert np.mean(scores) > 0.8


def test_columns_are_standardised_and_constants_left():
    X = LOGISTIC.encode(numbers()[0], NUMBERS)
    centre, scale = diffprivlib_centre_and_scale(X)
    scaled = (X - centre) / scale
    assert scaled.mean(axis=0) == pytest.approx([0, 0, 0], abs=1e-12)
    assert scaled.std(axis=0) == pytest.approx([1, 1, 0], abs=1e-12)
    assert scale[2] == 1.0


def test_the_largest_norm_is_positive():
    assert diffprivlib_row_norm(np.array([[3.0, 4.0], [1.0, 1.0]])) == 5.0
    assert diffprivlib_row_norm(np.zeros((3, 2))) == 1.0


def test_the_logistic_regression_has_its_parameters():
    classifier = LOGISTIC.classifier(Training(NUMBERS, 0.5, 4, 9))
    assert isinstance(classifier, ScaledLogisticRegression)
    assert (classifier.epsilon, classifier.random_state) == (0.5, 9)


def test_the_logistic_regression_is_told_the_norm_and_repeats_itself():
    pytest.importorskip("diffprivlib")
    frame, labels = numbers()
    X = LOGISTIC.encode(frame, NUMBERS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, again, other = (
            LOGISTIC.classifier(Training(NUMBERS, 0.5, 4, seed)).fit(X, labels)
            for seed in (5, 5, 6)
        )
        predicted = first.predict(X)
    scaled = (X - X.mean(axis=0)) / [*X.std(axis=0)[:2], 1.0]
    assert first.model_.data_norm == pytest.approx(np.linalg.norm(scaled, axis=1).max())
    np.testing.assert_array_equal(predicted, again.predict(X))
    assert first.model_.coef_.tolist() == again.model_.coef_.tolist()
    assert first.model_.coef_.tolist() != other.model_.coef_.tolist()


@pytest.mark.parametrize("epsilon", [1e-4, 100.0])
def test_the_logistic_regression_learns_with_little_noise_and_runs_with_much(epsilon):
    pytest.importorskip("diffprivlib")
    frame, labels = numbers()
    X = LOGISTIC.encode(frame, NUMBERS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predicted = LOGISTIC.classifier(Training(NUMBERS, epsilon, 4, 0)).fit(X, labels).predict(X)
    assert set(predicted) <= {"0", "1"}
    if epsilon > 1:
        assert np.mean(predicted == labels) > 0.95


# --- DP-EBM ---------------------------------------------------------------------------------------


def test_dp_ebm_is_for_two_classes():
    assert EBM.applies_to(SCHEMA)
    assert not EBM.applies_to(Schema(dict(SCHEMA.features), ["0", "1", "2"]))


def test_dp_ebm_gets_types_and_ranges_from_the_schema():
    options = public_ebm_options(SCHEMA)
    assert options["feature_names"] == list(SCHEMA.names)
    assert options["feature_types"] == ["continuous", "nominal", "continuous", "nominal"]
    assert options["privacy_bounds"] == {0: (-1.5, 2.5), 2: (7.0, 7.0)}


def test_dp_ebm_is_told_what_is_public_and_repeats_itself():
    pytest.importorskip("interpret")
    frame, labels = records(2000)
    unseen = frame.assign(kind=pd.Categorical(["c"] * len(frame), categories=["a", "b", "c"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it would warn of what it reads from the records
        first, again, other = (
            EBM.classifier(Training(SCHEMA, 1.0, 4, seed)).fit(frame, labels) for seed in (5, 5, 6)
        )
        predicted = first.predict(frame)
        assert set(first.predict(unseen)) <= {"0", "1"}
    assert (first.model_.epsilon, first.model_.delta) == (1.0, EBM_DELTA)
    for name, value in public_ebm_options(SCHEMA).items():
        assert getattr(first.model_, name) == value
    assert np.mean(predicted == labels) > 0.8
    np.testing.assert_array_equal(predicted, again.predict(frame))
    curves = [fit.model_.term_scores_[0].tolist() for fit in (first, again, other)]
    assert curves[0] == curves[1] != curves[2]
