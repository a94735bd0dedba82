import math
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier

from privatree import Categorical, Numeric, ParameterError, PrivaTreeClassifier, Schema
from privatree.audit import View
from privatree.audit._views import (
    VIEWS,
    TrainingResult,
    list_viewed_entries,
    observe_training,
    train_for_views,
    view_shows_anything,
    view_shows_error,
)

SCHEMA = Schema({"x": Numeric(0, 1), "c": Categorical(["a", "b", "c"])}, ["no", "yes"])
X = pd.DataFrame({"x": np.linspace(0, 1, 60), "c": list("abc") * 20})
Y = np.where(X["x"] > 0.5, "yes", "no")
PROBES = X.iloc[[0, 59]]


class Simple(BaseEstimator):
    def __init__(self, does="nothing"):
        self.does = does

    def fit(self, X, y):
        if self.does == "fail":
            raise KeyError("gone")
        if self.does == "warn":
            for category in (UserWarning, FutureWarning, UserWarning):
                warnings.warn(f"{len(y)}", category, stacklevel=1)
        if self.does == "return nothing":
            return None
        return self

    def predict(self, X):
        warnings.warn("predicting", UserWarning, stacklevel=1)
        return ["yes"] * len(X)


def views_of(model, probes=PROBES):
    return dict(zip(VIEWS, observe_training(VIEWS, probes, TrainingResult(model, ())), strict=True))


def test_an_error_is_all_that_is_seen_of_a_training_that_fails():
    trained = train_for_views(Simple("fail"), X, Y)
    assert trained == (None, ("KeyError: 'gone'",))
    assert set(observe_training(VIEWS, PROBES, trained)) == {("error", "KeyError: 'gone'")}
    assert view_shows_error(("error", "KeyError: 'gone'"))
    assert not any(map(view_shows_error, [(), None, "error", ("errors",), 3]))


def test_warnings_are_seen_once_each_with_their_texts():
    said = train_for_views(Simple("warn"), X, Y).said
    assert [text.split(":")[0] for text in said] == ["FutureWarning", "UserWarning"]
    assert all(text.split(": ")[1] for text in said)
    assert train_for_views(Simple(), X, Y).said == ()
    shown = observe_training(VIEWS, PROBES, train_for_views(Simple("warn"), X, Y))
    assert shown[list(VIEWS).index("said")] == said


def test_what_is_printed_is_seen(capsys):
    class Printing(Simple):
        def fit(self, X, y):
            print(f"{len(y)} records")
            print("done", file=sys.stderr)
            return super().fit(X, y)

    assert train_for_views(Printing(), X, Y).said == (f"{len(Y)} records", "done")
    assert capsys.readouterr() == ("", "")


def test_a_learner_that_changes_its_records_changes_a_copy():
    class Changing(Simple):
        def fit(self, X, y):
            X[:] = 0
            return super().fit(X, y)

    records = np.ones((2, 1))
    train_for_views(Changing(), records, Y[:2])
    assert records.all()


def test_exact_numbers_and_the_statement_are_seen():
    class Exact(Simple):
        def fit(self, X, y):
            self.prior_ = np.mean([1.0, 0.0, 0.0])
            return super().fit(X, y)

    shown = observe_training({"numbers": VIEWS["numbers"]}, PROBES, train_for_views(Exact(), X, Y))
    assert shown == ((repr(1 / 3),),)
    schema = Schema({"x": Numeric(0, 1)}, ["no", "yes"])
    model = PrivaTreeClassifier(schema=schema, max_depth=1, random_state=0)
    replaced = clone(model).set_params(neighbours="replace")  # the number of records is public
    X_private, y_private = np.array([[0.1], [0.9]]), ["no", "yes"]
    views = {"statement": VIEWS["statement"]}
    assert (
        "PrivaTreeClassifier"
        in observe_training(views, X_private, train_for_views(model, X_private, y_private))[0]
    )
    assert observe_training(views, X_private, train_for_views(replaced, X_private, y_private)) == (
        None,
    )


def test_a_model_is_seen_even_if_fit_returns_nothing():
    shown = observe_training(
        {"labels": VIEWS["labels"]}, PROBES, train_for_views(Simple("return nothing"), X, Y)
    )
    assert shown == (("yes", "yes"),)


def test_whoever_stops_the_audit_stops_it():
    class Stopped(Simple):
        def fit(self, X, y):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_for_views(Stopped(), X, Y)


def test_a_view_that_fails_shows_that_and_one_that_cannot_be_counted_is_refused():
    views = {"half": View("half", lambda model, probes: 1 // 0)}
    assert observe_training(views, PROBES, TrainingResult(Simple(), ())) == (
        ("error", "ZeroDivisionError: integer division or modulo by zero"),
    )
    views = {"list": View("a list", lambda model, probes: ([],))}
    with pytest.raises(ParameterError, match="view 'list' must return a hashable value, got tuple"):
        observe_training(views, PROBES, TrainingResult(Simple(), ()))


def test_what_is_seen_of_our_tree():
    model = PrivaTreeClassifier(
        1000.0, schema=SCHEMA, max_depth=1, dataset_size=60, random_state=0
    ).fit(X, Y)
    shown = views_of(model)
    feature, threshold, left, right = shown["tree"]
    assert (feature, left, right) == (0, (0,), (1,))
    assert 0.4 < threshold < 0.6
    assert shown["splits"] == (0, (), ())
    assert shown["root"] == (0, threshold)
    assert shown["magnitude"] == -1
    assert shown["labels"] == ("no", "yes")
    assert shown["probabilities"] == (19, 1, 1, 19)
    assert shown["members"] is None


def test_a_single_leaf_has_neither_splits_nor_a_magnitude():
    schema = Schema({"x": Numeric(1, 1)}, ["no", "yes"])
    constant = pd.DataFrame({"x": np.ones(60)})
    model = PrivaTreeClassifier(1000.0, schema=schema, random_state=0).fit(constant, ["yes"] * 60)
    shown = views_of(model, constant[:1])
    assert (shown["tree"], shown["splits"], shown["root"]) == ((1,), (), (1,))
    assert (shown["magnitude"], shown["labels"]) == ("nan", ("yes",))


def test_noisy_probabilities_of_our_tree_are_seen_in_steps():
    model = PrivaTreeClassifier(
        1000.0, schema=SCHEMA, max_depth=1, probability_share=0.5, random_state=0
    ).fit(X, Y)
    shown = views_of(model)["probabilities"]
    assert shown == (19, 1, 1, 19)


def test_what_is_seen_of_an_ensemble():
    numbers = X[["x"]].to_numpy()
    forest = RandomForestClassifier(3, max_depth=1, random_state=0).fit(numbers, Y)
    shown = views_of(forest, numbers[[0, 59]])
    assert shown["members"] == ("0.0", "1.0") * 3
    assert (shown["tree"], shown["splits"], shown["root"], shown["magnitude"]) == (None,) * 4
    assert shown["probabilities"] == (20, 0, 0, 20)
    assert ("n_features_in_", "1") in shown["listed"]
    assert ("length of estimators_", "3") in shown["listed"]
    assert ("classes_[1]", "yes") in shown["listed"]
    assert ("estimators_[0].n_outputs_", "1") in shown["listed"]


def test_probabilities_that_are_missing_have_their_own_step():
    class Missing(Simple):
        def predict_proba(self, X):
            return np.array([[math.nan, 0.26]])

    assert views_of(Missing())["probabilities"] == (-20, 5)


def test_entries_are_names_numbers_and_sizes():
    found = list(
        list_viewed_entries({"a": [1, 2.5, None], "b": np.array(["u"]), "c": np.array([0.5])}, "m_")
    )
    assert found == [
        ("key of m_", "a"),
        ("length of m_['a']", 3),
        ("m_['a'][0]", 1),
        ("m_['a'][1]", 2.5),
        ("m_['a'][2]", None),
        ("key of m_", "b"),
        ("shape of m_['b']", (1,)),
        ("length of m_['b']", 1),
        ("m_['b'][0]", "u"),
        ("key of m_", "c"),
        ("shape of m_['c']", (1,)),
        ("length of m_['c']", 1),
        ("m_['c'][0]", 0.5),
    ]


def test_entries_end():
    nested = []
    nested.append(nested)
    assert 0 < len(list(list_viewed_entries(nested, "m_"))) < 20
    assert len(list(list_viewed_entries(list(range(5000)), "m_"))) == 1001


def test_whether_there_is_anything_to_be_seen():
    assert not view_shows_anything("tree", {None, ("error", "no")})
    assert view_shows_anything("tree", {None, (0, None)})
    assert view_shows_anything("said", {("error", "no")})
    assert view_shows_anything("splits", {()})
