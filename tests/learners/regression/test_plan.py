from fractions import Fraction

import pytest

from privatree.learners.regression import N_CLASSES, RegressionPlan
from privatree.learners.regression._plan import ONE_LEAF_SIGNAL
from privatree.learners.tree import CountClasses, DrawSubtree, SplitOnce, signal_of

WHOLE = (Fraction(0), Fraction(1))


def plan_of(epsilon=1, max_depth=4, **settings):
    return RegressionPlan(
        epsilon=Fraction(epsilon),
        n_classes=N_CLASSES,
        numeric_codes=(256,) * 8,
        categorical_codes=(5, 9),
        max_depth=max_depth,
        **settings,
    )


def test_shares_of_the_design_add_up_to_epsilon():
    plan = plan_of(Fraction(1, 10))
    shares = [plan.size_epsilon, plan.target_interval_epsilon, plan.leaf_count_epsilon(1000)]
    tree = plan.root(1000).left
    assert [10 * share for share in (*shares, tree)] == [
        Fraction(3, 100),
        Fraction(5, 100),
        Fraction(92, 100) / 5,
        Fraction(92, 100) * 4 / 5,
    ]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"interval": WHOLE},
        {"leaf_means": False},
        {"dataset_size": 5000},
        {"robust_levels": 3},
        {"robust_levels": 3, "interval": WHOLE},
        {"n_zoomed": 8},
        {"min_records": 100, "dataset_size": 5000},
        {"lookahead": 1},
    ],
)
def test_every_sequence_spends_epsilon_and_names_the_interval_first(settings):
    plan = plan_of(**settings)
    sequences = list(plan.sequences())
    assert sequences
    for path in sequences:
        assert sum(stage.epsilon for stage in path) == plan.epsilon
    n_counts = int(plan.size_epsilon > 0)
    for path in sequences:
        assert [stage.kind for stage in path[:n_counts]] == ["count"] * n_counts
        if plan.interval is None:
            assert path[n_counts] == ("choice", plan.target_interval_epsilon)
        if plan.leaf_means:
            assert path[-1] == ("count", plan.leaf_count_epsilon(1))
    assert plan.schedule().total == plan.epsilon
    assert plan.schedule().counts <= plan.most_counts() or plan.robust_levels


def test_little_signal_makes_one_leaf_that_is_never_split():
    plan = plan_of()
    at = plan.root(100)
    assert signal_of(at) < ONE_LEAF_SIGNAL
    assert plan.stage(at) == DrawSubtree(at.left, (), (1.0,))


def test_more_signal_makes_a_subtree_and_then_splits_above_it():
    plan = plan_of()
    stages = [plan.stage(plan.root(size)) for size in (200, 20_000)]
    assert isinstance(stages[0], DrawSubtree)
    assert len(stages[0].stop_shares) == 2
    assert isinstance(stages[1], CountClasses)
    after = plan.after_counting(plan.root(20_000), [20_000])
    assert isinstance(plan.stage(after), SplitOnce)
    assert not after.one_class_dominates


def test_the_size_is_drawn_for_the_interval_also_if_the_levels_are_fixed():
    assert plan_of(robust_levels=3).size_epsilon > 0
    assert plan_of(robust_levels=3, interval=WHOLE).size_epsilon == 0
    assert plan_of(interval=WHOLE).size_epsilon > 0
    assert plan_of(dataset_size=10).size_epsilon == 0
