"""Members of scikit-learn's ensembles, which number the labels before they train anybody."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier

from privatree import (
    BudgetExceededError,
    Numeric,
    PaperPrivaTreeClassifier,
    PrivaTreeClassifier,
    Schema,
    SchemaError,
    export_text,
)
from privatree.baselines import RandomTreeClassifier
from privatree.privacy import Budget

FEATURES = {"a": Numeric(0, 1), "b": Numeric(0, 1)}
ORDERS = [["high", "low"], ["low", "high"], ["mid", "low", "high"]]
"""Sorted, as scikit-learn numbers them, and not."""


def records(classes: list[str], n: int = 1500) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.uniform(0, 1, n), "b": rng.uniform(0, 1, n)})
    return frame, np.array(classes)[(frame["a"] * len(classes)).astype(int)]


def member(classes: list[str], **more: Any) -> PrivaTreeClassifier:
    schema = Schema(FEATURES, classes)
    return PrivaTreeClassifier(20.0, schema=schema, max_depth=2, probability_share=0.2, **more)


def voting(one: Any, **more: Any) -> VotingClassifier:
    return VotingClassifier([("first", one), ("second", clone(one))], **more)


ENSEMBLES: dict[str, Callable[[Any], Any]] = {
    "hard votes": voting,
    "soft votes": lambda one: voting(one, voting="soft"),
    "bagging": lambda one: BaggingClassifier(one, 3, bootstrap=False, random_state=0),
    "stacking": lambda one: StackingClassifier(
        [("first", one), ("second", clone(one))], LogisticRegression(), cv=2
    ),
    "one against the rest": OneVsRestClassifier,
    "one against one": OneVsOneClassifier,
}


@pytest.mark.slow
@pytest.mark.parametrize("classes", ORDERS, ids=lambda classes: "-".join(classes))
@pytest.mark.parametrize("ensemble", ENSEMBLES.values(), ids=ENSEMBLES)
def test_an_ensemble_of_text_labels(ensemble: Callable[[Any], Any], classes: list[str]) -> None:
    frame, labels = records(classes)
    model = ensemble(member(classes, random_state=0)).fit(frame, labels)
    assert model.classes_.tolist() == sorted(classes)
    assert model.score(frame, labels) > 0.95
    if hasattr(model, "predict_proba"):
        likeliest = model.classes_[model.predict_proba(frame).argmax(axis=1)]
        assert np.mean(likeliest == labels) > 0.95
    for trained in model.estimators_:
        assert trained.classes_.tolist() == list(range(len(classes)))


@pytest.mark.filterwarnings("ignore::privatree.PaperClaimWarning")
@pytest.mark.parametrize("learner", [PaperPrivaTreeClassifier, RandomTreeClassifier])
def test_every_learner_can_be_a_member(learner: Any) -> None:
    frame, labels = records(["low", "high"])
    one = learner(50.0, schema=Schema(FEATURES, ["low", "high"]), random_state=0)
    model = voting(one).fit(frame, labels)
    assert set(model.predict(frame)) <= {"low", "high"}
    assert model.score(frame, labels) > 0.6


def test_numbers_are_never_given_a_name() -> None:
    """Of three classes one does not occur: in the ensemble's numbers, 1 is the last one."""
    frame, labels = records(["high", "mid"])
    model = voting(member(["high", "low", "mid"], random_state=0)).fit(frame, labels)
    assert model.classes_.tolist() == ["high", "mid"]
    assert model.score(frame, labels) > 0.95
    text = export_text(model.estimators_[0])
    assert "predict 1" in text
    assert "low" not in text
    trained = model.estimators_[0]
    assert trained.predict(frame).dtype.kind == "i"
    assert trained.schema_ == Schema(FEATURES, [0, 1, 2])
    assert trained.schema == Schema(FEATURES, ["high", "low", "mid"])


def test_unknown_numbers_are_left_out() -> None:
    frame, labels = records(["no", "yes"])
    codes = (labels == "yes").astype(int)
    model = member(["no", "yes"], random_state=0)
    expected = clone(model).fit(frame, codes)
    beyond = pd.DataFrame({"a": [0.1, 0.9], "b": [0.1, 0.9]})
    model.fit(pd.concat([frame, beyond]), np.append(codes, [-1, 2]))
    assert model.tree_ == expected.tree_
    assert model.model_ == expected.model_


@pytest.mark.parametrize("dtype", ["int8", "uint64", "int64"])
def test_any_type_of_whole_numbers(dtype: str) -> None:
    frame, labels = records(["no", "yes"])
    model = member(["no", "yes"]).fit(frame, (labels == "yes").astype(dtype))
    assert model.classes_.tolist() == [0, 1]


def refused_labels() -> dict[str, Any]:
    codes = np.array([0, 1] * 20)
    return {
        "booleans": codes.astype(bool),
        "categories": pd.Series(codes).astype("category"),
        "bytes": codes.astype("S"),
    }


@pytest.mark.parametrize("labels", refused_labels().values(), ids=refused_labels())
def test_only_whole_numbers_can_stand_for_classes(labels: Any) -> None:
    frame, _ = records(["no", "yes"], n=40)
    with pytest.raises(SchemaError, match="the schema declares string classes"):
        member(["no", "yes"]).fit(frame, labels)


@pytest.mark.parametrize("classes", [["1", "2"], ["no", " -1.0"], ["+3", "yes"], ["٣", "yes"]])
def test_not_where_text_could_be_meant_as_a_number(classes: list[str]) -> None:
    """Else the label 2 of whoever forgot to quote the numbers of a file would be unknown."""
    frame, _ = records(["no", "yes"], n=40)
    with pytest.raises(SchemaError, match="y has type int64, but the schema declares string"):
        member(classes).fit(frame, np.array([1, 2] * 20))


def test_numbers_of_the_schema_stay_what_they_are() -> None:
    frame, labels = records(["no", "yes"])
    schema = Schema(FEATURES, [5, 3])
    model = PrivaTreeClassifier(20.0, schema=schema, max_depth=1, random_state=0)
    model.fit(frame, np.where(labels == "yes", 3, 5))
    assert model.schema_ == schema
    assert set(model.predict(frame)) == {3, 5}


# --- what it costs --------------------------------------------------------------------------------


def test_a_budget_pays_for_every_member() -> None:
    frame, labels = records(["no", "yes"])
    budget = Budget(50)
    voting(member(["no", "yes"], budget=budget)).fit(frame, labels)
    assert float(budget.remaining) == 10
    with pytest.raises(BudgetExceededError):
        member(["no", "yes"], budget=budget).fit(frame, labels)


def test_bagging_seeds_its_members_and_their_statements_say_so() -> None:
    frame, labels = records(["no", "yes"])
    bagged = BaggingClassifier(member(["no", "yes"]), 2, bootstrap=False).fit(frame, labels)
    assert all("whoever knows the seed" in str(one.privacy_) for one in bagged.estimators_)
    voters = voting(member(["no", "yes"])).fit(frame, labels)
    assert not any(one.privacy_.seeded for one in voters.estimators_)
