"""Audits of ensembles: the correct one passes, and broken ones are refuted at 800 runs."""

import numpy as np
import pandas as pd
import pytest

from privatree import Categorical, Numeric, PrivaBoostClassifier, Schema
from privatree.audit import Event, Neighbours, Records, audit, known_pairs
from privatree.audit._ensemble_views import function_in_words
from privatree.audit._views import VIEWS, TrainingResult, observe_training
from privatree.learners.boosting import _boost
from privatree.model.ensemble import Branch, Step

SCHEMA = Schema({"f": Categorical(["0", "1"])}, [0, 1])
RUNS = 800
"""So many refute each broken ensemble below with a probability of 99%; 400 with 70 to 97%."""


def lone_record():
    """No records against one. The fewer other records there are, the more one of them counts."""
    table = pd.DataFrame({"f": pd.Categorical(["0"], ["0", "1"])})
    event = Event("labels", "class 1 is predicted", lambda labels: labels == ("1",), "first")
    return Neighbours(
        "lone-record",
        "a range that is too small",
        SCHEMA,
        Records(table[:0], np.array([], dtype=int)),
        Records(table, np.array([0])),
        max_depth=1,
        events=(event,),
    )


def audited(delta, **parameters):
    learner = PrivaBoostClassifier(2.0, delta=delta, dataset_size=50, random_state=0, **parameters)
    return audit(learner, lone_record(), runs=RUNS, delta=delta)


def draw_with_less_range(monkeypatch, factor):
    """Every draw takes its range to be smaller than it is, by this factor."""
    true = _boost.SequentialExponential
    monkeypatch.setattr(
        _boost, "SequentialExponential", lambda epsilon, length: true(epsilon, length // factor)
    )


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("rounds", ["auto", 5])
def test_the_ensemble_keeps_its_promise(delta, rounds):
    report = audited(delta, rounds=rounds)
    assert not report.refuted
    assert report.delta == delta


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_an_ensemble_with_half_its_range_is_refuted(delta, monkeypatch):
    draw_with_less_range(monkeypatch, 2)
    report = audited(delta, rounds=1)
    assert report.refuted
    assert report.event == "class 1 is predicted"


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_an_ensemble_whose_rounds_each_spend_everything_is_refuted(delta, monkeypatch):
    draw_with_less_range(monkeypatch, 5)
    assert audited(delta, rounds=5).refuted


@pytest.mark.slow
def test_a_large_delta_excuses_what_a_small_one_does_not(monkeypatch):
    draw_with_less_range(monkeypatch, 2)
    learner = PrivaBoostClassifier(2.0, delta=0, rounds=1, dataset_size=50, random_state=0)
    bounds = [audit(learner, lone_record(), runs=RUNS, delta=d).lower_bound for d in (0, 0.1, 0.6)]
    assert bounds[0] > bounds[1] > bounds[2] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["purity", "one-person", "two-places", "ragged-line", "open-quote"]
)
def test_tables_units_and_files_can_be_audited(name):
    learner = PrivaBoostClassifier(1.0, random_state=0)

    def for_pair(pair):
        return learner.set_params(schema=pair.schema)

    assert not audit(for_pair, known_pairs(1.0)[name], runs=16, delta=1e-6).refuted


# --- what is observed -----------------------------------------------------------------------------


def test_what_is_seen_of_an_ensemble():
    schema = Schema({"x": Numeric(0, 1), "c": Categorical(["a", "b"])}, ["no", "yes"])
    X = pd.DataFrame({"x": np.linspace(0, 1, 200), "c": list("ab") * 100})
    y = np.where(X["x"] > 0.5, "yes", "no")
    model = PrivaBoostClassifier(2.0, rounds=4, schema=schema, random_state=0).fit(X, y)
    probes = X.iloc[[0, 199]]
    seen = dict(zip(VIEWS, observe_training(VIEWS, probes, TrainingResult(model, ())), strict=True))
    assert seen["rounds"] == 4
    assert seen["first function"] == model.ensemble_.rounds[0].function
    assert len(seen["features"]) == 4
    assert {f for of_round in seen["features"] for f in of_round} <= {0, 1}
    steps = np.array(seen["margins"]) / 2
    np.testing.assert_allclose(steps * model.ensemble_.step, model.decision_function(probes))
    assert seen["tree"] is None


def test_functions_in_words():
    schema = Schema({"x": Numeric(0, 1), "c": Categorical(["a", "b"])}, ["no", "yes"])
    step, kind = Step(0, first=-1, switches=(0.25, 0.5)), Step(1, positive=bytes([1, 0, 1]))
    assert function_in_words(step, schema) == "x: -, + above 0.25, - above 0.5"
    assert function_in_words(kind, schema) == "+ if c in {a, (missing)}"
    on_kind = Branch(1, step, kind, goes_left=bytes([0, 1]))
    assert function_in_words(on_kind, schema).startswith("if c in {b} then (x: -, +")
    for threshold, words in ((0.5, "x <= 0.5"), (float("-inf"), "x is missing")):
        branch = Branch(0, kind, kind, threshold=threshold)
        assert function_in_words(branch, schema).startswith(f"if {words} then (+ if c")
