"""What the ensemble learner for numeric targets does besides its rounds."""

from fractions import Fraction

import numpy as np
import pytest

from privatree.learners.boosting import NumberPlan
from privatree.learners.boosting._boost_number import next_scale
from privatree.privacy import Stage

ENDS = np.array([100, 150, 225, 338, 507, 761])
EPSILON = Fraction(1, 10)


def plan(**settings):
    return NumberPlan(
        Fraction(1), settings.pop("delta", Fraction(0)), 0, (256, 3), n_zoomed=1, **settings
    )


def scaled(counts, scale=50, ends=ENDS):
    return next_scale(scale, np.array(counts), ends, EPSILON)


def test_the_scale_is_half_of_what_few_residuals_exceed():
    assert scaled([5000, 5000, 0, 0, 0, 0]) == 50 + 25  # none is above 150; some above 100
    assert scaled([10_000, 0, 0, 0, 0, 0]) == 50


def test_few_large_residuals_make_it_large():
    assert scaled([9000, 0, 0, 0, 0, 1000]) == 761 // 2


def test_counts_that_may_be_noise_are_left_out():
    assert scaled([2000, 0, 0, 0, 0, 19]) == 50
    assert 50 < scaled([2000, 0, 0, 0, 0, 20]) <= 100
    assert scaled([19, -5, 0, 3, 1, 2]) == 50  # all are left out: the scale stays
    far = np.array([*ENDS, 3200, 4800])  # beyond the interval, which is 32 times the first end wide
    assert scaled([2000, *[0] * 6, 119], ends=far) == 50
    assert scaled([2000, *[0] * 6, 120], ends=far) > 1000


def test_the_scale_changes_little_at_a_time_unless_counts_are_sure():
    assert scaled([2000, 0, 0, 0, 0, 119], scale=60) == 120
    assert scaled([2000, 0, 0, 0, 0, 120], scale=60) > 120
    assert scaled([2000, 0, 0, 0, 0, 0], scale=900) == 300


def test_residuals_are_counted_four_times_at_most():
    assert sorted(plan().residual_turns(40)) == [0, 10, 20, 30]
    assert sorted(plan().residual_turns(2)) == [0, 1]
    assert plan().residual_turns(1) == {0}


@pytest.mark.parametrize("declared", [False, True])
@pytest.mark.parametrize("size", [1, 100, 100_000])
def test_the_stages_add_up_to_epsilon(declared, size):
    made = plan(draws_target_interval=not declared)
    first = made.first_stages
    assert (Stage("choice", Fraction(3, 100)) in first) is not declared
    rounds = made.rounds(size)
    drawn = rounds.n_rounds * rounds.round_epsilon + rounds.interval_epsilon
    assert sum(stage.epsilon for stage in first) + drawn <= 1
    assert made.schedule().total == 1
    assert made.has_one_score


def test_a_schedule_has_the_further_stages():
    made = plan(n_rounds=5, dataset_size=1000)
    for sequence in made.schedule().sequences:
        kinds = [stage.kind for stage in sequence]
        assert kinds.count("count") == 1 + 4
        assert kinds.count("choice") in (1 + 5, 1 + 5 + 1)
