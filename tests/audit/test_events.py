import math

import numpy as np
import pytest
from scipy.stats import binom

from privatree.audit import Event
from privatree.audit import _events as events
from privatree.audit._events import event_bounds, learned_event

FAILURE = 0.05


def bound(often, seldom, runs, failure=FAILURE, delta=0.0, changes=1):
    return float(
        event_bounds(np.array([often]), np.array([seldom]), runs, failure, delta, changes=changes)[
            0
        ]
    )


def learned(first, second, *, has_parts=False, failure=FAILURE):
    return learned_event("view", "what is seen", first, second, failure, 0.0, str,
                         has_parts=has_parts)  # fmt: skip


def test_where_it_always_comes_from_one_table_the_bound_has_a_closed_form():
    certain = 0.01 ** (1 / 50)  # the least p with which 50 of 50 has probability 0.01
    assert bound(50, 0, 50, failure=0.02) == pytest.approx(math.log(certain / (1 - certain)))


@pytest.mark.parametrize(("often", "seldom"), [(80, 20), (60, 1), (99, 50)])
def test_each_side_is_where_the_binomial_tail_is_half_of_the_failure_probability(often, seldom):
    def least_p(k):
        return _root(lambda p: binom.sf(k - 1, 100, p) - FAILURE / 2)

    def largest_q(k):
        return _root(lambda q: FAILURE / 2 - binom.cdf(k, 100, q))

    p, q = least_p(often), largest_q(seldom)
    assert p < often / 100
    assert q > seldom / 100
    assert bound(often, seldom, 100) == pytest.approx(math.log(p / q), rel=1e-6)
    delta = 0.1
    assert bound(often, seldom, 100, delta=delta) == pytest.approx(
        math.log(max(1.0, (p - delta) / q)), rel=1e-6
    )
    # If there is a table between them: p <= e^(2 epsilon) q + (1 + e^epsilon) delta.
    assert bound(often, seldom, 100, changes=2) == pytest.approx(math.log(p / q) / 2, rel=1e-6)
    z = math.exp(bound(often, seldom, 100, delta=delta, changes=2))
    assert z == 1.0 or z * z * q + (1 + z) * delta == pytest.approx(p, rel=1e-6)


def _root(rising):
    low, high = 0.0, 1.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return low


def test_the_figures_of_a_well_chosen_event_are_those_that_can_be_expected():
    for runs, expected in {1000: (0.81, 1.70, 2.55), 10_000: (0.94, 1.91, 2.86)}.items():
        for loss, figure in zip((1, 2, 3), expected, strict=True):
            found = bound(runs // 2, round(runs / 2 * math.exp(-loss)), runs)
            assert found == pytest.approx(figure, abs=0.01)


def test_counts_that_show_nothing_give_zero():
    assert event_bounds(np.array([0, 5, 10]), np.array([0, 5, 10]), 10, FAILURE, 0.0).tolist() == [
        0.0, 0.0, 0.0,
    ]  # fmt: skip
    assert bound(0, 100, 100) == 0.0
    assert bound(100, 0, 100, delta=0.999) == 0.0


# --- how often a bound is above the truth, summed up exactly --------------------------------------


def chance_of_a_wrong_bound(bounds, p, q, epsilon, runs):
    """Over all numbers of times that the event may come from one table and from the other."""
    counts = np.arange(runs + 1)
    wrong = bounds(*np.meshgrid(counts, counts, indexing="ij")) > epsilon + 1e-12
    return float(binom.pmf(counts, runs, p) @ wrong @ binom.pmf(counts, runs, q))


LEARNERS = [
    (epsilon, delta, changes, q)
    for epsilon in (0.0, 0.5, 1.0, 3.0)
    for delta in (0.0, 0.05)
    for changes in (1, 2)
    for q in (0.001, 0.02, 0.1, 1 / (1 + math.exp(epsilon)))
]


@pytest.mark.parametrize("runs", [8, 60])
def test_a_bound_is_above_the_truth_as_seldom_as_promised(runs):
    largest = 0.0
    for epsilon, delta, changes, q in LEARNERS:
        p = q * math.exp(changes * epsilon)
        p += delta * (1 if changes == 1 else 1 + math.exp(epsilon))
        if p > 1:
            continue

        def bounds(often, seldom, delta=delta, changes=changes):
            return event_bounds(often, seldom, runs, FAILURE, delta, changes=changes)

        largest = max(largest, chance_of_a_wrong_bound(bounds, p, q, epsilon, runs))
    assert 0.0005 < largest <= FAILURE  # and it does happen


def test_the_exact_sum_finds_bounds_that_are_wrong_more_often():
    runs, q = 60, 0.1

    def shares(often, seldom):  # as if what was counted were the probabilities
        return np.log(np.maximum(often, 1e-9) / np.maximum(seldom, 1e-9))

    def other_delta(often, seldom):  # the delta of the learner left out
        return event_bounds(often, seldom, runs, FAILURE, 0.0)

    def as_neighbours(often, seldom):  # two changes counted as one
        return event_bounds(often, seldom, runs, FAILURE, 0.0)

    p = q * math.e
    assert chance_of_a_wrong_bound(shares, p, q, 1.0, runs) > 0.3
    assert chance_of_a_wrong_bound(other_delta, 0.02 * math.e + 0.4, 0.02, 1.0, runs) > FAILURE
    assert chance_of_a_wrong_bound(as_neighbours, 0.9, 0.9 * math.exp(-2), 1.0, runs) > FAILURE


# --- learned events -------------------------------------------------------------------------------


def test_an_event_counts_where_it_happens():
    event = Event("view", "it is large", lambda outcome: outcome > 3, likelier="first")
    assert event.count([1, 5, 3, 4]) == 2
    assert event.count([]) == 0


@pytest.mark.parametrize("turned", [False, True])
def test_the_obvious_event_is_found_with_its_direction(turned):
    rng = np.random.default_rng(0)
    rare = ["a" if draw < 0.5 else "bcd"[place % 3] for place, draw in enumerate(rng.random(400))]
    never = ["bcd"[place % 3] for place in range(400)]
    promise, event = learned(*((never, rare) if turned else (rare, never)))
    assert promise > 2
    assert event.likelier == ("second" if turned else "first")
    assert event.count(["a", "b", "c", "d"]) == 1
    assert event.happens("a")
    assert event.words == "what is seen: a"
    assert event.view == "view"


def test_what_comes_from_one_table_only_is_found_even_if_no_outcome_comes_often():
    first = [str(place % 40) for place in range(800)]
    second = [str(place % 80) for place in range(800)]
    promise, event = learned(first, second)
    assert promise > 0.3
    happening = {outcome for outcome in map(str, range(80)) if event.happens(outcome)}
    of_both, of_second = {str(n) for n in range(40)}, {str(n) for n in range(40, 80)}
    assert happening == (of_both if event.likelier == "first" else of_second)


def noisy_bits(rng, runs, share):
    """Twenty bits, hardly ever the same twice; each says a little."""
    return [tuple(map(str, row)) for row in (rng.random((runs, 20)) < share).astype(int).tolist()]


def test_parts_are_weighed_one_by_one_where_whole_outcomes_are_too_many():
    rng = np.random.default_rng(1)
    first, second = noisy_bits(rng, 1000, 0.65), noisy_bits(rng, 1000, 0.35)
    whole, _ = learned(first, second)
    promise, event = learned(first, second, has_parts=True)
    assert whole < 0.5
    assert promise > 2
    ones, noughts = ("1",) * 20, ("0",) * 20
    assert event.happens(ones if event.likelier == "first" else noughts)
    assert not event.happens(noughts if event.likelier == "first" else ones)
    assert event.words == (
        "what is seen, weighed one by one as other trainings of both tables taught, speak for the "
        f"{event.likelier} one"
    )


def test_errors_nothing_and_different_lengths_are_outcomes_like_others():
    error = ("error", "ValueError: no")
    first = [error] * 100
    second = [None, ("1", "0"), ("1",)] * 33 + [None]
    for has_parts in (False, True):
        promise, event = learned(first, second, has_parts=has_parts)
        assert promise > 1
        assert event.happens(error) is (event.likelier == "first")
        assert event.happens(None) is (event.likelier == "second")
    promise, event = learned([None] * 50, [None] * 50, has_parts=True)
    assert promise == 0.0


def test_with_too_few_runs_for_any_bound_the_largest_difference_is_taken():
    promise, event = learned(list("aaaa"), list("bbbb"), failure=1e-6)
    assert 0 < promise < 1e-3
    happening = [o for o in "ab" if event.happens(o)]
    assert happening == ["a" if event.likelier == "first" else "b"]


def test_the_list_of_outcomes_stays_short():
    first = [f"{'x' * 300}{place % 5}" for place in range(400)]
    _, event = learned(first, ["y"] * 400)
    assert event.likelier == "first"
    assert event.words.endswith("…; or one of 2 others")
    assert len(event.words) < 600


def test_noise_from_one_law_promises_a_lot_only_to_who_learns_and_counts_on_the_same():
    rng = np.random.default_rng(2)
    first, second = rng.integers(2**60, size=(2, 1000)).tolist()
    promise, _ = learned(first, second)
    assert promise == 0.0
    mutant, *_ = events._event_threshold(
        events._event_score(first, second), first, second, FAILURE, 0.0
    )
    assert mutant > 4
