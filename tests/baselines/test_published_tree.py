"""What BDPT and DPGDF share: parameters, any content, any frame, statement and warning."""

import math
import pickle
import warnings

import numpy as np
import pandas as pd
import people
import polars as pl
import pyarrow as pa
import pytest
from people import SCHEMA

import privatree
from privatree import Categorical, Numeric, Schema, baselines
from privatree.baselines import BDPTClassifier, DPGDFClassifier
from privatree.errors import PaperClaimWarning, ParameterError, PrivacyLeakWarning, SchemaError

pytestmark = [
    pytest.mark.filterwarnings("ignore::privatree.PaperClaimWarning"),
    pytest.mark.parametrize("classifier", [BDPTClassifier, DPGDFClassifier]),
]


def table(n=300, seed=0):
    frame, _ = people.table(n, seed)
    return frame, np.where((frame["job"] == "cook") | (frame["age"] > 95), "yes", "no")


def model(classifier, epsilon=1.0, **changes):
    return classifier(epsilon, **({"schema": SCHEMA, "random_state": 0} | changes))


def test_it_is_public(classifier):
    assert getattr(baselines, classifier.__name__) is classifier
    assert classifier.__name__ in baselines.__all__


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 0}, "epsilon must be > 0, got 0."),
        ({"epsilon": "1"}, "epsilon must be a number, got '1'."),
        ({"max_depth": 0}, "max_depth must be an integer from 1 to 10, got 0."),
        ({"max_depth": 11}, "max_depth must be an integer from 1 to 10, got 11."),
        ({"random_state": -1}, "random_state must be >= 0, got -1."),
    ],
)
def test_bad_parameters(classifier, changes, message):
    with pytest.raises(ParameterError) as raised:
        model(classifier, **changes).fit(*table())
    assert str(raised.value) == message


def test_bad_columns_and_numbers_of_rows(classifier):
    frame, labels = table()
    with pytest.raises(SchemaError, match="lacks 'job'"):
        model(classifier).fit(frame.drop(columns="job"), labels)
    with pytest.raises(ValueError, match="same number of rows") as raised:
        model(classifier).fit(frame, labels[:-7])
    assert str(len(labels)) not in str(raised.value)


def contents():
    frame, labels = table(40)
    nasty = [{}, [], "x", object(), 10**400, float("nan"), None, True] * 5
    missing = pd.DataFrame({"age": [np.nan] * 40, "income": [np.nan] * 40, "job": [np.nan] * 40})
    return {
        "no rows": (frame[:0], labels[:0]),
        "one row": (frame[:1], labels[:1]),
        "one class": (frame, np.full(40, "yes")),
        "lists without rows": ([], []),
        "no known label": (frame, np.full(40, "maybe")),
        "missing labels": (frame, np.full(40, None, dtype=object)),
        "all missing": (missing, labels),
        "out of range": (frame.assign(age=10**9, income=-(10.0**300)), labels),
        "infinite": (frame.assign(income=np.inf), labels),
        "unknown category": (frame.assign(job="astronaut"), labels),
        "constant": (frame.assign(age=5, income=0.0, job="cook"), labels),
        "nasty objects": (pd.DataFrame(dict.fromkeys(frame, nasty), dtype=object), labels),
    }


@pytest.mark.parametrize("content", contents())
def test_no_content_makes_fit_fail_or_warn(classifier, content):
    X, y = contents()[content]
    estimator = model(classifier)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, y)
    assert [w.category for w in caught] == [PaperClaimWarning]
    frame, _ = table(10)
    has_names = hasattr(estimator, "feature_names_in_")
    assert len(estimator.predict(frame if has_names else frame.to_numpy(dtype=object))) == 10


def test_numeric_features_of_any_shape(classifier):
    """As many distinct values as a multiple of five, one more, one less; ends of the range."""
    for n_values in (1, 4, 5, 6, 9, 10, 11):
        schema = Schema({"a": Numeric(1, n_values), "b": Numeric(3, 3)}, [0, 1])
        X = np.column_stack([np.arange(1, n_values + 1), np.full(n_values, 3)])
        tree = model(classifier, schema=schema).fit(X, np.arange(n_values) % 2).tree_
        n_groups = -(-n_values // 5) if classifier is BDPTClassifier else 1
        assert (tree.depth > 0) == (n_groups > 1)


def test_every_frame_gives_the_same_tree(classifier):
    frame, labels = table()
    forms = {
        "pandas": frame,
        "other order": frame[["job", "age", "income"]],
        "polars": pl.from_pandas(frame),
        "arrow": pa.Table.from_pandas(frame),
        "numpy": frame.to_numpy(dtype=object),
    }
    reference = model(classifier).fit(frame, labels)
    assert reference.tree_.n_leaves >= 8
    for name, form in forms.items():
        estimator = model(classifier).fit(form, labels)
        assert estimator.tree_ == reference.tree_, name
        np.testing.assert_array_equal(estimator.predict(form), reference.predict(frame))


def test_records_without_a_known_label_are_left_out(classifier):
    frame, labels = table()
    more = pd.concat([frame, frame.assign(age=99)], ignore_index=True)
    mixed = np.concatenate((labels, np.full(len(frame), "maybe")))
    trees = [model(classifier).fit(*pair).tree_ for pair in ((more, mixed), (frame, labels))]
    assert trees[0] == trees[1]


def test_without_much_noise_it_learns_several_classes(classifier):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (2000, 2))
    schema = Schema(dict.fromkeys("uv", Categorical([0, 1, 2])), ["a", "b", "c"])
    y = np.array(["a", "b", "c"])[X[:, 1]]
    assert model(classifier, 1000.0, schema=schema).fit(X, y).score(X, y) == 1.0


# --- the statement ------------------------------------------------------------------------------


def test_the_statement_says_infinite_and_the_warning_why(classifier):
    frame, labels = table()
    with pytest.warns(PaperClaimWarning) as caught:
        privacy = model(classifier, 0.5).fit(frame, labels).privacy_
    assert caught[0].filename == __file__
    message = str(caught[0].message)
    assert message.startswith(f"epsilon=0.5 is the claim of {classifier.__name__[:-10]}, not a ")
    assert privacy.leaks
    assert all(leak.name in message for leak in privacy.leaks)
    assert privacy.learner == classifier.__name__
    assert (privacy.epsilon, privacy.claimed_epsilon) == (math.inf, 0.5)
    assert privacy.neighbours == "add-remove"
    assert privacy.seeded
    text = " ".join(str(privacy).split())
    assert "infinite: no guarantee" in text
    assert "On every path they add up to at most the claimed epsilon" in text
    assert ("numeric ones are ignored" in text) == (classifier is DPGDFClassifier)


def test_without_a_schema_it_warns_once_more(classifier):
    frame, labels = table()
    with pytest.warns(PrivacyLeakWarning, match="schema") as caught:
        privacy = model(classifier, schema=None).fit(frame, labels).privacy_
    (leak,) = [w for w in caught if w.category is PrivacyLeakWarning]
    assert leak.filename == __file__
    assert privacy.leaks[0].name == "schema read from the data"
    assert len(privacy.leaks) > 1


def test_saved_and_pickled_models_predict_the_same(classifier, tmp_path):
    frame, labels = table()
    estimator = model(classifier).fit(frame, labels)
    estimator.save(tmp_path / "model.json")
    loaded = privatree.load(tmp_path / "model.json")
    again = pickle.loads(pickle.dumps(estimator))
    for other in (loaded, again):
        assert other.tree_ == estimator.tree_
        assert str(other.privacy_) == str(estimator.privacy_)


def test_unseeded_fits_differ(classifier):
    frame, labels = table()
    trees = [model(classifier, 0.01, random_state=None).fit(frame, labels).tree_ for _ in range(4)]
    assert not all(tree == trees[0] for tree in trees)
