"""Model and scores of a held-out part together: the larger epsilon of the two, and no more."""

from fractions import Fraction

import numpy as np
import pytest
from holdout_nets import HOLDOUTS, HoldoutCase, holdout_loss, law_of

TOLERANCE = 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sharp"),
    [
        ("equal epsilons", 0.98),
        ("cheap scores", 0.4),  # no split of so few records is as sensitive as it could be
        ("dear scores", 0.8),  # a record is scored with probability 1/2
        ("a small part", 0.98),
        ("a record replaced", 0.85),
        ("a record replaced, dear scores", 0.5),
    ],
)
def test_every_record_added_or_replaced_loses_the_larger_epsilon(name, sharp):
    report = holdout_loss(name)
    assert sharp <= report.figure <= 1 + TOLERANCE


@pytest.mark.slow
def test_two_records_and_one_more_lose_the_larger_epsilon(monkeypatch):
    monkeypatch.setitem(HOLDOUTS, "two records", HoldoutCase(4, 4, most=2))
    assert 0.99 <= holdout_loss("two records").figure <= 1 + TOLERANCE


def test_the_law_adds_up_to_one_over_models_and_dealings():
    case = HoldoutCase(2, 1, share=Fraction(1, 4))
    ways = [way for found in law_of(case, ((0, 1), (0, 1))).values() for way in found]
    assert sum(np.exp(way.log_probability) for way in ways) == pytest.approx(1, abs=TOLERANCE)
    held_out = {}
    for way in ways:
        n = int(way.exact_tables[0].sum())
        held_out[n] = held_out.get(n, 0) + np.exp(way.log_probability)
    assert held_out == pytest.approx({0: 9 / 16, 1: 6 / 16, 2: 1 / 16}, abs=TOLERANCE)
