"""The boosted ensemble for a numeric target as an estimator: predictions, statement, sources."""

import math

import numpy as np
import pandas as pd
import pytest

import privatree
from privatree import (
    BudgetExceededError,
    Categorical,
    Numeric,
    ParameterError,
    PrivaBoostRegressor,
    Schema,
    SchemaError,
    Target,
    TooFewRecordsError,
)
from privatree.privacy import Budget, certified_delta
from privatree.sources import CsvSource

FEATURES = {
    "age": Numeric(18, 90, integer=True),
    "dose": Numeric(0, 1, missing="separate"),
    "ward": Categorical(["a", "b", "c"]),
}
SCHEMA = Schema(FEATURES, target=Target(0, 100, name="days"))


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 91, n),
            "dose": np.where(rng.random(n) < 0.2, np.nan, rng.random(n)),
            "ward": rng.choice(["a", "b", "c"], n),
        }
    )
    days = frame["age"] / 3 + 10 * frame["dose"].fillna(0.5) * (frame["ward"] == "b")
    return frame, days + rng.normal(0, 2, n)


@pytest.fixture(scope="module")
def fitted():
    return PrivaBoostRegressor(2.0, schema=SCHEMA, random_state=0).fit(*people(4000))


# --- what it learns -----------------------------------------------------------------------------


def test_it_predicts_numbers_in_the_range(fitted):
    frame, days = people(4000, seed=1)
    assert fitted.score(frame, days) > 0.8
    predicted = fitted.predict(frame)
    assert predicted.dtype == np.float64
    assert ((predicted >= 0) & (predicted <= 100)).all()
    assert set(fitted.terms()[0].names) == {"age"}
    assert fitted.feature_importances_.argmax() == 0


@pytest.mark.parametrize("high", [1000, 1e5])
def test_a_range_that_is_far_too_wide_costs_little(high):
    wide = Schema(FEATURES, target=Target(0, high))
    model = PrivaBoostRegressor(2.0, schema=wide, random_state=0).fit(*people(4000))
    assert model.score(*people(4000, seed=1)) > 0.75


def test_logarithms_are_learnt_where_the_schema_says_so():
    frame, days = people(4000)
    schema = Schema(FEATURES, target=Target(0, 1e12, log=True))
    model = PrivaBoostRegressor(2.0, schema=schema, random_state=0).fit(frame, np.exp(days / 4))
    found = np.corrcoef(np.log1p(model.predict(frame)), days)[0, 1] ** 2
    assert found > 0.7
    score = model.ensemble_.decision_function(frame.assign(ward=0).to_numpy(), [0, 1, 2])
    assert score.max() < 40  # a logarithm


def test_rare_large_targets_matter():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.random(8000)})
    cost = np.where((frame["x"] > 0.7) & (rng.random(8000) < 0.3), 80.0, 0.0)
    schema = Schema({"x": Numeric(0, 1)}, target=Target(0, 100))
    model = PrivaBoostRegressor(2.0, schema=schema, random_state=0).fit(frame, cost)
    at = model.predict(pd.DataFrame({"x": [0.2, 0.9]}))
    assert at[0] < 8
    assert 10 < at[1] < 30  # the mean is 24, and the median 0


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_a_monotone_feature_is_monotone_everywhere(delta):
    frame, days = people(3000)
    learner = PrivaBoostRegressor(
        1.0, delta=delta, schema=SCHEMA, monotonic_cst={"age": -1, "dose": 1}, random_state=0
    )
    model = learner.fit(frame, days)
    some = frame[:50]
    ages = [model.predict(some.assign(age=age)) for age in range(18, 91, 8)]
    assert (np.diff(ages, axis=0) <= 0).all()


def test_it_is_the_same_from_a_file_and_for_the_same_seed(fitted, tmp_path):
    frame, days = people(4000)
    frame.assign(days=days).to_csv(tmp_path / "people.csv", index=False)
    source = CsvSource(tmp_path / "people.csv", target="days")
    again = PrivaBoostRegressor(2.0, schema=SCHEMA, random_state=0).fit(source)
    assert again.ensemble_ == fitted.ensemble_
    assert again.privacy_.spends == fitted.privacy_.spends
    other = PrivaBoostRegressor(2.0, schema=SCHEMA, random_state=1).fit(frame, days)
    assert other.ensemble_ != fitted.ensemble_


def test_a_saved_ensemble_is_the_same(fitted, tmp_path):
    fitted.save(tmp_path / "model.json")
    loaded = privatree.load(tmp_path / "model.json")
    assert loaded.ensemble_ == fitted.ensemble_
    assert loaded.to_dict() == fitted.model_.to_dict()
    assert repr(loaded).startswith("<RegressionEnsembleModel: an ensemble by PrivaBoostRegressor")
    frame, _ = people(100)
    assert loaded.predict(frame).tolist() == fitted.predict(frame).tolist()


# --- the guarantee --------------------------------------------------------------------------------


def test_the_statement_has_every_spend(fitted):
    privacy = fitted.privacy_
    purposes = [spend.purpose for spend in privacy.spends]
    assert purposes[:3] == ["number of records", "interval of the target", "mean of the target"]
    assert purposes.count("sizes of residuals") == 4
    assert purposes.count("round") == fitted.ensemble_.n_rounds
    pure = [s for s in privacy.spends if s.purpose != "round" and "interval of " not in s.purpose]
    pure_epsilon = sum(float(spend.epsilon) for spend in pure) + 0.03 * 2
    assert pure_epsilon + privacy.composition.epsilon == pytest.approx(2.0)
    assert certified_delta(privacy.composition.epsilon, privacy.composition.groups) <= 1e-6
    assert (privacy.epsilon, privacy.delta) == (2.0, 1e-6)
    assert any("range of the target" in text for text in privacy.public)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_without_delta_the_spends_add_up(neighbours):
    learner = PrivaBoostRegressor(
        1.0, delta=0, schema=SCHEMA, neighbours=neighbours, random_state=0
    )
    model = learner.fit(*people(2000))
    spent = sum(spend.times * spend.epsilon for spend in model.privacy_.spends)
    assert float(spent) == pytest.approx(0.5 if neighbours == "replace" else 1.0, rel=1e-9)
    assert model.privacy_.delta == 0
    assert model.privacy_.schedule.total <= 1


def test_a_declared_interval_is_public_and_costs_nothing():
    learner = PrivaBoostRegressor(2.0, schema=SCHEMA, interval=(5, 35), random_state=0)
    model = learner.fit(*people(3000))
    purposes = {spend.purpose for spend in model.privacy_.spends}
    assert "interval of the target" not in purposes
    assert any("interval that most targets lie in" in text for text in model.privacy_.public)
    assert model.score(*people(2000, seed=1)) > 0.6


def test_units_weigh_as_one_record():
    frame, days = people(3000)
    units = np.repeat(np.arange(1000), 3)
    model = PrivaBoostRegressor(2.0, schema=SCHEMA, random_state=0)
    model.fit(frame, days, units=units)
    assert model.privacy_.unit is not None
    assert model.privacy_.noisy_records == pytest.approx(1000, abs=300)
    assert model.score(*people(2000, seed=1)) > 0.5


def test_sample_weights_count():
    frame, days = people(4000)
    doubled = pd.concat([frame, frame]), np.concatenate([days, days + 40])
    weights = np.repeat([1.0, 0.0], 4000)
    model = PrivaBoostRegressor(2.0, schema=SCHEMA, random_state=0)
    model.fit(*doubled, sample_weight=weights)
    assert model.score(*people(2000, seed=1)) > 0.7


def test_records_without_a_target_are_left_out_one_by_one():
    frame, days = people(3000)
    days[1500:] = np.nan
    model = PrivaBoostRegressor(4.0, schema=SCHEMA, random_state=0).fit(frame, days)
    assert model.privacy_.noisy_records == pytest.approx(1500, abs=100)


def test_a_budget_is_charged_epsilon_and_delta():
    budget = Budget(3.0, delta=1e-5)
    frame, days = people(500)
    learner = PrivaBoostRegressor(2.0, schema=SCHEMA, budget=budget, random_state=0)
    learner.fit(frame, days)
    assert float(budget.remaining) == pytest.approx(1.0)
    with pytest.raises(BudgetExceededError):
        learner.fit(frame, days)


def test_too_few_records_stop_the_training():
    schema = Schema(FEATURES, target=Target(0, 100), min_records=10_000)
    with pytest.raises(TooFewRecordsError):
        PrivaBoostRegressor(2.0, schema=schema, random_state=0).fit(*people(500))


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("epsilon", [0.001, 1e4])
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_any_records_and_any_epsilon_train(n, epsilon, delta):
    learner = PrivaBoostRegressor(epsilon, delta=delta, schema=SCHEMA, random_state=0)
    predicted = learner.fit(*people(n)).predict(people(5)[0])
    assert ((predicted >= 0) & (predicted <= 100)).all()


# --- wrong input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("delta", 0.5),
        ("rounds", 0),
        ("max_depth", 4),
        ("interval", (5, 5)),
        ("interval", (-1, 5)),
        ("interval", "5-10"),
        ("interval", (0, math.nan)),
        ("monotonic_cst", {"ward": 1}),
    ],
)
def test_a_wrong_parameter_is_named_and_nothing_is_charged(parameter, value):
    budget = Budget(10.0, delta=1e-3)
    learner = PrivaBoostRegressor(1.0, schema=SCHEMA, budget=budget, **{parameter: value})
    with pytest.raises(ParameterError, match=parameter):
        learner.fit(*people(10))
    assert float(budget.remaining) == 10


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_too_small_an_epsilon_for_weights_is_refused_before_anything_is_charged(neighbours):
    """The noise of the sums of knots, for 3% of epsilon, is the slowest to be drawn of all."""
    frame, days = people(10)
    times = 1 if neighbours == "add-remove" else 2
    for epsilon, is_enough in ((9.5e-7 * times, False), (9.6e-7 * times, True)):
        budget = Budget(1.0, delta=1e-3, neighbours=neighbours)
        learner = PrivaBoostRegressor(
            epsilon, schema=SCHEMA, rounds=1, budget=budget, neighbours=neighbours
        )
        if is_enough:
            learner.fit(frame, days, sample_weight=np.ones(10))
        else:
            with pytest.raises(ParameterError, match="epsilon must be larger for records with"):
                learner.fit(frame, days, sample_weight=np.ones(10))
        assert bool(budget.charges) == is_enough


def test_a_target_of_text_is_an_error_about_its_type():
    frame, _ = people(10)
    budget = Budget(10.0, delta=1e-3)
    learner = PrivaBoostRegressor(1.0, schema=SCHEMA, budget=budget)
    with pytest.raises(SchemaError, match="y has type"):
        learner.fit(frame, pd.Series(["many"] * 10, dtype="string"))
    assert float(budget.remaining) == 10


def test_a_schema_of_classes_is_refused():
    schema = Schema(FEATURES, ["no", "yes"])
    with pytest.raises(ParameterError, match="must have a target"):
        PrivaBoostRegressor(1.0, schema=schema).fit(*people(10))
