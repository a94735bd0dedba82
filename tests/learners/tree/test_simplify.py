"""Simpler trees: what is dropped, what is put together, and that nothing but released values count.

Thresholds here are those of a budget of 1 for the leaves: a side has support from 1 record on.
"""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree import Categorical, Numeric, PrivaTreeClassifier, Schema
from privatree.learners.tree import simplify_tree
from privatree.learners.tree._simplify import MAX_THRESHOLD_SHARE, SUPPORT_THRESHOLD
from privatree.model import TreeBuilder

SCHEMA = Schema({"age": Numeric(0, 100), "work": Categorical(["a", "b", "c"])}, ["no", "yes"])
ONE = Fraction(1)
ENOUGH = int(SUPPORT_THRESHOLD / MAX_THRESHOLD_SHARE)
"""The least noisy size at which sides are dropped."""


def tree_of(shape):
    """Make a tree: a leaf is (label, counts), a split ("age" threshold or "work" codes, l, r)."""
    builder = TreeBuilder(SCHEMA)

    def grow(node, part):
        if len(part) == 2:
            label, counts = part
            probability = None if counts is None else [0.5, 0.5]
            builder.leaf(node, label, probability, counts, 0 if counts is None else 3)
            return
        question, left, right = part
        if isinstance(question, float):
            children = builder.split_numeric(node, 0, question)
        else:
            children = builder.split_categories(node, 1, question)
        for child, below in zip(children, (left, right), strict=True):
            grow(child, below)

    grow(0, shape)
    return builder.build()


def shape_of(tree, node=0):
    if tree.feature[node] < 0:
        counts = None if tree.noisy_counts is None else tree.noisy_counts[node].tolist()
        return int(tree.label[node]), counts
    question = (
        float(tree.threshold[node]) if tree.feature[node] == 0 else list(tree.left_codes(node))
    )
    return question, shape_of(tree, tree.left[node]), shape_of(tree, tree.right[node])


def simplified(shape, epsilon=ONE, size=10**6):
    return shape_of(simplify_tree(tree_of(shape), epsilon, size).tree)


NO, YES = (0, [900, 100]), (1, [100, 900])


def test_a_side_without_support_is_dropped():
    assert simplified((44.9, (1, [0, 0]), NO)) == NO
    assert simplified((44.9, YES, (0, [-7, 3]))) == (1, [93, 903])
    assert simplified((44.9, (50.0, NO, YES), (20.0, (0, [1, -3]), (1, [0, 0])))) == (50.0, NO, YES)


def test_a_side_with_as_many_as_the_threshold_stays():
    few = (1, [0, 1])
    assert simplified((44.9, few, NO)) == (44.9, few, NO)
    assert simplified((44.9, few, NO), epsilon=Fraction(99, 100)) == (0, [900, 101])


def test_nothing_is_dropped_where_no_side_has_support():
    assert simplified((44.9, (1, [0, 0]), (0, [0, 0]))) == (44.9, (1, [0, 0]), (0, [0, 0]))


def test_nothing_is_dropped_where_the_threshold_is_a_large_part_of_the_records():
    shape = (44.9, (1, [0, 0]), NO)
    assert simplified(shape, size=ENOUGH) == NO
    assert simplified(shape, size=ENOUGH - 1) == shape


def test_leaves_that_say_the_same_become_one():
    assert simplified((44.9, NO, NO)) == (0, [1800, 200])
    assert simplified(([0, 2], NO, (0, [905, 95]))) == (0, [1805, 195])


def test_leaves_with_one_label_and_different_probabilities_stay():
    shape = (44.9, NO, (0, [600, 400]))
    assert simplified(shape) == shape


def test_without_leaf_counts_the_labels_decide():
    assert simplified((44.9, (0, None), (0, None)), epsilon=Fraction(0)) == (0, None)
    kept = (44.9, (0, None), (1, None))
    assert simplified(kept, epsilon=Fraction(0)) == kept


def test_equal_subtrees_become_one_with_the_counts_of_both():
    both = simplified((44.9, ([1], NO, YES), ([1], NO, YES)))
    assert both == ([1], (0, [1800, 200]), (1, [200, 1800]))
    unlike = (44.9, ([1], NO, YES), ([2], NO, YES))
    assert simplified(unlike) == unlike


def test_a_sum_of_counts_has_a_larger_error():
    tree = simplify_tree(tree_of((44.9, NO, NO)), ONE, 10**6).tree
    assert tree.support_error is not None
    assert tree.support_error[0] > 3
    np.testing.assert_allclose(tree.probability[0], [1801 / 2002, 201 / 2002])


def test_what_is_left_is_numbered_by_levels_with_the_spends_of_what_is_gone():
    drawn = tree_of((44.9, (1, [0, 0]), (50.0, NO, YES)))  # 0: age, 1: gone, 2: age, 3 and 4
    tree, numbers = simplify_tree(drawn, ONE, 10**6)
    assert shape_of(tree) == (50.0, NO, YES)
    assert numbers == {0: 0, 2: 0, 3: 1, 4: 2}


def test_a_leaf_that_takes_over_records_has_a_larger_error_and_counts_within_limits():
    drawn = tree_of((44.9, (1, [0, 0]), (0, [2**40, 100])))
    tree = simplify_tree(drawn, ONE, 10**6).tree
    assert shape_of(tree) == (0, [2**40, 100])
    assert tree.support_error[0] > 3
    most = (0, [2**40, 0])
    assert simplified((44.9, most, most)) == most


@settings(deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([Fraction(0), Fraction(1, 20), ONE]))
def test_any_tree_gets_simpler_or_stays(rng: random.Random, epsilon: Fraction):
    def grow(depth):
        if depth == 0 or rng.random() < 0.2:
            counts = [rng.choice([-2, 0, 1, 30, 900]) for _ in range(2)] if epsilon else None
            return rng.randrange(2), counts
        question = rng.choice([20.0, 50.0, [0], [1, 2]])
        return question, grow(depth - 1), grow(depth - 1)

    drawn = tree_of(grow(4))
    tree, numbers = simplify_tree(drawn, epsilon, 10**6)
    assert tree.n_nodes <= drawn.n_nodes
    assert set(numbers.values()) == set(range(tree.n_nodes))
    again, same = simplify_tree(tree, epsilon, 10**6)
    assert again.n_nodes <= tree.n_nodes
    assert set(same.values()) == set(range(again.n_nodes))
    if tree.probability is not None:
        most = tree.probability.max(axis=1)
        leaves = np.flatnonzero(tree.feature < 0)
        assert (tree.probability[leaves, tree.label[leaves]] == most[leaves]).all()


def test_an_estimator_says_that_it_simplified_and_lists_the_spends_that_are_left():
    rng = np.random.default_rng(0)
    ages = rng.uniform(50, 60, 20_000)  # nobody below 50 or above 60
    frame = np.column_stack([ages, rng.integers(0, 3, 20_000)])
    schema = Schema({"age": Numeric(0, 100), "work": Categorical([0, 1, 2])}, [0, 1])
    labels = (ages > 55).astype(int)
    models = {
        simplify: PrivaTreeClassifier(
            1.0, schema=schema, lookahead=1, simplify=simplify, random_state=1
        ).fit(frame, labels)
        for simplify in (False, True)
    }
    raw, simple = models[False], models[True]
    assert simple.tree_.n_nodes < raw.tree_.n_nodes
    assert any("The tree was simplified" in note for note in simple.privacy_.notes)
    assert not any("simplified" in note for note in raw.privacy_.notes)
    assert {spend.node for spend in simple.privacy_.spends} <= {None, *range(simple.tree_.n_nodes)}
    drawn = {(spend.mechanism, spend.epsilon, spend.purpose) for spend in raw.privacy_.spends}
    kept = {(spend.mechanism, spend.epsilon, spend.purpose) for spend in simple.privacy_.spends}
    assert kept <= drawn


@pytest.mark.parametrize("bad", [1, "yes", None])
def test_simplify_is_true_or_false(bad):
    with pytest.raises(ValueError, match="simplify must be True or False"):
        PrivaTreeClassifier(schema=SCHEMA, simplify=bad).fit([[1, "a"]], ["no"])
