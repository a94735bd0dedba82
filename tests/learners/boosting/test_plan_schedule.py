"""The stages of an ensemble, which its certificates rely on."""

from fractions import Fraction

import pytest

from privatree.learners.boosting import BoostPlan
from privatree.learners.first_steps import MAX_COUNT
from privatree.privacy import MAX_STAGES, certified_delta

DELTA = Fraction(1, 10**6)


def plan(delta=Fraction(0), **parameters):
    return BoostPlan(Fraction(1), delta, 2, (256, 256, 3), n_zoomed=2, **parameters)


def spent(path, kind):
    return sum((stage.epsilon for stage in path if stage.kind == kind), Fraction(0))


@pytest.mark.parametrize("delta", [Fraction(0), DELTA])
def test_a_public_size_gives_one_sequence(delta):
    planned = plan(delta, dataset_size=20_000, balances_classes=True)
    (path,) = planned.schedule().sequences
    rounds = planned.rounds(20_000)
    assert [stage.kind for stage in path] == ["count", *["choice"] * (2 + rounds.n_rounds)]
    assert path[0].epsilon == planned.balance_epsilon
    assert {stage.epsilon for stage in path[1:3]} == {rounds.interval_epsilon}
    assert {stage.epsilon for stage in path[3:]} == {rounds.round_epsilon}


@pytest.mark.parametrize("delta", [Fraction(0), DELTA])
def test_public_rounds_give_a_sequence_with_intervals_and_one_without(delta):
    planned = plan(delta, n_rounds=20)
    schedule = planned.schedule()
    assert sorted(map(len, schedule.sequences)) == [21, 23]
    reached = {
        (rounds.round_epsilon, rounds.interval_epsilon)
        for rounds in (planned.rounds(size) for size in (1, 50, 1000, 10_000, 10**6, MAX_COUNT))
    }
    listed = {
        (path[-1].epsilon, path[1].epsilon if len(path) == 23 else 0) for path in schedule.sequences
    }
    assert reached == listed


def test_without_delta_a_schedule_spends_exactly_epsilon():
    for parameters in ({}, {"n_rounds": 20}, {"dataset_size": 500}, {"n_rounds": 1000}):
        schedule = plan(**parameters).schedule()
        assert schedule.total == 1
        for path in schedule.sequences:
            assert spent(path, "count") + spent(path, "choice") == 1


def test_unknown_rounds_are_one_choice_or_not_listed():
    pure = plan().schedule()
    assert [[stage.kind for stage in path] for path in pure.sequences] == [["count", "choice"]]
    assert plan(DELTA).schedule() is None


def test_a_delta_allows_more_than_epsilon_on_a_path():
    schedule = plan(DELTA, n_rounds=60).schedule()
    assert schedule.total == max(
        spent(path, "count") + spent(path, "choice") for path in schedule.sequences
    )
    assert schedule.total > 3
    planned = plan(DELTA, dataset_size=20_000)
    groups = planned.range_groups(planned.rounds(20_000))
    pattern = [(group.epsilon, group.times) for group in groups]
    assert [stage.epsilon for stage in planned.schedule().sequences[0]] == [
        epsilon for epsilon, times in pattern for _ in range(times)
    ]
    assert certified_delta(planned.rounds_epsilon, groups) <= DELTA


def test_too_many_stages_are_not_listed():
    long = {"n_rounds": MAX_STAGES, "dataset_size": 500}
    assert plan(DELTA, **long).schedule() is None
    ((only,),) = plan(**long).schedule().sequences
    assert only == ("choice", 1)


def test_neighbours_that_replace_a_record_have_the_stages_of_one_edit():
    planned = plan(DELTA, n_rounds=20, dataset_size=5000, replaces=True)
    (path,) = planned.schedule().sequences
    assert path[-1].epsilon == planned.rounds(5000).round_epsilon


def test_a_huge_epsilon_is_covered_although_it_is_not_spent():
    planned = BoostPlan(Fraction(100), Fraction(0), 2, (2,), n_rounds=2, dataset_size=10)
    schedule = planned.schedule()
    assert schedule.total == 100
    assert schedule.choices == 2 * planned.rounds(10).round_epsilon < 100
