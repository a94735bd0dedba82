import dataclasses

import numpy as np
import pytest

from privatree import ParameterError
from privatree.audit import Event, known_pairs
from privatree.audit import _findings as findings
from privatree.audit._events import event_bounds
from privatree.audit._findings import Counting
from privatree.audit._views import VIEWS

PAIR = known_pairs()["three-records"]
ZERO = Event("labels", "the prediction is 0", lambda labels: labels == ("0",), likelier="first")
ONE = Event("labels", "the prediction is 1", lambda labels: labels == ("1",), likelier="second")


def labels(*values):
    return [(str(value),) for value in values]


def noise(seed, n_outcomes=2000, runs=4000):
    """Of two tables of which the models say nothing: one law."""
    rng = np.random.default_rng(seed)
    return {"labels": tuple(labels(*rng.integers(n_outcomes, size=runs)) for _ in range(2))}


def test_noise_is_not_taken_for_a_difference_but_by_who_counts_what_taught_him(monkeypatch):
    counting = Counting(PAIR, 1e-4)
    assert [counting.best_finding(noise(seed), VIEWS).lower_bound for seed in range(5)] == [0.0] * 5
    monkeypatch.setattr(findings, "_halves_for_finding", lambda both: (both, both))
    assert max(counting.best_finding(noise(seed), VIEWS).lower_bound for seed in range(5)) > 0.5


def test_what_is_counted_does_not_depend_on_the_half_that_is_counted(monkeypatch):
    learnt_from = []
    learn = findings.learned_event

    def spy(view, words, first, second, *others, **options):
        learnt_from.append((view, first, second))
        return learn(view, words, first, second, *others, **options)

    monkeypatch.setattr(findings, "learned_event", spy)
    first, second = labels(*([0] * 30 + [1] * 30)), labels(*([1] * 30 + [0] * 30))
    found = Counting(PAIR, 0.05).best_finding({"labels": (first, second), "root": (
        [None] * 30 + [(1,)] * 30, [None] * 30 + [(0,)] * 30)}, VIEWS)  # fmt: skip
    assert learnt_from == [("labels", first[:30], second[:30])]  # the root shows nothing there
    assert found.counts in ((0, 30), (30, 0))
    assert (found.lower_bound, found.runs, found.learned) == (0.0, 30, True)


def test_the_direction_is_that_of_the_event_and_not_of_the_counts():
    pair = dataclasses.replace(PAIR, events=(ONE,))
    seen = {"labels": (labels(*[1] * 50), labels(*[0] * 50)), "said": ([()] * 50, [()] * 50)}
    views = {name: VIEWS[name] for name in seen}
    only_named = Counting(pair, 0.05)._count_event(ONE, seen["labels"])
    assert (only_named.lower_bound, only_named.counts) == (0.0, (50, 0))
    assert Counting(pair, 0.05).best_finding(seen, views).learned


def test_named_events_are_counted_in_all_trainings_and_share_the_probability():
    seen = {"labels": (labels(*[0] * 50), labels(*[1] * 50))}
    pair = dataclasses.replace(PAIR, events=(ZERO, ONE))
    found = Counting(pair, 0.06).best_finding(seen, VIEWS)
    expected = event_bounds(np.array([50]), np.array([0]), 50, 0.06 / 3, 0.0)
    assert found.lower_bound == float(expected[0])
    assert (found.event, found.learned) == ("the prediction is 0", False)
    assert (found.counts, found.runs, found.sizes) == ((50, 0), 50, (2, 3))
    assert (found.pair, found.after, found.changes) == (PAIR.name, PAIR.after, 1)


def test_an_event_keeps_its_share_where_the_models_have_nothing_of_the_kind():
    seen = {
        "splits": ([None] * 60, [None] * 60),
        "labels": (labels(*[0] * 60), labels(*[1] * 60)),
    }
    found = Counting(known_pairs()["purity"], 0.06).best_finding(seen, VIEWS)
    assert found.learned
    assert found.lower_bound == float(
        event_bounds(np.array([30]), np.array([0]), 30, 0.06 / 2, 0.0)[0]
    )


def test_delta_and_two_changes_reach_the_bound():
    seen = {"labels": (labels(*[0] * 80), labels(*[1] * 80))}
    plain, with_delta, twice = (
        Counting(PAIR, 0.05, **more).best_finding(seen, VIEWS)
        for more in ({}, {"delta": 0.5}, {"changes": 2})
    )
    assert 0 < with_delta.lower_bound < plain.lower_bound - 0.5
    assert twice.lower_bound == pytest.approx(plain.lower_bound / 2)
    assert (plain.changes, twice.changes) == (1, 2)


def test_views_that_show_nothing_at_all_are_refused():
    with pytest.raises(ParameterError, match="at least one view must return something"):
        Counting(PAIR, 0.05).best_finding({"labels": ([None] * 8, [None] * 8)}, VIEWS)
