"""Zooming in: what is drawn, what it costs, and what follows."""

from fractions import Fraction

import numpy as np
import pytest

from privatree import Numeric, PrivaTreeClassifier, Schema
from privatree.counting import BinnedRecords, Candidates, FineCells
from privatree.learners.zoom import zoom_evidence, zoom_in
from privatree.privacy import Ledger, Randomness

SCHEMA = Schema(
    {"income": Numeric(0, 10**6, integer=True), "age": Numeric(0, 120, integer=True)}, ["no", "yes"]
)


def fine_records(incomes):
    cells = FineCells.from_schema(SCHEMA, 256)
    codes = np.zeros((len(incomes), 2), dtype=np.uint16)
    codes[:, 0] = np.searchsorted(cells.cuts[0], incomes)
    labels = np.zeros(len(incomes), np.uint8)
    return cells, BinnedRecords(codes, cells.binner().n_codes, labels, 2)


def test_cuts_lie_where_the_records_are_and_each_interval_is_paid_for():
    incomes = np.random.default_rng(0).uniform(40_000, 60_000, 5000)
    cells, records = fine_records(incomes)
    ledger = Ledger(Fraction(1), Randomness(0))
    found, intervals = zoom_in(records, cells, 5000, Fraction(1, 20), ledger)
    low, high = intervals[0]
    assert high - low < 40_000
    assert ((incomes > low) & (incomes <= high)).mean() > 0.5
    plain = Candidates.from_schema(SCHEMA, 256)
    between = [((c.cuts[0] > 40_000) & (c.cuts[0] < 60_000)).sum() for c in (plain, found)]
    assert between[1] > 4 * between[0]
    assert [(s.purpose, s.epsilon, s.node) for s in ledger.spends()] == [
        ("interval of income", Fraction(1, 20), None)
    ]
    assert records.n_codes == list(found.n_codes)


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 20)])
def test_without_budget_or_around_one_number_candidates_are_those_of_the_schema(epsilon):
    cells, records = fine_records(np.full(5000, 500_000))
    ledger = Ledger(Fraction(1), Randomness(0))
    found, _ = zoom_in(records, cells, 5000, epsilon, ledger)
    plain = Candidates.from_schema(SCHEMA, 256)
    assert found.n_codes == plain.n_codes
    assert (found.base_measure == plain.base_measure).all()
    assert ledger.total.epsilon == epsilon


def test_evidence_grows_with_records_and_budget():
    assert zoom_evidence(100, Fraction(1, 10)) == 6
    assert zoom_evidence(200, Fraction(1, 20)) == 6


def fitted(n, epsilon, zoom=True, **parameters):
    rng = np.random.default_rng(1)
    incomes = rng.uniform(40_000, 60_000, n)
    frame = np.stack([incomes, rng.integers(18, 80, n)], axis=1)
    labels = np.where(incomes > 47_123, "yes", "no")
    model = PrivaTreeClassifier(epsilon, schema=SCHEMA, zoom=zoom, random_state=0, **parameters)
    return model.fit(frame, labels), frame, labels


def test_a_range_that_is_fifty_times_too_wide_costs_little():
    model, frame, labels = fitted(20_000, 1.0)
    assert [s.purpose for s in model.privacy_.spends][1] == "interval of income"
    plain, *_ = fitted(20_000, 1.0, zoom=False)
    assert model.score(frame, labels) > 0.995
    assert model.score(frame, labels) > plain.score(frame, labels)


@pytest.mark.parametrize("parameters", [{"schedule": "robust"}, {"n_bins": 16}, {}])
def test_where_the_gate_is_closed_the_tree_is_the_same(parameters):
    n = 300 if not parameters else 20_000
    with_zoom, *_ = fitted(n, 1.0, **parameters)
    without, *_ = fitted(n, 1.0, zoom=False, **parameters)
    assert with_zoom.model_.to_dict() == without.model_.to_dict() | {
        "privacy": with_zoom.model_.to_dict()["privacy"]
    }
    assert with_zoom.privacy_.spends == without.privacy_.spends
