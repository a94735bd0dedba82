"""``fit`` with a held-out part: scores, the larger epsilon, and a model of the training part."""

import json
import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from people import SCHEMA, table

import privatree
from privatree import (
    ParameterError,
    PrivaBoostClassifier,
    PrivaBoostRegressor,
    PrivacyLeakWarning,
    PrivaTreeClassifier,
    PrivaTreeRegressor,
    Schema,
    Target,
    TooFewRecordsError,
)
from privatree.counting.dealing import Dealing, PassDealing
from privatree.errors import BudgetExceededError, ModelFormatError, SourceError
from privatree.estimators.holdout import HeldOut
from privatree.export import plot_budget
from privatree.privacy import Budget, Holdout, Ledger, RangeGroup
from privatree.privacy.composition._bounded_range import certified_delta
from privatree.report import html_report, model_card
from privatree.robustness import accuracy_certificate
from privatree.sources import ArrowSource
from privatree.tables import TableStream

NUMBERS = Schema(dict(list(SCHEMA.features.items())[1:]), target=Target(0, 100))
LEARNERS = {
    PrivaTreeClassifier: SCHEMA,
    PrivaBoostClassifier: SCHEMA,
    PrivaTreeRegressor: NUMBERS,
    PrivaBoostRegressor: NUMBERS,
}


def model(epsilon=1.0, learner=PrivaTreeClassifier, **changes):
    settings = {"schema": LEARNERS[learner], "random_state": 0} | changes
    if learner in (PrivaBoostClassifier, PrivaBoostRegressor):
        settings |= {"rounds": 3}
    return learner(epsilon, **settings)


def records(learner=PrivaTreeClassifier, n=600):
    frame, labels = table(n)
    if LEARNERS[learner] is SCHEMA:
        return frame, labels
    return frame[["income", "job"]], frame["age"].to_numpy(dtype=float)


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_scores_itself_and_keeps_the_scores(tmp_path, learner):
    fitted = model(learner=learner).fit(*records(learner), holdout=0.25, score_epsilon=0.5)
    scores = fitted.scores_
    assert scores is fitted.model_.scores_
    assert scores.epsilon == 0.5
    assert scores.seeded
    fitted.save(tmp_path / "model.json")
    loaded = privatree.load(tmp_path / "model.json")
    assert loaded.to_json() == (tmp_path / "model.json").read_text()
    assert loaded.scores_.to_dict() == scores.to_dict()
    assert str(loaded.scores_) == str(scores)


@pytest.mark.parametrize("learner", LEARNERS)
def test_without_a_hold_out_nothing_changes(learner):
    fitted = model(learner=learner).fit(*records(learner))
    assert fitted.scores_ is None
    assert "scores" not in fitted.model_.to_dict()
    assert "holdout" not in fitted.model_.to_dict()["privacy"]


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_model_is_that_of_the_training_part(monkeypatch, learner):
    """The same noise on the same records: those of the training part, handed over alone."""
    frame, labels = records(learner)
    seen = []
    real = PassDealing.are_held_out
    monkeypatch.setattr(
        PassDealing, "are_held_out", lambda dealt, batch: seen.append(real(dealt, batch)) or seen[0]
    )
    whole = model(learner=learner).fit(frame, labels, holdout=0.3)
    (held_out,) = seen
    assert 100 < held_out.sum() < 260
    monkeypatch.setattr(
        PassDealing, "are_held_out", lambda dealt, batch: np.zeros(batch.n_rows, bool)
    )
    alone = model(learner=learner).fit(frame[~held_out], labels[~held_out], holdout=0.3)
    kind = "tree" if hasattr(whole, "tree_") else "ensemble"
    assert alone.model_.to_dict()[kind] == whole.model_.to_dict()[kind]
    assert alone.privacy_.spends == whole.privacy_.spends


def test_scores_are_about_the_held_out_part():
    """A model with hardly any noise and scores with hardly any."""
    frame, labels = records(n=2000)
    fitted = model(1000.0).fit(frame, labels, holdout=0.5)
    size = fitted.scores_.noisy_size + fitted.privacy_.noisy_records
    assert abs(size - 2000) <= 3
    assert abs(fitted.scores_.noisy_size - 1000) <= 6 * math.sqrt(500)
    assert fitted.scores_["accuracy"].value > 0.95


# --- the statement --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "score_epsilon", "total"), [(1.0, None, 1.0), (0.5, 2.0, 2.0), (2.0, 0.5, 2.0)]
)
def test_the_larger_epsilon_is_stated_and_charged(epsilon, score_epsilon, total):
    budget = Budget(5.0)
    learner = model(epsilon, budget=budget)
    privacy = learner.fit(*records(), holdout=0.2, score_epsilon=score_epsilon).privacy_
    assert privacy.epsilon == total
    assert privacy.holdout.model_epsilon == epsilon
    assert privacy.holdout.score_epsilon == (score_epsilon or epsilon)
    assert [charge.epsilon for charge in budget.charges] == [Fraction(total)]
    assert sum(spend.times * spend.epsilon for spend in privacy.holdout.spends) <= total


def test_delta_is_charged_once():
    budget = Budget(5.0, delta=1e-5)
    fitted = model(1.0, PrivaBoostClassifier, budget=budget).fit(*records(), holdout=0.2)
    assert [charge.delta for charge in budget.charges] == [Fraction(1, 10**6)]
    assert fitted.privacy_.delta == 1e-6


def test_a_budget_that_does_not_cover_the_scores_is_refused_before_any_draw(monkeypatch):
    released = []
    monkeypatch.setattr(Ledger, "release", lambda *given, **charge: released.append(given))
    budget = Budget(1.5)
    with pytest.raises(BudgetExceededError):
        model(1.0, budget=budget).fit(*records(), holdout=0.2, score_epsilon=2.0)
    assert not budget.charges
    assert not released


def test_the_statement_says_what_was_held_out():
    text = str(model(1.0).fit(*records(), holdout=0.2, score_epsilon=0.5).privacy_)
    for line in (
        "  training records            about ",
        "  held-out part               each record with probability 20%\n",
        "  epsilon of the model        1, from the training part\n",
        "  epsilon of its scores       0.5, from the held-out part\n",
        "  spends on the held-out part:\n    - scores: ",
    ):
        assert line in text


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_replaced_record_costs_both_parts_no_more_than_the_larger_epsilon(learner):
    fitted = model(1.0, learner, neighbours="replace").fit(
        *records(learner), holdout=0.2, score_epsilon=0.5
    )
    assert fitted.privacy_.epsilon == 1.0
    spent = sum(spend.times * spend.epsilon for spend in fitted.privacy_.holdout.spends)
    assert float(spent) == pytest.approx(0.25, rel=1e-9)
    assert fitted.scores_.neighbours == "replace"


@pytest.mark.parametrize(("size", "planned"), [("private", 480), (1000, 800)])
def test_the_plan_knows_the_public_number_and_not_that_of_the_training_part(
    monkeypatch, size, planned
):
    seen = []
    real = HeldOut.training_plan

    def training_plan(held_out, plan):
        seen.append(real(held_out, plan).dataset_size)
        return real(held_out, plan)

    monkeypatch.setattr(HeldOut, "training_plan", training_plan)
    for seed in range(3):
        learner = model(neighbours="replace", dataset_size=size, random_state=seed)
        learner.fit(*records(), holdout=0.2)
    assert seen == [planned] * 3


def test_the_number_of_records_stays_private_where_it_is():
    privacy = model().fit(*records(), holdout=0.2).privacy_
    assert privacy.noisy_records is not None


def test_half_of_the_ranges_at_half_of_epsilon_have_no_larger_delta():
    """Lemma 3: what a composition of twice the ranges at twice epsilon says of one record."""
    for epsilon, times in [(Fraction(1, 100), 200), (Fraction(1, 5), 10), (Fraction(2), 3)]:
        for total in (Fraction(1, 4), Fraction(1)):
            small = certified_delta(total, [RangeGroup(epsilon, times)])
            large = certified_delta(2 * total, [RangeGroup(2 * epsilon, times)])
            assert small <= large


def test_too_few_records_are_those_of_the_training_part():
    learner = model(schema=replace(SCHEMA, min_records=10_000))
    with pytest.raises(TooFewRecordsError) as caught:
        learner.fit(*records(), holdout=0.2)
    assert "that of the training part, without the 20% held out" in str(caught.value)
    assert caught.value.noisy_records < 560


def test_a_stop_costs_only_the_number_of_records():
    budget = Budget(5.0)
    learner = model(1.0, schema=replace(SCHEMA, min_records=10_000), budget=budget)
    with pytest.raises(TooFewRecordsError, match=r"the other 1\.97 was not"):
        learner.fit(*records(), holdout=0.2, score_epsilon=2.0)
    assert budget.remaining == Fraction(497, 100)


def test_two_charges_add_up_to_the_larger_epsilon():
    budget = Budget(5.0)
    schema = replace(SCHEMA, min_records=10)
    model(1.0, schema=schema, budget=budget).fit(*records(), holdout=0.2, score_epsilon=2.0)
    found = [(charge.purpose, charge.epsilon) for charge in budget.charges]
    assert found == [
        ("PrivaTreeClassifier: number of records", Fraction(3, 100)),
        ("PrivaTreeClassifier: tree with its scores", Fraction(197, 100)),
    ]


# --- units, weights, sources ----------------------------------------------------------------------


@pytest.mark.parametrize("learner", LEARNERS)
def test_units_go_to_one_part_and_weigh_one_record(learner):
    frame, labels = records(learner, 900)
    units = np.arange(900) // 3
    fitted = model(1000.0, learner).fit(frame, labels, units=units, holdout=0.5)
    assert fitted.scores_.unit == fitted.privacy_.unit
    total = fitted.scores_.noisy_size + fitted.privacy_.noisy_records
    assert abs(total - 300) <= 6
    assert "each unit with probability 50%" in str(fitted.privacy_).replace("unnamed ", "")


def test_weights_count_in_the_scores():
    frame, labels = records(n=2000)
    weights = np.where(labels == "yes", 1.0, 0.25)
    fitted = model(1000.0).fit(frame, labels, sample_weight=weights, holdout=0.5)
    assert abs(fitted.scores_.noisy_size - weights.sum() / 2) <= 80


def test_a_source_whose_records_change_before_the_scores_is_refused():
    frame, labels = records()
    frame = frame.assign(target=labels)
    calls = []

    def read():
        calls.append(None)
        return frame if len(calls) == 1 else frame[1:]

    learner = model(max_depth=1, schema=SCHEMA.with_target("target"))
    with pytest.raises(SourceError, match="must be the same in every pass"):
        learner.fit(ArrowSource(read, "target", in_memory=True), holdout=0.2)
    assert len(calls) == 2


def test_a_source_forgets_the_hold_out():
    frame, labels = records()
    source = ArrowSource(frame.assign(target=labels), "target")
    learner = model(schema=SCHEMA.with_target("target"))
    held_out = learner.fit(source, holdout=0.5).privacy_.noisy_records
    assert held_out < 400
    assert learner.fit(source).privacy_.noisy_records > 450


def test_no_records_at_all_have_scores():
    frame, labels = records()
    scores = model().fit(frame[:0], labels[:0], holdout=0.2).scores_
    assert scores["accuracy"].low == 0
    assert scores["accuracy"].high == 1


def test_another_key_each_time(monkeypatch):
    keys = []
    real = Dealing.draw.__func__
    monkeypatch.setattr(
        Dealing, "draw", classmethod(lambda *given: keys.append(real(*given)) or keys[-1])
    )
    for _ in range(2):
        model(random_state=None).fit(*records(), holdout=0.2)
        model(random_state=5).fit(*records(), holdout=0.2)
    first, seeded, second, again = (dealing.key for dealing in keys)
    assert first != second
    assert seeded == again
    assert {len(key) for key in (first, second)} == {4}


@pytest.mark.parametrize("in_memory", [True, False, None])
def test_nobody_keeps_the_key(monkeypatch, in_memory):
    frame, labels = records()
    given = (frame, labels)
    if in_memory is not None:
        given = (ArrowSource(frame.assign(target=labels), "target", in_memory=in_memory),)
    keys = []
    real = Dealing.draw.__func__
    monkeypatch.setattr(
        Dealing, "draw", classmethod(lambda *given: keys.append(real(*given)) or keys[-1])
    )
    fitted = model(schema=SCHEMA.with_target("target")).fit(*given, holdout=0.2)
    fields = [] if in_memory is None else [
        value for value in vars(given[0]).values() if not callable(value)
    ]  # fmt: skip
    kept = pickle.dumps([fitted, *(value for value in fields if type(value) is not TableStream)])
    for word in keys[0].key:
        assert str(word) not in fitted.model_.to_json()
        assert word.to_bytes(8, "little") not in kept
        assert word.to_bytes(8, "little") in pickle.dumps(keys[0])


# --- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize("holdout", [0, 1, -0.1, 1.5, 20, "20%", True, np.nan, 0.0001])
def test_a_share_is_between_zero_and_one(holdout):
    with pytest.raises(ParameterError, match=r"holdout must be a share from 0\.001 to 0\.999"):
        model().fit(*records(), holdout=holdout)


@pytest.mark.parametrize("score_epsilon", [0, -1, np.inf, "1"])
def test_the_epsilon_of_scores_is_a_positive_number(score_epsilon):
    with pytest.raises(ParameterError, match="score_epsilon must be"):
        model().fit(*records(), holdout=0.2, score_epsilon=score_epsilon)


def test_the_epsilon_of_scores_needs_a_hold_out():
    with pytest.raises(ParameterError, match="score_epsilon must be used with holdout"):
        model().fit(*records(), score_epsilon=1.0)


@pytest.mark.parametrize("learner", [PrivaTreeClassifier, PrivaTreeRegressor])
def test_a_tiny_epsilon_of_scores_is_refused_before_anything_is_drawn(monkeypatch, learner):
    fitted = model(1.0, learner, neighbours="replace")
    fitted.fit(*records(learner), holdout=0.2, score_epsilon=1e-9)
    given = {"units": np.arange(600), "holdout": 0.2}
    fitted.fit(*records(learner), **given, score_epsilon=2e-6)
    monkeypatch.setattr(Ledger, "release", None)
    message = r"score_epsilon must be at least about 1.9e-06 for records with units or weights"
    with pytest.raises(ParameterError, match=message):
        fitted.fit(*records(learner), **given, score_epsilon=1e-6)


def test_leaks_stay_leaks():
    frame, labels = records()
    with pytest.warns(PrivacyLeakWarning):
        fitted = PrivaTreeClassifier(1.0, random_state=0).fit(frame, labels, holdout=0.2)
    assert math.isinf(fitted.privacy_.epsilon)
    assert math.isinf(fitted.privacy_.model_epsilon)
    loaded = privatree.model.Model.from_dict(json.loads(fitted.model_.to_json()))
    assert loaded.scores_.epsilon == 1.0


# --- files ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written():
    fitted = model(1.0).fit(*records(), holdout=0.2, score_epsilon=0.5)
    return fitted.model_.to_dict()


def changed(written, *path, to):
    found = json.loads(json.dumps(written))
    place = found
    for key in path[:-1]:
        place = place[key]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return found


@pytest.mark.parametrize(
    ("path", "to", "message"),
    [
        (("scores",), None, "must have scores if its privacy statement has a held-out part"),
        (("privacy", "holdout"), None, "must have scores if its privacy statement has a held-out"),
        (("privacy", "holdout", "share"), 1.0, "share must be between 0 and 1"),
        (("privacy", "holdout", "share"), "a fifth", "share must be a number"),
        (("privacy", "holdout", "more"), 1, "unknown key 'more'"),
        (("privacy", "holdout", "spends"), [], "the spends that the privacy statement has"),
        (("privacy", "holdout", "score_epsilon"), 0.1, "score_epsilon must be at least the sum"),
        (("privacy", "holdout", "score_epsilon"), 1.5, "must be at most epsilon"),
        (("privacy", "holdout", "model_epsilon"), 0.5, "epsilon must be at least the sum"),
        (("privacy", "holdout", "model_epsilon"), "infinity", "must be at most epsilon"),
        (("privacy", "epsilon"), 0.6, "must be at most epsilon"),
        (("privacy", "holdout", "spends", 0, "node"), 0, "spends must be of no node"),
        (("privacy", "holdout", "spends", 0, "delta"), 0.1, "scores must have no delta"),
    ],
)
def test_a_file_that_claims_too_little_is_refused(written, path, to, message):
    with pytest.raises(ModelFormatError, match=message):
        privatree.model.Model.from_dict(changed(written, *path, to=to))


def test_a_file_as_it_was_written_is_read(written):
    assert privatree.model.Model.from_dict(written).to_dict() == written


def test_an_ensemble_may_not_claim_less_than_was_spent():
    written = model(1.0, PrivaBoostClassifier).fit(*records(), holdout=0.2).model_.to_dict()
    wrong = changed(written, "privacy", "holdout", "model_epsilon", to=0.5)
    with pytest.raises(ModelFormatError, match="epsilon must be at least the sum"):
        privatree.model.EnsembleModel.from_dict(wrong)


def test_a_share_of_a_statement_is_between_zero_and_one():
    with pytest.raises(ParameterError, match="share must be between 0 and 1"):
        Holdout(1.0, 1.0, 1.0)


# --- what else reads a statement ------------------------------------------------------------------


@pytest.mark.slow
def test_a_budget_is_drawn_for_the_model_alone():
    pytest.importorskip("matplotlib")
    fitted = model(1.0).fit(*records(), holdout=0.2, score_epsilon=3.0)
    figure = plot_budget(fitted).figure
    texts = [text.get_text() for text in figure.findobj(lambda part: hasattr(part, "get_text"))]
    assert any("where epsilon 1 went" in text for text in texts)
    assert not any("not spent" in text for text in texts)


@pytest.mark.slow
def test_a_certificate_of_the_learner_fits_the_model_with_scores():
    """Its epsilon is that of the model: a poisoned record changes the model or the scores."""
    frame, labels = records(n=300)
    certificate = accuracy_certificate(
        model(0.1), frame[:200], labels[:200], frame[200:], labels[200:], poisoned=[1], refits=20
    )
    fitted = model(0.1).fit(*records(), holdout=0.2, score_epsilon=3.0)
    page = html_report(fitted, certificate)
    assert "expected without poison" in page
    assert "How good is it" in page
    other = model(0.2).fit(*records(), holdout=0.2, score_epsilon=3.0)
    with pytest.raises(ParameterError, match=r"its epsilon differs: 0\.1, not 0\.2"):
        html_report(other, certificate)
    assert "trained on or scored with" in model_card(fitted)
