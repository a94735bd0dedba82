import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator

from privatree import Categorical, Numeric, PaperPrivaTreeClassifier, PrivaTreeClassifier, Schema
from privatree.baselines import BDPTClassifier, DPGDFClassifier, RandomTreeClassifier
from privatree.errors import CertificateError
from privatree.privacy import PrivacyStatement, Schedule
from privatree.robustness import EpsilonDP
from privatree.robustness.certificates import require_guarantee
from privatree.robustness.certificates._certification import Certification
from privatree.robustness.certificates._preconditions import (
    require_claim,
    require_privacy_statement,
)

SCHEMA = Schema({"a": Numeric(0, 1), "b": Categorical([0, 1])}, ["no", "yes"])
X = np.random.default_rng(0).integers(0, 2, (40, 2)).astype(float)
Y = np.where(X[:, 0] > 0, "yes", "no").astype(object)
Y[:3] = None  # three records without a label


def certification(estimator):
    return Certification(estimator, X, Y, 0.9, 1)


def privacy(estimator):
    return certification(estimator).check_privacy(claimed=False)


# --- what may be certified ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"schedule": "robust"},
        {"dataset_size": 50},
        {"neighbours": "replace", "dataset_size": 50},
    ],
)
def test_the_record_level_learner_is_certified_by_its_schedule(parameters):
    learner = PrivaTreeClassifier(0.5, schema=SCHEMA, **parameters)
    statement = privacy(learner)
    spending = require_guarantee(statement)
    assert isinstance(spending, Schedule)
    assert spending.sequences
    halved = 2 if parameters.get("neighbours") == "replace" else 1  # an edit is half a replacement
    assert float(spending.total) == pytest.approx(0.5 / halved)
    assert statement.spends == ()


def test_a_learner_with_a_finite_epsilon_alone_is_certified_by_that():
    statement = privacy(RandomTreeClassifier(0.5, schema=SCHEMA))
    assert require_guarantee(statement) == EpsilonDP(0.5)


def test_stages_are_rounded_up_as_in_a_file():
    learner = PrivaTreeClassifier(0.3, schema=SCHEMA, schedule="robust")
    exact = learner.fit(X, Y).privacy_.schedule
    kept = require_guarantee(privacy(learner))
    assert exact != kept
    assert all(
        0 <= after.epsilon - before.epsilon < 1e-15
        for before, after in zip(exact.sequences[0], kept.sequences[0], strict=True)
    )


# --- what may not ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "reason"),
    [
        (PrivaTreeClassifier(0.5), "must be given a schema"),
        (RandomTreeClassifier(0.5), "must be given a schema"),
        (PrivaTreeClassifier(0.5, schema=SCHEMA, dataset_size=40), "exactly the number"),
        (PrivaTreeClassifier(0.5, schema=SCHEMA, dataset_size=37), "exactly the number"),
        (
            PrivaTreeClassifier(0.5, schema=SCHEMA, dataset_size=40, neighbours="replace"),
            "exactly the number",
        ),
        (
            PrivaTreeClassifier(0.5, schema=SCHEMA, neighbours="replace"),
            "takes the number of records from the data",
        ),
        (PaperPrivaTreeClassifier(0.5, schema=SCHEMA), "claimed_accuracy_certificate"),
        (
            PaperPrivaTreeClassifier(0.5, schema=SCHEMA, stop_when_pure=False),
            "claimed_accuracy_certificate",
        ),
        (BDPTClassifier(0.5, schema=SCHEMA), "claimed_accuracy_certificate"),
        (DPGDFClassifier(0.5, schema=SCHEMA), "claimed_accuracy_certificate"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value[:20],
)
def test_refusals(estimator, reason):
    known = Y.copy()
    if estimator.schema is None:  # what scikit-learn's rules take
        known[:3] = "no"
    with pytest.raises(CertificateError, match=reason):
        Certification(estimator, X, known, 0.9, 1).check_privacy(claimed=False)


def test_a_learner_without_a_statement_is_refused():
    from sklearn.tree import DecisionTreeClassifier

    task = Certification(DecisionTreeClassifier(), X, np.where(X[:, 0] > 0, 1, 0), 0.9, 1)
    with pytest.raises(CertificateError, match="must have a privacy_"):
        task.check_privacy(claimed=False)
    with pytest.raises(CertificateError, match="parameter epsilon must be > 0 and finite"):
        task.check_privacy(claimed=True)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"epsilon": math.inf}, "finite epsilon"),
        ({"delta": 1.0}, "delta below 1"),
        ({"neighbours": "replace"}, "added or removed"),
        ({"claimed_epsilon": 0.5}, "claimed"),
    ],
)
def test_statements_that_guarantee_too_little(changed, reason):
    whole = {"learner": "Other", "epsilon": 1.0}
    assert require_guarantee(PrivacyStatement(**whole)) == EpsilonDP(1.0)
    assert require_guarantee(PrivacyStatement(**whole, delta=1e-6)) == EpsilonDP(1.0, 1e-6)
    with pytest.raises(CertificateError, match=reason):
        require_guarantee(PrivacyStatement(**{**whole, **changed}))


# --- claims ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [PaperPrivaTreeClassifier, BDPTClassifier, DPGDFClassifier])
def test_a_claim_counts_for_its_epsilon_alone(kind):
    statement = certification(kind(0.5, schema=SCHEMA)).check_privacy(claimed=True)
    assert require_claim(statement) == EpsilonDP(0.5)
    with pytest.raises(CertificateError, match="must be given a schema"):
        Certification(kind(0.5), X, ["no"] * 3 + Y[3:].tolist(), 0.9, 1).check_privacy(claimed=True)


def test_what_is_guaranteed_needs_no_claim():
    with pytest.raises(CertificateError, match="Use accuracy_certificate"):
        certification(PrivaTreeClassifier(0.5, schema=SCHEMA)).check_privacy(claimed=True)


def test_without_a_statement_the_parameter_epsilon_is_the_claim():
    class Other:
        epsilon = 0.25

    statement = require_privacy_statement(Other(), claimed=True)
    assert (statement.learner, statement.claimed_epsilon) == ("Other", 0.25)
    assert math.isinf(statement.epsilon)
    for epsilon in (None, math.inf, math.nan, 0, True, "1"):
        Other.epsilon = epsilon
        with pytest.raises(CertificateError, match="parameter epsilon must be"):
            require_privacy_statement(Other(), claimed=True)


def test_one_model_is_not_a_learner():
    """A frozen model would be refitted to itself, and its accuracy taken for the learner's."""
    frozen = FrozenEstimator(PrivaTreeClassifier(0.5, schema=SCHEMA).fit(X, Y))
    with pytest.raises(CertificateError, match="is already trained"):
        privacy(frozen)


def test_a_trained_learner_is_certified_as_a_learner():
    trained = PrivaTreeClassifier(0.5, schema=SCHEMA).fit(X, Y)
    assert privacy(trained).epsilon == 0.5


@pytest.mark.parametrize(("neighbours", "total"), [("add-remove", 0.4), ("replace", 0.2)])
def test_a_schedule_of_less_than_epsilon_is_refused(neighbours, total):
    amount = Fraction(total)
    for factor, refused in ((1, True), (2, False)):
        schedule = Schedule(factor * amount, factor * amount, Fraction(0))
        statement = PrivacyStatement("x", 0.5, neighbours=neighbours, schedule=schedule)
        if refused:
            with pytest.raises(CertificateError, match="privacy statement spends less"):
                require_guarantee(statement)
        else:
            assert require_guarantee(statement) == schedule
