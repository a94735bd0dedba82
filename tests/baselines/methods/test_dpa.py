"""A thousand small trees, told the depth and the classes and nothing else."""

import numpy as np
import pandas as pd
import pytest

from privatree import Categorical, Numeric, Schema
from privatree.baselines import methods
from privatree.baselines.methods import Training
from privatree.baselines.methods._method import NO_PRIVACY, encode_method_numbers
from privatree.reproduction.running._tasks import suppress_task_warnings
from privatree.robustness import DPAClassifier

METHOD = methods.get("dpa")
SCHEMA = Schema({"x": Numeric(0, 9), "kind": Categorical(["b", "a"])}, ["yes", "no"])


def test_the_method_is_described() -> None:
    assert (METHOD.id, METHOD.title, METHOD.group) == ("dpa", "DPA", NO_PRIVACY)
    assert METHOD.encode is encode_method_numbers
    assert not METHOD.private
    assert "1000 trees" in METHOD.caveat


def test_it_is_told_depth_and_classes() -> None:
    model = METHOD.classifier(Training(SCHEMA, float("inf"), 3, 17))
    assert isinstance(model, DPAClassifier)
    assert (model.n_partitions, model.base_estimator.max_depth) == (1000, 3)
    assert (model.schema, model.classes) == (None, ("yes", "no"))


@pytest.mark.parametrize("seed", [0, 1])
def test_it_learns_and_certifies_whatever_the_seed(seed: int) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": np.linspace(0, 9, 3000), "kind": pd.Categorical(rng.choice(["a", "b"], 3000))}
    )
    labels = pd.Series(np.where(frame["x"] > 3, "yes", "no"))
    model = METHOD.classifier(Training(SCHEMA, float("inf"), 4, seed))
    with suppress_task_warnings():  # the paper's thousand partitions, however few the records
        model.fit(METHOD.encode(frame, SCHEMA), labels)
    rows = METHOD.encode(frame[::100], SCHEMA)
    assert np.mean(model.predict(rows) == labels[::100]) > 0.9
    assert model.certified_accuracy(rows, labels[::100], [100])[0] > 0.6
    assert model.classes_declared_
