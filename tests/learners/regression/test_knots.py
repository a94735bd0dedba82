from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree.learners.regression._knots import KNOT_WEIGHT, Knots
from privatree.learners.regression._levels import TargetLevels
from privatree.schema import TARGET_CODES

EPSILON = Fraction(1, 5)


def intervals():
    """The ends of an interval in codes, at least 8 apart."""
    starts = st.integers(0, TARGET_CODES - 8)
    return starts.flatmap(lambda start: st.tuples(st.just(start), st.integers(start + 8, 2**16)))


@given(intervals())
def test_a_record_adds_the_same_to_all_knots_together_wherever_it_is(ends):
    knots = Knots(TargetLevels(*ends))
    weights = knots.weights()
    assert (np.diff(knots.places) > 0).all()
    assert (knots.places[0], knots.places[-1]) == (0, TARGET_CODES)
    assert weights.shape == (TARGET_CODES, len(knots.places))
    assert weights.min() >= 0
    assert (weights.sum(axis=1) == KNOT_WEIGHT).all()
    assert ((weights > 0).sum(axis=1) <= 2).all()


@given(intervals())
def test_the_weights_of_a_record_have_its_target_as_their_mean(ends):
    knots = Knots(TargetLevels(*ends))
    means = knots.weights() @ knots.places / KNOT_WEIGHT
    gaps = np.diff(knots.places)
    between = np.searchsorted(knots.places, np.arange(TARGET_CODES), side="right") - 1
    off = np.abs(means - (np.arange(TARGET_CODES) + 0.5))
    assert (off <= gaps[between] / KNOT_WEIGHT / 2 + 1e-9).all()


@given(intervals())
def test_the_window_reaches_beyond_the_interval_and_distances_double(ends):
    knots = Knots(TargetLevels(*ends))
    low, high = knots.places[list(knots.window)]
    assert low <= ends[0] < ends[1] <= high
    width = ends[1] - ends[0]
    above = np.diff(knots.places[knots.window[1] :])
    below = np.diff(knots.places[: knots.window[0] + 1])
    for gaps in (above, below[::-1]):  # the last gap, to the end of the range, is what is left
        doubling = [2**i * (width / 2) for i in range(len(gaps) - 1)]
        assert np.abs(gaps[:-1] - doubling).max(initial=0) <= 1
    assert len(knots.edges) == len(knots.places) + 1
    assert (np.diff(knots.edges) > 0).all()


def test_a_leaf_without_positive_counts_has_its_records_where_most_are():
    """Shares far outside would make its value look uncertain, and leaves that differ alike."""
    knots = Knots(TargetLevels(1024, 2048))
    shares = knots.leaf_value(np.full(len(knots.places), -5 * KNOT_WEIGHT), 4, EPSILON).shares
    first, last = knots.window
    assert [place for place, share in enumerate(shares) if share] == [first, last]
    assert shares[first] == shares[last] == 0.5


def sums_of(knots, codes):
    return knots.weights()[np.asarray(codes)].sum(axis=0)


@pytest.fixture
def knots():
    return Knots(TargetLevels(16384, 24576))


def test_without_noise_a_large_leaf_has_the_mean_of_its_targets(knots):
    codes = np.random.default_rng(0).integers(15000, 26000, 100_000)
    found = knots.leaf_value(sums_of(knots, codes), 3, EPSILON)
    assert found.place == pytest.approx(codes.mean() + 0.5, abs=5)
    assert found.noisy_size == 100_000
    assert sum(found.shares) == pytest.approx(1)


def test_many_records_far_away_count(knots):
    codes = [20000] * 9000 + [60000] * 1000
    found = knots.leaf_value(sums_of(knots, codes), 3, EPSILON)
    assert found.place == pytest.approx(24000, rel=0.01)
    assert sum(found.shares[knots.window[1] + 1 :]) == pytest.approx(0.1, abs=0.01)


def test_a_far_knot_with_no_more_than_noise_does_not_count(knots):
    sums = sums_of(knots, [20000] * 100)
    noise = np.zeros_like(sums)
    noise[-1] = 30 * KNOT_WEIGHT  # less than (5 + 1.4 i)/epsilon for its place i = 3
    assert knots.leaf_value(sums + noise, 3, EPSILON).place == (
        knots.leaf_value(sums, 3, EPSILON).place
    )
    more = knots.leaf_value(sums + 2 * noise, 3, EPSILON)
    assert more.place > knots.places[knots.window[1]]


def test_the_value_of_an_empty_leaf_is_that_of_its_level(knots):
    found = knots.leaf_value(np.zeros(len(knots.places), dtype=np.int64), 6, EPSILON)
    assert found.place == TargetLevels(16384, 24576).middles[6]
    assert found.noisy_size == 0
    assert set(found.shares) == {0.0, 0.5}


@given(st.lists(st.integers(-(2**62), 2**62), min_size=7, max_size=7), st.integers(0, 13))
def test_any_noise_gives_a_value_in_the_range(sums, level):
    levels = TargetLevels(16384, 32768)
    knots = Knots(levels)
    found = knots.leaf_value(np.array(sums), level, EPSILON)
    assert 0 <= found.place <= TARGET_CODES
    assert sum(found.shares) == pytest.approx(1)
    assert min(found.shares) >= 0
