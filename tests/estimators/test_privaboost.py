"""The boosted ensemble as an estimator: parameters, statement, budgets, monotone features."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import privatree
from privatree import (
    BudgetExceededError,
    Categorical,
    Numeric,
    ParameterError,
    PrivaBoostClassifier,
    Schema,
    TooFewRecordsError,
    datasets,
)
from privatree.privacy import Budget, certified_delta

SCHEMA = Schema(
    {
        "age": Numeric(18, 90, integer=True),
        "income": Numeric(0, 1e5),
        "dose": Numeric(0, 1, missing="separate"),
        "ward": Categorical(["a", "b", "c"]),
    },
    ["no", "yes"],
)


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 91, n),
            "income": rng.lognormal(10, 0.6, n).clip(0, 1e5),
            "dose": np.where(rng.random(n) < 0.2, np.nan, rng.random(n)),
            "ward": rng.choice(["a", "b", "c"], n),
        }
    )
    odds = (frame["age"] - 50) / 10 + (frame["ward"] == "a") - frame["dose"].fillna(2)
    labels = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no")
    return frame, pd.Series(labels)


@pytest.fixture(scope="module")
def fitted():
    return PrivaBoostClassifier(2.0, schema=SCHEMA, random_state=0).fit(*people(4000))


# --- what it learns -----------------------------------------------------------------------------


def test_it_ranks_and_its_probabilities_are_calibrated(fitted):
    frame, labels = people(4000, seed=1)
    chances = fitted.predict_proba(frame)[:, 1]
    is_yes = (labels == "yes").to_numpy()
    assert roc_auc_score(is_yes, chances) > 0.8
    for low, high in ((0, 0.3), (0.3, 0.7), (0.7, 1)):
        here = (chances >= low) & (chances < high)
        assert abs(chances[here].mean() - is_yes[here].mean()) < 0.08


def test_scores_labels_and_probabilities_agree(fitted):
    frame, _ = people(500, seed=2)
    odds, chances = fitted.decision_function(frame), fitted.predict_proba(frame)
    assert chances.sum(axis=1) == pytest.approx(np.ones(500))
    assert np.log(chances[:, 1] / chances[:, 0]) == pytest.approx(odds)
    assert (fitted.predict(frame) == np.where(odds > 0, "yes", "no")).all()


def test_more_than_two_classes():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.random(3000)})
    labels = np.array(["low", "middle", "high"])[(3 * frame["x"]).astype(int)]
    schema = Schema({"x": Numeric(0, 1)}, ["low", "middle", "high"])
    model = PrivaBoostClassifier(4.0, schema=schema, random_state=0).fit(frame, labels)
    assert model.score(frame, labels) > 0.95
    assert model.decision_function(frame).shape == (3000, 3)


def test_a_rare_class_gains_by_balanced_weights():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=10_000)})
    labels = (rng.random(10_000) < 1 / (1 + np.exp(4 - 1.5 * frame["x"]))).astype(int)
    schema = Schema({"x": Numeric(-6, 6)}, [0, 1])
    found = {}
    for weight in (None, "balanced"):
        model = PrivaBoostClassifier(1.0, schema=schema, class_weight=weight, random_state=0)
        found[weight] = (model.fit(frame, labels).predict(frame)[labels == 1] == 1).mean()
    assert found["balanced"] > found[None] + 0.3


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_a_monotone_feature_is_monotone_everywhere(delta):
    """On a grid of a million points, not one violation, although the records say otherwise."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((4000, 3)), columns=["up", "down", "free"])
    odds = 6 * np.abs(frame["up"] - 0.5) + 6 * np.abs(frame["down"] - 0.4) - 3 + frame["free"]
    labels = (rng.random(4000) < 1 / (1 + np.exp(-3 * odds))).astype(int)
    schema = Schema(dict.fromkeys(frame, Numeric(0, 1)), [0, 1])
    directions = {"up": 1, "down": -1}
    model = PrivaBoostClassifier(
        20.0, delta=delta, schema=schema, monotonic_cst=directions, random_state=0
    ).fit(frame, labels)
    grid = np.linspace(-0.1, 1.1, 100)
    points = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), axis=-1).reshape(-1, 3)
    odds = model.decision_function(pd.DataFrame(points, columns=frame.columns))
    odds = odds.reshape(100, 100, 100)
    assert (np.diff(odds, axis=0) >= 0).all()
    assert (np.diff(odds, axis=1) <= 0).all()
    assert (np.diff(odds, axis=0) > 0).any()
    assert (np.diff(odds, axis=1) < 0).any()
    free = PrivaBoostClassifier(20.0, delta=delta, schema=schema, random_state=0)
    odds = free.fit(frame, labels).decision_function(pd.DataFrame(points, columns=frame.columns))
    assert (np.diff(odds.reshape(100, 100, 100), axis=0) < 0).any()  # so the test can fail


def test_missing_values_of_a_monotone_feature_are_free():
    frame, labels = people(4000)
    model = PrivaBoostClassifier(
        20.0, schema=SCHEMA, monotonic_cst=[1, 0, -1, 0], random_state=0
    ).fit(frame, labels)
    ages = pd.DataFrame({"age": range(18, 91), "income": 2e4, "dose": 0.5, "ward": "a"})
    assert (np.diff(model.decision_function(ages)) >= 0).all()
    doses = pd.DataFrame({"age": 50, "income": 2e4, "dose": np.linspace(0, 1, 50), "ward": "a"})
    assert (np.diff(model.decision_function(doses)) <= 0).all()


# --- what it guarantees -------------------------------------------------------------------------


def test_the_statement_has_every_spend(fitted):
    privacy = fitted.privacy_
    assert (privacy.epsilon, privacy.delta) == (2.0, 1e-6)
    ranges = [spend for spend in privacy.spends if spend.is_range]
    rounds = [spend for spend in ranges if spend.purpose == "round"]
    assert len(rounds) == fitted.ensemble_.n_rounds
    composition = privacy.composition
    assert certified_delta(composition.epsilon, composition.groups) <= 1e-6
    others = sum(spend.epsilon for spend in privacy.spends if not spend.is_range)
    assert composition.epsilon + others <= 2
    assert "delta                       1e-06" in str(privacy)


def test_without_delta_the_spends_add_up():
    model = PrivaBoostClassifier(2.0, delta=0, schema=SCHEMA, random_state=0).fit(*people(4000))
    assert model.privacy_.delta == 0
    assert model.privacy_.composition is None
    total = sum((spend.epsilon for spend in model.privacy_.spends), Fraction(0))
    assert Fraction(199, 100) < total <= 2


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_a_replaced_record_costs_twice(delta):
    model = PrivaBoostClassifier(
        2.0, delta=delta, neighbours="replace", schema=SCHEMA, random_state=0
    ).fit(*people(4000))
    if delta:
        composition = model.privacy_.composition
        doubled = [(2 * group.epsilon, group.times) for group in composition.groups]
        groups = [type(composition.groups[0])(*pair) for pair in doubled]
        assert certified_delta(2 * composition.epsilon, groups) <= delta
    else:
        assert 2 * sum(spend.epsilon for spend in model.privacy_.spends) <= 2


def test_units_weigh_as_one_record():
    frame, labels = people(4000)
    ids = np.arange(4000) // 4
    model = PrivaBoostClassifier(2.0, schema=SCHEMA, random_state=0)
    model.fit(frame, labels, units=ids)
    assert model.privacy_.unit == "unit"
    assert abs(model.privacy_.noisy_records - 1000) < 200
    assert model.score(frame, labels) > 0.65


def test_a_budget_is_charged_epsilon_and_delta():
    budget = Budget(3.0, delta=1.5e-6)
    model = PrivaBoostClassifier(2.0, schema=SCHEMA, budget=budget, random_state=0)
    model.fit(*people(300))
    (charge,) = budget.charges
    assert (charge.epsilon, charge.delta) == (2, Fraction(1, 10**6))
    with pytest.raises(BudgetExceededError, match="delta"):
        model.set_params(epsilon=0.5).fit(*people(300))
    assert len(budget.charges) == 1
    model.set_params(delta=0).fit(*people(300))
    assert budget.remaining == Fraction(1, 2)


def test_too_few_records_stop_the_training():
    schema = Schema(SCHEMA.features, ["no", "yes"], min_records=1000)
    budget = Budget(3.0, delta=1e-6)
    model = PrivaBoostClassifier(2.0, schema=schema, budget=budget, random_state=0)
    with pytest.raises(TooFewRecordsError, match="min_records"):
        model.fit(*people(100))
    assert budget.remaining == Fraction("2.94")
    assert budget.remaining_delta == Fraction(1, 10**6)


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("epsilon", [1e-9, 1.0, 1e9])
def test_any_records_and_any_epsilon_train(n, delta, epsilon):
    """With a schema, no records, one record or one class make no error: it would tell."""
    frame, _ = people(n)
    model = PrivaBoostClassifier(epsilon, delta=delta, schema=SCHEMA, random_state=0)
    model.fit(frame, ["yes"] * n)
    assert np.isfinite(model.predict_proba(people(5)[0])).all()
    assert math.isfinite(model.privacy_.epsilon)


@pytest.mark.parametrize("n", [34, 35, 36, 37])
def test_no_error_of_floats_tells_how_many_records_there_are(n):
    """With 35 records a weight underflows. Whoever made numpy raise then must not see it."""
    schema = Schema({"x": Numeric(0, 100)}, ["no", "yes"])
    model = PrivaBoostClassifier(
        20.0, delta=0, rounds=1, max_depth=1, n_bins=2, dataset_size=100, schema=schema
    )
    frame = pd.DataFrame({"x": [10.0] * n + [90.0]})
    with np.errstate(all="raise"):
        model.fit(frame, ["no"] * n + ["yes"])


@pytest.mark.parametrize("high", [11.47, np.nextafter(np.nextafter(-6.2, 0), 0)])
def test_no_interval_that_is_drawn_makes_a_training_fail(high):
    """-6.2 + (11.47 - -6.2) is above 11.47 in floats."""
    schema = Schema({"size": Numeric(-6.2, high)}, ["no", "yes"])
    for seed in range(4):
        values = np.random.default_rng(seed).uniform(high - 1e-3, high, 3000)
        labels = np.where(values > high - 5e-4, "yes", "no")
        ensemble = PrivaBoostClassifier(1.0, schema=schema, random_state=seed)
        ensemble.fit(pd.DataFrame({"size": values}), labels)
        assert all(end <= high for ends in ensemble.ensemble_.intervals.values() for end in ends)


def test_the_same_seed_gives_the_same_ensemble_and_another_another():
    found = [
        PrivaBoostClassifier(1.0, schema=SCHEMA, random_state=seed).fit(*people(500)).ensemble_
        for seed in (0, 0, 1)
    ]
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_a_saved_ensemble_is_the_same(fitted, tmp_path):
    fitted.save(tmp_path / "model.json")
    loaded = privatree.load(tmp_path / "model.json")
    frame, _ = people(1000, seed=3)
    assert loaded.ensemble_ == fitted.ensemble_
    assert (loaded.predict_proba(frame) == fitted.predict_proba(frame)).all()
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


# --- parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("delta", -1e-6),
        ("delta", 0.5),
        ("delta", math.nan),
        ("delta", "small"),
        ("max_depth", 0),
        ("max_depth", 4),
        ("max_depth", None),
        ("rounds", 0),
        ("rounds", 1001),
        ("rounds", "many"),
        ("epsilon", 0),
        ("n_bins", 1),
        ("neighbours", "all"),
        ("class_weight", "heavy"),
        ("monotonic_cst", [1, 0]),
        ("monotonic_cst", [2, 0, 0, 0]),
        ("monotonic_cst", [0, 0, 0, 1]),
        ("monotonic_cst", {"aeg": 1}),
        ("monotonic_cst", {"ward": -1}),
    ],
)
def test_a_wrong_parameter_is_named_and_nothing_is_charged(parameter, value):
    budget = Budget(10.0, delta=1e-3)
    model = PrivaBoostClassifier(schema=SCHEMA, budget=budget).set_params(**{parameter: value})
    with pytest.raises(ParameterError) as error:
        model.fit(*people(10))
    assert error.value.parameter == parameter
    assert not budget.charges


def test_monotone_features_need_two_classes():
    schema = Schema({"x": Numeric(0, 1)}, ["a", "b", "c"])
    model = PrivaBoostClassifier(schema=schema, monotonic_cst=[1])
    with pytest.raises(ParameterError, match="two classes"):
        model.fit(pd.DataFrame({"x": [0.5]}), ["a"])


@pytest.mark.slow
def test_wide_data_fit_in_memory():
    """Roots of few features are offered where all would need too much memory."""
    schema = Schema({f"x{j}": Numeric(0, 1) for j in range(1500)}, [0, 1])
    rows = np.random.default_rng(0).random((50, 1500))
    model = PrivaBoostClassifier(1.0, rounds=2, schema=schema, random_state=0)
    model.fit(rows, (rows[:, 0] > 0.5).astype(int))
    assert model.ensemble_.n_rounds == 2


def test_on_adult_it_ranks_better_than_a_tree():
    frame, labels, schema = datasets.load("adult")
    model = PrivaBoostClassifier(1.0, rounds=30, schema=schema, random_state=0)
    chances = model.fit(frame[::3], labels[::3]).predict_proba(frame[1::3])[:, 1]
    assert roc_auc_score(labels[1::3] == schema.classes[1], chances) > 0.895
