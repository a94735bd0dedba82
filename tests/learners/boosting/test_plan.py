"""The plan: what the noisy number of records decides, and what all draws cost together."""

from dataclasses import replace
from fractions import Fraction

import pytest

from privatree.learners.boosting import BoostPlan
from privatree.learners.boosting._plan import MAX_ROUNDS
from privatree.privacy import certified_delta, gaussian_mu

MILLIONTH = Fraction(1, 10**6)
WIDE = (256,) * 14


def plan(epsilon=1, delta=MILLIONTH, **settings):
    return BoostPlan(epsilon=Fraction(epsilon), delta=delta, n_classes=2, n_codes=WIDE, **settings)


SIZES = [1, 10, 100, 1000, 10_000, 100_000, 2**40]
PLANS = {
    "delta": plan(),
    "pure": plan(delta=Fraction(0)),
    "small epsilon": plan(Fraction(1, 100), n_zoomed=14),
    "large epsilon": plan(1000, n_zoomed=14),
    "huge epsilon": plan(10**9, n_zoomed=3),
    "tiny epsilon": plan(Fraction(1, 10**9)),
    "zoomed": plan(n_zoomed=14, balances_classes=True),
    "zoomed, pure": plan(4, Fraction(0), n_zoomed=14),
    "replaced": plan(Fraction(1, 2), replaces=True, dataset_size=1000, n_zoomed=2),
    "replaced, pure": plan(Fraction(1, 2), Fraction(0), replaces=True, dataset_size=1000),
    "declared rounds": plan(n_rounds=500),
    "depth 3": plan(max_depth=3),
}


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("size", SIZES)
def test_all_draws_together_cost_what_is_declared(name, size):
    asked = PLANS[name]
    rounds = asked.rounds(size)
    n_intervals = asked.n_zoomed if rounds.interval_epsilon else 0
    whole = n_intervals * rounds.interval_epsilon + rounds.n_rounds * rounds.round_epsilon
    assert 0 < rounds.round_epsilon <= 25  # the proof of the floats needs it
    assert rounds.n_rounds == asked.n_rounds or 1 <= rounds.n_rounds <= MAX_ROUNDS
    assert asked.size_epsilon + asked.balance_epsilon + asked.rounds_epsilon <= asked.epsilon
    if not asked.delta:
        assert whole <= asked.rounds_epsilon
        assert asked.range_groups(rounds) == ()
        return
    groups = asked.range_groups(rounds)
    assert sum(group.times for group in groups) == rounds.n_rounds + n_intervals
    price = asked.price
    doubled = [group._replace(epsilon=price * group.epsilon) for group in groups]
    assert certified_delta(price * asked.rounds_epsilon, doubled) <= asked.delta


def test_more_records_never_have_fewer_rounds_and_the_range_follows_gaussian_noise():
    numbers = [plan().rounds(size).n_rounds for size in SIZES]
    assert numbers == sorted(numbers)
    assert numbers[0] == 1
    assert numbers[-1] == MAX_ROUNDS
    rounds = plan(n_rounds=60).rounds(1000)
    about = 2 * gaussian_mu(float(plan().rounds_epsilon), 1e-6) / 60**0.5
    assert float(rounds.round_epsilon) == pytest.approx(about, rel=0.02)  # boosting.md, section 3
    pure = plan(delta=Fraction(0), n_rounds=60, dataset_size=1).rounds(1000)
    assert pure.round_epsilon == Fraction(1, 60)


def test_intervals_are_drawn_only_with_enough_evidence():
    zoomed = plan(n_zoomed=14)
    few, many = zoomed.rounds(100), zoomed.rounds(100_000)
    assert not few.interval_epsilon
    assert 0 < many.interval_epsilon < many.round_epsilon
    squares = 14 * many.interval_epsilon**2 / (many.n_rounds * many.round_epsilon**2)
    assert squares <= Fraction(5, 100)
    pure = replace(zoomed, delta=Fraction(0), epsilon=Fraction(8)).rounds(100_000)
    share = 14 * pure.interval_epsilon / replace(zoomed, epsilon=Fraction(8)).rounds_epsilon
    assert 0.03 < share <= Fraction(5, 100)


def test_the_plan_knows_the_noisy_size_alone():
    assert plan().size_epsilon == Fraction(3, 100)
    assert plan(dataset_size=7).size_epsilon == 0
    assert plan(dataset_size=7, min_records=5).size_epsilon == Fraction(3, 100)
    assert plan(balances_classes=True).balance_epsilon == Fraction(2, 100)
    assert plan().planning_size(-5) == plan().planning_size(0) == 1
    assert plan().planning_size(2**50) == 2**40
    assert plan(dataset_size=9).planning_size(1000) == 9
    assert plan().planning_size(None) == 1


def test_a_replaced_record_has_the_rounds_of_the_same_guarantee():
    one = plan(1, dataset_size=5000, n_rounds=30)
    other = plan(Fraction(1, 2), dataset_size=5000, n_rounds=30, replaces=True)
    assert other.rounds(5000).round_epsilon == one.rounds(5000).round_epsilon / 2


def test_wide_data_offers_fewer_roots():
    narrow, wide = plan().rounds(1000), replace(plan(), n_codes=(64,) * 2000).rounds(10**6)
    assert narrow.n_root_features == 14
    assert 1 <= wide.n_root_features <= 8
    assert wide.n_root_features * 64 * 64 * 2000 <= 2**26
    assert replace(plan(), max_depth=1).rounds(1000).n_root_features == 0
    assert replace(plan(), n_codes=(1, 1)).rounds(1000).n_root_features == 0
    assert replace(plan(), max_depth=1).rounds(1000).no_root_share == 1.0
