"""PrivaTreeRegressor: the same tree from every source, and nothing charged for a mistake."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from batches_in_memory import FrameBatches
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_records import schema_of, some_records
from sklearn.base import clone, is_regressor

import privatree
from privatree import (
    Numeric,
    PrivaBoostClassifier,
    PrivaTreeClassifier,
    PrivaTreeRegressor,
    Schema,
    Target,
)
from privatree.errors import ParameterError, PrivacyLeakWarning, SchemaError, TooFewRecordsError
from privatree.privacy import Budget
from privatree.sources import CsvSource, ParquetSource

SCHEMA = Schema({"age": Numeric(0, 100), "noise": Numeric(0, 1)}, target=Target(0, 1000))


def some_stays(n=3000, seed=0):
    """Days that grow with age, some missing, some beyond the range."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.uniform(0, 100, n), "noise": rng.uniform(0, 1, n)})
    days = pd.Series(rng.gamma(4, frame["age"] / 20), name="days")
    days[rng.random(n) < 0.05] = np.nan
    days[rng.random(n) < 0.01] = np.inf
    return frame, days


def fitted(*records, epsilon=1.0, schema=SCHEMA, random_state=0, **parameters):
    learner = PrivaTreeRegressor(epsilon, schema=schema, random_state=random_state, **parameters)
    return learner.fit(*records)


# --- what it learns -----------------------------------------------------------------------------


@pytest.mark.slow
def test_it_learns_a_step_and_predicts_floats_in_the_range():
    frame, days = some_stays()
    model = fitted(frame, days)
    predicted = model.predict(frame)
    assert predicted.dtype == np.float64
    assert ((predicted >= 0) & (predicted <= 1000)).all()
    known = np.isfinite(days)
    assert model.score(frame[known], days[known]) > 0.3
    assert is_regressor(model)
    assert not hasattr(model, "predict_proba")
    assert model.tree_.noisy_counts is not None
    assert model.tree_.shares is not None
    assert repr(model.model_).startswith("<RegressionModel: a tree by PrivaTreeRegressor, epsilon")


def test_medians_spend_all_on_the_tree():
    model = fitted(*some_stays(), leaf_values="median")
    assert model.tree_.noisy_counts is None
    assert model.tree_.shares is None
    assert not any("knot" in spend.purpose for spend in model.privacy_.spends)


def test_a_declared_interval_is_not_drawn():
    frame, days = some_stays()
    model = fitted(frame, days, interval=(0, 30))
    assert not any("interval" in spend.purpose for spend in model.privacy_.spends)
    assert model.privacy_.public[-1].startswith("the interval that most targets lie in, as decl")
    assert any("interval" in spend.purpose for spend in fitted(frame, days).privacy_.spends)


def test_a_target_of_logarithms():
    frame, days = some_stays()
    schema = Schema(SCHEMA.features, target=Target(0, 10**6, log=True))
    predicted = fitted(frame, days, schema=schema, epsilon=8.0).predict(frame)
    known = np.isfinite(days)
    assert np.corrcoef(np.log1p(days[known]), np.log1p(predicted[known]))[0, 1] > 0.7


def test_the_statement_says_what_is_public():
    privacy = fitted(*some_stays()).privacy_
    assert privacy.learner == "PrivaTreeRegressor"
    assert privacy.epsilon == 1
    assert "the range of the target" in privacy.public[0]
    assert privacy.schedule is not None
    halved = fitted(*some_stays(), neighbours="replace").privacy_
    assert halved.epsilon == 1
    assert sum(float(spend.epsilon) for spend in halved.spends if spend.node is None) < 0.5


@pytest.mark.parametrize("parameters", [{}, {"leaf_values": "median"}, {"zoom": True},
                                        {"schedule": "robust"}])  # fmt: skip
def test_a_model_survives_its_file(tmp_path, parameters):
    frame, days = some_stays()
    model = fitted(frame, days, **parameters)
    model.save(tmp_path / "model.json")
    loaded = privatree.load(tmp_path / "model.json")
    assert loaded.tree_ == model.tree_
    assert loaded.to_dict() == model.model_.to_dict()
    assert np.array_equal(loaded.predict(frame), model.predict(frame))
    again = pickle.loads(pickle.dumps(model))
    assert again.model_.to_dict() == model.model_.to_dict()
    assert clone(model).get_params() == model.get_params()


# --- sources ------------------------------------------------------------------------------------

LEARNERS = st.builds(
    PrivaTreeRegressor,
    st.sampled_from([0.05, 1.0, 8.0, 100.0, 1000.0]),
    max_depth=st.sampled_from([1, 2, 4, None]),
    lookahead=st.sampled_from(["auto", 1, 2]),
    n_bins=st.sampled_from(["auto", 5]),
    schedule=st.sampled_from(["accuracy", "accuracy", "robust"]),
    neighbours=st.sampled_from(["add-remove", "replace"]),
    leaf_values=st.sampled_from(["mean", "median"]),
    zoom=st.booleans(),
    random_state=st.integers(0, 100),
)


@pytest.mark.slow
@settings(max_examples=15)
@given(LEARNERS, st.integers(0, 400), st.integers(1, 150), st.booleans(), st.integers(0, 2**32))
def test_the_same_seed_gives_the_same_tree(learner, n, size, in_memory, seed):
    frame, _ = some_records(n, 2, seed)
    rng = np.random.default_rng(seed)
    days = pd.Series(np.where(rng.random(n) < 0.1, np.nan, rng.gamma(2, 5, n)), name="target")
    schema = Schema(schema_of(2).features, target=Target(0, 100, name="target"))
    learner.set_params(schema=schema)
    expected = learner.fit(frame, days).model_.to_dict()
    source = FrameBatches(frame, days, size, in_memory=in_memory)
    assert learner.fit(source).model_.to_dict() == expected
    shuffled = rng.permutation(n)
    again = FrameBatches(frame.iloc[shuffled], days.iloc[shuffled], size + 3)
    assert learner.fit(again).model_.to_dict() == expected


@pytest.mark.slow
def test_every_container_and_file_gives_the_same_tree(tmp_path):
    frame, days = some_stays(500)
    schema = replace(SCHEMA, about=privatree.About(target="days"))
    table = frame.assign(days=days)
    table.to_csv(tmp_path / "stays.csv", index=False)
    table.to_parquet(tmp_path / "stays.parquet")
    expected = fitted(frame, days, schema=schema, epsilon=50.0).model_.to_dict()
    for records in [
        (frame.to_numpy(), days.to_numpy()),
        (pl.from_pandas(frame), pl.from_pandas(days)),
        (frame, [None if np.isnan(one) else one for one in days]),
        (CsvSource(tmp_path / "stays.csv", "days"),),
        (CsvSource(tmp_path / "stays.csv", "days", in_memory=False),),
        (ParquetSource(tmp_path / "stays.parquet", "days", in_memory=False),),
    ]:
        assert fitted(*records, schema=schema, epsilon=50.0).model_.to_dict() == expected


def test_the_number_of_passes_is_that_of_the_levels_and_two_more():
    frame, days = some_stays(500)
    source = FrameBatches(frame, days, 100)
    model = fitted(source, epsilon=50.0, lookahead=1, simplify=False)
    assert source.n_passes == 2 + model.tree_.depth


# --- weights and units --------------------------------------------------------------------------


@pytest.mark.slow
def test_units_and_weights_change_what_counts():
    frame, days = some_stays()
    persons = np.arange(len(frame)) // 3
    model = fitted(frame, days, epsilon=5.0)
    by_person = PrivaTreeRegressor(5.0, schema=SCHEMA, random_state=0).fit(
        frame, days, units=persons
    )
    assert by_person.privacy_.unit is not None
    ratio = model.privacy_.noisy_records / by_person.privacy_.noisy_records
    assert 2.5 < ratio < 3.2
    weights = np.where(frame["age"] > 50, 1.0, 0.0)
    of_old = PrivaTreeRegressor(5.0, schema=SCHEMA, random_state=0).fit(
        frame, days, sample_weight=weights
    )
    assert 0.4 < of_old.privacy_.noisy_records / model.privacy_.noisy_records < 0.6


# --- errors, before anything is charged ---------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"leaf_values": "mode"}, 'leaf_values must be "mean" or "median", got \'mode\''),
        ({"interval": 3}, "interval must be two numbers, the smaller one first, got 3"),
        ({"interval": (3, 2)}, r"the smaller one first, got \(3, 2\)"),
        ({"interval": (0, float("nan"))}, "interval must be two numbers"),
        ({"interval": (-1, 5)}, "must lie in the range of the target, from 0 to 1000, got"),
        ({"max_depth": 0}, r"max_depth \(if not None\) must be an integer from 1 to 16"),
        ({"zoom": 1}, "zoom must be True or False, got 1"),
        ({"schema": Schema(SCHEMA.features, ["no", "yes"])}, "schema must have a target for Priva"),
    ],
)
def test_a_wrong_parameter_is_refused(parameters, message):
    budget = Budget(10)
    with pytest.raises(ParameterError, match=message):
        fitted(*some_stays(20), budget=budget, **parameters)
    assert budget.remaining == 10


@pytest.mark.parametrize("learner", [PrivaTreeClassifier, PrivaBoostClassifier])
def test_a_classifier_refuses_a_target(learner):
    frame, days = some_stays(20)
    advice = "schema must have classes for Priva.* Use PrivaTreeRegressor or PrivaBoostRegressor"
    with pytest.raises(ParameterError, match=advice):
        learner(schema=SCHEMA).fit(frame, days)


@pytest.mark.parametrize("days", [pd.Series(["1", "2"], dtype="string"),
                                  pd.to_datetime(pd.Series(["2020-01-01"] * 2))])  # fmt: skip
def test_a_target_of_text_is_one_error_about_the_type(days):
    budget = Budget(10)
    with pytest.raises(SchemaError, match=r"^y has type .*, but the schema declares a numeric ta"):
        fitted([[1.0, 0.0], [2.0, 1.0]], days, budget=budget)
    assert budget.remaining == 10


def test_too_few_records_stop_the_training():
    budget = Budget(10)
    schema = replace(SCHEMA, min_records=100_000)
    with pytest.raises(TooFewRecordsError, match=r"fits the schema.* was spent on this"):
        fitted(*some_stays(100), schema=schema, budget=budget)
    assert float(budget.remaining) == pytest.approx(9.97)


def test_without_a_schema_one_is_inferred_with_a_warning():
    frame, days = some_stays(200)
    known = np.isfinite(days)
    with pytest.warns(PrivacyLeakWarning, match="range of the target were read") as caught:
        model = PrivaTreeRegressor(random_state=0).fit(frame[known], days[known])
    assert caught[0].filename == __file__
    assert np.isinf(model.privacy_.epsilon)
    assert model.schema_.target.high == days[known].max()


@pytest.mark.filterwarnings("ignore::privatree.PrivacyLeakWarning")
def test_marks_of_the_target_leave_no_finite_epsilon():
    target = Target(0, 1000, unconfirmed=["high"])
    model = fitted(*some_stays(100), schema=Schema(SCHEMA.features, target=target))
    assert np.isinf(model.privacy_.epsilon)
    assert "target: high" in model.privacy_.leaks[0].explanation
