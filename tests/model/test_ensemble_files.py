"""Ensembles at random: a walk in plain Python, their JSON, and files that are not theirs."""

from __future__ import annotations

import copy
import json
import math
import pickle
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_ensembles import random_ensemble, random_records, walked_label

from privatree import PrivaBoostClassifier, datasets
from privatree.errors import ModelFormatError
from privatree.export import export_dot, export_json, export_text, plot_tree, rules
from privatree.model import EnsembleModel, load
from privatree.model.ensemble import Branch, Ensemble, Round, Step
from privatree.privacy import PrivacyStatement
from privatree.schema import Categorical, Numeric, Schema

STATEMENT = PrivacyStatement("by hand", epsilon=0.5)
FEATURES = {
    "age": Numeric(17, 90, integer=True),
    "gain": Numeric(0, 1, missing="separate"),
    "work": Categorical(["private", "state", "none"], missing="none"),
    "town": Categorical(["east", "west"], missing="separate"),
    "flag": Categorical([True, False]),
}
NONE: dict[str, Any] = {"intervals": {}, "monotone": {}}
CLASSES = [["low", "high"], [0, 1, 2], ["a", "b", "c", "d", "e"]]


def small_model(n_classes: int = 2) -> EnsembleModel:
    signs = (-1, 1) if n_classes == 2 else (1, -1, -1)
    schema = Schema(FEATURES, CLASSES[n_classes - 2])
    functions = (
        Step(0, -1, (30.5, 60.5)),
        Step(1, 1, (-math.inf, 0.5)),
        Step(2, positive=b"\1\0\1"),
        Branch(3, Step(0, 1, (40.5,)), Step(1, -1), goes_left=b"\1\0\1"),
        Branch(1, Step(0, 1), Branch(0, Step(2, positive=b"\0\0\1"), Step(0), threshold=20.5),
               threshold=-math.inf),
    )  # fmt: skip
    rounds = tuple(Round(function, signs) for function in functions)
    return EnsembleModel(schema, Ensemble(schema, 0.25, rounds), STATEMENT)


def model_of_one(**more: Any) -> EnsembleModel:
    """One step function of age, with an interval of gain, and age declared monotone."""
    schema = Schema(FEATURES, ["low", "high"])
    rounds = (Round(Step(0, -1, (30.5,)), (-1, 1)),)
    settings = {"intervals": {1: (0.25, 0.5)}, "directions": {0: 1}} | more
    return EnsembleModel(schema, Ensemble(schema, 0.25, rounds, **settings), STATEMENT)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(rng=st.randoms(use_true_random=False))
def test_random_ensembles(rng: random.Random) -> None:
    schema = Schema(FEATURES, rng.choice(CLASSES))
    ensemble = random_ensemble(rng, schema)
    model = EnsembleModel(schema, ensemble, STATEMENT)
    records = random_records(rng, ensemble, 30)
    frame = pd.DataFrame(
        {name: pd.Series(column, dtype=object) for name, column in records.items()}
    )
    rows = [list(row) for row in zip(*records.values(), strict=True)]
    assert model.predict(frame).tolist() == [walked_label(ensemble, row) for row in rows]
    shares = model.predict_proba(frame)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(frame)).all()
    again = EnsembleModel.from_dict(json.loads(export_json(model)))
    assert again == model
    assert export_text(again) == export_text(model)


@pytest.mark.parametrize("form", [export_dot, rules, plot_tree])
def test_forms_of_trees(form: Any) -> None:
    with pytest.raises(TypeError, match="must be one tree, got an ensemble of many rounds"):
        form(small_model())


def test_a_notebook_shows_the_first_rounds() -> None:
    html = small_model()._repr_html_()
    assert html is not None
    assert "round 1: +1 if 30 &lt; age &lt;= 60, else -1" in html
    assert "Privacy statement" in html
    schema = Schema(FEATURES, CLASSES[0])
    many = Ensemble(schema, 0.25, (Round(Step(0, -1, (30.5,)), (-1, 1)),) * 100)
    shown = EnsembleModel(schema, many, STATEMENT)._repr_html_()
    assert shown is not None
    assert "… and 79 more lines. print(privatree.export_text(model)) shows all rounds." in shown


# --- files that are not those of an ensemble ------------------------------------------------------


def refused(path: Path, written: Any) -> str:
    path.write_text(json.dumps(written), encoding="utf-8")
    with pytest.raises(ModelFormatError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert len(message) < 500
    return message


def function(**changes: Any) -> dict[str, Any]:
    """A step function of a number, with other entries; None takes one away."""
    whole = {"feature": "age", "first": -1, "switches": [30.5]} | changes
    return {key: value for key, value in whole.items() if value is not None}


def branches(n: int) -> dict[str, Any]:
    found = function()
    for _ in range(n):
        found = {"feature": "age", "threshold": 30.5, "left": found, "right": function()}
    return found


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ([], "must be an object"),
        (function(extra=1), "and no others"),
        (function(feature="nobody"), "'feature' must be the name"),
        (function(feature=0), "'feature' must be the name"),
        (function(first=0), "'first' must be -1 or 1"),
        (function(first=True), "'first' must be -1 or 1"),
        (function(first=1.0), "'first' must be -1 or 1"),
        (function(switches="30"), "'switches' must be a list"),
        (function(switches=[40.5, 30.5]), "switches must increase"),
        (function(switches=[30.5, 30.5]), "switches must increase"),
        (function(switches=[90]), "must lie in the range"),
        (function(switches=[16.5]), "must lie in the range"),
        (function(switches=[True]), "a switch"),
        (function(switches=[10**400]), "a switch"),
        (function(switches=["30"]), "a switch"),
        (function(missing=1), "separate missing values"),
        (function(feature="gain", switches=[0.5], missing=-1), "the other sign than 'first'"),
        (function(feature="work"), "'feature' and 'positive'"),
        ({"feature": "work", "positive": "private"}, "must be a list"),
        ({"feature": "work", "positive": ["private", "private"]}, "must be distinct"),
        ({"feature": "work", "positive": ["nobody"]}, "categories"),
        ({"feature": "work", "positive": [None]}, "categories"),
        ({"feature": "flag", "positive": [1]}, "categories"),
        ({"feature": "age", "positive": ["private"]}, "'first' and 'switches'"),
        ({"feature": "age", "left": function()}, "'threshold' or 'missing'"),
        (branches(1) | {"categories": []}, "'threshold' or 'missing'"),
        (branches(1) | {"threshold": None}, "threshold"),
        (branches(1) | {"threshold": 90}, "must lie in the range"),
        (branches(9), "at most 8 branches"),
        (branches(200), "at most 8 branches"),
    ],
)
def test_a_function_that_is_none(tmp_path: Path, written: Any, says: str) -> None:
    contents = small_model().to_dict()
    contents["ensemble"]["rounds"][2]["function"] = written
    message = refused(tmp_path / "model.json", contents)
    assert "round 2: " in message
    assert says in message


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"version": 2}, "'version' must be at least 3 for this kind of model, got 2"),
        ({"version": 5}, "got version 5. Upgrade privatree"),
        ({"tree": {}}, "must have the keys"),
        ({"ensemble": None}, "must have the keys 'step', 'intervals', 'monotone', 'rounds', and"),
        ({"ensemble": {"step": 0.1, "rounds": []}}, "a file of version 4 must have the keys"),
        ({"version": 3}, "a file of version 3 must have the keys 'step', 'rounds', and no others"),
        ({"ensemble": NONE | {"step": 0.1, "rounds": []}}, "1 to 10000 rounds"),
        ({"ensemble": NONE | {"step": 0.1, "rounds": {}}}, "1 to 10000 rounds"),
        ({"ensemble": NONE | {"step": 0.1, "rounds": [{}] * 10_001}}, "1 to 10000 rounds"),
        ({"ensemble": NONE | {"step": 0.1, "rounds": [{}]}}, "round 0: a round must have the keys"),
        ({"ensemble": NONE | {"step": 0.1, "rounds": [[]]}}, "round 0: a round must have the keys"),
        ({"ensemble": NONE | {"step": "1", "rounds": [{"function": function()}]}}, "'step'"),
        (
            {"ensemble": NONE | {"step": 0, "rounds": [{"function": function()}]}},
            "above 0 and at most",
        ),
        (
            {"ensemble": NONE | {"step": 101, "rounds": [{"function": function()}]}},
            "above 0 and at most",
        ),
        ({"classes": ["high", "low"]}, "'classes' must equal"),
    ],
)
def test_an_ensemble_that_is_none(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    assert says in refused(tmp_path / "model.json", small_model().to_dict() | changes)


@pytest.mark.parametrize(
    ("key", "written", "says"),
    [
        ("intervals", None, "'intervals' must be an object"),
        ("intervals", [], "'intervals' must be an object"),
        ("intervals", [["age", 20, 30]], "'intervals' must be an object"),
        ("intervals", {"nobody": [0, 1]}, "names of features"),
        ("intervals", {"0": [0, 1]}, "names of features"),
        ("intervals", {"work": [0, 1]}, "an interval must belong to a number"),
        ("intervals", {"gain": None}, "an interval must be a list of two numbers"),
        ("intervals", {"gain": {"low": 0, "high": 1}}, "an interval must be a list of two numbers"),
        ("intervals", {"gain": "01"}, "an interval must be a list of two numbers"),
        ("intervals", {"gain": [0.1]}, "an interval must be a list of two numbers"),
        ("intervals", {"gain": [0.1, 0.2, 0.3]}, "an interval must be a list of two numbers"),
        ("intervals", {"gain": ["0.1", 0.2]}, "an end of an interval"),
        ("intervals", {"gain": [True, 0.2]}, "an end of an interval"),
        ("intervals", {"gain": [None, 0.2]}, "an end of an interval"),
        ("intervals", {"gain": [0, 10**400]}, "an end of an interval"),
        ("intervals", {"gain": [0, math.inf]}, "numbers must be finite"),
        ("intervals", {"gain": [math.nan, 1]}, "numbers must be finite"),
        ("intervals", {"gain": [0.5, 0.25]}, "must lie in the range"),
        ("intervals", {"gain": [0.5, 0.5]}, "must lie in the range"),
        ("intervals", {"gain": [-0.1, 0.5]}, "must lie in the range"),
        ("intervals", {"gain": [0.5, 1.1]}, "must lie in the range"),
        ("monotone", None, "'monotone' must be an object"),
        ("monotone", ["age"], "'monotone' must be an object"),
        ("monotone", {"nobody": 1}, "names of features"),
        ("monotone", {"work": 1}, "a monotone feature must be a number"),
        ("monotone", {"age": 0}, "'monotone' must be -1 or 1"),
        ("monotone", {"age": 2}, "'monotone' must be -1 or 1"),
        ("monotone", {"age": 1.0}, "'monotone' must be -1 or 1"),
        ("monotone", {"age": True}, "'monotone' must be -1 or 1"),
        ("monotone", {"age": "1"}, "'monotone' must be -1 or 1"),
        ("monotone", {"age": None}, "'monotone' must be -1 or 1"),
        ("monotone", {"age": [1]}, "'monotone' must be -1 or 1"),
        ("monotone", {"age": -1}, "round 0: a function of a monotone feature must follow"),
        ("more", {}, "and no others"),
    ],
)
def test_intervals_and_directions_that_are_none(
    tmp_path: Path, key: str, written: Any, says: str
) -> None:
    contents = model_of_one().to_dict()
    contents["ensemble"][key] = written
    assert says in refused(tmp_path / "model.json", contents)


def test_a_monotone_feature_has_no_branch_and_needs_two_classes(tmp_path: Path) -> None:
    contents = small_model().to_dict()
    contents["ensemble"]["monotone"] = {"town": 1}
    assert "must be a number" in refused(tmp_path / "model.json", contents)
    contents["ensemble"]["monotone"] = {"age": 1}
    assert "round 0: a function of a" in refused(tmp_path / "model.json", contents)
    contents["ensemble"]["monotone"] = {"gain": -1}
    contents["ensemble"]["rounds"] = contents["ensemble"]["rounds"][4:]
    assert "must not have a branch" in refused(tmp_path / "model.json", contents)
    contents = small_model(3).to_dict()
    contents["ensemble"]["monotone"] = {"gain": 1}
    assert "with more than two classes" in refused(tmp_path / "model.json", contents)


@pytest.mark.parametrize(
    ("switches", "first", "direction", "follows"),
    [
        ((), 1, -1, True),
        ((0.5,), -1, 1, True),
        ((0.5,), 1, 1, False),
        ((0.5,), 1, -1, True),
        ((0.25, 0.5), -1, 1, False),
        ((-math.inf,), 1, 1, True),
        ((-math.inf, 0.5), 1, 1, True),
        ((-math.inf, 0.5), -1, 1, False),
        ((-math.inf, 0.25, 0.5), 1, 1, False),
    ],
)
def test_a_direction_does_not_constrain_missing_values(
    switches: tuple[float, ...], first: int, direction: int, follows: bool
) -> None:
    schema = Schema(FEATURES, ["low", "high"])
    rounds = (Round(Step(1, first, switches), (-1, 1)),)
    if follows:
        assert Ensemble(schema, 0.25, rounds, directions={1: direction}).directions
    else:
        with pytest.raises(ModelFormatError, match="must follow its direction"):
            Ensemble(schema, 0.25, rounds, directions={1: direction})


def test_intervals_and_directions_are_read_back(tmp_path: Path) -> None:
    model = model_of_one()
    model.save(tmp_path / "model.json")
    written = json.loads((tmp_path / "model.json").read_text())
    assert written["version"] == 4
    assert written["ensemble"]["intervals"] == {"gain": [0.25, 0.5]}
    assert written["ensemble"]["monotone"] == {"age": 1}
    loaded = load(tmp_path / "model.json")
    for again in (loaded, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert again.ensemble_ == model.ensemble_
        assert again.ensemble_.intervals == {1: (0.25, 0.5)}
        assert again.ensemble_.directions == {0: 1}
    assert model_of_one(intervals={}) != model
    assert model_of_one(directions={}) != model


@pytest.mark.parametrize("raised", [None, "0", [3], [True], [0.0], [[]]])
def test_classes_that_a_round_cannot_raise(tmp_path: Path, raised: Any) -> None:
    contents = small_model(3).to_dict()
    contents["ensemble"]["rounds"][0]["raises"] = raised
    assert "round 0: " in refused(tmp_path / "model.json", contents)


def test_two_classes_have_no_list_of_those_that_are_raised(tmp_path: Path) -> None:
    contents = small_model().to_dict()
    contents["ensemble"]["rounds"][0]["raises"] = ["high"]
    assert "a round must have the keys ['function']" in refused(tmp_path / "m.json", contents)


def test_numbers_of_switches_have_a_limit(tmp_path: Path) -> None:
    contents = small_model().to_dict()
    many = list(np.linspace(17, 89, 1000))
    contents["ensemble"]["rounds"] = [{"function": function(switches=many)}] * 1000
    path = tmp_path / "model.json"
    path.write_text(json.dumps(contents))
    assert load(path).n_features_in_ == 5
    contents["schema"]["features"]["work"]["categories"] = [f"c{i}" for i in range(10_000)]
    contents["schema"]["features"]["work"]["missing"] = "c0"
    mask = {"function": {"feature": "work", "positive": []}}
    contents["ensemble"]["rounds"] = [mask] * 500
    assert "at most 4194304 switches and categories" in refused(path, contents)


@pytest.mark.slow
@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rng=st.randoms(use_true_random=False), n_changes=st.integers(1, 3), more=st.booleans())
def test_a_changed_ensemble_predicts_or_is_refused(
    tmp_path: Path, rng: random.Random, n_changes: int, more: bool
) -> None:
    contents = small_model(3 if more else 2).to_dict()
    for _ in range(n_changes):
        _mutate(contents["ensemble"] if rng.random() < 0.7 else contents, rng)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(contents), encoding="utf-8")
    message = ""
    try:
        model = load(path)
    except ModelFormatError as error:
        message = str(error)
    if message:
        assert message.startswith(f"{path}: ")
        assert "\n" not in message
        return
    n_features = model.n_features_in_
    matrix = np.array([[math.nan] * n_features, [-math.inf] * n_features, [1.0] * n_features])
    assert np.allclose(model._predictor.predict_proba(matrix, np.arange(n_features)).sum(axis=1), 1)
    export_text(model)
    model.save(path)
    assert load(path) == model


ODD: list[Any] = [None, True, 0, 1, -1, 10**30, 0.5, 1e308, "", "age", "low", [], [[]], [None], {}]


def _mutate(contents: Any, rng: random.Random) -> None:
    """Change, take away or repeat something anywhere."""
    places = []
    waiting = [contents]
    while waiting:
        part = waiting.pop()
        keys = list(part) if isinstance(part, dict) else range(len(part))
        places += [(part, key) for key in keys]
        waiting += [part[key] for key in keys if isinstance(part[key], dict | list)]
    if not places:
        return
    container, key = rng.choice(places)
    action = rng.randrange(4)
    if action == 0:
        container[key] = copy.deepcopy(rng.choice(ODD))
    elif action == 1:
        del container[key]
    elif action == 2:
        source, other = rng.choice(places)
        container[key] = copy.deepcopy(source[other])
    elif isinstance(container, list):
        container.append(copy.deepcopy(container[key]))


# --- files of version 3 ---------------------------------------------------------------------------


def test_a_file_of_version_3_has_neither_intervals_nor_directions() -> None:
    path = Path(__file__).parent / "files" / "ensemble-version-3.json"
    model = load(path)
    assert json.loads(path.read_text())["version"] == 3
    assert (model.ensemble_.intervals, model.ensemble_.directions) == ({}, {})
    terms = model.terms()
    assert terms[0].names == ("physician-fee-freeze",)
    frame, _, _ = datasets.load("vote")
    scores = terms.decision_function(frame)
    assert np.abs(scores - model.decision_function(frame)).max() < 1e-12
    assert model.to_dict()["version"] == 4


# --- trained ensembles ----------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_a_trained_ensemble_is_read_back(tmp_path: Path, delta: float) -> None:
    frame, labels, schema = datasets.load("vote")
    model = PrivaBoostClassifier(1.0, delta=delta, schema=schema, random_state=0)
    model.fit(frame, labels).save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.ensemble_ == model.ensemble_
    assert loaded.predict(frame).tolist() == model.predict(frame).tolist()
    _check_same_terms(loaded.terms(), model.terms())


@pytest.mark.slow
def test_a_trained_ensemble_keeps_its_intervals(tmp_path: Path) -> None:
    """Ranges are a hundred times too wide; the terms need the intervals for their measure."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.uniform(0, 1, 5000), "b": rng.uniform(0, 1, 5000)})
    labels = np.where(frame["a"] + frame["b"] > 1, "yes", "no")
    schema = Schema({"a": Numeric(0, 100), "b": Numeric(0, 100)}, ["no", "yes"])
    model = PrivaBoostClassifier(2.0, schema=schema, monotonic_cst={"b": 1}, random_state=0)
    model.fit(frame, labels).save(tmp_path / "model.json")
    assert model.ensemble_.intervals.keys() == {0, 1}
    assert model.ensemble_.directions == {1: 1}
    loaded = load(tmp_path / "model.json")
    assert loaded.ensemble_ == model.ensemble_
    _check_same_terms(loaded.terms(), model.terms())
    axis = model.terms()["a"].axes[0]
    low, high = model.ensemble_.intervals[0]
    inside = (axis.edges[1:] > low) & (axis.edges[1:] <= high)
    assert high < 10
    assert axis.measure[inside].sum() > 0.5


def _check_same_terms(some: Any, others: Any) -> None:
    assert some.intercept.tolist() == others.intercept.tolist()
    for one, other in zip(some, others, strict=True):
        assert one.names == other.names
        assert one.values.tolist() == other.values.tolist()
        assert (one.band is None) == (other.band is None)
        assert one.band is None or one.band.tolist() == other.band.tolist()


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "rounds"), [(8.0, 40), (0.3, "auto"), (1.0, 3)])
def test_rounded_ranges_are_read_back(epsilon: float, rounds: Any, tmp_path: Path) -> None:
    """A file has ranges as floats: they are the very ranges that were certified."""
    frame, labels, schema = datasets.load("adult")
    model = PrivaBoostClassifier(epsilon, rounds=rounds, schema=schema, random_state=6)
    model.fit(frame, labels).save(tmp_path / "model.json")
    for group in model.privacy_.composition.groups:
        assert Fraction(float(group.epsilon)) == group.epsilon or rounds == 3
    assert str(load(tmp_path / "model.json").privacy_) == str(model.privacy_)
    assert load(tmp_path / "model.json").ensemble_ == model.ensemble_
