import warnings

import numpy as np
import pandas as pd
import pytest

from privatree import Categorical, Numeric, Schema
from privatree.baselines import methods
from privatree.baselines._diffprivlib import bounds
from privatree.baselines.methods import Training

METHOD = methods.get("diffprivlib-tree")
SCHEMA = Schema(
    {
        "x": Numeric(-1.5, 2.5),
        "kind": Categorical(["a", "b", "c"]),
        "same": Numeric(7, 7),
        "one": Categorical(["only"]),
    },
    ["0", "1"],
)


def records(n=400):
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


def test_bounds_are_those_of_the_schema():
    lows, highs = bounds(SCHEMA)
    assert lows.tolist() == [-1.5, 0, 7, 0]
    assert highs.tolist() == [2.5, 2, 7, 0]


def test_the_method_is_described():
    assert (METHOD.id, METHOD.title, METHOD.requires) == (
        "diffprivlib-tree",
        "DiffPrivLib",
        "diffprivlib",
    )
    assert METHOD.private


def test_the_library_is_told_what_is_public_and_repeats_itself():
    pytest.importorskip("diffprivlib")
    frame, labels = records()
    X = METHOD.encode(frame, SCHEMA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, again, other = (
            METHOD.classifier(Training(SCHEMA, 1.0, 3, seed)).fit(X, labels) for seed in (5, 5, 6)
        )
        predicted = first.predict(X)
    assert first.max_depth == 3
    assert first.classes_.tolist() == ["0", "1"]
    assert set(predicted) <= {"0", "1"}
    np.testing.assert_array_equal(predicted, again.predict(X))
    assert first.tree_.threshold.tolist() != other.tree_.threshold.tolist()


def test_with_little_noise_it_learns():
    pytest.importorskip("diffprivlib")
    frame, labels = records()
    X = METHOD.encode(frame, SCHEMA)
    scores = [
        METHOD.classifier(Training(SCHEMA, 100.0, 6, seed)).fit(X, labels).predict(X) == labels
        for seed in range(5)
    ]
    assert np.mean(scores) > 0.8
