import math
from dataclasses import fields, replace
from fractions import Fraction
from itertools import islice, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privatree.learners.tree import DrawSubtree, RecordPlan
from privatree.learners.tree import _plan as record_plan
from privatree.learners.tree._plan import MAX_SEQUENCES, CountClasses, Position, SplitOnce
from privatree.privacy import Stage

PLAIN = RecordPlan(
    epsilon=Fraction(1),
    n_classes=2,
    numeric_codes=(256,) * 6,
    categorical_codes=(5,) * 8,
    max_depth=4,
)

seeds = st.integers(0, 2**32)
codes = st.lists(st.integers(1, 300), max_size=3).map(tuple)


@st.composite
def plans(draw, deepest=4, largest=record_plan.MAX_COUNT):
    numeric, categorical = draw(codes), draw(codes)
    return RecordPlan(
        epsilon=draw(st.fractions(Fraction(1, 100), 1000, max_denominator=100)),
        n_classes=draw(st.integers(2, 5)),
        numeric_codes=numeric if numeric or categorical else (2,),
        categorical_codes=categorical,
        max_depth=draw(st.integers(1, deepest)),
        lookahead=draw(st.none() | st.integers(1, 3)),
        robust_levels=draw(st.none() | st.integers(1, deepest)),
        dataset_size=draw(st.none() | st.integers(1, min(largest, 10**6))),
        probability_share=draw(
            st.sampled_from([None, Fraction(0)])
            | st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=10)
        ),
        n_zoomed=draw(st.sampled_from([0, 0, 1, 3])),
        min_records=draw(st.none() | st.integers(1, largest)),
        largest_count=largest,
    )


def total(path, kind=None):
    return sum((s.epsilon for s in path if kind in (None, s.kind)), Fraction(0))


def active(plan):
    return sum(n >= 2 for n in plan.numeric_codes + plan.categorical_codes)


def random_size(rng, largest):
    """Of any magnitude."""
    return int(min(largest, 2 ** rng.uniform(0, 42))) if rng.random() < 0.9 else 0


def intervals(plan, size):
    epsilon = plan.interval_epsilon(size)
    return (Stage("choice", epsilon),) * plan.n_zoomed if epsilon else ()


def random_walk(plan, rng):
    """The stages along a path, as the learner would go, and the depth it could have reached.

    Released counts are anything, and so is whether a region has run out of codes, once there were
    splits enough for it.
    """
    path, largest, noisy_size = [], plan.largest_count, None
    if plan.size_epsilon:
        path.append(Stage("count", plan.size_epsilon))
        noisy_size = random_size(rng, largest) if rng.random() < 0.9 else -(10**6)
    size = plan.planning_size(noisy_size)
    at = plan.root(size)
    path += intervals(plan, size)
    while True:
        if active(plan) <= at.depth and rng.random() < 0.3:
            stage = plan.label(at)
            break
        stage = plan.stage(at)
        if isinstance(stage, CountClasses):
            path.append(Stage("count", stage.epsilon))
            noisy = [random_size(rng, largest) for _ in range(plan.n_classes)]
            at = plan.after_counting(at, noisy)
            stage = plan.stage(at)
        if isinstance(stage, DrawSubtree):
            break
        assert isinstance(stage, SplitOnce)
        path.append(Stage("choice", stage.epsilon))
        at = plan.child(at)
    path.append(Stage("choice", stage.epsilon))
    if leaf_epsilon := plan.leaf_count_epsilon(size):
        path.append(Stage("count", leaf_epsilon))
    return tuple(path), at.depth + len(stage.grids) + 1


# --- the sequences that can be listed without data ----------------------------------------------


@pytest.mark.slow
@settings(max_examples=50)
@given(plans())
def test_every_sequence_spends_epsilon_exactly(plan):
    listed = list(islice(plan.sequences(), 2000))
    assert listed
    for path in listed:
        assert total(path) == plan.epsilon
        assert all(stage.epsilon > 0 for stage in path)
        assert {stage.kind for stage in path} <= {"count", "choice"}
        assert "choice" in {stage.kind for stage in path[-2:]}  # at most leaf counts follow
        assert total(path, "count") <= plan.most_counts()


@pytest.mark.slow
@settings(max_examples=40)  # all walks of small plans are tried below
@given(plans(), seeds)
def test_every_walk_is_listed(plan, seed):
    rng = np.random.default_rng(seed)
    listed = set(plan.sequences())
    for _ in range(20):
        path, depth = random_walk(plan, rng)
        assert path in listed
        assert depth <= plan.max_depth


def every_walk(plan):
    """All of them, trying every size that a count can be; `largest_count` must be small."""
    sizes, known = range(1, plan.largest_count + 1), {}

    def rest(at):
        if at not in known:
            stage, found = plan.stage(at), set()
            if at.before_counting is None and active(plan) <= at.depth:
                found.add((Stage("choice", plan.label(at).epsilon),))
            if isinstance(stage, DrawSubtree):
                found.add((Stage("choice", stage.epsilon),))
            elif isinstance(stage, CountClasses):
                either = (False, True) if at.depth == 0 else (at.one_class_dominates,)
                for size, dominates in product(sizes, either):
                    counted = plan.after_counting(at, [size])
                    onward = rest(replace(counted, one_class_dominates=dominates))
                    found |= {(Stage("count", stage.epsilon), *path) for path in onward}
            else:
                onward = rest(plan.child(at))
                found |= {(Stage("choice", stage.epsilon), *path) for path in onward}
            known[at] = found
        return known[at]

    first = (Stage("count", plan.size_epsilon),) if plan.size_epsilon else ()
    roots = {plan.planning_size(size) for size in (sizes if plan.size_epsilon else [None])}
    return {
        first
        + intervals(plan, size)
        + path
        + ((Stage("count", leaf_epsilon),) if leaf_epsilon else ())
        for size in roots
        for leaf_epsilon in [plan.leaf_count_epsilon(size)]
        for path in rest(plan.root(size))
    }


@pytest.mark.slow
@pytest.mark.parametrize("steps", [record_plan._STEPS, 500], ids=["cheap", "dear"])
@settings(max_examples=12)
@given(plan=plans(largest=30))
@example(replace(PLAIN, epsilon=Fraction(300), lookahead=1, largest_count=40))
@example(replace(PLAIN, epsilon=Fraction(300), numeric_codes=(2, 9), largest_count=99))
@example(replace(PLAIN, epsilon=Fraction(9), n_classes=3, categorical_codes=(), max_depth=3,
                 dataset_size=30, lookahead=1, largest_count=40))  # fmt: skip
def test_exactly_what_can_be_reached_is_listed(steps, plan):
    """With counts up to 30, all of which are tried; dear subtrees are ruled out by some of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_plan, "_STEPS", steps)
        assert set(plan.sequences()) == every_walk(plan)


def test_intervals_are_paid_for_where_records_and_budget_are_many():
    plan = replace(PLAIN, epsilon=Fraction(1), n_zoomed=3)
    edge = math.ceil(record_plan.ZOOM_EVIDENCE / Fraction(6, 10) * 100)
    assert plan.interval_epsilon(edge) == Fraction(1, 100)
    assert plan.interval_epsilon(edge - 1) == 0
    assert replace(plan, robust_levels=2).interval_epsilon(10**9) == 0
    assert replace(plan, n_zoomed=0).interval_epsilon(10**9) == 0
    less = plan.root(edge - 1).left - plan.root(edge).left
    assert less == record_plan.ZOOM_SHARE * plan.epsilon
    drawn = {path.count(Stage("choice", Fraction(1, 100))) for path in plan.sequences()}
    assert drawn == {0, 3}


def test_the_default_can_always_end_in_one_subtree_after_the_size():
    assert (Stage("count", Fraction(3, 100)), Stage("choice", Fraction(97, 100))) in set(
        PLAIN.sequences()
    )
    assert len(set(PLAIN.sequences())) > 3


def test_a_declared_size_spends_nothing():
    declared = replace(PLAIN, dataset_size=30_000)
    assert declared.size_epsilon == 0
    assert declared.root(30_000).left == 1
    small = replace(PLAIN, dataset_size=2)
    assert set(small.sequences()) == {(Stage("choice", Fraction(1)),)}


@pytest.mark.parametrize("dataset_size", [None, 500])
def test_the_robust_schedule_has_the_stages_of_the_design(dataset_size):
    robust = replace(PLAIN, robust_levels=3, dataset_size=dataset_size)
    count, split = Stage("count", Fraction(1, 30)), Stage("choice", Fraction(3, 10))
    assert list(robust.sequences()) == [
        (count, split, count, split, Stage("choice", Fraction(1, 3)))
    ]
    assert robust.schedule().choices == Fraction(14, 15)
    assert robust.schedule().counts == Fraction(1, 15)


def test_the_robust_schedule_is_no_deeper_than_the_tree_may_be():
    robust = replace(PLAIN, robust_levels=9, max_depth=2)
    assert [len(path) for path in robust.sequences()] == [3]
    assert set(replace(PLAIN, robust_levels=1).sequences()) == {(Stage("choice", Fraction(1)),)}


@given(seeds, st.integers(1, 2**41))
def test_the_robust_schedule_does_not_look_at_counts(seed, size):
    robust = replace(PLAIN, robust_levels=4)
    at = Position(robust.epsilon, size, int(np.random.default_rng(seed).integers(4)))
    one, other = robust.stage(at), robust.stage(replace(at, noisy_size=1))
    assert (type(one), one.epsilon) == (type(other), other.epsilon)


def test_features_that_can_run_out_end_a_path_early():
    one = replace(PLAIN, numeric_codes=(5,), categorical_codes=(1,), robust_levels=3)
    first, second = sorted(set(one.sequences()), key=len)
    assert second == next(replace(PLAIN, robust_levels=3).sequences())
    assert first == (*second[:2], Stage("choice", Fraction(2, 3)))


# --- bounds for those that are too many to list -------------------------------------------------


@pytest.mark.slow
@given(plans())
def test_a_schedule_has_the_largest_sums_of_its_sequences(plan):
    schedule, listed = plan.schedule(), list(islice(plan.sequences(), MAX_SEQUENCES + 1))
    if len(listed) > MAX_SEQUENCES:
        assert schedule.sequences == ()
    else:
        assert set(schedule.sequences) == set(listed)
        assert {total(path, "choice") + total(path, "count") for path in listed} == {schedule.total}
        assert schedule.choices == max(total(path, "choice") for path in listed)
        assert schedule.counts == max(total(path, "count") for path in listed)


@pytest.mark.slow
@settings(max_examples=30)
@given(plans(deepest=16), seeds)
def test_no_walk_of_a_deep_tree_exceeds_the_bounds(plan, seed):
    rng, schedule = np.random.default_rng(seed), plan.schedule()
    for _ in range(20):
        path, depth = random_walk(plan, rng)
        assert total(path) == plan.epsilon
        assert total(path, "choice") <= schedule.choices
        assert total(path, "count") <= schedule.counts <= plan.epsilon
        assert depth <= plan.max_depth


def test_a_deep_tree_has_too_many_sequences_to_list():
    deep = replace(PLAIN, max_depth=16)
    schedule = deep.schedule()
    assert schedule.sequences == ()
    assert schedule.total == schedule.choices == 1
    assert 0 < schedule.counts == deep.most_counts() < 1


def test_the_bound_on_counts_is_reached_where_levels_are_split_one_by_one():
    plan = replace(PLAIN, max_depth=3, lookahead=1)
    assert max(total(path, "count") for path in plan.sequences()) == plan.most_counts()


# --- one stage ----------------------------------------------------------------------------------


def levels_by_the_book(plan, at):
    signal = math.log2(at.noisy_size * float(at.left))
    levels = max(1, math.floor((signal - 2.2) / 2))
    if signal >= 4.2 or (plan.n_classes > 2 and at.depth == 0):
        levels = max(2, levels)
    return min(levels, plan.max_depth - at.depth)


def stop_shares_by_the_book(at, n_levels):
    """From .05, .6 and .1 up to .98, as the signal grows from 6 to 12."""
    place = min(max((math.log2(at.noisy_size) + math.log2(at.left) - 6) / 6, 0), 1)
    return tuple(
        1 - (1 - small) ** (1 - place) * 0.02**place for small in (0.1, 0.6, 0.05)[3 - n_levels :]
    )


def share_of(n_levels):
    return 1 / sum(Fraction(8, 5) ** level for level in range(n_levels))


def cells(plan, grids):
    def codes(most):
        return sum(min(n, most) for n in plan.numeric_codes) + sum(plan.categorical_codes)

    return codes(10**9) * plan.n_classes * math.prod(codes(most) for most in grids)


def fits(plan, at, grids):
    """Whether a subtree with these grids is allowed by the design."""
    n_levels = len(grids) + 1
    most = {3: 128, 2: 256}[n_levels]
    if max(plan.categorical_codes, default=0) > most:
        return False
    if plan.lookahead is not None:
        return n_levels <= plan.lookahead
    n_features = len(plan.numeric_codes + plan.categorical_codes)
    steps = at.noisy_size * n_features**n_levels * 2**at.depth
    return few_cells(plan, at, grids) and steps <= record_plan._STEPS


def few_cells(plan, at, grids):
    return cells(plan, grids) * 2**at.depth <= record_plan._CELLS


GRIDS = {
    3: [(16, 16), (8, 16), (6, 12), (4, 8)],
    2: [(64,), (32,), (16,), (8,), (4,)],
}
"""Highest level first: the design names the middle one first."""


@st.composite
def positions(draw):
    plan = replace(
        draw(plans()),
        robust_levels=None,
        # with many features some grids are too dear
        numeric_codes=(draw(st.integers(2, 256)),) * draw(st.integers(1, 60)),
        categorical_codes=draw(st.sampled_from([(), (2,), (128, 9), (3, 129), (256,), (257, 2)])),
    )
    depth = draw(st.integers(0, plan.max_depth - 1))
    size = draw(st.integers(1, 40).map(lambda power: 2**power) | st.integers(1, 10**6))
    return plan, Position(plan.epsilon, size, depth)


@pytest.mark.slow
@settings(max_examples=150)
@given(positions())
def test_the_next_stage_is_that_of_the_design(made):
    plan, at = made
    n_levels = levels_by_the_book(plan, at)
    best = ()
    for n_together in range(min(n_levels, 3), 1, -1):
        possible = [grids for grids in GRIDS[n_together] if fits(plan, at, grids)]
        if possible and plan.lookahead is not None:  # as asked for, at the least cost if too dear
            possible = [g for g in possible if few_cells(plan, at, g)] or possible[-1:]
        if possible:
            best = possible[0]
            break
    stage = plan.stage(at)
    # Too wide for two levels together, and too little to draw them one by one.
    signal = math.log2(at.noisy_size * float(at.left))
    is_one_better = (
        not best
        and plan.lookahead is None
        and (plan.n_classes == 2 or at.depth > 0)
        and signal < record_plan.ONE_BY_ONE_SIGNAL
    )
    if len(best) + 1 == n_levels or is_one_better:
        assert stage[:2] == (at.left, best)
        wanted = stop_shares_by_the_book(at, len(best) + 1)
        assert stage.stop_shares == pytest.approx(wanted, abs=2**-10)
        return
    assert stage == CountClasses(at.left * share_of(n_levels) * Fraction(15, 100))
    for size in (1, at.noisy_size, 2**40):
        counted = plan.after_counting(at, [size // 2, size - size // 2])
        left = at.left - stage.epsilon
        dominates = size == 1 if at.depth == 0 else at.one_class_dominates
        assert counted == Position(left, size, at.depth, at.left, dominates)
        then = plan.stage(counted)
        if isinstance(then, DrawSubtree):
            assert then.epsilon == counted.left
        else:
            levels = levels_by_the_book(plan, counted)
            assert then == SplitOnce(at.left * share_of(levels) * Fraction(85, 100))
            child = plan.child(counted)
            assert child == Position(
                counted.left - then.epsilon, max(1, size // 2), at.depth + 1, None, dominates
            )


@pytest.mark.parametrize("lookahead", [None, 3])
@pytest.mark.parametrize(
    ("n_categories", "n_levels"), [(128, 3), (129, 2), (256, 2), (257, 1), (512, 1)]
)
def test_no_subtree_has_more_categories_than_its_weights_bear(n_categories, n_levels, lookahead):
    plan = replace(
        PLAIN, numeric_codes=(16,), categorical_codes=(2, n_categories), lookahead=lookahead
    )
    assert len(plan._subtree_grids(plan.root(100), 3)) + 1 == n_levels


@pytest.mark.parametrize("n_levels", [1, 2, 3])
def test_lookahead_is_the_most_levels_drawn_together(n_levels):
    plan = replace(PLAIN, lookahead=n_levels, numeric_codes=(256,) * 400, max_depth=10)
    for size in (1, 100, 10**4, 10**12):
        stage = plan.stage(plan.root(size))
        if isinstance(stage, DrawSubtree):
            assert len(stage.grids) < n_levels
    assert len(plan._subtree_grids(plan.root(100), 9)) + 1 == n_levels


def test_a_node_that_cannot_be_split_spends_all_that_is_left_on_its_label():
    at = Position(Fraction(2, 7), 10**6, 3)
    assert PLAIN.label(at)[:2] == (Fraction(2, 7), ())


@pytest.mark.parametrize(("noisy", "clamped"), [(-5, 1), (0, 1), (7, 7), (2**50, 2**40)])
def test_noisy_sizes_are_clamped(noisy, clamped):
    assert PLAIN.root(noisy).noisy_size == clamped
    dear = replace(PLAIN, lookahead=1)
    assert dear.after_counting(dear.root(10**6), [noisy, 0]).noisy_size == clamped


def test_a_plan_knows_nothing_but_public_values():
    """Parameters and numbers of codes; of a node, its budget, noisy size and depth."""
    assert {field.name for field in fields(RecordPlan)} == {
        "epsilon", "n_classes", "numeric_codes", "categorical_codes", "max_depth", "lookahead",
        "robust_levels", "dataset_size", "probability_share", "n_zoomed",
        "class_factors", "balances_classes", "min_records", "largest_count",
    }  # fmt: skip
    assert {field.name for field in fields(Position)} == {
        "left", "noisy_size", "depth", "before_counting", "one_class_dominates",
    }  # fmt: skip
    for kind in (RecordPlan, Position):
        assert kind.__dataclass_params__.frozen


@pytest.mark.slow
@given(positions())
def test_equal_plans_decide_alike(made):
    plan, at = made
    assert replace(plan).stage(replace(at)) == plan.stage(at)
    assert hash(replace(plan)) == hash(plan)


@pytest.mark.slow
@given(plans())
def test_shares_before_the_tree(plan):
    needed = plan.robust_levels is None and plan.dataset_size is None
    free = plan.epsilon * (1 - (plan.probability_share or 0))
    wanted = Fraction(3, 100) * free if needed or plan.min_records else 0
    assert plan.size_epsilon == wanted
    for size in (1, 100, 10**4, 10**9):
        leaf_epsilon = plan.leaf_count_epsilon(size)
        intervals = plan.n_zoomed * plan.interval_epsilon(size)
        before = leaf_epsilon + plan.size_epsilon + intervals
        assert before + plan.root(size).left == plan.epsilon
        if plan.probability_share is not None:
            assert leaf_epsilon == plan.probability_share * plan.epsilon
        else:
            worth_it = plan.robust_levels is None and plan._clamp_size(size) * plan.epsilon >= 256
            assert leaf_epsilon == (plan.epsilon / 20 if worth_it else 0)


# --- tables too wide to draw two levels together ------------------------------------------------

WIDE = replace(PLAIN, numeric_codes=(16,) * 784, categorical_codes=(), max_depth=4)


def test_few_records_of_a_wide_table_get_one_level_and_many_get_more():
    few, many = (WIDE.stage(WIDE.root(size)) for size in (1_000, 100_000))
    small = replace(WIDE, epsilon=Fraction(1, 100))
    assert isinstance(small.stage(small.root(10_000)), DrawSubtree)
    assert small.stage(small.root(10_000)).grids == ()
    assert isinstance(few, CountClasses)
    assert isinstance(many, CountClasses)


@pytest.mark.parametrize("other", [{"lookahead": 1}, {"n_classes": 3}])
def test_unless_one_level_at_a_time_is_asked_for_or_one_split_cannot_do(other):
    small = replace(WIDE, epsilon=Fraction(1, 100), **other)
    assert isinstance(small.stage(small.root(10_000)), CountClasses)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 10), Fraction(1)])
def test_every_walk_in_a_wide_table_is_listed(epsilon):
    plan = replace(WIDE, epsilon=epsilon, max_depth=3)
    listed, rng = set(plan.sequences()), np.random.default_rng(0)
    walks = {random_walk(plan, rng)[0] for _ in range(2_000)}
    assert walks <= listed
    assert len(walks) > 3
