import warnings

import numpy as np
import pandas as pd
import pytest

from privatree import Categorical, Numeric, Schema
from privatree.baselines import methods
from privatree.baselines._dp_ebm import DELTA, feature_types, privacy_bounds
from privatree.baselines.methods import Training

METHOD = methods.get("dp-ebm")
SCHEMA = Schema(
    {
        "x": Numeric(-1.5, 2.5),
        "kind": Categorical(["a", "b", "c"]),
        "same": Numeric(7, 7),
        "one": Categorical(["only"]),
    },
    ["0", "1"],
)


def records(n=2000):
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


def test_kinds_and_ranges_are_those_of_the_schema():
    assert feature_types(SCHEMA) == ["continuous", "nominal", "continuous", "nominal"]
    assert privacy_bounds(SCHEMA) == {0: (-1.5, 2.5), 2: (7.0, 7.0)}


def test_the_method_is_for_two_classes():
    assert (METHOD.id, METHOD.title, METHOD.requires) == ("dp-ebm", "DP-EBM", "interpret")
    assert METHOD.applies_to(SCHEMA)
    assert not METHOD.applies_to(Schema(dict(SCHEMA.features), ["0", "1", "2"]))


def test_the_library_is_told_what_is_public_and_repeats_itself():
    pytest.importorskip("interpret")
    frame, labels = records()
    unseen = frame.assign(kind=pd.Categorical(["c"] * len(frame), categories=["a", "b", "c"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it would warn of what it reads from the records
        first, again, other = (
            METHOD.classifier(Training(SCHEMA, 1.0, 4, seed)).fit(frame, labels)
            for seed in (5, 5, 6)
        )
        predicted = first.predict(frame)
        assert set(first.predict(unseen)) <= {"0", "1"}
    assert (first.model_.epsilon, first.model_.delta) == (1.0, DELTA)
    assert np.mean(predicted == labels) > 0.8
    np.testing.assert_array_equal(predicted, again.predict(frame))
    curves = [fit.model_.term_scores_[0].tolist() for fit in (first, again, other)]
    assert curves[0] == curves[1] != curves[2]
