import dataclasses
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from privatree import (
    Categorical,
    Numeric,
    PaperPrivaTreeClassifier,
    ParameterError,
    PrivaTreeClassifier,
    Schema,
)
from privatree.audit import Event, Neighbours, Records, View, audit, known_pairs, own_pair
from privatree.audit._blackbox import _distinct_pair_rows
from privatree.audit._events import event_bounds
from privatree.privacy import Budget

PAIRS = known_pairs()
PAIR = PAIRS["three-records"]
SAYS_ONE = Event("answer", "it says 1", lambda answer: answer == 1, likelier="first")
ANSWER = {"answer": View("the answer", lambda model, probes: model.answer_)}


class Fake(BaseEstimator):
    """Says 1 with one probability for the larger table, and with another for the smaller one.

    The ratio of the two is ``e^loss``, whatever it claims with ``epsilon``.
    """

    def __init__(self, epsilon=1.0, loss=None, probability=0.5, random_state=None):
        self.epsilon = epsilon
        self.loss = loss
        self.probability = probability
        self.random_state = random_state

    def fit(self, X, y):
        loss = self.epsilon if self.loss is None else self.loss
        probability = self.probability * (math.exp(-loss) if len(y) == 3 else 1)
        self.answer_ = int(np.random.default_rng(self.random_state).random() < probability)
        return self

    def predict(self, X):
        return np.full(len(X), self.answer_)


class Loud(Fake):
    """Fails or warns instead of answering."""

    def fit(self, X, y):
        super().fit(X, y)
        if self.answer_:
            if len(y) % 2:
                warnings.warn("something", FutureWarning, stacklevel=1)
            else:
                raise RuntimeError("no answer")
        self.answer_ = 0
        return self


class Given(BaseEstimator):
    """Notes what it is given, in the fashion of what the classifiers here take."""

    def __init__(self, schema=None, max_depth=3, budget=None, random_state=None):
        self.schema = schema
        self.max_depth = max_depth
        self.budget = budget
        self.random_state = random_state

    def fit(self, X, y):  # returns nothing, as some do
        self.given_ = str((self.schema, self.max_depth, self.budget))
        self.seed_ = self.random_state

    def predict(self, X):
        return np.zeros(len(X), int)


# --- the bound ------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [1.0, 2.0, 3.0])
def test_a_named_event_shows_nearly_all_of_the_loss_and_not_more(loss):
    runs = 1000
    pair = dataclasses.replace(PAIR, events=(SAYS_ONE,))
    report = audit(Fake(loss, random_state=7), pair, runs=runs, views=ANSWER)
    often, seldom = np.array([runs // 2]), np.array([round(runs / 2 * math.exp(-loss))])
    expected = float(event_bounds(often, seldom, runs, 0.01 / 2, 0.0)[0])
    assert report.lower_bound == pytest.approx(expected, abs=0.35)
    assert 0.6 * loss < report.lower_bound <= loss
    assert (report.refuted, report.claimed) == (False, loss)
    finding = report[PAIR.name]
    assert (finding.event, finding.learned, finding.runs) == ("it says 1", False, runs)
    assert abs(finding.counts[0] - runs / 2) < 5 * math.sqrt(runs / 4)


def test_without_a_name_half_of_the_trainings_teach_it():
    report = audit(Fake(2.0, random_state=1), PAIR, runs=1000)
    finding = report.worst
    assert finding.learned
    assert finding.runs == 500
    assert 1.0 < report.lower_bound <= 2.0
    assert "1, 1" in finding.event


def test_a_false_claim_is_refuted_and_a_true_one_is_not():
    liar = Fake(1.0, loss=4.0, random_state=3)
    report = audit(liar, PAIR, runs=400)
    assert report.refuted
    assert 1.5 < report.lower_bound <= 4.0
    assert not audit(liar, PAIR, runs=400, claimed=4.0).refuted
    private = audit(Fake(1.0, loss=0.0, random_state=3), PAIR, runs=400)
    assert (private.lower_bound, private.refuted) == (0.0, False)


def test_delta_takes_its_part():
    rarely_all = Fake(1.0, loss=50.0, probability=0.1, random_state=0)  # (0, 0.1)-private
    assert audit(rarely_all, PAIR, runs=600).refuted
    report = audit(rarely_all, PAIR, runs=600, delta=0.1)
    assert (report.lower_bound, report.delta) == (0.0, 0.1)


def test_several_pairs_share_the_confidence():
    other = dataclasses.replace(PAIR, name="other")
    learner = Fake(2.0, random_state=5)
    alone, both = (audit(learner, pairs, runs=400) for pairs in (PAIR, [PAIR, other]))
    assert [finding.pair for finding in both.findings] == [PAIR.name, "other"]
    assert both[PAIR.name].counts == alone[PAIR.name].counts
    assert both[PAIR.name].lower_bound < alone[PAIR.name].lower_bound
    stricter = audit(learner, PAIR, runs=400, confidence=0.995)
    assert both[PAIR.name].lower_bound == pytest.approx(stricter[PAIR.name].lower_bound)


def test_a_pair_may_ask_for_more_trainings():
    more = dataclasses.replace(PAIR, effort=3)
    assert audit(Fake(random_state=5), more, runs=20).worst.runs == 30
    assert audit(Fake(random_state=5), PAIR, runs=20).worst.runs == 10


# --- a replaced record ----------------------------------------------------------------------------


def replaced_pair():
    schema = Schema({"x": Numeric(0, 9)}, [0, 1])
    tables = [(pd.DataFrame({"x": [1, 2, last]}), [0, 1, 1]) for last in (3, 4)]
    return own_pair(schema, *tables)


class Reader(Fake):
    """Tells twice its epsilon of a replaced record: once for the old, once for the new one."""

    def __init__(self, epsilon=1.0, neighbours="add-remove", random_state=None):
        super().__init__(epsilon, random_state=random_state)
        self.neighbours = neighbours

    def fit(self, X, y):
        sure = 1 / (1 + math.exp(2 * self.epsilon))
        probability = sure if np.asarray(X).max() == 4 else 1 - sure
        self.answer_ = int(np.random.default_rng(self.random_state).random() < probability)
        return self


def test_a_replaced_record_counts_as_two_changes_but_to_who_claims_to_hide_it():
    twice = audit(Reader(1.0, random_state=0), replaced_pair(), runs=800)
    assert 0.6 < twice.lower_bound <= 1.0
    assert (twice.worst.changes, twice.refuted) == (2, False)
    assert "counts as one removed and one added" in str(twice)
    once = audit(Reader(1.0, "replace", random_state=0), replaced_pair(), runs=800)
    assert once.lower_bound == pytest.approx(2 * twice.lower_bound)
    assert (once.worst.changes, once.refuted) == (1, True)


def test_who_hides_replaced_records_only_is_not_asked_about_added_ones():
    with pytest.raises(ParameterError, match=r"'three-records' have different sizes\. Set "):
        audit(Reader(1.0, "replace"), PAIR, runs=20)
    with pytest.raises(ParameterError, match="different sizes"):
        audit(PrivaTreeClassifier(neighbours="replace"), runs=20)


# --- what is trained, and what is seen ------------------------------------------------------------


def test_errors_and_warnings_are_outcomes():
    # The smaller table has an even number of records: it fails with probability 0.9.
    report = audit(Loud(1.0, loss=0.0, probability=0.9, random_state=0), PAIR, runs=200)
    assert report.refuted
    assert "RuntimeError: no answer" in report.event or "FutureWarning" in report.event
    odd = dataclasses.replace(PAIR, first=PAIR.second, second=PAIRS["new-class"].first)
    assert audit(Loud(1.0, loss=0.0, probability=0.9, random_state=0), odd, runs=200).refuted


def test_a_learner_gets_the_schema_and_the_depth_of_the_pair():
    seen = set()
    views = {"given": View("it", lambda model, probes: seen.add(model.given_))}
    audit(Given(), [PAIRS["purity"], PAIRS["no-records"]], runs=8, views=views)
    assert seen == {
        str((PAIRS["purity"].schema, 2, None)),
        str((PAIRS["no-records"].schema, 3, None)),  # its own depth
    }


def test_a_function_makes_the_learner_of_a_pair():
    asked = []

    def make(pair):
        asked.append(pair.name)
        return Fake(2.0, random_state=0)

    report = audit(make, [PAIR, PAIRS["no-records"]], runs=8)
    assert asked == [PAIR.name, "no-records"]
    assert report.claimed == 2.0
    with pytest.raises(ParameterError, match="have different epsilons"):
        audit(lambda pair: Fake(2.0 if pair is PAIR else 0.5), [PAIR, PAIRS["no-records"]], runs=8)


def test_a_seed_inside_a_pipeline_is_not_the_same_every_time():
    """Else trainings that are all the same would be counted as independent ones."""

    class Step(BaseEstimator):
        def fit(self, X, y=None):
            return self

        def transform(self, X):
            return X

    seeds = []
    views = {"seed": View("it", lambda model, probes: seeds.append(model[-1].random_state))}
    audit(make_pipeline(Step(), Fake(1.0, random_state=3)), PAIR, runs=20, views=views)
    assert len(set(seeds)) == 40


def test_tables_take_turns():
    """Else a learner that tells the time would be told from itself."""

    class Clock(Fake):
        trainings = 0

        def fit(self, X, y):
            Clock.trainings += 1
            self.late_ = Clock.trainings > 2000
            return super().fit(X, y)

    report = audit(Clock(0.01, random_state=0), PAIR, runs=2000)
    assert report.lower_bound < 0.2


def test_no_budget_is_charged():
    budget = Budget(1.0)
    seen = set()
    views = {"given": View("it", lambda model, probes: seen.add(model.given_))}
    audit(Given(budget=budget), PAIR, runs=8, views=views)
    audit(lambda pair: Given(budget=budget), PAIR, runs=8, views=views)
    assert budget.charges == []
    assert all(given.endswith("None)") for given in seen)


def test_seeds_are_distinct_and_follow_from_the_one_given():
    def seeds(random_state, runs=50):
        seen = []
        views = {"seed": View("it", lambda model, probes: seen.append(model.seed_))}
        audit(Given(random_state=random_state), PAIR, runs=runs, views=views)
        return seen

    first, again, other = seeds(5), seeds(5), seeds(6)
    assert set(first) == set(again)  # tables take turns in a random order
    assert len(set(first)) == len(set(other)) == 100  # both tables, each training
    assert not set(first) & set(other)
    assert set(seeds(None, 8)) == {None}
    generators = [seeds(np.random.default_rng(0)) for _ in range(2)]
    assert set(generators[0]) == set(generators[1])


def test_without_a_seed_the_noise_is_fresh():
    counts = {audit(Fake(1.0), PAIR, runs=200).worst.counts for _ in range(6)}
    assert len(counts) > 1


def test_pairs_that_a_model_cannot_show_are_skipped_and_named():
    report = audit(Fake(9.0, random_state=0), [PAIRS["first-row"], PAIR], runs=100)
    assert report.lower_bound > 0
    assert report.skipped == ("first-row",)
    assert [finding.pair for finding in report.findings] == [PAIR.name]
    # How many share the confidence was fixed before anything was trained.
    stricter = audit(Fake(9.0, random_state=0), PAIR, runs=100, confidence=0.995)
    assert report.lower_bound == pytest.approx(stricter.lower_bound)
    with pytest.raises(
        ParameterError, match="the pairs first-row need something that this learner"
    ):
        audit(Fake(), PAIRS["first-row"], runs=8)


def test_the_sizes_of_the_default_pairs_follow_from_what_is_claimed(monkeypatch):
    asked = []

    def none(epsilon, **_):
        asked.append(epsilon)
        return {}

    monkeypatch.setattr("privatree.audit._blackbox.known_pairs", none)
    for learner, claimed in ((Fake(0.25), None), (Fake(0.25), 2), (lambda pair: Fake(), None)):
        with pytest.raises(ParameterError, match="at least one pair"):
            audit(learner, claimed=claimed)
    assert asked == [0.25, 2.0, 1.0]


def test_two_processes_give_the_same_report_as_one():
    learner = PrivaTreeClassifier(1.0, random_state=4)
    one, two = (audit(learner, PAIR, runs=40, n_jobs=n) for n in (1, 2))
    assert one == two


def test_probes_are_rows_of_both_tables_those_that_differ_first():
    schema = Schema({"x": Numeric(0, 99), "c": Categorical(["a", "b"])}, [0, 1])
    first = pd.DataFrame({"x": [math.nan, *range(40)], "c": "a"})
    second = pd.DataFrame({"x": [math.nan, *range(7), 77.0, *range(8, 40)], "c": "a"})
    y = np.zeros(41, int)
    pair = Neighbours("pair", "nothing", schema, Records(first, y), Records(second, y))
    probes = _distinct_pair_rows(pair)
    assert probes["x"].tolist()[:2] == [7.0, 77.0]
    assert (len(probes), len(probes["x"].unique())) == (12, 12)
    as_arrays = _distinct_pair_rows(
        pair.encoded(lambda frame, schema: frame[["x"]].to_numpy(float))
    )
    assert as_arrays[:, 0].tolist()[:2] == [7.0, 77.0]
    assert len(_distinct_pair_rows(PAIRS["no-records"])) == 1


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"runs": 7}, r"runs must be an integer from 8 to 10000000, got 7\."),
        ({"runs": 100.0}, r"runs must be an integer .* got 100\.0\."),
        ({"runs": True}, "runs must be an integer"),
        ({"confidence": 1.0}, r"confidence must be between 0 and 1, got 1\.0\."),
        ({"confidence": "sure"}, "confidence must be between 0 and 1, got 'sure'"),
        ({"delta": 1.0}, r"delta must be a number, at least 0 and below 1, got 1\.0\."),
        ({"delta": -0.1}, "delta must be"),
        ({"delta": math.nan}, "delta must be"),
        ({"delta": "0"}, "delta must be .* got '0'"),
        ({"claimed": 0}, r"claimed must be a positive number or None, got 0\."),
        ({"claimed": math.inf}, "claimed must be a positive number"),
        ({"claimed": "1"}, "claimed must be a positive number"),
        ({"neighbours": []}, "neighbours must have at least one pair of datasets, got none"),
        ({"neighbours": ["purity"]}, "neighbours must be one or more Neighbours, got str"),
        ({"neighbours": [PAIR, PAIR]}, "every pair in neighbours must have its own name"),
        ({"learner": 3}, "learner must be a classifier or a function that returns one, got int"),
        ({"learner": Fake}, "got the class Fake"),
        ({"learner": lambda pair: pair}, "learner must return a classifier for a pair, got Neigh"),
        ({"progress": "yes"}, "progress must be True, False or None"),
        (
            {"views": {"list": View("a list", lambda model, probes: [1])}},
            r"the view 'list' must return a hashable value, got list\. Turn lists",
        ),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_wrong_parameters_are_refused_in_words(parameters, message):
    with pytest.raises(ParameterError, match=message):
        audit(**{"learner": Fake(), "neighbours": PAIR, "runs": 8, **parameters})


def test_a_model_that_is_trained_already_is_no_learner():
    """Its fit refuses every table alike, which would look like privacy."""
    schema = Schema({"a": Numeric(0, 1)}, ["no", "yes"])
    trained = PrivaTreeClassifier(1.0, schema=schema).fit(np.array([[0.5]]), ["no"])
    for learner in (trained.model_, FrozenEstimator(trained)):
        with pytest.raises(ParameterError, match="is trained already"):
            audit(learner, PAIR, runs=10)


@pytest.mark.parametrize(
    "wrong", [{"events": (SAYS_ONE,)}, {"needs": "answer"}], ids=["event", "needs"]
)
def test_a_view_that_is_not_there_is_refused_before_training(wrong):
    with pytest.raises(ParameterError, match="the pair 'three-records' needs the view 'answer', "):
        audit(Fake(), dataclasses.replace(PAIR, **wrong), runs=8)


# --- real learners --------------------------------------------------------------------------------


def test_the_algorithm_of_the_paper_is_refuted_by_purity():
    report = audit(PaperPrivaTreeClassifier(1.0, random_state=0), PAIRS["purity"], runs=70)
    assert report.refuted
    assert report.lower_bound > 2.5
    assert "both of its children are leaves" in report.event


def test_a_tree_without_privacy_is_refuted_by_its_first_records():
    numbers = PAIR.encoded(lambda frame, schema: frame["f"].cat.codes.to_numpy().reshape(-1, 1))
    report = audit(DecisionTreeClassifier(random_state=0), numbers, runs=40, claimed=1.0)
    assert report.refuted


def test_our_learner_is_not_refuted():
    """At other pairs too, which ``tests/mutants`` has: without a mutant it is not caught."""
    names = ("purity", "three-records", "no-records")
    report = audit(
        PrivaTreeClassifier(1.0, random_state=0), [PAIRS[name] for name in names], runs=80
    )
    assert report.claimed == 1.0
    assert not report.refuted
    assert report.skipped == ()
