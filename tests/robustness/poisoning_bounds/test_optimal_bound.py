"""The bound on a grid: the values of the design, sound off the grid, and the true optimum."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.privacy import Stage
from privatree.robustness.poisoning_bounds import Interval, optimal_trade_off
from privatree.robustness.poisoning_bounds import _optimal_bound as optimal_bound


def choices(*lengths):
    return tuple(Interval(Fraction(str(length)), centred=False) for length in lengths)


@pytest.mark.parametrize(
    ("lengths", "value", "expected"),
    [
        ((1, 1), 0.9, 0.689657),
        ((1,), 0.9, 0.767986),
        (("0.216", "3.492"), 0.82, 0.12123),
        (("0.06", "0.97"), 0.9, 0.77297),
        (("0.0216", "0.3492"), 0.8, 0.73818),
        (("0.24", "1.08", "0.24", "1.08", "1.2"), 0.82, 0.44016),
        (("1/15", "0.3", "1/15", "0.3", "1/3"), 0.9, 0.83852),
        (("0.024", "0.108", "0.024", "0.108", "0.12"), 0.8, 0.76886),
    ],
)
def test_values_of_the_design(lengths, value, expected):
    digits = len(str(expected)) - 2
    assert optimal_trade_off([choices(*lengths)])(value) == pytest.approx(
        expected, abs=0.6 * 10**-digits
    )


def log_odds(value):
    return math.log(value / (1 - value))


@pytest.mark.parametrize("value", [0.001, 0.2, 0.5, 0.9, 0.9999])
def test_one_stage_is_the_closed_form_up_to_the_grid(value):
    """Log-odds fall by the range: a cell of the grid more."""
    found = optimal_trade_off([choices(1)])(value)
    assert 1 - 1e-6 < log_odds(value) - log_odds(found) < 1 + 1.01 / optimal_bound.CELLS + 1e-6
    counted = optimal_trade_off([(Interval(Fraction(1), centred=True),)])
    pure = max(value * math.exp(-0.5), 1 - math.exp(0.5) * (1 - value))
    assert counted(value) == pytest.approx(pure, abs=1e-9)


def test_a_stage_is_the_interval_of_its_log_ratio():
    assert Interval.of_stage(Stage("choice", Fraction(1, 3)), 6) == Interval(
        Fraction(2), centred=False
    )
    assert Interval.of_stage(Stage("count", Fraction(1, 3)), 6) == Interval(
        Fraction(4), centred=True
    )


def test_a_finer_grid_is_a_better_bound_and_all_are_below_the_truth():
    truth = 0.9 / (0.9 + math.e * 0.1)
    found = [optimal_trade_off([choices(1)], cells)(0.9) for cells in (10, 100, 1000, 4000)]
    assert found == sorted(found)
    assert found[-1] < truth < found[-1] + 1e-4


def test_later_stages_may_depend_on_earlier_ones():
    """Whichever is worse at each outcome: worse than each sequence alone, better than both."""
    short, long = choices("0.1", 1), choices("0.1", "0.6", "0.6")
    either = optimal_trade_off([short, long])
    for value in (0.3, 0.6, 0.9):
        alone = [optimal_trade_off([path])(value) for path in (short, long)]
        assert either(value) <= min(alone) + 1e-4
        assert either(value) >= optimal_trade_off([choices("0.1", "1.2")])(value) - 1e-3


def test_the_order_of_stages_matters():
    assert optimal_trade_off([choices("0.2", 1)])(0.9) != optimal_trade_off([choices(1, "0.2")])(
        0.9
    )


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_trade_off_is_convex_increasing_and_below_the_diagonal(one, other):
    trade = optimal_trade_off([choices("0.3", "0.5")], 200)
    low, high = sorted((one, other))
    assert trade(low) <= trade(high)
    assert trade(one) <= one
    assert trade((one + other) / 2) <= (trade(one) + trade(other)) / 2 + 1e-12


# --- against programs -----------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    st.lists(st.floats(0.05, 1), min_size=7, max_size=7),
    st.lists(st.floats(0.001, 0.999), min_size=7, max_size=7),
    st.floats(0.01, 0.99),
)
def test_no_adaptive_program_of_three_stages_does_worse(
    two_points, worst_event, lengths, places, value
):
    """Each outcome chooses the next stage's place, and the last stage's length, for itself."""
    first, second = lengths[0], lengths[1]
    sequences = [choices(first, second, last) for last in lengths[3:]]
    pairs = []
    for (p0, q0), branch in zip(two_points(first, first * places[0]), (1, 2), strict=True):
        for (p1, q1), last in zip(
            two_points(second, second * places[branch]),
            (2 * branch + 1, 2 * branch + 2),
            strict=True,
        ):
            length = lengths[last]
            for p2, q2 in two_points(length, length * places[last]):
                pairs.append((p0 * p1 * p2, q0 * q1 * q2))
    assert sum(p for p, _ in pairs) == pytest.approx(1)
    assert sum(q for _, q in pairs) == pytest.approx(1)
    assert optimal_trade_off(sequences, 300)(value) <= worst_event(pairs, value) + 1e-12


def test_the_best_program_comes_as_close_as_the_grid_allows(two_points, worst_event):
    """So the bound is sharp: with stages [1, 1] the worst adaptive program attains it."""
    places = np.linspace(0.02, 0.98, 25)
    least = 1.0
    for outer, after_first, after_second in product(places, repeat=3):
        pairs = [
            (p0 * p1, q0 * q1)
            for (p0, q0), place in zip(
                two_points(1, outer), (after_first, after_second), strict=True
            )
            for p1, q1 in two_points(1, place)
        ]
        least = min(least, worst_event(pairs, 0.9))
    bound = optimal_trade_off([choices(1, 1)])(0.9)
    assert bound <= least <= bound + 0.005


def test_a_grid_that_is_not_wide_enough_is_caught(two_points, worst_event, monkeypatch):
    """A mutant: intervals that lie between grid points need one cell more."""
    monkeypatch.setattr(
        optimal_bound,
        "_grid_cells",
        lambda interval, step: (n := math.floor(interval.length / step), 0, n),
    )
    value, length = 0.9, Fraction("0.999")
    mutant = optimal_trade_off([choices("0.999"), choices("1.5")], 3)
    assert mutant.slopes  # it still computes
    narrow = optimal_trade_off([choices("0.999", "0.999")], 3)(value)
    truth = worst_event(
        [
            (p0 * p1, q0 * q1)
            for p0, q0 in two_points(float(length), 0.4995)
            for p1, q1 in two_points(float(length), 0.4995)
        ],
        value,
    )
    assert narrow > truth
