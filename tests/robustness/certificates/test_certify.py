from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from privatree import (
    Categorical,
    Numeric,
    PaperPrivaTreeClassifier,
    ParameterError,
    PrivaBoostClassifier,
    PrivaTreeClassifier,
    Schema,
)
from privatree.baselines import RandomTreeClassifier
from privatree.errors import CertificateError, ModelFormatError, TooFewRecordsError
from privatree.privacy import Budget
from privatree.repetition import lower_confidence_bound, refit, upper_confidence_bound
from privatree.repetition._refits import BUDGET_LEFT_OUT
from privatree.robustness import (
    BackdoorAttack,
    accuracy_certificate,
    attack_success_certificate,
    claimed_accuracy_certificate,
    prediction_certificates,
)
from privatree.robustness.certificates._majority import Majority
from privatree.robustness.certificates._measures import Accuracy

SCHEMA = Schema({"a": Numeric(0, 1), "b": Categorical(["x", "y"])}, ["no", "yes"])


def table(n_rows, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.random(n_rows), "b": rng.choice(["x", "y"], n_rows)})
    return frame, pd.Series(np.where(frame["a"] > 0.4, "yes", "no"))


TRAIN, TEST = table(200, 0), table(50, 1)


def learner(epsilon=0.2, **parameters):
    return PrivaTreeClassifier(
        epsilon, schema=SCHEMA, max_depth=2, schedule="robust", random_state=0, **parameters
    )


class Trigger:
    """Records of class no, moved to the corner where a = 1."""

    def success_rate(self, model, X_test, y_test):
        triggered = X_test[y_test == "no"].assign(a=1.0)
        return float(np.mean(model.predict(triggered) == "yes"))


# --- accuracy -------------------------------------------------------------------------------------


def test_it_is_the_lower_confidence_bound_of_the_refits():
    scores = refit(learner(), *TRAIN, Accuracy(*TEST), 20)
    found = accuracy_certificate(
        learner(), *TRAIN, *TEST, poisoned=[3, "1%"], confidence=0.9, refits=20
    )
    assert found.estimate == pytest.approx(np.mean(scores))
    assert found.lower == lower_confidence_bound(scores, 0.9)
    assert (found.refits, found.n_train, found.n_test) == (20, 200, 50)
    assert found.poisoned == (3, 2)
    assert found.privacy.seeded
    assert found.claimed_by is None
    assert found.epsilon == 0.2
    assert 0 < found.guarantee(3) < found.guarantee(2) < found.lower < found.estimate


def test_a_learner_without_a_schedule_has_the_simple_bounds():
    found = accuracy_certificate(
        RandomTreeClassifier(0.2, schema=SCHEMA, random_state=0), *TRAIN, *TEST, refits=5
    )
    assert list(found.bounds(1)) == ["A", "B", "AB*"]


def test_the_estimator_is_neither_trained_nor_charged():
    budget = Budget(0.2)
    estimator = learner(budget=budget)
    found = accuracy_certificate(estimator, *TRAIN, *TEST, refits=2)
    assert not hasattr(estimator, "model_")
    assert budget.charges == []
    assert found.notes == (BUDGET_LEFT_OUT,)
    assert BUDGET_LEFT_OUT in str(found).replace("\n    ", " ")


def test_a_test_label_that_is_no_class_counts_as_wrong():
    X_test, y_test = TEST
    half = y_test.where(np.arange(50) < 25, "unheard of")
    found = accuracy_certificate(learner(50.0), *TRAIN, X_test, half, refits=3)
    assert 0.4 < found.estimate <= 0.5
    note = "25 of 50 test records have a label that is not a class; they count as wrong."
    assert found.notes == (note,)
    claim = claimed_accuracy_certificate(
        Other(0.3), *TRAIN, X_test, half, refits=2, claimed_by="me"
    )
    assert claim.notes == (note,)
    one = y_test.where(np.arange(50) > 0, None)
    found = accuracy_certificate(learner(), *TRAIN, X_test, one, refits=1)
    assert found.notes == (
        "1 of 50 test records has a label that is not a class; it counts as wrong.",
    )
    assert accuracy_certificate(learner(), *TRAIN, *TEST, refits=1).notes == ()
    nothing = X_test, ["unheard of"] * 50
    with pytest.raises(ParameterError, match=r"a class of the learner, but none is.*'no', 'yes'"):
        accuracy_certificate(learner(), *TRAIN, *nothing, refits=3)
    with pytest.raises(ParameterError, match=r"a class of the learner, but none is.*'no', 'yes'"):
        claimed_accuracy_certificate(Other(), *TRAIN, *nothing, refits=3, claimed_by="me")


def test_the_most_frequent_test_label_is_there_to_compare_with():
    X_test, y_test = TEST
    share = np.mean(y_test == "yes")
    assert share > 0.5
    found = accuracy_certificate(learner(), *TRAIN, *TEST, refits=1)
    assert found.majority == Majority("yes", share)
    fewer = y_test.where((y_test == "no") | (np.arange(50) < 5), "unheard of")
    found = accuracy_certificate(learner(), *TRAIN, X_test, fewer, refits=1)
    assert found.majority == Majority("no", np.mean(y_test == "no"))
    claim = claimed_accuracy_certificate(Other(), *TRAIN, *TEST, refits=1, claimed_by="me")
    assert claim.majority == Majority("yes", share)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"refits": 0}, "refits must be an integer"),
        ({"confidence": 99}, "confidence must be"),
        ({"poisoned": "1%"}, "poisoned must be"),
        ({"progress": 3}, "progress must be"),
    ],
)
def test_other_wishes_are_refused(changed, message):
    with pytest.raises(ParameterError, match=message):
        accuracy_certificate(learner(), *TRAIN, *TEST, **{"refits": 2, **changed})


def test_empty_tables_are_refused():
    nothing = TRAIN[0][:0], TRAIN[1][:0]
    with pytest.raises(ParameterError, match="X and y must have at least one record"):
        accuracy_certificate(learner(), *nothing, *TEST)
    with pytest.raises(ParameterError, match="X_test and y_test must have at least one record"):
        accuracy_certificate(learner(), *TRAIN, *nothing)
    with pytest.raises(ParameterError, match="X_test must have at least one record"):
        prediction_certificates(learner(), *TRAIN, nothing[0])


def test_a_refusal_comes_before_any_refit(monkeypatch):
    def never(*_, **__):
        raise AssertionError

    monkeypatch.setattr("privatree.robustness.certificates._certification.refit", never)
    counted = learner().set_params(dataset_size=200)
    for certify in (
        lambda: accuracy_certificate(counted, *TRAIN, *TEST),
        lambda: attack_success_certificate(counted, *TRAIN, *TEST, Trigger()),
        lambda: prediction_certificates(counted, *TRAIN, TEST[0]),
    ):
        with pytest.raises(CertificateError, match="exactly the number"):
            certify()


# --- claims ---------------------------------------------------------------------------------------


def test_the_paper_s_tree_is_certified_as_a_claim_only():
    paper = PaperPrivaTreeClassifier(0.2, schema=SCHEMA, random_state=0)
    with pytest.raises(CertificateError, match="claimed_accuracy_certificate"):
        accuracy_certificate(paper, *TRAIN, *TEST, refits=3)
    found = claimed_accuracy_certificate(
        paper, *TRAIN, *TEST, refits=3, poisoned=[5], claimed_by="the paper"
    )
    assert (found.claimed_by, found.epsilon) == ("the paper", 0.2)
    assert list(found.bounds(5)) == ["A", "B", "AB*"]
    assert "purity stop" in str(found)


class Other(ClassifierMixin, BaseEstimator):
    """Somebody's learner, with an epsilon and no statement."""

    def __init__(self, epsilon=1.0):
        self.epsilon = epsilon

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[-1])


def test_a_learner_without_a_statement_is_certified_as_a_claim_only():
    with pytest.raises(CertificateError, match="must have a privacy_"):
        accuracy_certificate(Other(0.3), *TRAIN, *TEST)
    found = claimed_accuracy_certificate(
        Other(0.3), *TRAIN, *TEST, refits=3, claimed_by="its documentation"
    )
    assert found.estimate == pytest.approx(np.mean(TEST[1] == "yes"))
    assert found.epsilon == 0.3
    for nobody in ("", "  ", None):
        with pytest.raises(ParameterError, match="claimed_by must name"):
            claimed_accuracy_certificate(Other(), *TRAIN, *TEST, claimed_by=nobody)


# --- attacks --------------------------------------------------------------------------------------


def test_attack_success_is_the_upper_confidence_bound_of_the_refits():
    def rate(model):
        return Trigger().success_rate(model, *TEST)

    rates = refit(learner(), *TRAIN, rate, 20)
    found = attack_success_certificate(
        learner(), *TRAIN, *TEST, Trigger(), poisoned=[2], confidence=0.9, refits=20
    )
    assert found.estimate == pytest.approx(np.mean(rates))
    assert found.upper == upper_confidence_bound(rates, 0.9)
    assert found.estimate < found.upper < found.guarantee(2) <= 1


@pytest.mark.parametrize("target", ["unheard of", 1, True])
def test_a_target_that_is_no_class_is_refused(target):
    attack = BackdoorAttack({"a": 1.0}, target=target)
    with pytest.raises(ParameterError, match=r"attack\.target must be a class.*'no', 'yes'"):
        attack_success_certificate(learner(), *TRAIN, *TEST, attack)


@pytest.mark.parametrize(
    ("trigger", "notes"),
    [
        ({"a": 1.0, "b": "y"}, []),
        ({"a": 7.0}, ["7.0 in column 'a'", "range from 0 to 1", "reads it as 1."]),
        ({"a": -7.0}, ["-7.0 in column 'a'", "reads it as 0."]),
        ({"a": float("nan")}, ["nan in column 'a'", "reads it as 0."]),
        ({"b": "z"}, ["'z' in column 'b'", "not a category", "reads it as 'x'"]),
        ({1: "z"}, ["'z' in column 'b'"]),
    ],
)
def test_a_trigger_outside_the_schema_is_noted(trigger, notes):
    attack = BackdoorAttack(trigger, target="yes")
    found = attack_success_certificate(learner(), *TRAIN, *TEST, attack, refits=1)
    assert len(found.notes) == bool(notes)
    for words in notes:
        assert words in found.notes[0]


def test_a_trigger_in_an_array_is_noted_by_the_name_in_the_schema():
    schema = Schema({"a": Numeric(0, 1), "b": Numeric(0, 5)}, [0, 1])
    X = np.random.default_rng(0).random((60, 2), dtype=np.float32)
    y = (X[:, 0] > 0.5).astype(int)
    estimator = PrivaTreeClassifier(1.0, schema=schema, random_state=0)
    attack = BackdoorAttack({0: 0.1, 1: 255}, target=1)
    found = attack_success_certificate(estimator, X, y, X, y, attack, refits=1)
    (note,) = found.notes
    assert "255 in column 'b'" in note
    assert "range from 0 to 5: the learner reads it as 5." in note


def test_what_is_no_rate_is_refused():
    class Wrong:
        def success_rate(self, model, X_test, y_test):
            return float("nan")

    with pytest.raises(CertificateError, match="must return a number from 0 to 1"):
        attack_success_certificate(learner(), *TRAIN, *TEST, Wrong())
    with pytest.raises(ParameterError, match="attack must have a method success_rate"):
        attack_success_certificate(learner(), *TRAIN, *TEST, object())


# --- predictions ----------------------------------------------------------------------------------


def test_predictions_count_the_refits():
    found = prediction_certificates(learner(2.0), *TRAIN, TEST[0], refits=30, confidence=0.9)
    assert found.counts.sum(axis=1).tolist() == [30] * 50
    assert found.classes == ("no", "yes")
    assert np.mean(np.array(found.predictions) == TEST[1]) > 0.9
    votes = refit(learner(2.0), *TRAIN, lambda m: m.predict(TEST[0]) == "yes", 30)
    assert found.counts[:, 1].tolist() == np.sum(votes, axis=0).tolist()
    far, near = np.argmax(TEST[0]["a"]), np.argmin(np.abs(TEST[0]["a"] - 0.4))
    assert found.tolerates[far] >= found.tolerates[near]
    assert found.tolerates[far] >= 0


def test_predictions_of_more_classes():
    schema = Schema({"a": Numeric(0, 1)}, [3, 1, 2])
    X = np.linspace(0, 1, 90).reshape(-1, 1)
    y = np.repeat([1, 2, 3], 30)
    estimator = PrivaTreeClassifier(5.0, schema=schema, random_state=0)
    found = prediction_certificates(estimator, X, y, X[[0, 45, 89]], refits=30, confidence=0.9)
    assert found.predictions == [1, 2, 3]
    assert found.counts.shape == (3, 3)
    assert np.all(found.tolerates >= 0)


# --- trainings that stop --------------------------------------------------------------------------


def stopping(epsilon=1.0):
    """A learner that stops about every other training on the 200 records."""
    return learner(epsilon).set_params(schema=replace(SCHEMA, min_records=200), random_state=1)


def test_a_refit_that_stops_counts_as_wrong_and_is_noted():
    found = accuracy_certificate(stopping(), *TRAIN, *TEST, refits=40, confidence=0.9)
    (note,) = [text for text in found.notes if "stopped" in text]
    stopped = int(note.split()[0])
    assert 5 < stopped < 35
    assert note.endswith("was below min_records; they count as wrong.")
    assert found.estimate <= (40 - stopped) / 40


def test_a_prediction_needs_a_model_and_attacks_count_stopped_refits_too():
    with pytest.raises(CertificateError, match=r"of 40 stopped.*Lower min_records"):
        prediction_certificates(stopping(), *TRAIN, TEST[0], refits=40, confidence=0.9)
    attacked = attack_success_certificate(
        stopping(), *TRAIN, *TEST, Trigger(), refits=40, confidence=0.9
    )
    assert "the attack has no success there" in attacked.notes[0]


def test_a_learner_that_always_stops_is_an_error():
    always = learner(8.0).set_params(schema=replace(SCHEMA, min_records=10**6))
    with pytest.raises(TooFewRecordsError, match="min_records = 1,000,000"):
        accuracy_certificate(always, *TRAIN, *TEST, refits=20)


# --- units ----------------------------------------------------------------------------------------

VISITS = TRAIN[0].assign(patient_id=np.arange(200) // 4), TRAIN[1]
BY_PATIENT = replace(SCHEMA, unit="patient_id")


def patients(epsilon=0.5, **parameters):
    return learner(epsilon, **parameters).set_params(schema=BY_PATIENT)


def test_an_edit_of_units_is_a_whole_unit():
    found = accuracy_certificate(patients(), *VISITS, *TEST, poisoned=[1, "10%"], refits=12)
    assert (found.privacy.unit, found.n_train, found.poisoned) == ("patient_id", 50, (1, 5))
    said = " ".join(str(found).split())
    assert "accuracy against poisoned training units" in said
    assert "for this training set (50 units) and test set (50 records)" in said
    assert "any x additions or removals of training units leave an expected accuracy" in said
    assert (
        "A unit is all records of one patient_id. A unit whose records are changed in any" in said
    )
    assert "no record of another unit changes how a record is read or weighed" in said
    assert found.plot().get_xlabel() == "units added or removed"
    assert type(found).from_dict(found.to_dict()) == found
    shares = found.table()["share"].tolist()
    assert shares == [1 / 50, 5 / 50]


def test_units_reach_the_refits():
    """The refits are those of the records with their units, and not of single records."""
    scores = refit(patients(), *VISITS, Accuracy(*TEST), 12)
    found = accuracy_certificate(patients(), *VISITS, *TEST, refits=12)
    assert found.estimate == pytest.approx(np.mean(scores))
    alone = accuracy_certificate(learner(0.5), *VISITS, *TEST, refits=12)
    assert (alone.privacy.unit, alone.n_train) == (None, 200)
    assert alone.estimate != found.estimate


def test_predictions_are_certified_for_units():
    found = prediction_certificates(patients(5.0), *VISITS, TEST[0][:3], refits=12)
    assert (found.privacy.unit, found.n_train) == ("patient_id", 50)
    assert "at most as many training units as" in " ".join(str(found).split())


def test_a_unit_without_its_column_is_refused():
    with pytest.raises(ParameterError, match="the schema has the unit 'patient_id'") as caught:
        accuracy_certificate(patients(), *TRAIN, *TEST, refits=5)
    assert caught.value.parameter == "units"


def test_a_counted_number_of_units_is_refused():
    with pytest.raises(CertificateError, match="exactly the number of records or units"):
        accuracy_certificate(patients(dataset_size=50), *VISITS, *TEST, refits=5)


# --- ensembles ------------------------------------------------------------------------------------


def ensemble(**parameters):
    return PrivaBoostClassifier(0.2, schema=SCHEMA, random_state=0, **parameters)


@pytest.mark.parametrize(
    ("parameters", "bound"),
    [
        ({"delta": 0}, "E"),
        ({"delta": 0, "rounds": 5}, "E"),
        ({"rounds": 5}, "E"),
        ({"dataset_size": 20_000}, "E"),
        ({}, "B"),
    ],
)
def test_an_ensemble_is_certified_with_or_without_delta(parameters, bound, tmp_path):
    certificate = accuracy_certificate(
        ensemble(**parameters), *TRAIN, *TEST, poisoned=[1, 4], refits=15
    )
    assert certificate.guarantee(0) > certificate.guarantee(1) > certificate.guarantee(4) > 0
    assert certificate.rows[0][1].bound == bound
    certificate.save(tmp_path / "certificate.json")
    loaded = type(certificate).load(tmp_path / "certificate.json")
    assert loaded.rows == certificate.rows
    said = "epsilon 0.2 and delta 1e-06:" if certificate.privacy.delta else "epsilon 0.2:"
    assert said in str(certificate).splitlines()[0]


def test_a_loaded_certificate_cannot_hide_its_delta():
    whole = accuracy_certificate(ensemble(delta=0.1), *TRAIN, *TEST, poisoned=[2], refits=15)
    written = whole.to_dict()
    more = replace(whole, privacy=replace(whole.privacy, delta=0.0)).to_dict()["rows"]
    with pytest.raises(ModelFormatError, match="promises more"):
        type(whole).from_dict({**written, "rows": more})


def test_triggers_and_predictions_of_an_ensemble_are_certified():
    certificate = attack_success_certificate(
        ensemble(rounds=5), *TRAIN, *TEST, Trigger(), poisoned=[1], refits=15
    )
    assert certificate.estimate <= certificate.guarantee(0) < certificate.guarantee(1) <= 1
    found = prediction_certificates(
        ensemble(delta=0, rounds=5), *TRAIN, TEST[0][:3], refits=40, confidence=0.9
    )
    assert found.tolerates.shape == (3,)


@pytest.mark.parametrize("rounds", ["auto", 5])
def test_a_weak_ensemble_gets_advice_about_its_rounds(rounds):
    certificate = accuracy_certificate(
        ensemble(rounds=rounds), *TRAIN, *TEST, poisoned=[100], refits=10
    )
    assert ("a declared number of rounds, more" in str(certificate)) == (rounds == "auto")


def test_a_unit_of_an_ensemble_is_one_edit():
    schema = replace(SCHEMA, unit="person")
    X, y = TRAIN
    learner = PrivaBoostClassifier(0.2, schema=schema, rounds=5, dataset_size=90, random_state=0)
    people = X.assign(person=np.arange(len(X)) // 2)
    certificate = accuracy_certificate(learner, people, y, *TEST, poisoned=[3], refits=10)
    assert certificate.n_train == 100
    assert certificate.rows[0][1].bound == "E"
