import math
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from people import SCHEMA, table

import privatree
from privatree import Numeric, PaperPrivaTreeClassifier, Schema
from privatree.errors import PaperClaimWarning, ParameterError, PrivacyLeakWarning, SchemaError

pytestmark = pytest.mark.filterwarnings("ignore::privatree.PaperClaimWarning")


def model(epsilon=1.0, **changes):
    return PaperPrivaTreeClassifier(epsilon, **({"schema": SCHEMA, "random_state": 0} | changes))


# --- parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 0}, "epsilon must be > 0, got 0."),
        ({"epsilon": -1.0}, "epsilon must be > 0, got -1.0."),
        ({"epsilon": float("nan")}, "epsilon must be a finite number, got nan."),
        ({"epsilon": float("inf")}, "epsilon must be a finite number, got inf."),
        ({"epsilon": "1"}, "epsilon must be a number, got '1'."),
        ({"epsilon": True}, "epsilon must be a number, got True."),
        ({"epsilon": None}, "epsilon must be a number, got None."),
        ({"epsilon": 1e-12}, "epsilon must be at least 1e-09, got 1e-12."),
        (
            {"epsilon": 10**400},
            "epsilon must be at most 1e+09, got more. An epsilon this large gives no privacy.",
        ),
        ({"max_depth": 0}, "max_depth must be an integer from 1 to 16, got 0."),
        ({"max_depth": -3}, "max_depth must be an integer from 1 to 16, got -3."),
        ({"max_depth": 2.5}, "max_depth must be an integer from 1 to 16, got 2.5."),
        ({"max_depth": 17}, "max_depth must be an integer from 1 to 16, got 17."),
        ({"max_depth": None}, "max_depth must be an integer from 1 to 16, got None."),
        ({"n_bins": 1}, "n_bins must be an integer from 2 to 256, got 1."),
        ({"n_bins": 300}, "n_bins must be an integer from 2 to 256, got 300."),
        ({"max_leaf_error": 0.0}, "max_leaf_error must be > 0, got 0.0."),
        ({"max_leaf_error": 1.0}, "max_leaf_error must be less than 1, got 1.0."),
        ({"quantiles": "both"}, 'quantiles must be "private" or "exact", got \'both\'.'),
        ({"stop_when_pure": "no"}, "stop_when_pure must be True or False, got 'no'."),
        (
            {"schema": {"a": 1}},
            "schema must be a privatree.Schema or None, got dict. "
            "Schema.from_toml(path) reads one from a file.",
        ),
        ({"random_state": "x"}, "random_state must be None, an int or a numpy generator, got str."),
        ({"random_state": -1}, "random_state must be >= 0, got -1."),
    ],
)
def test_bad_parameters(changes, message):
    with pytest.raises(ParameterError) as raised:
        model(**changes).fit(*table())
    assert str(raised.value) == message


def test_bad_columns_and_types():
    frame, labels = table()
    with pytest.raises(SchemaError, match=r"lacks 'job'\. .* Did you mean 'Job'\?"):
        model().fit(frame.rename(columns={"job": "Job"}), labels)
    with pytest.raises(SchemaError, match=r"'age' has type .*numeric"):
        model().fit(frame.assign(age="old"), labels)
    with pytest.raises(SchemaError, match="type"):
        model().fit(frame, np.zeros(len(frame), dtype=bool))
    with pytest.raises(ValueError, match="same number of rows") as raised:
        model().fit(frame, labels[:-7])
    assert str(len(labels)) not in str(raised.value)


# --- what the records contain is never an error, nor a warning ----------------------------------


def contents():
    frame, labels = table(40)
    nasty = [{}, [], "x", object(), 10**400, float("nan"), None, True] * 5
    missing = pd.DataFrame({"age": [np.nan] * 40, "income": [np.nan] * 40, "job": [np.nan] * 40})
    return {
        "no rows": (frame[:0], labels[:0]),
        "one row": (frame[:1], labels[:1]),
        "one class": (frame, np.full(40, "yes")),
        "lists without rows": ([], []),
        "empty arrays": (np.empty((0, 3), dtype=object), np.array([])),
        "no known label": (frame, np.full(40, "maybe")),
        "missing labels": (frame, np.full(40, None, dtype=object)),
        "all missing": (missing, labels),
        "out of range": (frame.assign(age=10**9, income=-(10.0**300)), labels),
        "infinite": (frame.assign(income=np.inf), labels),
        "unknown category": (frame.assign(job="astronaut"), labels),
        "constant": (frame.assign(age=5, income=0.0, job="cook"), labels),
        "nasty objects": (pd.DataFrame(dict.fromkeys(frame, nasty), dtype=object), labels),
    }


@pytest.mark.slow
@pytest.mark.parametrize("quantiles", ["private", "exact"])
@pytest.mark.parametrize("stop_when_pure", [True, False])
@pytest.mark.parametrize("content", contents())
def test_no_content_makes_fit_fail_or_warn(content, quantiles, stop_when_pure):
    X, y = contents()[content]
    estimator = model(quantiles=quantiles, stop_when_pure=stop_when_pure)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, y)
    assert [w.category for w in caught] == [PaperClaimWarning]
    frame, _ = table(10)
    has_names = hasattr(estimator, "feature_names_in_")
    assert len(estimator.predict(frame if has_names else frame.to_numpy(dtype=object))) == 10


# --- the same table in any form gives the same tree ---------------------------------------------


def test_every_frame_gives_the_same_tree():
    frame, labels = table()
    frame.loc[3, "job"] = "unknown"
    frame = frame.astype({"age": float})
    frame.loc[5, "age"] = np.nan
    shuffled = frame[["job", "age", "income"]]
    forms = {
        "pandas": frame,
        "pandas, columns in another order": shuffled,
        "pandas category": frame.astype({"job": "category"}),
        "pandas object": frame.astype(object),
        "polars": pl.from_pandas(frame),
        "arrow": pa.Table.from_pandas(frame),
        "numpy": frame.to_numpy(dtype=object),
    }
    fitted = {name: model().fit(form, labels) for name, form in forms.items()}
    reference = fitted["pandas"]
    assert reference.tree_.n_leaves > 4
    for name, estimator in fitted.items():
        assert estimator.tree_ == reference.tree_, name
        np.testing.assert_array_equal(estimator.predict(forms[name]), reference.predict(frame))
    by_position = fitted["pandas, columns in another order"]
    with pytest.warns(UserWarning, match="valid feature names"):
        predicted = by_position.predict(shuffled.to_numpy(dtype=object))
    np.testing.assert_array_equal(predicted, reference.predict(frame))


def test_records_without_a_known_label_are_left_out():
    frame, labels = table()
    more = pd.concat([frame, frame.assign(age=99)], ignore_index=True)
    mixed = np.concatenate((labels, np.full(len(frame), "maybe")))
    assert model().fit(more, mixed).tree_ == model().fit(frame, labels).tree_


def test_multiclass_learns():
    rng = np.random.default_rng(0)
    X = rng.random((3000, 2))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [0.3, 0.7])]
    schema = Schema({"u": Numeric(0, 1), "v": Numeric(0, 1)}, ["a", "b", "c"])
    assert model(5.0, schema=schema).fit(X, y).score(X, y) > 0.9


# --- the statement ------------------------------------------------------------------------------


def test_statement_of_the_printed_algorithm():
    frame, labels = table()
    with pytest.warns(PaperClaimWarning, match=r"no finite epsilon holds \(purity stop\)"):
        privacy = model(0.5).fit(frame, labels).privacy_
    assert privacy.claimed_epsilon == 0.5
    assert privacy.epsilon == math.inf
    assert [leak.name for leak in privacy.leaks] == ["purity stop"]
    assert privacy.seeded
    assert privacy.neighbours == "add-remove"
    assert "number of records" in str(privacy)


def test_statement_without_the_purity_stop():
    frame, labels = table()
    privacy = model(0.5, stop_when_pure=False, random_state=None).fit(frame, labels).privacy_
    leaf = min(0.25, 16 / math.e / (0.01 * len(frame)))
    assert privacy.epsilon == pytest.approx(3 * (0.5 - leaf) + leaf)
    assert not privacy.leaks
    assert not privacy.seeded


def test_missing_labels_do_not_show_in_the_statement():
    frame, labels = table()
    some_missing = labels.astype(object)
    some_missing[::7] = None
    for y in (labels, some_missing):
        privacy = model(10.0, stop_when_pure=False).fit(frame, y).privacy_
        leaf = next(s.epsilon for s in privacy.spends if s.purpose == "leaf label")
        assert float(leaf) == pytest.approx(16 / math.e / (0.01 * len(frame)))


def test_statement_gives_what_a_replaced_record_pays():
    privacy = model(0.5, stop_when_pure=False).fit(*table()).privacy_
    # Leaf .25, two numeric features with quantiles .05 each.
    assert privacy.epsilon == 1.0
    assert "one record replaced it is 1.9." in " ".join(str(privacy).split())


def test_a_finite_epsilon_says_that_quantiles_are_rounded():
    frame, labels = table()
    with_quantiles = model(stop_when_pure=False).fit(frame, labels).privacy_
    assert any("drawn in floating point" in note for note in with_quantiles.notes)
    categories = Schema({"job": SCHEMA.features["job"]}, SCHEMA.classes)
    without = model(stop_when_pure=False, schema=categories).fit(frame[["job"]], labels).privacy_
    assert not any("floating point" in note for note in without.notes)


def test_statement_names_exact_quantiles():
    frame, labels = table()
    privacy = model(quantiles="exact", stop_when_pure=False).fit(frame, labels).privacy_
    assert privacy.epsilon == math.inf
    assert [leak.name for leak in privacy.leaks] == ["exact quantiles"]


def test_without_a_schema_it_warns_and_has_no_epsilon():
    frame, labels = table()
    with pytest.warns(PrivacyLeakWarning, match="schema") as caught:
        privacy = model(schema=None, stop_when_pure=False).fit(frame, labels).privacy_
    leaks = [w for w in caught if w.category is PrivacyLeakWarning]
    assert len(leaks) == 1
    assert leaks[0].filename == __file__
    assert privacy.epsilon == math.inf
    assert [leak.name for leak in privacy.leaks] == ["schema read from the data"]


def test_the_warning_says_what_holds():
    with pytest.warns(PaperClaimWarning, match=r"For a whole record epsilon=1 holds"):
        model(0.5, stop_when_pure=False).fit(*table())


def test_the_warning_points_at_the_caller():
    with pytest.warns(PaperClaimWarning) as caught:
        model().fit(*table())
    assert caught[0].filename == __file__


# --- what is released ---------------------------------------------------------------------------


def test_saved_model_predicts_the_same(tmp_path):
    frame, labels = table()
    estimator = model().fit(frame, labels)
    path = tmp_path / "model.json"
    estimator.save(path)
    loaded = privatree.load(path)
    assert loaded.tree_ == estimator.tree_
    assert str(loaded.privacy_) == str(estimator.privacy_)
    np.testing.assert_array_equal(loaded.predict(frame), estimator.predict(frame))
    np.testing.assert_array_equal(loaded.predict_proba(frame), estimator.predict_proba(frame))
    assert loaded.score(frame, labels) == estimator.score(frame, labels)
    assert "random_state" not in path.read_text()


def test_pickle_keeps_nothing_but_the_model():
    frame, labels = table(5000)
    pickled = pickle.dumps(model().fit(frame, labels))
    assert len(pickled) < 20_000
    again = pickle.loads(pickled)
    assert again.tree_ == model().fit(frame, labels).tree_


def test_unseeded_fits_differ():
    frame, labels = table()
    trees = [model(0.1, random_state=None).fit(frame, labels).tree_ for _ in range(3)]
    assert not (trees[0] == trees[1] == trees[2])
