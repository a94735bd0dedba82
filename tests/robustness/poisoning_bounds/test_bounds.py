"""Every bound: the design's test vectors, their order, and that they never claim too much."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.errors import ParameterError
from privatree.privacy import Schedule, Stage
from privatree.robustness import EpsilonDP, best, bounds
from privatree.robustness.poisoning_bounds import (
    Interval,
    any_learner_bound,
    logit_bound,
    max_tolerated_edits,
    optimal_trade_off,
    paper_bound,
    renyi_bound,
)
from privatree.robustness.poisoning_bounds import _bounds as certificates
from privatree.robustness.poisoning_bounds._bounds import complement_bound
from privatree.robustness.poisoning_bounds._optimal_bound import CELLS

LETTERS = ["A", "B", "AB*", "C", "C*", "D", "E"]


def schedule_of(*sequences):
    """From tuples of stages."""

    def most(*kinds):
        return max(
            sum((s.epsilon for s in path if s.kind in kinds), Fraction(0)) for path in sequences
        )

    return Schedule(most("count", "choice"), most("choice"), most("count"), tuple(sequences))


def stages(*amounts):
    return tuple(Stage(kind, Fraction(amount)) for kind, amount in amounts)


DESIGN = schedule_of(
    stages(
        ("choice", "0.00918323"),
        ("count", "0.00162057"),
        ("choice", "0.01469317"),
        ("count", "0.002592915"),
        ("choice", "0.07191011"),
    )
)
"""At epsilon .1; counts are half of what the design lists, which is their range."""

VECTORS = [
    (0.82, 36, (0.022405, 0, 0.037932, 0.096622, 0.104430, 0.144783, 0.245510)),
    (0.90, 10, (0.331091, 0.728172, 0.728172, 0.760439, 0.766657, 0.793007, 0.810473)),
    (0.985, 36, (0.026914, 0.451026, 0.455376, 0.606567, 0.637051, 0.704841, 0.8071)),
    (0.99, 10, (1 - 0.635799, 1 - 0.027183, None, 1 - 0.027842, None, 1 - 0.028788, 1 - 0.0227)),
    (0.99, 36, (1 - 0.972950, 1 - 0.365982, None, 1 - 0.300812, None, 1 - 0.236193, 1 - 0.1429)),
]
"""Value, edits, and bounds by letter; the last two are attack success rates, one minus."""


@pytest.mark.parametrize(("value", "edits", "expected"), VECTORS)
def test_vectors_of_the_design(value, edits, expected):
    found = bounds(DESIGN, value, edits)
    assert list(found) == LETTERS
    for letter, number in zip(LETTERS[:-1], expected, strict=False):
        if number is not None:
            # the design's epsilon is .1, that of its rounded stages .099999995
            assert found[letter] == pytest.approx(number, abs=1.1e-6), letter
    # Our E uses that the log-ratio of a count lies around 0, so it is a little above the design's.
    assert expected[-1] - 6e-7 <= found["E"] <= expected[-1] + 8e-4
    assert best(DESIGN, value, edits) == (found["E"], "E")


@pytest.mark.parametrize(
    ("value", "edits", "expected"), [(0.82, 36, 0.245510), (0.9, 10, 0.810473)]
)
def test_without_that_the_optimal_bound_is_the_design_s(value, edits, expected):
    path = [Interval.of_stage(stage, edits) for stage in DESIGN.sequences[0]]
    plain = tuple(Interval(interval.length, centred=False) for interval in path)
    assert optimal_trade_off([plain])(value) == pytest.approx(expected, abs=6e-7)


def test_divergence_of_the_design():
    rho = certificates._divergence_for_bound(DESIGN)
    assert float(rho) * 36**2 == pytest.approx(0.892407, abs=6e-7)
    assert float(rho) * 100 == pytest.approx(0.068859, abs=6e-7)
    half = schedule_of(stages(("choice", 2)))  # 2^2 / 8
    assert renyi_bound(half, 0.9, 1) == pytest.approx(0.481398, abs=6e-7)
    low = math.exp(-((math.sqrt(-math.log(0.9)) + math.sqrt(0.5)) ** 2))
    assert low == pytest.approx(0.344933, abs=6e-7)
    assert renyi_bound(schedule_of(stages(("choice", 40))), 0.9, 1) > 0  # the second branch


def test_two_equal_stages():
    assert logit_bound(schedule_of(stages(("choice", 1), ("choice", 1))), 0.9, 1) == pytest.approx(
        0.549147, abs=6e-7
    )


# --- which apply ----------------------------------------------------------------------------------


def test_a_learner_that_is_only_private_has_only_the_bounds_for_any_learner():
    found = bounds(EpsilonDP(0.1), 0.9, 10)
    assert list(found) == ["A", "B", "AB*"]
    assert found["A"] == paper_bound(0.1, 0.9, 10)
    assert found["B"] == complement_bound(0.1, 0.9, 10)
    assert found["AB*"] == any_learner_bound(0.1, 0.9, 10)
    assert best(EpsilonDP(0.1), 0.9, 10) == (found["B"], "B")


def test_a_schedule_too_long_to_list_has_bounds_for_all_it_could_be():
    """All that adds up to 1 with counts of at most 1/10."""
    deep = Schedule(Fraction(1), Fraction(1), Fraction(1, 10))
    found = bounds(deep, 0.9, 2)
    assert list(found) == LETTERS[:-1]
    plans = [
        schedule_of(stages(("count", "0.1"), ("choice", "0.9"))),
        schedule_of(stages(("choice", 1))),
        schedule_of(
            stages(("count", "0.03"), ("choice", "0.5"), ("count", "0.07"), ("choice", "0.4"))
        ),
    ]
    for plan in plans:
        for letter, number in bounds(plan, 0.9, 2).items():
            assert letter == "E" or found[letter] <= number + 1e-12, letter
    assert found["C"] == pytest.approx(bounds(plans[0], 0.9, 2)["C"])


def test_the_bound_of_the_edits_one_by_one_is_the_closed_form():
    """Bound AB* as the design writes it."""
    for epsilon, value, edits in [
        (0.1, 0.82, 36),
        (0.5, 0.999, 20),
        (2.0, 0.6, 3),
        (0.01, 0.5, 300),
    ]:
        expected = value
        for _ in range(edits):
            expected = max(math.exp(-epsilon) * expected, 1 - math.exp(epsilon) * (1 - expected))
        assert any_learner_bound(epsilon, value, edits) == pytest.approx(expected, rel=1e-9)


# --- never too much -------------------------------------------------------------------------------

kinds = st.sampled_from(["count", "choice"])
amounts = st.floats(1e-9, 1e9, allow_subnormal=False).map(Fraction)
moderate = st.fractions(Fraction(1, 1000), 2, max_denominator=1000)
paths = st.lists(st.builds(Stage, kinds, moderate), min_size=1, max_size=4).map(tuple)
schedules = st.lists(paths, min_size=1, max_size=3).map(lambda found: schedule_of(*found))
values = st.sampled_from([0.0, 5e-324, 1e-300, 1e-9, 0.5, 1 - 2**-53, 1.0]) | st.floats(0, 1)
any_edits = st.sampled_from([0, 1, 2, 10**6, 10**18, 10**400]) | st.integers(0, 50)
extreme = st.builds(lambda kind, amount: schedule_of((Stage(kind, amount),)), kinds, amounts)
unlisted = st.builds(
    lambda total, counts: Schedule(total, total, min(total, counts)), amounts, amounts
)
known = st.builds(EpsilonDP, st.floats(1e-300, 1e300))


@settings(max_examples=100)
@given(schedules | extreme | unlisted | known, values, any_edits)
def test_no_bound_is_nan_or_exceeds_the_value_or_is_negative(spending, value, edits):
    found = bounds(spending, value, edits)
    for letter, number in found.items():
        assert 0 <= number <= value, letter
        if edits == 0:
            assert number == pytest.approx(value, abs=1e-11), letter


@settings(max_examples=60)
@given(schedules | unlisted | known, values, any_edits, any_edits)
def test_bounds_fall_with_the_number_of_edits(spending, value, one, other):
    fewer, more = sorted((one, other))
    few, many = bounds(spending, value, fewer), bounds(spending, value, more)
    for letter, number in many.items():
        assert number <= few[letter] + 1e-11, letter
    assert best(spending, value, more).value <= best(spending, value, fewer).value + 1e-11


@settings(max_examples=60)
@given(schedules | known, values, values, st.integers(0, 30))
def test_bounds_rise_with_the_value(spending, one, other, edits):
    low, high = sorted((one, other))
    below, above = bounds(spending, low, edits), bounds(spending, high, edits)
    for letter, number in below.items():
        assert number <= above[letter] + 1e-11, letter


@settings(max_examples=30)
@given(schedules, st.floats(0.001, 0.999), st.integers(1, 12))
def test_the_optimal_bound_is_below_no_other_by_more_than_its_grid(schedule, value, edits):
    """A stage is widened by at most two cells: the others, with so much more, are below."""
    wider = 1 + 2 * max(map(len, schedule.sequences)) * Fraction(1, CELLS)
    longest = max(certificates._range_for_bound(schedule_of(path)) for path in schedule.sequences)

    def widened(path):  # by two cells of the longest path, for each of its stages
        extra = 2 * longest / CELLS
        return tuple(Stage(s.kind, (s.epsilon + extra) * wider) for s in path)

    others = bounds(schedule_of(*map(widened, schedule.sequences)), value, edits)
    found = bounds(schedule, value, edits)["E"]
    for letter in ("A", "B", "AB*", "C", "C*", "D"):
        if letter == "C*" and len(schedule.sequences) > 1:
            continue  # from the largest sums of different sequences: another kind of bound
        assert found >= others[letter] - 1e-9, letter


def test_many_edits_go_on_by_the_closed_form(monkeypatch):
    two = schedule_of(stages(("count", "0.001"), ("choice", "0.01")), stages(("choice", "0.011")))
    whole = bounds(two, 0.9, 300)
    monkeypatch.setattr(certificates, "MAX_STEPS", 100)
    cut = bounds(two, 0.9, 300)
    assert cut["C"] == whole["C"] <= cut["E"] <= whole["E"]
    assert cut["C*"] == pytest.approx(whole["C*"], abs=0.03)
    assert cut["C*"] != whole["C*"]


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf])
def test_a_value_is_a_mean_score(value):
    with pytest.raises(ParameterError, match="value must be a mean score from 0 to 1"):
        best(DESIGN, value, 1)


@pytest.mark.parametrize("edits", [-1, 1.5, True, "3", None])
def test_edits_are_a_number_of_records(edits):
    with pytest.raises(ParameterError, match="edits must be a number of records >= 0"):
        bounds(DESIGN, 0.5, edits)


@pytest.mark.parametrize("value", [0.1, 0.3, 0.5, 0.84, 1.0])
@pytest.mark.parametrize("epsilon", [5e-324, 1e-310, 1e-300])
def test_an_epsilon_next_to_nothing_takes_next_to_nothing(epsilon, value):
    for letter, bound in bounds(EpsilonDP(epsilon), value, 1000).items():
        assert bound == pytest.approx(value, abs=1e-12), letter


@pytest.mark.parametrize("epsilon", [0, -1, math.inf, math.nan])
def test_epsilon_is_positive_and_finite(epsilon):
    with pytest.raises(ParameterError, match="epsilon must be > 0 and finite"):
        EpsilonDP(epsilon)


@pytest.mark.parametrize("most", [0, 1, 2, 3, 7, 8, 100, 12345])
def test_the_largest_number_that_holds(most):
    assert max_tolerated_edits(lambda edits: edits <= most) == most


def test_never_and_always():
    assert max_tolerated_edits(lambda edits: False) is None
    assert max_tolerated_edits(lambda edits: True) == certificates.MAX_EDITS


# --- units ----------------------------------------------------------------------------------------

TWO_PATHS = schedule_of(
    stages(("count", "0.1"), ("choice", "0.9")), stages(("choice", "0.4"), ("count", "0.6"))
)
OF_UNITS = replace(TWO_PATHS, single_path=False)


def test_a_unit_in_several_sequences_has_no_best_sequence():
    """Its records can be on paths with different stages at the same time."""
    assert list(bounds(TWO_PATHS, 0.9, 3)) == LETTERS
    assert list(bounds(OF_UNITS, 0.9, 3)) == LETTERS[:-1]
    assert best(OF_UNITS, 0.9, 3).value <= best(TWO_PATHS, 0.9, 3).value + 1e-3
    assert best(replace(DESIGN, single_path=False), 0.9, 3) == best(DESIGN, 0.9, 3)


@settings(max_examples=50)
@given(st.floats(0.01, 0.99), st.floats(0, 1), st.sampled_from([1, -1]), st.integers(1, 14))
def test_what_units_are_promised_holds_for_two_records_on_two_paths(share, place, side, event):
    """Half a unit draws a choice, the other half a count; an event is any set of outcomes."""
    length, size = share * 0.9, (1 - share) * 0.6
    top = place * length
    laws = []
    for high, low in ((top, top - length), (side * size, -side * size)):
        p = math.expm1(-low) / (math.exp(-low) - math.exp(-high))
        laws.append([(p, p * math.exp(-high)), (1 - p, (1 - p) * math.exp(-low))])
    outcomes = [(a[0] * b[0], a[1] * b[1]) for a in laws[0] for b in laws[1]]
    chosen = [outcome for bit, outcome in enumerate(outcomes) if event >> bit & 1]
    before, after = (min(1.0, max(0.0, sum(pair[law] for pair in chosen))) for law in (0, 1))
    assert after >= best(OF_UNITS, before, 1).value - 1e-9


# --- delta ----------------------------------------------------------------------------------------


def one_edit_with_delta(value, epsilon, delta):
    """The best bound for one edit: the trade-off of any (epsilon, delta)-DP learner."""
    higher = 1 - delta - math.exp(epsilon) * (1 - value)
    return max(0.0, higher, math.exp(-epsilon) * (value - delta))


@given(
    st.floats(0.0, 1.0),
    st.integers(0, 40),
    st.floats(0.01, 3.0),
    st.sampled_from([1e-9, 1e-3, 0.2]),
)
def test_with_a_delta_the_best_is_the_chain_of_single_edits(value, edits, epsilon, delta):
    expected = value
    for _ in range(edits):
        expected = one_edit_with_delta(expected, epsilon, delta)
    found = bounds(EpsilonDP(epsilon, delta), value, edits)
    assert found["AB*"] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert max(found["A"], found["B"]) <= found["AB*"] + 1e-12


def test_a_delta_is_the_one_of_group_privacy():
    """x edits are (x epsilon, delta (e^(x epsilon) - 1)/(e^epsilon - 1))-DP."""
    epsilon, delta, edits = 0.3, 1e-3, 5
    group = delta * math.expm1(edits * epsilon) / math.expm1(epsilon)
    found = bounds(EpsilonDP(epsilon, delta), 0.9, edits)
    factor = math.exp(edits * epsilon)
    assert found["A"] == pytest.approx((0.9 - group) / factor)
    assert found["B"] == pytest.approx(max(0, 1 - group - factor * 0.1))


def test_with_a_delta_nothing_is_certain():
    assert bounds(EpsilonDP(0.1), 1.0, 3) == {"A": math.exp(-0.1 * 3), "B": 1.0, "AB*": 1.0}
    assert best(EpsilonDP(0.1, 1e-6), 1.0, 1).value == pytest.approx(1 - 1e-6)
    assert best(EpsilonDP(0.1, 1e-6), 1.0, 0).value == 1.0
    assert best(EpsilonDP(800.0, 1e-6), 0.9, 2).value == 0.0
    assert best(EpsilonDP(0.1, 0.5), 0.9, 10**6).value == 0.0


@pytest.mark.parametrize("delta", [-0.1, 1.0, math.nan])
def test_a_delta_is_a_probability(delta):
    with pytest.raises(ParameterError, match="delta must be >= 0 and < 1") as caught:
        EpsilonDP(1.0, delta)
    assert caught.value.parameter == "delta"
