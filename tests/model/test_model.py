from __future__ import annotations

import copy
import dataclasses
import json
import math
import os
import pickle
import random
import stat
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privatree import datasets
from privatree._support.json_files import MAX_BYTES
from privatree.errors import ModelFormatError, ParameterError, SchemaError
from privatree.model import Model, TreeBuilder, load
from privatree.privacy import Leak, PrivacyStatement, Spend
from privatree.schema import Categorical, Numeric, Schema

SCHEMA = Schema(
    features={
        "age": Numeric(17, 90, integer=True),
        "work": Categorical(["private", "state", "none"], missing="none"),
        "gain": Numeric(0.0, 1.0, cuts=[0.25, 0.5]),
    },
    classes=["low", "high"],
)
STATEMENT = PrivacyStatement(
    learner="a learner",
    epsilon=math.inf,
    public=("the schema",),
    leaks=(Leak("schema", "read from the data"),),
)


def small_model(schema: Schema = SCHEMA, probability: bool = True) -> Model:
    """age <= 37 ? (work is state ? first class : second) : second."""
    builder = TreeBuilder(schema)
    young, old = builder.split_numeric(builder.root, 0, 37.0)
    state, other = builder.split_categories(young, 1, [1])
    for node, label, row in ((old, 1, [0.5, 0.5]), (state, 0, [0.75, 0.25]), (other, 1, [0, 1])):
        builder.leaf(node, label, row if probability else None)
    return Model(schema, builder.build(), STATEMENT)


FRAME = pd.DataFrame(
    {
        "age": [20.0, 20.0, 80.0, math.nan],
        "work": ["state", "private", "state", "elsewhere"],
        "gain": [0.1, 0.2, 0.3, 0.4],
    }
)
EXPECTED = ["low", "high", "high", "high"]


# --- the statement fits the tree -----------------------------------------------------------------


def with_spends(epsilon: float, *spends: tuple[float, int | None, int]) -> PrivacyStatement:
    listed = tuple(Spend("some", Fraction(e), "some", node, times) for e, node, times in spends)
    return PrivacyStatement(learner="a learner", epsilon=epsilon, spends=listed)


def test_a_statement_may_not_promise_more_than_its_spends() -> None:
    """Node 0 has the children 1 and 2, node 1 the children 3 and 4."""
    tree = small_model().tree_
    path = [(0.25, None, 1), (0.125, 0, 2), (0.25, 1, 1), (0.25, 4, 1)]
    elsewhere = [(0.5, 2, 1), (0.25, 3, 1)]
    Model(SCHEMA, tree, with_spends(1.0, *path, *elsewhere))
    with pytest.raises(ModelFormatError, match="epsilon must be at least the sum"):
        Model(SCHEMA, tree, with_spends(0.999, *path, *elsewhere))
    with pytest.raises(ModelFormatError, match="the node of a spend must be a node of the tree"):
        Model(SCHEMA, tree, with_spends(1.0, (0.5, 5, 1)))
    with pytest.raises(ModelFormatError, match="at least the sum"):
        Model(SCHEMA, tree, with_spends(1.0, (0.5, 0, 10**400)))


def test_a_statement_with_leaks_has_no_finite_epsilon() -> None:
    with pytest.raises(ModelFormatError, match="infinite where there are leaks"):
        Model(SCHEMA, small_model().tree_, dataclasses.replace(STATEMENT, epsilon=1.0))


# --- using a model ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame",
    [
        FRAME,
        FRAME[["gain", "work", "age"]],
        pl.from_dict(FRAME.to_dict("list")),
        pa.Table.from_pydict(FRAME.to_dict("list")),
        FRAME.to_numpy(dtype=object),
    ],
    ids=["pandas", "reordered", "polars", "arrow", "numpy"],
)
def test_predictions_on_any_frame(frame: Any) -> None:
    model = small_model()
    assert model.predict(frame).tolist() == EXPECTED
    assert model.apply(frame).tolist() == [3, 4, 2, 4]
    assert model.predict_proba(frame).tolist() == [[0.75, 0.25], [0, 1], [0.5, 0.5], [0, 1]]
    assert model.score(frame, ["low", "low", "high", None]) == 0.5


def test_names_are_passed_on() -> None:
    array = FRAME[["gain", "work", "age"]].to_numpy(dtype=object)
    assert small_model().predict(array, names=["gain", "work", "age"]).tolist() == EXPECTED
    assert small_model().apply(array, names=["gain", "work", "age"]).tolist() == [3, 4, 2, 4]
    for method in (small_model().predict, small_model().apply, small_model().predict_proba):
        with pytest.raises(SchemaError, match="lacks 'age'"):
            method(array, names=["gain", "work", "years"])


def test_without_probabilities_a_leaf_is_sure() -> None:
    model = small_model(probability=False)
    assert model.predict_proba(FRAME).tolist() == [[1, 0], [0, 1], [0, 1], [0, 1]]


def test_score_needs_records() -> None:
    with pytest.raises(ParameterError, match="same number"):
        small_model().score(FRAME, ["low"])
    with pytest.raises(ParameterError, match="at least one"):
        small_model().score(FRAME.iloc[:0], [])


@pytest.mark.parametrize(
    ("classes", "dtype"),
    [
        (["a", "bcd"], np.dtype("<U3")),
        ([0, 1], np.dtype(int)),
        ([False, True], np.dtype(bool)),
        ([0.5, 1.5], np.dtype(float)),
        ([0, 1.5], np.dtype(float)),
        ([0, 10**30], np.dtype(object)),
        ([0.5, 10**300], np.dtype(object)),
        ([0.5, 2**53 + 1], np.dtype(object)),
        (["a", "a\0"], np.dtype(object)),
    ],
)
def test_classes_are_an_array_that_keeps_every_label(classes: list[Any], dtype: Any) -> None:
    model = small_model(Schema(SCHEMA.features, classes))
    assert model.classes_.dtype == dtype
    assert model.classes_.tolist() == classes
    assert model.predict(FRAME).tolist() == [classes[0], *[classes[1]] * 3]


def test_scikit_learn_names() -> None:
    model = small_model()
    assert model.feature_names_in_.tolist() == ["age", "work", "gain"]
    assert model.feature_names_in_.dtype == object
    assert model.n_features_in_ == 3


def test_a_tree_of_another_schema_is_refused() -> None:
    other = Schema(SCHEMA.features, ["high", "low"])
    with pytest.raises(ModelFormatError, match="schema of the tree must be"):
        Model(other, small_model().tree_, STATEMENT)


def test_pickling_keeps_a_model() -> None:
    assert pickle.loads(pickle.dumps(small_model())) == small_model()


# --- writing ------------------------------------------------------------------------------------


def test_a_saved_model_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    small_model().save(path)
    assert load(str(path)) == small_model()
    assert load(path).predict(FRAME).tolist() == EXPECTED


def test_the_file_is_what_the_format_says(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    small_model().save(path)
    text = path.read_text(encoding="utf-8")
    assert text.startswith('{\n "format": "privatree-model",\n "version": 2,\n "classes": [\n')
    assert list(json.loads(text)) == ["format", "version", "classes", "schema", "tree", "privacy"]
    assert "Infinity" not in text


def test_a_file_of_version_1_loads() -> None:
    """It was written by the first version that had a format, and its leaves have labels only."""
    path = Path(__file__).parent / "files" / "version-1.json"
    assert json.loads(path.read_text(encoding="utf-8"))["version"] == 1
    model, frame = load(path), datasets.load("vote").frame
    assert model.tree_.probability is None
    assert model.tree_.support is None
    assert model.privacy_.noisy_records is None
    assert model.schema_.about is None
    labels = set(model.predict(frame).tolist())
    assert labels == {"democrat", "republican"}
    assert set(np.unique(model.predict_proba(frame)).tolist()) == {0.0, 1.0}


@pytest.mark.parametrize("name", ["Größe", "line\nbreak", "\x00", '"\\'])
def test_any_name_survives(tmp_path: Path, name: str) -> None:
    schema = Schema({**SCHEMA.features, name: Categorical([name, "x"])}, [name, "other"])
    model = small_model(schema)
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json") == model


def test_half_a_surrogate_pair_survives(tmp_path: Path) -> None:
    statement = dataclasses.replace(STATEMENT, learner="\ud800")
    model = dataclasses.replace(small_model(), privacy_=statement)
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json") == model


def test_saving_leaves_a_whole_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.json"
    path.write_text("before")

    def fail(*_: Any) -> None:
        raise OSError("disk full")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="disk full"):
            small_model().save(path)
    assert path.read_text() == "before"
    small_model().save(path)
    assert load(path) == small_model()
    assert [file.name for file in tmp_path.iterdir()] == ["model.json"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_saved_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    small_model().save(tmp_path / "model.json")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "model.json")]
    assert modes[0] == modes[1]


# --- reading ------------------------------------------------------------------------------------


def refused(path: Path, contents: bytes | str) -> str:
    path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
    with pytest.raises(ModelFormatError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return message.removeprefix(f"{path}: ")


def written(**changes: Any) -> str:
    return json.dumps(small_model().to_dict() | changes)


def test_a_missing_file_is_just_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere.json")


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"", "must be JSON"),
        (b"\xff\xfe", "must be UTF-8"),
        (b"\xef\xbb\xbf{}", "'format': 'privatree-model'"),
        (b"{", "must be JSON"),
        (b"null", "'format': 'privatree-model'"),
        (b'{"format": "other"}', "'format': 'privatree-model'"),
        (b'{"a": 1, "a": 1}', "same key twice"),
        (b'[{"b": {"a": 1, "a": 2}}]', "same key twice"),
        (b"[NaN]", "must be finite"),
        (b"[Infinity]", "must be finite"),
        (b"[-Infinity]", "must be finite"),
        (b"[1e999]", "must be finite"),
        (b"[" + b"9" * 5000 + b"]", "thousands of digits"),
        (b"[" * 200_000, "without deep nesting"),
        (b'{"a":' * 200_000, "without deep nesting"),
        (b" " * (MAX_BYTES + 1), f"at most {MAX_BYTES} bytes"),
        (written(version=5), "got version 5. Upgrade privatree"),
        (written(version=10**100), "got a later version. Upgrade privatree"),
        (written(version=0), "'version' must be"),
        (written(version=True), "'version' must be"),
        (written(version=1.0), "'version' must be"),
        (written(version="1"), "'version' must be"),
        (written(extra=1), "must have the keys"),
        (json.dumps({"format": "privatree-model", "version": 1}), "must have the keys"),
        (written(classes=["high", "low"]), "'classes' must equal"),
        (written(classes="lowhigh"), "'classes' must equal"),
        (written(schema={}), "schema: "),
        (written(schema=[]), "schema: "),
        (written(tree=None), "'nodes'"),
        (written(privacy={}), "privacy: "),
        (written(privacy=[]), "privacy must be a JSON object"),
    ],
)
def test_what_is_not_a_model_is_refused(
    tmp_path: Path, contents: bytes | str, message: str
) -> None:
    assert message in refused(tmp_path / "model.json", contents)


def test_whole_numbers_and_truth_values_are_different_classes(tmp_path: Path) -> None:
    contents = small_model(Schema(SCHEMA.features, [0, 1])).to_dict()
    for classes in ([False, True], [0.0, 1.0]):
        message = refused(tmp_path / "model.json", json.dumps(contents | {"classes": classes}))
        assert "'classes' must equal" in message


def test_a_long_message_is_cut(tmp_path: Path) -> None:
    contents = small_model().to_dict()
    contents["schema"]["features"]["age"]["low"] = ["x" * 80] * 50
    assert len(refused(tmp_path / "model.json", json.dumps(contents))) <= 300


# --- broken files, at random --------------------------------------------------------------------

ODD_VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 10**30, 10**400, 0.5, -0.0, 1e308, "", "age", "low",
    "infinity", "\n", [], [[]], ["state"], [1, 2], {}, {"a": 1}, {"label": "low"},
    {"kind": "numeric", "low": 0, "high": 1},
]  # fmt: skip


def places(part: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) inside a JSON value."""
    keys = part.keys() if isinstance(part, dict) else range(len(part))
    found = []
    for key in keys:
        found.append((part, key))
        if isinstance(part[key], (dict, list)):
            found += places(part[key])
    return found


def mutate(contents: dict[str, Any], rng: random.Random) -> None:
    everywhere = places(contents)
    container, key = rng.choice(everywhere)
    action = rng.randrange(6)
    if action == 0:
        container[key] = copy.deepcopy(rng.choice(ODD_VALUES))
    elif action == 1:
        del container[key]
    elif action == 2:
        source, source_key = rng.choice(everywhere)
        container[key] = copy.deepcopy(source[source_key])
    elif action == 3 and isinstance(container, list):
        container.insert(rng.randrange(len(container) + 1), copy.deepcopy(container[key]))
    elif action == 4 and isinstance(container, list):
        rng.shuffle(container)
    elif isinstance(container, dict):
        container[rng.choice(["label", "extra", "missing", "cuts", "kind"])] = container.pop(key)
    elif isinstance(container[key], (int, float)):
        container[key] += rng.choice([-1, 1, 0.5, 100])


def loads_and_predicts_or_is_refused(path: Path) -> bool:
    message = ""
    try:
        model = load(path)
    except ModelFormatError as error:
        message = str(error)
    if message:
        assert message.startswith(f"{path}: ")
        assert "\n" not in message
        return False
    n_features = model.n_features_in_
    matrix = np.array([[math.nan] * n_features, [-math.inf] * n_features, [1.0] * n_features])
    columns = np.arange(n_features)
    assert set(model.tree_.apply(matrix, columns)) <= set(np.flatnonzero(model.tree_.feature < 0))
    assert set(model.classes_[model.tree_.predict(matrix, columns)]) <= set(model.classes_)
    assert np.allclose(model.tree_.predict_proba(matrix, columns).sum(axis=1), 1.0)
    assert str(model.privacy_)
    model.save(path)
    assert load(path) == model
    return True


@pytest.mark.slow
@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rng=st.randoms(use_true_random=False), n_changes=st.integers(1, 4), first=st.booleans())
def test_a_changed_model_predicts_or_is_refused(
    tmp_path: Path, rng: random.Random, n_changes: int, first: bool
) -> None:
    contents = small_model(probability=first).to_dict()
    for _ in range(n_changes):
        mutate(contents, rng)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(contents), encoding="utf-8")
    loads_and_predicts_or_is_refused(path)


@pytest.mark.slow
@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rng=st.randoms(use_true_random=False))
def test_changed_bytes_predict_or_are_refused(tmp_path: Path, rng: random.Random) -> None:
    encoded = bytearray(written().encode())
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(encoded))
        stop = start + rng.choice([0, 1, 1, 2, 10])
        encoded[start:stop] = rng.choice([b"", b"0", b"9", b'"', b"}", b"\xff", b"e9", b"-"])
    path = tmp_path / "model.json"
    path.write_bytes(encoded)
    loads_and_predicts_or_is_refused(path)


def test_the_random_changes_reach_both_ends(tmp_path: Path) -> None:
    """Otherwise the two tests above would show nothing."""
    path, outcomes = tmp_path / "model.json", set()
    for seed in range(200):
        contents = small_model().to_dict()
        mutate(contents, random.Random(seed))
        path.write_text(json.dumps(contents), encoding="utf-8")
        outcomes.add(loads_and_predicts_or_is_refused(path))
    assert outcomes == {True, False}


def test_a_file_from_before_there_were_marks_gets_them():
    """Else its schema, read from records, would give the next model a finite epsilon."""
    schema = Schema({"age": Numeric(20, 90)}, ["no", "yes"])
    builder = TreeBuilder(schema)
    builder.leaf(builder.root, 0)
    leaky = PrivacyStatement("x", math.inf, leaks=(Leak("schema read from the data", "so"),))
    written = Model(schema, builder.build(), leaky).to_dict()
    assert "unconfirmed" not in json.dumps(written["schema"])
    assert Model.from_dict(written).schema_ == schema.all_unconfirmed()


def test_delta_must_cover_the_spends():
    schema = Schema({"age": Numeric(20, 90)}, ["no", "yes"])
    builder = TreeBuilder(schema)
    builder.leaf(builder.root, 0)
    spends = (Spend("gaussian", Fraction(1, 2), "count", None, 2, Fraction(1, 10)),)
    Model(schema, builder.build(), PrivacyStatement("x", 1.0, delta=0.2, spends=spends))
    with pytest.raises(ModelFormatError, match="delta must be at least"):
        Model(schema, builder.build(), PrivacyStatement("x", 1.0, delta=0.1, spends=spends))
