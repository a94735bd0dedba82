"""Every mutant is caught by the nets that should catch it, for the reason that it is one.

A net that catches everything, or a harness that calls everything caught, would be worth nothing: no
net may catch the code as it is, and a mutant that changes nothing must survive.
"""

import numpy as np
import pytest
import running_nets
from composition_nets import COMPOSITIONS, composition
from ensemble_nets import (
    ACCOUNTS,
    COMPOSED,
    ENSEMBLES,
    ROUNDS,
    ensemble_delta,
    ensemble_ledger,
    ensemble_loss,
    round_range,
)
from exact_nets import CASES as EXACT_CASES
from exact_nets import all_of, loss, stage
from nets import CASES, NETS
from running_nets import fit
from score_nets import SCORES, score_loss
from unit_nets import UNIT_CASES, unit_loss, weights
from wrong_weights import more_records_are_counted_than_weighed

from mutants import (
    COMPOSITION_MUTANTS,
    ENSEMBLE_MUTANTS,
    HOLDOUT_MUTANTS,
    MUTANTS,
    READING_MUTANTS,
    REGRESSION_MUTANTS,
    SCORE_MUTANTS,
    WEIGHT_MUTANTS,
    Catch,
    Mutant,
)
from privatree.errors import BudgetExceededError
from privatree.learners.tree import grow_tree
from privatree.privacy import Ledger, Randomness

TWENTY_TWO = [
    "exponent doubled",
    "full budget at every level",
    "purity stop",
    "argmax leaf labels",
    "categories ordered by exact counts",
    "full budget per feature",
    "a split drawn twice",
    "range from the data",
    "noise shared by siblings",
    "prior q from exact counts",
    "exact n in the formula for q",
    "stop shares from exact n",
    "leaf counts from exact n",
    "stop from exact n",
    "zoom by the exact range",
    "interval at twice the rate",
    "probabilities from exact counts",
    "depth from exact n",
    "count noise halved",
    "stop prior mismatched",
    "candidates restricted to the region in the draw but not in the weights",
    "ledger records less than was spent",
]
EIGHT_OF_READING = [
    "quotes span lines",
    "nothing is read after a NUL",
    "a byte that is no text is an error",
    "a ragged line is an error",
    "a folder's name is taken for text",
    "one text makes a column of text",
    "range from the file",
    "categories from the file",
]
TEN_OF_WEIGHTS = [
    "weights not scaled",
    "fewer records counted than weighed",
    "weights made per node",
    "ids hashed to two bits",
    "weights rounded up",
    "noise for a weight of one",
    "rate for a weight of one",
    "interval for a weight of one",
    "balanced by exact counts",
    "class factors above the full factor",
]

SIX_OF_COMPOSITIONS = [
    "range halved",
    "uncertified end of the search",
    "grid rounded down",
    "rounds not counted",
    "draws in any order",
    "a replaced record priced once",
]

SEVENTEEN_OF_ENSEMBLES = [
    "range of a round halved",
    "range of a round for a weight of one",
    "weights not clipped",
    "weights normalised",
    "margins from the best function",
    "rounds from exact n",
    "step from exact n",
    "residuals not clipped",
    "start from the exact mean",
    "scale from exact residuals",
    "root measure from the data",
    "class code from the data",
    "measure of terms from the data",
    "range of a round not certified",
    "range of a round that nobody certifies",
    "intervals outside the composition",
    "no charge for a round",
]

FIVE_OF_REGRESSION = [
    "levels from the data",
    "knots kept by exact counts",
    "sensitivity of a level sum halved",
    "rate not divided by the range",
    "target coded by the data",
]

FOUR_OF_HOLDOUTS = [
    "dealt by position",
    "dealt in fixed sizes",
    "held out and trained on",
    "trained on and scored",
]

SIX_OF_SCORES = [
    "noise on rates",
    "noise of half the scale",
    "each table for the whole epsilon",
    "weights of units ignored",
    "one cell of all classes",
    "limit from exact errors",
]

EVERY = {
    **MUTANTS,
    **READING_MUTANTS,
    **WEIGHT_MUTANTS,
    **COMPOSITION_MUTANTS,
    **ENSEMBLE_MUTANTS,
    **REGRESSION_MUTANTS,
    **HOLDOUT_MUTANTS,
    **SCORE_MUTANTS,
}


def report_of(mutant, catch):
    """What the net says while the mutant lives."""
    with pytest.MonkeyPatch.context() as patch:
        mutant.apply(patch)
        return NETS[catch.net](catch.case)


def survives(mutant, catch):
    """Why a mutant survives its net, in words; nothing if it does not."""
    return missed(report_of(mutant, catch), catch)


def missed(report, catch):
    """Why a report is not that of a catch, in words; nothing if it is."""
    if not report.caught:
        return f"not caught; {report}"
    if report.figure < catch.at_least:
        return f"caught with less than {catch.at_least}; {report}"
    if catch.reason not in report.reason:
        return f'caught, but not for "{catch.reason}"; {report}'
    return ""


@pytest.mark.parametrize(
    ("name", "catch"),
    [
        pytest.param(name, catch, id=f"{name}, {catch.net}, {catch.case}")
        for name, mutant in EVERY.items()
        for catch in mutant.catches
    ],
)
def test_every_mutant_is_caught_by_its_nets(name, catch):
    assert not survives(EVERY[name], catch)


# --- the harness can fail -------------------------------------------------------------------------


def test_all_are_there_and_each_names_a_net_and_its_case():
    assert list(MUTANTS) == TWENTY_TWO
    assert list(READING_MUTANTS) == EIGHT_OF_READING
    assert list(WEIGHT_MUTANTS) == TEN_OF_WEIGHTS
    assert list(COMPOSITION_MUTANTS) == SIX_OF_COMPOSITIONS
    assert list(ENSEMBLE_MUTANTS) == SEVENTEEN_OF_ENSEMBLES
    assert list(REGRESSION_MUTANTS) == FIVE_OF_REGRESSION
    assert list(HOLDOUT_MUTANTS) == FOUR_OF_HOLDOUTS
    assert list(SCORE_MUTANTS) == SIX_OF_SCORES
    for mutant in EVERY.values():
        assert mutant.wrong
        assert mutant.catches
        for catch in mutant.catches:
            assert catch.case in CASES[catch.net]
            assert catch.at_least > 1


@pytest.mark.parametrize("name", ["full budget per feature", "a split drawn twice"])
def test_what_draws_more_than_was_paid_for_is_refused(monkeypatch, name):
    case = EXACT_CASES["one by one"]
    records = case.universe.records(case.tables[-1])
    MUTANTS[name].apply(monkeypatch)
    account = Ledger(case.plan.epsilon, Randomness(0))
    with pytest.raises(BudgetExceededError, match="the draw is closed"):
        grow_tree(records, case.universe.cells, case.plan, case.universe.schema, account)


HARMLESS = Mutant("nothing", lambda patch: None, ())


@pytest.mark.parametrize(
    ("net", "case"),
    [(net, "one feature") for net in ("loss", "stage", "decision", "ledger")]
    + [
        (net, case)
        for net in (
            "fit",
            "sampler",
            "black box",
            "files",
            "unit loss",
            "weights",
            "composition",
            "regression loss",
            "target codes",
            "holdout loss",
            "score loss",
        )
        for case in CASES[net]
    ],
)
def test_a_mutant_that_changes_nothing_survives_every_net(monkeypatch, net, case):
    monkeypatch.setattr(running_nets, "_RUNS", 60)  # enough to catch what tells tables apart
    assert "not caught" in survives(HARMLESS, Catch(net, case, 1.0, ""))


def test_a_mutant_that_is_caught_with_too_little_or_by_accident_survives():
    mutant = MUTANTS["stop prior mismatched"]
    (catch,) = mutant.catches
    report = report_of(mutant, catch)
    assert not missed(report, catch)
    assert "caught with less" in missed(report, catch._replace(at_least=1.9))
    assert "not for" in missed(report, catch._replace(reason="the account"))


# --- exact nets at all their cases ----------------------------------------------------------------


@pytest.mark.parametrize("case", EXACT_CASES)
def test_exact_nets_find_nothing_without_a_mutant_and_are_sharp(case):
    reports = all_of(case)
    assert [report.net for report in reports if report.caught] == []
    of_loss, of_stage = reports[:2]
    assert of_loss.figure >= 0.99
    assert of_stage.figure >= 0.99


def test_the_split_net_finds_nothing_without_a_mutant_and_is_sharp():
    report = stage("a split")
    assert not report.caught
    assert report.figure >= 0.99


@pytest.mark.parametrize("case", [case for case in UNIT_CASES if case != "four records"])
def test_the_net_of_units_is_sharp(case):
    assert unit_loss(case).figure >= 0.99


@pytest.mark.parametrize(
    ("net", "case"),
    [
        *((round_range, case) for case in ROUNDS),
        *((ensemble_loss, case) for case in ENSEMBLES),
        *((ensemble_delta, case) for case in COMPOSED),
        *((ensemble_ledger, case) for case in ACCOUNTS),
    ],
)
def test_nets_of_ensembles_find_nothing_without_a_mutant_and_are_sharp(net, case):
    report = net(case)
    assert not report.caught
    if net is not ensemble_ledger:
        assert report.figure >= (0.999 if net is round_range else 0.9)


@pytest.mark.parametrize("case", SCORES)
def test_scores_lose_epsilon_and_no_more(case):
    report = score_loss(case)
    assert not report.caught
    assert report.figure >= 0.99


@pytest.mark.parametrize("case", COMPOSITIONS)
def test_the_net_of_compositions_is_sharp(case):
    assert composition(case).figure >= 0.8


# --- none by accident -----------------------------------------------------------------------------


def by_class(table, case):
    return np.reshape(table, (-1, len(EXACT_CASES[case].universe.schema.classes))).sum(axis=0)


def test_purity_stop_is_seen_where_one_of_two_tables_is_pure():
    mutant = MUTANTS["purity stop"]
    tables = report_of(mutant, mutant.catches[0]).tables
    n_classes = [np.count_nonzero(by_class(table, "one class")) for table in tables]
    assert sorted(n_classes) == [1, 2]


@pytest.mark.parametrize(
    ("name", "net", "case"),
    [
        # a prior of its own for a last level that is drawn by itself is a prior like any other
        ("stop prior mismatched", loss, "last level"),
        # with one feature its budget is the budget of all
        ("full budget per feature", loss, "one feature"),
        # without a noisy count there is nothing to halve
        ("count noise halved", loss, "two levels together"),
        # one more row inside the range of the others changes no range
        ("range from the data", fit, "a row like the others"),
    ],
)
def test_a_mutant_is_not_caught_where_it_is_harmless(monkeypatch, name, net, case):
    MUTANTS[name].apply(monkeypatch)
    assert not net(case).caught


def test_to_count_more_records_than_are_weighed_is_harmless(monkeypatch):
    rows = [("a", 1, 1.0), ("a", None, 1.0), ("b", 0, 1.0), ("b", "unknown", 1.0)]
    monkeypatch.setattr("unit_nets.UNIT_ROWS", {"half": rows})
    assert weights("half").figure == 1
    more_records_are_counted_than_weighed(monkeypatch)
    assert weights("half").figure == 0.5
    assert not weights().caught
