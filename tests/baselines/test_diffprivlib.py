import warnings

import numpy as np
import pandas as pd
import pytest

from privatree import Numeric, Schema
from privatree.baselines import methods
from privatree.baselines._diffprivlib import (
    ScaledLogisticRegression,
    centre_and_scale,
    largest_norm,
)
from privatree.baselines.methods import Training

METHOD = methods.get("diffprivlib-logistic")
SCHEMA = Schema({"x": Numeric(0, 1000), "y": Numeric(-1, 1), "same": Numeric(0.1, 0.1)}, ["0", "1"])


def records(n=500):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.uniform(0, 1000, n), "y": rng.uniform(-1, 1, n), "same": 0.1})
    return frame, pd.Series(np.where(frame["x"] > 500, "1", "0"), name="target")


def test_columns_are_standardised_and_constants_left():
    X = METHOD.encode(records()[0], SCHEMA)
    centre, scale = centre_and_scale(X)
    scaled = (X - centre) / scale
    assert scaled.mean(axis=0) == pytest.approx([0, 0, 0], abs=1e-12)
    assert scaled.std(axis=0) == pytest.approx([1, 1, 0], abs=1e-12)
    assert scale[2] == 1.0


def test_the_largest_norm_is_positive():
    assert largest_norm(np.array([[3.0, 4.0], [1.0, 1.0]])) == 5.0
    assert largest_norm(np.zeros((3, 2))) == 1.0


def test_the_method_is_described():
    assert (METHOD.id, METHOD.title, METHOD.requires) == (
        "diffprivlib-logistic",
        "DiffPrivLib LR",
        "diffprivlib",
    )
    classifier = METHOD.classifier(Training(SCHEMA, 0.5, 4, 9))
    assert isinstance(classifier, ScaledLogisticRegression)
    assert (classifier.epsilon, classifier.random_state) == (0.5, 9)


def test_the_library_is_told_the_norm_and_repeats_itself():
    pytest.importorskip("diffprivlib")
    frame, labels = records()
    X = METHOD.encode(frame, SCHEMA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, again, other = (
            METHOD.classifier(Training(SCHEMA, 0.5, 4, seed)).fit(X, labels) for seed in (5, 5, 6)
        )
        predicted = first.predict(X)
    scaled = (X - X.mean(axis=0)) / [*X.std(axis=0)[:2], 1.0]
    assert first.model_.data_norm == pytest.approx(np.linalg.norm(scaled, axis=1).max())
    np.testing.assert_array_equal(predicted, again.predict(X))
    assert first.model_.coef_.tolist() == again.model_.coef_.tolist()
    assert first.model_.coef_.tolist() != other.model_.coef_.tolist()


@pytest.mark.parametrize("epsilon", [1e-4, 100.0])
def test_it_learns_with_little_noise_and_runs_with_much(epsilon):
    pytest.importorskip("diffprivlib")
    frame, labels = records()
    X = METHOD.encode(frame, SCHEMA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predicted = METHOD.classifier(Training(SCHEMA, epsilon, 4, 0)).fit(X, labels).predict(X)
    assert set(predicted) <= {"0", "1"}
    if epsilon > 1:
        assert np.mean(predicted == labels) > 0.95
