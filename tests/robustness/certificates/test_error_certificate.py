"""Certificates of learners that predict a number: errors, and intervals of predictions."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from privatree import Numeric, PrivaTreeClassifier, PrivaTreeRegressor, Schema, Target
from privatree.errors import CertificateError, ModelFormatError, ParameterError
from privatree.privacy import PrivacyStatement, Schedule, Stage
from privatree.robustness import (
    AccuracyCertificate,
    EpsilonDP,
    ErrorCertificate,
    PredictionIntervals,
    accuracy_certificate,
    best,
    error_certificate,
    prediction_certificates,
    prediction_intervals,
)
from privatree.robustness.certificates._intervals import _largest_place, least_probability
from privatree.robustness.certificates._majority import Majority
from privatree.robustness.certificates._measures import AbsoluteError

STATEMENT = PrivacyStatement("MyLearner", epsilon=0.1, public=("the schema",))
ERROR = ErrorCertificate(
    STATEMENT, estimate=5.0, clean_bound=6.0, confidence=0.99, refits=400, n_train=1000,
    n_test=200, poisoned=(0, 5), majority=Majority(12.5, 9.0), target_range=(-10.0, 50.0),
)  # fmt: skip
VALUES = np.sort(np.random.default_rng(0).uniform(10.0, 20.0, (3, 200)), axis=1)
INTERVALS = PredictionIntervals(STATEMENT, (0.0, 60.0), VALUES, (0, 2), 0.95, n_train=1000)


# --- the error ------------------------------------------------------------------------------------


def test_an_error_is_certified_as_an_accuracy_of_its_share() -> None:
    accuracy = AccuracyCertificate(
        STATEMENT, estimate=1 - 5 / 60, clean_bound=0.9, confidence=0.99, refits=400,
        n_train=1000, n_test=200, poisoned=(5,),
    )  # fmt: skip
    for edits in (0, 1, 5, 50):
        assert ERROR.guarantee(edits) == pytest.approx(60 * (1 - accuracy.guarantee(edits)))
        for letter, bound in accuracy.bounds(edits).items():
            assert ERROR.bounds(edits)[letter] == pytest.approx(60 * (1 - bound))
    assert ERROR.tolerates(30.0) == accuracy.tolerates(0.5)
    assert ERROR.tolerates(5.9) is None
    assert ERROR.guarantee(10**9) == pytest.approx(60.0)
    with pytest.raises(ParameterError, match="score must be >= 0 and < 60, got 60"):
        ERROR.tolerates(60)


def test_the_text_has_the_units_of_the_target() -> None:
    text = str(ERROR)
    assert "mean absolute error against poisoned training records" in text
    assert "without poison, expected at most        6.000" in text
    assert "always answering 12.5                   9.000" in text
    assert "predictions below -10 count as -10, and those above 50 as 50" in text
    assert "a changed target counts as 2" in text
    assert "trigger" not in text
    promised = float(f"{ERROR.guarantee(5):.3f}")
    rows = [line.split() for line in text.split("\n")]
    shown = next(float(row[2]) for row in rows if row[:2] == ["5", "0.50%"])
    assert promised <= shown <= promised + 0.0011
    weak = replace(ERROR, majority=Majority(12, 5.5))
    assert "is above that of always answering 12" in " ".join(str(weak).split())
    assert "is above" not in str(replace(ERROR, majority=Majority(12, 12.0)))


def test_it_is_saved_and_loaded(tmp_path: Any) -> None:
    ERROR.save(tmp_path / "error.json")
    assert ErrorCertificate.load(tmp_path / "error.json") == ERROR
    written = json.loads((tmp_path / "error.json").read_text(encoding="utf-8"))
    assert written["majority"] == {"value": 12.5, "error": 9.0}
    assert written["target_range"] == [-10.0, 50.0]
    written["rows"][1]["guaranteed"] -= 0.01
    with pytest.raises(ModelFormatError, match="the file promises more than they do"):
        ErrorCertificate.from_dict(written)
    with pytest.raises(ModelFormatError, match=r"ErrorCertificate.load reads this file"):
        AccuracyCertificate.load(tmp_path / "error.json")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"target_range": (50.0, -10.0)},
            "target_range must be two numbers, the smaller",
        ),
        ({"target_range": (0.0, math.inf)}, "target_range must be two numbers"),
        ({"clean_bound": 61.0}, "must be from 0 to 60, got 5.0 and 61.0"),
        ({"clean_bound": 4.0}, "clean_bound, the bound without poisoning, must be at least"),
        ({"majority": Majority(1, 61.0)}, "the share of a majority must be > 0 and <= 60"),
    ],
)
def test_certificates_that_cannot_be(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        replace(ERROR, **changes)


def test_a_plot_reaches_the_largest_error() -> None:
    ax = ERROR.plot(Figure().subplots())
    assert ax.get_ylim()[1] == pytest.approx(61.2)
    assert "always the median answer" in [text.get_text() for text in ax.get_legend().get_texts()]


# --- the intervals --------------------------------------------------------------------------------

SCHEDULE = Schedule(
    Fraction(1, 10),
    choices=Fraction(1, 20),
    counts=Fraction(1, 20),
    sequences=((Stage("count", Fraction(1, 20)), Stage("choice", Fraction(1, 20))),),
)


@pytest.mark.parametrize("spending", [EpsilonDP(0.1), EpsilonDP(0.3, 0.001), SCHEDULE])
@pytest.mark.parametrize("edits", [0, 1, 3])
def test_the_least_probability_is_the_turn(spending: Any, edits: int) -> None:
    found = least_probability(spending, edits)
    assert best(spending, found, edits).value > 0.5
    assert best(spending, found - 1e-9, edits).value <= 0.5


def test_no_probability_is_enough_for_many_edits() -> None:
    assert least_probability(EpsilonDP(1.0, 0.1), 10) == 1.0
    many = replace(INTERVALS, poisoned=(10**6,))
    assert [end.tolist() for end in many.interval(10**6)] == [[0.0] * 3, [60.0] * 3]
    assert "the whole range of the target" in " ".join(str(many).split())
    assert "the whole range of the target" not in " ".join(str(INTERVALS).split())


@pytest.mark.parametrize("probability", [0.5, 0.4, 0.02, 0.0])
@pytest.mark.parametrize("failure", [0.1, 0.001])
def test_an_end_fails_as_rarely_as_allowed(probability: float, failure: float) -> None:
    refits = 60

    def fewer_than(place: int) -> float:
        chosen = Fraction(probability)
        return float(
            sum(comb(refits, k) * chosen**k * (1 - chosen) ** (refits - k) for k in range(place))
        )

    place = _largest_place(refits, probability, failure)
    assert place == 0 or fewer_than(place) <= failure
    assert fewer_than(place + 1) > failure


def test_intervals_are_order_statistics() -> None:
    low, high = INTERVALS.interval(0)
    place = int(np.flatnonzero(VALUES[0] == low[0])[0])
    assert 0 < place < 100
    assert high.tolist() == VALUES[:, 199 - place].tolist()
    wider = INTERVALS.interval(2)
    assert (wider[0] < low).all()
    assert (high < wider[1]).all()
    assert INTERVALS.table().shape == (3, 5)
    with pytest.raises(ParameterError, match="edits must be one of"):
        INTERVALS.interval(1)


def test_intervals_are_saved_and_loaded(tmp_path: Any) -> None:
    INTERVALS.save(tmp_path / "intervals.json")
    loaded = PredictionIntervals.load(tmp_path / "intervals.json")
    assert loaded.to_dict() == INTERVALS.to_dict()
    for place, change, message in (
        (("rows", 0), {"at_least": [19.0] * 3}, "must follow from 'values'"),
        ((), {"predictions": [15.0] * 3}, "must be the medians"),
        ((), {"refits": 100}, "must have 'refits' numbers"),
        ((), {"target_range": [0.0, 15.0]}, "values must be in the range of the target"),
        ((), {"rows": []}, "poisoned one or more"),
    ):
        written = json.loads((tmp_path / "intervals.json").read_text(encoding="utf-8"))
        part = written
        for key in place:
            part = part[key]
        part.update(change)
        with pytest.raises(ModelFormatError, match=message):
            PredictionIntervals.from_dict(written)


# --- learners -------------------------------------------------------------------------------------

SCHEMA = Schema({"age": Numeric(0, 100)}, target=Target(0, 100))
AGES = pd.DataFrame({"age": [float(i % 100) for i in range(1200)]})
COST = [10.0 + 60.0 * (age > 50) for age in AGES["age"]]
LEARNER = PrivaTreeRegressor(0.3, schema=SCHEMA, random_state=0, max_depth=1)


def test_a_learner_of_numbers_is_certified() -> None:
    found = error_certificate(LEARNER, AGES, COST, AGES[:100], COST[:100], poisoned=[1], refits=30)
    assert found.target_range == (10.0, 70.0)
    assert found.majority is not None
    assert found.majority.label == 10
    assert found.majority.share == pytest.approx(60 * 49 / 100)
    assert 0 < found.estimate < found.upper < found.guarantee(1) < 60
    intervals = prediction_intervals(LEARNER, AGES, COST, AGES[:5], poisoned=[1], refits=30)
    assert intervals.values.shape == (5, 30)
    assert intervals.target_range == (0.0, 100.0)


def test_a_test_target_outside_the_range_of_the_schema_counts_as_its_end() -> None:
    X_test, y_test = AGES[:100], [1e9, *COST[1:100]]
    found = error_certificate(LEARNER, AGES, COST, X_test, y_test, poisoned=[1], refits=30)
    assert found.target_range == (10.0, 100.0)
    assert "1 of 100 test records has a target outside the range of the schema" in str(found)
    assert found.guarantee(1) < 90


def test_what_is_refused_before_anything_is_trained() -> None:
    classifier = PrivaTreeClassifier(0.3, schema=Schema(SCHEMA.features, [0, 1]))
    with pytest.raises(ParameterError, match=r"PrivaTreeClassifier predicts classes\. Use a"):
        error_certificate(classifier, AGES, COST, AGES, COST)
    with pytest.raises(ParameterError, match="must predict a number"):
        prediction_intervals(classifier, AGES, COST, AGES)
    with pytest.raises(ParameterError, match=r"predicts a number\. Use error_certificate"):
        accuracy_certificate(LEARNER, AGES, COST, AGES, COST)
    with pytest.raises(ParameterError, match="must predict classes"):
        prediction_certificates(LEARNER, AGES, COST, AGES)
    with pytest.raises(ParameterError, match="y_test must have a finite number for each"):
        error_certificate(LEARNER, AGES, COST, AGES[:2], [1.0, None])
    with pytest.raises(
        ParameterError, match="y_test, the test targets, must have at least two diff"
    ):
        error_certificate(LEARNER, AGES, COST, AGES[:2], [1.0, 1.0])
    for too_far_or_close in ([-1e101, 0.0], [0.0, 1e-101]):
        with pytest.raises(ParameterError, match="neither too far apart nor too close"):
            AbsoluteError(AGES[:2], too_far_or_close)
    for n_records in (1, 3):  # one record would be compared with both
        with pytest.raises(ParameterError, match=f"got 2 for {n_records} records"):
            error_certificate(LEARNER, AGES, COST, AGES[:n_records], [1.0, 2.0], refits=2)
    counted = PrivaTreeRegressor(0.3, schema=SCHEMA, dataset_size=1200)
    with pytest.raises(CertificateError, match="dataset_size must be declared from public"):
        error_certificate(counted, AGES, COST, AGES[:100], COST[:100], refits=2)
