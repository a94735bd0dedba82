"""Our classifiers as ART sees them, and ART's own attacks and defences on them."""

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from privatree import (
    Categorical,
    Numeric,
    PaperPrivaTreeClassifier,
    ParameterError,
    PrivaTreeClassifier,
    Schema,
    datasets,
)
from privatree.robustness import BackdoorAttack, art_classifier
from privatree.robustness.attacks import PAPER_PIXELS
from privatree.robustness.attacks._art import UnitCubeClassifier

MIXED = Schema(
    {
        "age": Numeric(10, 90, integer=True),
        "height": Numeric(0.5, 2.5),
        "colour": Categorical(["red", "green", "blue"]),
        "only": Categorical(["one"]),
        "constant": Numeric(3, 3),
    },
    classes=["no", "yes", "maybe"],
)


@pytest.fixture(scope="module")
def vote():
    X, y, schema = datasets.load("vote")
    return X, y, PrivaTreeClassifier(epsilon=1.0, schema=schema, random_state=0).fit(X, y)


def mixed_frame():
    return pd.DataFrame(
        {
            "age": [10, 90, 50],
            "height": [0.5, 2.5, 1.234567],
            "colour": pd.Categorical(["red", "blue", "green"], ["red", "green", "blue"]),
            "only": pd.Categorical(["one"] * 3),
            "constant": [3.0] * 3,
        }
    )


# --- records and points, without ART ------------------------------------------------------------


def test_points_fill_the_unit_cube():
    points = UnitCubeClassifier(None, MIXED).points(mixed_frame())
    assert points.dtype == np.float32
    expected = [[0, 0, 0, 0, 0], [1, 1, 1, 0, 0], [0.5, 0.3672835, 0.5, 0, 0]]
    np.testing.assert_allclose(points, expected, atol=1e-7)


def test_points_and_records_are_inverse():
    cube = UnitCubeClassifier(None, MIXED)
    pd.testing.assert_frame_equal(cube.records(cube.points(mixed_frame())), mixed_frame())


def test_every_point_is_some_record():
    cube = UnitCubeClassifier(None, MIXED)
    records = cube.records(np.array([[-7.0, 1.3, 0.26, 0.9, 0.4], [0.501, 2, 0.24, -3, 9]]))
    assert records["age"].tolist() == [10, 50]
    assert records["height"].tolist() == [2.5, 2.5]
    assert records["colour"].tolist() == ["green", "red"]
    assert records["only"].tolist() == ["one", "one"]
    assert records["constant"].tolist() == [3.0, 3.0]
    missing = cube.records(np.full((1, 5), np.nan))
    assert missing.isna().to_numpy().all()
    for shape in ((5,), (1, 4)):
        with pytest.raises(ParameterError, match="5 columns"):
            cube.records(np.zeros(shape))


@settings(deadline=None, max_examples=60)
@given(
    st.integers(-(10**6), 10**6), st.integers(1, 10**6 - 1), st.integers(-6, 9),
    st.lists(st.floats(0, 1), min_size=1, max_size=5),
)  # fmt: skip
def test_six_digits_of_a_range_survive_single_precision(low, width, decimals, shares):
    def number(whole):
        return whole / 10.0**decimals if decimals > 0 else whole * 10.0**-decimals

    schema = Schema({"a": Numeric(number(low), number(low + width))}, classes=[0, 1])
    values = np.array([[number(low + round(share * width))] for share in shares])
    cube = UnitCubeClassifier(None, schema)
    assert cube.records(cube.points(values)).to_numpy().tolist() == values.tolist()


def test_extreme_ranges():
    for low, high in ((0, 5e-324), (-8e307, 8e307), (1e9, 1e9 + 1e-6), (0, 2**70)):
        schema = Schema({"a": Numeric(low, high)}, classes=[0, 1])
        found = UnitCubeClassifier(None, schema).records(np.array([[0.0], [0.5], [1.0]]))["a"]
        assert found.between(low, high).all()
        assert found.is_monotonic_increasing
        assert found[0] == low
    huge = Schema({"a": Numeric(0, 2**70, integer=True)}, classes=[0, 1])
    assert UnitCubeClassifier(None, huge).records(np.ones((1, 1)))["a"][0] == 2.0**70


def test_labels_and_one_hot():
    cube = UnitCubeClassifier(None, MIXED)
    encoded = cube.one_hot(pd.Series(["yes", "no", "maybe"]))
    assert encoded.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert cube.labels(encoded).tolist() == ["yes", "no", "maybe"]
    with pytest.raises(ParameterError, match="every label") as refused:
        cube.one_hot(["yes", "secret"])
    assert "secret" not in str(refused.value)


def test_predictions_are_the_models(vote):
    X, _, model = vote
    cube = UnitCubeClassifier(model, model.schema_)
    np.testing.assert_array_equal(cube.predict_proba(cube.points(X)), model.predict_proba(X))
    np.testing.assert_array_equal(cube.labels(np.eye(2)[cube.predict(cube.points(X))]),
                                  model.predict(X))  # fmt: skip
    released = UnitCubeClassifier(model.model_, model.schema_)
    np.testing.assert_array_equal(released.predict(cube.points(X)), cube.predict(cube.points(X)))
    with pytest.raises(ParameterError, match="Model, which only predicts"):
        released.fit(cube.points(X), np.zeros(len(X), dtype=int))


def test_fit_trains_a_copy(vote):
    X, y, model = vote
    cube = UnitCubeClassifier(model, model.schema_)
    points, positions = cube.points(X), cube.one_hot(y).argmax(axis=1)
    before = cube.predict(points)
    assert cube.fit(points, 1 - positions) is cube
    assert np.mean(cube.predict(points) == positions) < 0.1
    assert np.mean(before == positions) > 0.9
    np.testing.assert_array_equal(model.predict(X), cube.labels(np.eye(2)[before]))
    fresh = clone(cube)
    assert fresh.fit(points, positions).score(points, positions) > 0.9
    pickle.loads(pickle.dumps(cube)).predict(points)


def test_models_trained_on_arrays_and_with_fewer_classes():
    schema = Schema({"a": Numeric(0, 10), "b": Numeric(0, 1)}, classes=["z", "y", "x"])
    X = np.array([[0.0, 0.0], [10.0, 1.0]] * 20)
    y = np.array(["x", "z"] * 20)
    for model in (
        DecisionTreeClassifier().fit(X, y),
        PrivaTreeClassifier(1e3, schema=schema, random_state=0).fit(X, y),
    ):
        cube = UnitCubeClassifier(model, schema)
        assert np.rint(cube.predict_proba(cube.points(X[:2]))).tolist() == [[0, 0, 1], [1, 0, 0]]
        cube.fit(cube.points(X), np.array([1, 2] * 20))
        assert np.rint(cube.predict_proba(cube.points(X[:2]))).tolist() == [[0, 1, 0], [0, 0, 1]]
        assert not hasattr(cube.model_, "feature_names_in_")
    other = Schema({"a": Numeric(0, 10), "b": Numeric(0, 1)}, classes=["z", "y"])
    with pytest.raises(
        ParameterError, match="each class of the model must be a class of the schema"
    ):
        UnitCubeClassifier(DecisionTreeClassifier().fit(X, y), other).predict_proba(X)


def test_missing_extra(vote, monkeypatch):
    for name in [name for name in sys.modules if name == "art" or name.startswith("art.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "art", None)
    with pytest.raises(ParameterError, match=r"pip install 'privatree\[art\]'"):
        art_classifier(vote[2])


# --- with ART -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def art():
    return pytest.importorskip("art", reason="needs the extra 'art'")


@pytest.fixture
def seeded(art):
    """ART draws from numpy's global generator."""
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    yield
    np.random.set_state(state)  # noqa: NPY002


def test_where_the_schema_comes_from(art, vote):
    _, _, model = vote
    schema = model.schema_
    for known in (model, model.model_, PrivaTreeClassifier(schema=schema)):
        classifier = art_classifier(known)
        assert classifier.input_shape == (16,)
        assert classifier.nb_classes == 2
        assert classifier.model.schema == schema
    assert art_classifier(DecisionTreeClassifier(), schema).nb_classes == 2
    for unknown in (DecisionTreeClassifier(), PrivaTreeClassifier()):
        with pytest.raises(ParameterError, match=r"schema must be a privatree\.Schema, got NoneTy"):
            art_classifier(unknown)


def test_predictions_through_art(art):
    X, y, schema = datasets.load("adult")
    X, y = X.head(3000), y.head(3000)
    model = PrivaTreeClassifier(1.0, schema=schema, random_state=0).fit(X, y)
    classifier = art_classifier(model)
    found = classifier.predict(classifier.model.points(X))
    np.testing.assert_array_equal(found, model.predict_proba(X))


@pytest.mark.parametrize("attack", ["hop-skip-jump", "boundary"])
def test_black_box_evasion(vote, seeded, attack):
    from art.attacks.evasion import BoundaryAttack, HopSkipJump

    X, _, model = vote
    classifier = art_classifier(model)
    points = classifier.model.points(X.head(3))
    if attack == "boundary":
        found = BoundaryAttack(
            classifier, targeted=False, max_iter=4, num_trial=4, sample_size=4, verbose=False
        )
    else:
        found = HopSkipJump(
            classifier, max_iter=1, max_eval=20, init_eval=5, init_size=50, verbose=False
        )
    evading = found.generate(points)
    records = classifier.model.records(evading)
    assert (model.predict(records) != model.predict(X.head(3))).all()
    assert records.dtypes.tolist() == X.dtypes.tolist()


def test_arts_backdoor_is_ours(art):
    from art.attacks.poisoning import PoisoningAttackBackdoor
    from art.attacks.poisoning.perturbations import add_pattern_bd

    images = np.random.default_rng(0).random((5, 784))
    theirs = PoisoningAttackBackdoor(lambda x: add_pattern_bd(x, distance=1))
    found, _ = theirs.poison(images.reshape(-1, 28, 28), y=np.ones((5, 2)))
    ours = BackdoorAttack.on_image(PAPER_PIXELS, value=1.0, target=1).apply(images)
    np.testing.assert_array_equal(found.reshape(5, 784), ours)


@pytest.mark.parametrize("kind", [PrivaTreeClassifier, PaperPrivaTreeClassifier])
@pytest.mark.filterwarnings("ignore::privatree.PaperClaimWarning")
def test_arts_backdoor_and_training(art, vote, kind):
    from art.attacks.poisoning import PoisoningAttackBackdoor

    X, y, trained = vote
    classifier = art_classifier(kind(50.0, schema=trained.schema_, random_state=0))
    points, labels = classifier.model.points(X), classifier.model.one_hot(y)

    def trigger(x):
        x = x.copy()
        x[:, [0, 5]] = 0.0, 1.0
        return x

    sources = labels[:, 0] == 1
    target = np.broadcast_to(labels[~sources][0], (2 * sources.sum(), 2))
    twice = np.vstack([points[sources]] * 2)
    added, added_labels = PoisoningAttackBackdoor(trigger).poison(twice, y=target)
    poisoned = classifier.clone_for_refitting()
    poisoned.fit(np.vstack([points, added]), np.vstack([labels, added_labels]))
    classifier.fit(points, labels)
    rates = [
        np.mean(fitted.predict(trigger(points[sources])).argmax(axis=1) == 1)
        for fitted in (classifier, poisoned)
    ]
    assert np.mean(classifier.predict(points).argmax(axis=1) == labels.argmax(axis=1)) > 0.9
    assert rates[1] > 0.9 > rates[0]


def _share_right(labels, probabilities):
    return np.mean(labels.argmax(axis=1) == probabilities.argmax(axis=1))


def test_a_defence_that_trains_again(vote, seeded):
    from art.defences.detector.poison import RONIDefense

    X, y, model = vote
    classifier = art_classifier(model)
    points, labels = classifier.model.points(X), classifier.model.one_hot(y)
    suspects = points[:6], labels[:6]
    defence = RONIDefense(
        classifier, *suspects, points[-100:], labels[-100:], perf_func=_share_right,
        calibrated=False, eps=0.5,
    )  # fmt: skip
    _, is_clean = defence.detect_poison()
    assert is_clean == [1] * 6
    assert not hasattr(classifier.model, "model_")  # what it trained were copies
