"""A held-out part as anybody sees it: models and scores of two tables that differ in one record."""

import pytest
from wrong_holdout import dealt_by_position

from privatree import Numeric, PrivaTreeClassifier, Schema
from privatree.audit import Event, Neighbours, Records, View, audit

EPSILON = 2.0
SCHEMA = Schema({"x": Numeric(0, 1, integer=True)}, [0, 1])
ROWS = [([0], 0), ([1], 1)] * 20


class HoldsOut(PrivaTreeClassifier):
    """The learner, with half of the records held out."""

    def fit(self, X, y):
        return super().fit(X, y, holdout=0.5)


def counts_of_classes(model, probes):
    """Which class has more held-out records, by the noisy counts."""
    first, second = map(sum, model.scores_.confusion)
    return int(first > second)


VIEWS = {"scores": View("the class with most held-out records", counts_of_classes)}
PAIR = Neighbours(
    "one row on top",
    "parts that follow from the places of the rows",
    SCHEMA,
    Records(*map(list, zip(*ROWS, strict=True))),
    Records(*map(list, zip(([1], 1), *ROWS, strict=True))),
    max_depth=1,
    events=(Event("scores", "class 0", lambda more: more == 1, likelier="first"),),
)


def report(runs):
    learner = HoldsOut(EPSILON, random_state=0, probability_share=0)
    return audit(learner, PAIR, runs=runs, views=VIEWS, progress=False)


@pytest.mark.slow
def test_nobody_sees_more_than_epsilon_allows():
    found = report(60)
    assert not found.refuted
    assert found.findings[0].lower_bound < EPSILON


@pytest.mark.slow
def test_parts_by_position_are_seen(monkeypatch):
    dealt_by_position(monkeypatch)
    found = report(60)
    assert found.refuted
    assert found.findings[0].lower_bound > EPSILON
