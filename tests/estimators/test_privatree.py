"""The classifier of the record-level learner, as a user meets it."""

import math
import multiprocessing
import os
import pickle
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from people import SCHEMA, table
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import privatree
from privatree import Categorical, Numeric, PrivaTreeClassifier, Schema
from privatree.counting._candidates import cut_points
from privatree.errors import (
    BudgetExceededError,
    BudgetStoreError,
    ParameterError,
    PrivacyLeakWarning,
    SchemaError,
)
from privatree.estimators import _privatree as estimators
from privatree.privacy import Budget, BudgetStore, Randomness, Stage, shown_amount


def model(epsilon=1.0, **changes):
    return PrivaTreeClassifier(epsilon, **({"schema": SCHEMA, "random_state": 0} | changes))


def paths(tree):
    """The nodes from the root to every leaf."""
    found, open_paths = [], [[0]]
    while open_paths:
        path = open_paths.pop()
        node = path[-1]
        if tree.feature[node] < 0:
            found.append(path)
        else:
            open_paths += [[*path, int(tree.left[node])], [*path, int(tree.right[node])]]
    return found


def paid(fitted):
    """What the records of each leaf paid, in time order."""
    return [
        tuple(
            Stage("count" if spend.mechanism == "geometric" else "choice", spend.epsilon)
            for node in (None, *path)
            for spend in fitted.privacy_.spends
            if spend.node == node
        )
        for path in paths(fitted.tree_)
    ]


def total(path, kind=None):
    return sum((stage.epsilon for stage in path if kind in (None, stage.kind)), Fraction(0))


def purposes(fitted):
    return {spend.purpose for spend in fitted.privacy_.spends}


# --- parameters ---------------------------------------------------------------------------------


BAD = {
    "epsilon": [0, -1.0, float("nan"), "1", True, 1e-12, 10**400],
    "max_depth": [0, 17, 2.5, "x"],
    "n_bins": [1, 257, None],
    "lookahead": [0, 4],
    "dataset_size": [0, 1e3],
    "schedule": ["fast"],
    "robust_levels": [0],
    "neighbours": ["swap"],
    "probability_share": [1.0, -0.1, math.nan, "x", True],
    "budget": ["patients.db"],
    "schema": [{"a": 1}],
    "random_state": ["x", -1],
}


@pytest.mark.parametrize(
    ("parameter", "value"), [(name, value) for name, values in BAD.items() for value in values]
)
def test_a_bad_parameter_is_named(parameter, value):
    with pytest.raises(ParameterError, match=rf"^{parameter} .*must ") as raised:
        model(**{parameter: value}).fit(*table(20))
    assert raised.value.parameter == parameter


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 1e-12}, "epsilon must be at least 1e-09, got 1e-12."),
        ({"max_depth": 17}, "max_depth (if not None) must be an integer from 1 to 16, got 17."),
        ({"n_bins": 1}, 'n_bins (if not "auto") must be an integer from 2 to 256, got 1.'),
        ({"neighbours": "swap"}, 'neighbours must be "add-remove" or "replace", got \'swap\'.'),
        (
            {"probability_share": 1.0},
            'probability_share must be "auto", or 0, or from 1e-6 to 1 - 1e-6, got 1.0.',
        ),
        (
            {"budget": "patients.db"},
            "budget must be a privatree.privacy.Budget, a BudgetStore or None, got str. "
            "BudgetStore(path) opens one in a file.",
        ),
        ({"random_state": -1}, "random_state must be >= 0, got -1."),
    ],
)
def test_what_is_said_of_a_bad_parameter(changes, message):
    with pytest.raises(ParameterError) as raised:
        model(**changes).fit(*table(20))
    assert str(raised.value) == message


@pytest.mark.parametrize(
    "changes",
    [
        {"epsilon": np.float32(0.5)},
        {"epsilon": 2},
        {"epsilon": Fraction(1, 3)},
        {"max_depth": np.int64(2)},
        {"n_bins": np.int8(4)},
        {"dataset_size": np.uint32(500)},
        {"probability_share": np.float32(0.25)},
        {"probability_share": 0},
        {"random_state": np.random.RandomState(0)},
        {"random_state": np.random.default_rng(0)},
        {"random_state": np.int64(3)},
    ],
)
def test_numbers_of_any_kind_are_fine(changes):
    fitted = model(**changes).fit(*table(50))
    epsilon = Fraction(float(changes["epsilon"])) if "epsilon" in changes else 1
    if isinstance(changes.get("epsilon"), Fraction):
        epsilon = changes["epsilon"]
    assert all(total(path) == epsilon for path in paid(fitted))
    assert Fraction(fitted.privacy_.epsilon) >= epsilon  # a float above what is spent, or equal


@pytest.mark.parametrize(("n_categories", "max_depth"), [(1100, 16), (70_000, None)])
def test_a_tree_that_no_file_could_hold_is_refused(n_categories, max_depth):
    schema = Schema({"place": Categorical(range(n_categories))}, ["no", "yes"])
    budget = Budget(1.0)
    estimator = model(schema=schema, max_depth=max_depth, budget=budget)
    with pytest.raises(ParameterError, match="max_depth must be smaller for a feature of"):
        estimator.fit(np.zeros((5, 1), dtype=int), np.full(5, "no"))
    assert budget.remaining == 1
    estimator.set_params(max_depth=2).fit(np.zeros((5, 1), dtype=int), np.full(5, "no"))
    assert budget.remaining == 0


def test_bad_columns_and_types():
    frame, labels = table()
    with pytest.raises(SchemaError, match=r"lacks 'job'\. .* Did you mean 'Job'\?"):
        model().fit(frame.rename(columns={"job": "Job"}), labels)
    with pytest.raises(SchemaError, match=r"'age' has type .*numeric"):
        model().fit(frame.assign(age=pd.Series("old", frame.index, "string")), labels)
    with pytest.raises(SchemaError, match="type"):
        model().fit(frame, np.zeros(len(frame), dtype=bool))
    with pytest.raises(ValueError, match="same number of rows") as raised:
        model().fit(frame, labels[:-7])
    assert str(len(labels)) not in str(raised.value)


# --- any parameters and any records -------------------------------------------------------------

NAMES = ["clerk", "cook", "astronaut", "", "no", "yes"]
values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 105),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.sampled_from(NAMES),
    st.just(()),
    st.just(10**400),
)
parameters = st.fixed_dictionaries(
    {
        "epsilon": st.floats(1e-9, 1e9) | st.floats(0.01, 10),
        "max_depth": st.sampled_from([1, 2, 3, 4, 5, None]),
        "n_bins": st.just("auto") | st.integers(2, 256),
        "lookahead": st.sampled_from(["auto", 1, 2, 3]),
        "dataset_size": st.just("private") | st.integers(1, 2**40),
        "schedule": st.sampled_from(["accuracy", "robust"]),
        "robust_levels": st.integers(1, 6),
        "neighbours": st.sampled_from(["add-remove", "replace"]),
        "probability_share": st.just(0.0) | st.floats(0.01, 0.99),
        "random_state": st.integers(0, 2**32),
    }
)


def column(of, n):
    found = np.empty(n, dtype=object)
    found[:] = of
    return found


@pytest.mark.slow
@settings(max_examples=40)
@given(st.data(), parameters)
def test_with_a_schema_any_records_train_and_every_path_pays_epsilon_exactly(data, chosen):
    """Warnings are errors here, too."""
    n = data.draw(st.integers(0, 12))
    frame = pd.DataFrame(
        {
            name: pd.Series(
                column(data.draw(st.lists(values, min_size=n, max_size=n)), n), dtype=object
            )
            for name in SCHEMA.names
        }
    )
    labels = column(data.draw(st.lists(values, min_size=n, max_size=n)), n)
    fitted = PrivaTreeClassifier(schema=SCHEMA, **chosen).fit(frame, labels)
    deepest = chosen["max_depth"] or 10
    if chosen["schedule"] == "robust":
        deepest = min(deepest, chosen["robust_levels"])
    assert fitted.tree_.depth <= deepest
    epsilon = min(Fraction(chosen["epsilon"]), Fraction(repr(chosen["epsilon"])))
    if chosen["neighbours"] == "replace":
        epsilon /= 2
    schedule = fitted.privacy_.schedule
    for path in paid(fitted):
        assert total(path) == epsilon
        assert total(path, "choice") <= schedule.choices
        assert total(path, "count") <= schedule.counts
        assert not schedule.sequences or path in schedule.sequences
    assert fitted.privacy_.epsilon == chosen["epsilon"]
    assert len(fitted.predict(frame)) == n
    assert fitted.predict_proba(frame).shape == (n, 2)


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
@pytest.mark.parametrize(
    "changes", [{}, {"schedule": "robust"}, {"neighbours": "replace"}], ids=str
)
@pytest.mark.parametrize("content", contents())
def test_no_content_makes_fit_fail_or_warn(content, changes):
    X, y = contents()[content]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator = model(lookahead=1, epsilon=10.0, **changes).fit(X, y)
    assert caught == []
    frame, _ = table(10)
    has_names = hasattr(estimator, "feature_names_in_")
    assert len(estimator.predict(frame if has_names else frame.to_numpy(dtype=object))) == 10


def test_records_without_a_known_label_are_left_out():
    frame, labels = table()
    more = pd.concat([frame, frame.assign(age=99)], ignore_index=True)
    mixed = np.concatenate((labels, np.full(len(frame), "maybe")))
    assert model().fit(more, mixed).tree_ == model().fit(frame, labels).tree_


# --- what the parameters do ---------------------------------------------------------------------


def classes_table(n_classes, n=3000):
    rng = np.random.default_rng(n_classes)
    X = rng.random((n, 2))
    y = np.minimum((X[:, 0] * n_classes).astype(int), n_classes - 1)
    return X, y, Schema({"u": Numeric(0, 1), "v": Numeric(0, 1)}, list(range(n_classes)))


@pytest.mark.slow
@pytest.mark.parametrize(("n_classes", "least"), [(2, 0.97), (3, 0.95), (5, 0.9), (10, 0.8)])
@pytest.mark.parametrize("lookahead", ["auto", 1, 2, 3])
def test_it_learns_any_number_of_classes(n_classes, least, lookahead):
    X, y, schema = classes_table(n_classes)
    fitted = model(20.0, schema=schema, lookahead=lookahead).fit(X, y)
    assert fitted.score(X, y) > least
    assert fitted.classes_.tolist() == list(range(n_classes))


@pytest.mark.parametrize(
    ("lookahead", "purpose"),
    [
        (1, "last level with labels"),
        (2, "last 2 levels with their labels"),
        (3, "last 3 levels with their labels"),
        ("auto", "last 3 levels with their labels"),
    ],
)
def test_lookahead_is_how_many_levels_are_drawn_together(lookahead, purpose):
    fitted = model(2.0, lookahead=lookahead).fit(*table(3000))
    assert purpose in purposes(fitted)
    assert not any(f"last {n} levels" in text for text in purposes(fitted)
                   for n in range(2, 9) if f"last {n} levels" not in purpose)  # fmt: skip


@pytest.mark.slow
def test_the_depth_follows_the_records_and_epsilon_if_nobody_says_one():
    X, y, schema = classes_table(2, 20_000)
    y = (np.floor(X[:, 0] * 64) % 2).astype(int)
    deep = model(50.0, schema=schema, max_depth=None).fit(X, y)
    assert 4 < deep.tree_.depth <= 10
    assert model(0.001, schema=schema, max_depth=None).fit(X[:50], y[:50]).tree_.depth <= 1
    assert model(50.0, schema=schema, max_depth=2).fit(X, y).tree_.depth <= 2


@pytest.mark.parametrize("n_bins", [2, 3, 16, "auto"])
def test_thresholds_are_public_cut_points(n_bins):
    frame, labels = table()
    tree = model(n_bins=n_bins, max_depth=6, epsilon=0.5).fit(frame, labels).tree_
    for position, name in enumerate(("age", "income")):
        cuts, _ = cut_points(SCHEMA.features[name], 256 if n_bins == "auto" else n_bins)
        assert set(tree.threshold[tree.feature == position].tolist()) <= set(cuts.tolist())


@pytest.mark.parametrize("dataset_size", [1, 600, 10**9])
def test_a_declared_size_is_not_counted(dataset_size):
    fitted = model(dataset_size=dataset_size).fit(*table())
    assert "number of records" not in purposes(fitted)
    assert any("dataset_size, as declared" in text for text in fitted.privacy_.public)
    counted = model().fit(*table())
    size = [s for s in counted.privacy_.spends if s.purpose == "number of records"]
    assert [s.epsilon for s in size] == [Fraction(3, 100)]
    assert not any("number of records" in text for text in counted.privacy_.public)


@pytest.mark.parametrize("robust_levels", [1, 2, 3, 5])
def test_the_robust_schedule_is_fixed(robust_levels):
    fitted = model(schedule="robust", robust_levels=robust_levels).fit(*table())
    assert fitted.tree_.depth <= min(robust_levels, 4)
    level = Fraction(1, min(robust_levels, 4))
    one = (Stage("count", level / 10), Stage("choice", level * Fraction(9, 10)))
    fixed = one * (min(robust_levels, 4) - 1) + (Stage("choice", level),)
    assert fixed in paid(fitted)
    assert fixed in fitted.privacy_.schedule.sequences
    if robust_levels <= 3:  # of three features none can have run out
        assert set(paid(fitted)) == {fixed} == set(fitted.privacy_.schedule.sequences)


def test_for_a_replaced_record_every_spend_is_halved_and_the_size_is_public():
    frame, labels = table()
    fitted = model(neighbours="replace").fit(frame, labels)
    assert all(total(path) == Fraction(1, 2) for path in paid(fitted))
    assert "number of records" not in purposes(fitted)
    privacy = fitted.privacy_
    assert privacy.neighbours == "replace"
    assert privacy.epsilon == 1.0
    assert any("number of records" in text for text in privacy.public)
    assert "one replaced costs twice" in " ".join(str(privacy).split())
    declared = model(neighbours="replace", dataset_size=600).fit(frame, labels)
    assert declared.tree_ == fitted.tree_
    assert not any("the number of records" in text for text in declared.privacy_.public)


def test_for_a_replaced_record_those_without_a_label_count_as_well():
    """One could be replaced by one with a label: the size must not change."""
    frame, labels = table(37)  # half of epsilon bears two levels from 37 records on
    labels = labels.astype(object)
    labels[0] = None
    assert purposes(model(neighbours="replace").fit(frame, labels)) == {
        "last 2 levels with their labels"
    }
    fewer = model(neighbours="replace").fit(frame[1:], labels[1:])
    assert purposes(fewer) == {"last level with labels"}


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 5])
def test_probabilities_sum_to_one_and_the_label_is_the_most_likely(n_classes):
    X, y, schema = classes_table(n_classes)
    fitted = model(1.0, schema=schema, probability_share=0.25).fit(X, y)
    shares = fitted.predict_proba(X)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (shares > 0).all()
    predicted = fitted.predict(X)
    np.testing.assert_array_equal(shares[np.arange(len(X)), predicted], shares.max(axis=1))
    assert "class counts of a leaf" in purposes(fitted)
    assert all(path[-1] == Stage("count", Fraction(1, 4)) for path in paid(fitted))
    plain = model(1.0, schema=schema, probability_share=0).fit(X, y)
    shares = plain.predict_proba(X)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (shares > 0).all()
    labelled = shares[np.arange(len(X)), plain.predict(X)]
    assert (labelled > 0.5).all()


def test_probabilities_are_near_the_truth_with_many_records():
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 1))
    y = (rng.random(20_000) < np.where(X[:, 0] < 0.5, 0.2, 0.9)).astype(int)
    schema = Schema({"u": Numeric(0, 1)}, [0, 1])
    fitted = model(5.0, schema=schema, max_depth=1, probability_share=0.5).fit(X, y)
    assert fitted.predict_proba([[0.25]])[0, 1] == pytest.approx(0.2, abs=0.03)
    assert fitted.predict_proba([[0.75]])[0, 1] == pytest.approx(0.9, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("n_categories", [256, 257, 600, 1500])
@pytest.mark.parametrize("schedule", ["accuracy", "robust"])
def test_many_categories(n_categories, schedule):
    """Codes that fit no byte, and more categories than codes: neighbours share one."""
    rng = np.random.default_rng(0)
    names = [f"place {k}" for k in range(n_categories)]
    chosen = rng.integers(0, n_categories, 20_000)
    schema = Schema(
        {"place": Categorical(names), "flag": Categorical([False, True])}, ["no", "yes"]
    )
    frame = pd.DataFrame({"place": np.array(names)[chosen], "flag": rng.random(20_000) < 0.5})
    labels = np.where(chosen % 20 < 10, "yes", "no")
    fitted = model(50.0, schema=schema, schedule=schedule).fit(frame, labels)
    assert fitted.score(frame, labels) > (0.95 if n_categories < 512 else 0.8)
    assert all(total(path) == 50 for path in paid(fitted))
    groups = np.arange(n_categories) * min(n_categories, 512) // n_categories
    for node in np.flatnonzero(fitted.tree_.feature == 0):
        left = np.isin(np.arange(n_categories), fitted.tree_.left_codes(node))
        for group in np.unique(groups):
            assert len(set(left[groups == group].tolist())) == 1, "a code is on one side"


# --- the budget ---------------------------------------------------------------------------------


def charged(budget):
    return [(charge.purpose, charge.epsilon) for charge in budget.charges]


def test_a_budget_is_charged_with_epsilon_for_each_fit(account):
    frame, labels = table()
    budget = account(1.0)
    model(0.25, budget=budget).fit(frame, labels)
    assert charged(budget) == [("PrivaTreeClassifier", Fraction(1, 4))]
    model(0.5, budget=budget, random_state=None).fit(frame, labels)
    assert budget.remaining == Fraction(1, 4)


def test_a_budget_is_for_one_kind_of_neighbours(account):
    frame, labels = table()
    budget = account(1.0, neighbours="replace")
    with pytest.raises(ParameterError, match="their epsilons cannot be added up"):
        model(0.5, budget=budget).fit(frame, labels)
    assert budget.remaining == 1
    model(0.5, budget=budget, neighbours="replace").fit(frame, labels)
    assert charged(budget) == [("PrivaTreeClassifier", Fraction(1, 2))]


@settings(max_examples=15)
@given(st.floats(1e-6, 10), st.sampled_from(["add-remove", "replace"]))
def test_no_model_spends_more_than_is_charged(epsilon, neighbours):
    """As a float, 0.1 is more than the 1/10 that is charged."""
    budget = Budget(10, neighbours=neighbours)
    fitted = model(epsilon, budget=budget, neighbours=neighbours, max_depth=1).fit(*table(30))
    (charge,) = budget.charges
    times = 2 if neighbours == "replace" else 1
    assert all(times * total(path) <= charge.epsilon for path in paid(fitted))
    assert all(times * total(path) <= Fraction(epsilon) for path in paid(fitted))


def test_a_tenth_is_charged_and_spent_as_a_tenth():
    budget = Budget(1)
    for _ in range(10):
        fitted = model(0.1, budget=budget, max_depth=1).fit(*table(30))
        assert all(total(path) == Fraction(1, 10) for path in paid(fitted))
    assert budget.remaining == 0


class ChargesAfterwards(PrivaTreeClassifier):
    """Mutant: the charge comes after the noise."""

    def fit(self, X, y):
        budget, self.budget = self.budget, None
        super().fit(X, y)
        budget.charge(self.epsilon, purpose="PrivaTreeClassifier", neighbours=self.neighbours)
        return self


class TakesChargesBack(PrivaTreeClassifier):
    """Mutant: a fit that is interrupted costs nothing."""

    def fit(self, X, y):
        before = list(self.budget.charges)
        try:
            return super().fit(X, y)
        except BaseException:
            self.budget.charges[:] = before
            raise


def left_when_interrupted_at_the_first_draw(estimator, budget, error, monkeypatch):
    """What is left at the first draw, and after an error there."""
    seen = []

    def draw(*_):
        seen.append(budget.remaining)
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Randomness, "words", draw)
        patch.setattr(Randomness, "bits", draw)
        with pytest.raises(type(error)):
            estimator.fit(*table())
    return seen[0], budget.remaining


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError()], ids=["stopped", "memory"])
def test_the_charge_comes_before_any_draw_and_stays(account, error, monkeypatch):
    budget = account(1.0)
    estimator = model(0.25, budget=budget)
    left = left_when_interrupted_at_the_first_draw(estimator, budget, error, monkeypatch)
    assert left == (Fraction(3, 4), Fraction(3, 4))
    assert not hasattr(estimator, "model_")


@pytest.mark.parametrize("mutant", [ChargesAfterwards, TakesChargesBack])
def test_mutants_that_give_free_models_are_caught(mutant, monkeypatch):
    budget = Budget(1.0)
    estimator = mutant(0.25, schema=SCHEMA, random_state=0, budget=budget)
    stop = KeyboardInterrupt()
    left = left_when_interrupted_at_the_first_draw(estimator, budget, stop, monkeypatch)
    assert left != (Fraction(3, 4), Fraction(3, 4))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # of a process with threads
def test_a_process_that_dies_between_charge_and_result_leaves_the_charge(tmp_path, monkeypatch):
    budget = BudgetStore.create(tmp_path / "budget.db", 1.0)
    estimator = model(0.25, budget=BudgetStore(budget.path, note="never seen"))
    monkeypatch.setattr(estimators, "grow_tree", lambda *_: os._exit(9))
    process = multiprocessing.get_context("fork").Process(target=estimator.fit, args=table(20))
    process.start()
    process.join()
    assert process.exitcode == 9
    assert charged(budget) == [("PrivaTreeClassifier", Fraction(1, 4))]
    assert budget.charges[0].note == "never seen"


def test_a_refused_fit_draws_nothing_and_leaves_no_model(account, monkeypatch):
    def refuse(*_):
        raise AssertionError("drawn")

    frame, labels = table()
    budget = account(0.5)
    estimator = model(1.0, budget=budget)
    with monkeypatch.context() as patch:
        patch.setattr(Randomness, "words", refuse)
        patch.setattr(Randomness, "bits", refuse)
        with pytest.raises(BudgetExceededError, match=r"only 0\.5 of the budget is left"):
            estimator.fit(frame, labels)
        with pytest.raises(AssertionError, match="drawn"):
            model(0.5).fit(frame, labels)
    assert budget.remaining == Fraction(1, 2)
    for attribute in ("model_", "tree_", "privacy_", "schema_", "classes_"):
        assert not hasattr(estimator, attribute)
    with pytest.raises(NotFittedError):
        estimator.predict(frame)
    with pytest.raises(NotFittedError):
        estimator.save("never.json")


@pytest.mark.parametrize(
    "changes",
    [
        {"n_bins": 1}, {"max_depth": 0}, {"random_state": -1}, {"random_state": "x"},
        {"probability_share": 1.0}, {"neighbours": "replace"}, {"schema": None}, {"epsilon": 0},
        {"epsilon": 1e-9, "probability_share": 1e-6}, {"dataset_size": 0}, {"lookahead": 9},
    ],
    ids=str,
)  # fmt: skip
def test_a_mistake_in_a_parameter_costs_nothing(account, changes):
    budget = account(1.0)
    with pytest.raises(ParameterError):
        model(**{"budget": budget} | changes).fit(*table(20))
    assert budget.charges == []


def test_a_mistake_in_the_table_costs_nothing(account):
    frame, labels = table(20)
    budget = account(1.0)
    for X, y in (
        (frame.drop(columns="job"), labels),
        (frame.assign(age=pd.Series("old", frame.index, "string")), labels),
        (frame, labels[:-1]),
        (frame, np.zeros(20, dtype=bool)),
        ("frame.csv", labels),
        (frame, None),
    ):
        with pytest.raises((SchemaError, ValueError, TypeError)):
            model(budget=budget).fit(X, y)
    assert budget.charges == []


def test_a_file_that_is_gone_draws_nothing(tmp_path):
    budget = BudgetStore.create(tmp_path / "budget.db", 1.0)
    budget.path.unlink()
    estimator = model(budget=budget)
    with pytest.raises(BudgetStoreError, match="there is no such file"):
        estimator.fit(*table(20))
    assert not hasattr(estimator, "model_")


def test_clones_share_the_budget(account):
    frame, labels = table(100)
    budget = account(1.0)
    search = GridSearchCV(model(0.25, budget=budget), {"max_depth": [1, 2]}, cv=2, refit=False)
    search.fit(frame, labels)
    assert budget.remaining == 0


def test_processes_share_a_budget_in_a_file(tmp_path):
    budget = BudgetStore.create(tmp_path / "budget.db", 1.0)
    estimator = pickle.loads(pickle.dumps(model(0.25, budget=budget).fit(*table(20))))
    estimator.fit(*table(20))
    assert budget.remaining == Fraction(1, 2)
    with pytest.raises(TypeError, match="BudgetStore"):
        pickle.dumps(model(budget=Budget(1)))


# --- the statement ------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [{}, {"lookahead": 1}, {"schedule": "robust"},
                                     {"probability_share": 0.3}], ids=str)  # fmt: skip
def test_the_statement_mentions_every_spend(changes):
    privacy = model(2.0, **changes).fit(*table(3000)).privacy_
    text = " ".join(str(privacy).split())
    for spend in privacy.spends:
        assert f"{spend.purpose}: {spend.mechanism}, epsilon {float(spend.epsilon):.6g}" in text
    assert f"epsilon for a whole record {shown_amount(2.0)}" in text
    assert "one record added or removed" in text
    assert privacy.learner == "PrivaTreeClassifier"
    assert privacy.leaks == ()
    assert privacy.delta == 0
    assert privacy.claimed_epsilon is None


def test_the_statement_says_whether_there_was_a_seed():
    assert model().fit(*table(50)).privacy_.seeded
    assert not model(random_state=None).fit(*table(50)).privacy_.seeded


def test_without_a_schema_it_warns_once_and_has_no_epsilon():
    frame, labels = table()
    with pytest.warns(PrivacyLeakWarning, match="schema") as caught:
        privacy = model(schema=None).fit(frame, labels).privacy_
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert privacy.epsilon == math.inf
    assert [leak.name for leak in privacy.leaks] == ["schema read from the data"]
    assert "infinite: no guarantee" in str(privacy)


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
    assert reference.tree_.n_leaves > 2
    for name, estimator in fitted.items():
        assert estimator.tree_ == reference.tree_, name
        assert estimator.privacy_ == reference.privacy_, name
        np.testing.assert_array_equal(estimator.predict(forms[name]), reference.predict(frame))


def test_the_order_of_the_rows_does_not_matter():
    frame, labels = table()
    order = np.random.default_rng(0).permutation(len(frame))
    shuffled = model().fit(frame.iloc[order], labels[order])
    assert shuffled.tree_ == model().fit(frame, labels).tree_


def test_unseeded_fits_differ():
    frame, labels = table()
    trees = [model(0.1, random_state=None).fit(frame, labels).tree_ for _ in range(4)]
    assert any(tree != trees[0] for tree in trees)


# --- what is released ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [{}, {"schedule": "robust", "probability_share": 0.2}, {"max_depth": None},
     {"neighbours": "replace"}],
    ids=str,
)  # fmt: skip
def test_saved_model_predicts_the_same(tmp_path, changes):
    frame, labels = table()
    estimator = model(**changes).fit(frame, labels)
    path = tmp_path / "model.json"
    estimator.save(path)
    loaded = privatree.load(path)
    assert loaded.tree_ == estimator.tree_
    assert str(loaded.privacy_) == str(estimator.privacy_)
    schedule, before = loaded.privacy_.schedule, estimator.privacy_.schedule
    amounts = [(before.choices, schedule.choices), (before.counts, schedule.counts)]
    for old, new in zip(before.sequences, schedule.sequences, strict=True):
        assert [stage.kind for stage in old] == [stage.kind for stage in new]
        amounts += [(s.epsilon, t.epsilon) for s, t in zip(old, new, strict=True)]
    for exact, written in amounts:
        assert exact <= written <= exact * (1 + Fraction(1, 2**52)), "rounded up"
    assert bool(schedule.sequences) == (changes != {"max_depth": None})
    np.testing.assert_array_equal(loaded.predict(frame), estimator.predict(frame))
    np.testing.assert_array_equal(loaded.predict_proba(frame), estimator.predict_proba(frame))
    assert loaded.score(frame, labels) == estimator.score(frame, labels)
    assert "random_state" not in path.read_text()


def test_pickle_keeps_nothing_but_the_model():
    frame, labels = table(5000)
    fitted = model().fit(frame, labels)
    pickled = pickle.dumps(fitted)
    assert len(pickled) < 20_000
    again = pickle.loads(pickled)
    assert again.tree_ == fitted.tree_
    assert again.privacy_ == fitted.privacy_
    np.testing.assert_array_equal(again.predict(frame), fitted.predict(frame))


def test_a_clone_is_not_fitted_and_fits_the_same():
    frame, labels = table()
    fitted = model(0.5, max_depth=3, lookahead=2).fit(frame, labels)
    again = clone(fitted)
    assert not hasattr(again, "tree_")
    assert again.get_params() == fitted.get_params()
    assert again.fit(frame, labels).tree_ == fitted.tree_


@pytest.mark.parametrize("zoom", [False, True])
@pytest.mark.parametrize("min_records", [None, 1])
@pytest.mark.parametrize("schedule", ["accuracy", "robust"])
def test_any_share_for_the_leaves_leaves_some_for_the_tree(zoom, min_records, schedule):
    X, y, schema = classes_table(2)
    fitted = model(
        1000.0,
        schema=replace(schema, min_records=min_records),
        probability_share=1 - 1e-6 if min_records is None else 0.99,
        zoom=zoom,
        schedule=schedule,
    ).fit(X, y)
    assert fitted.tree_.n_leaves >= 1
