from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.feature_selection import SelectFromModel
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from privatree import Model, PrivaTreeClassifier, datasets
from privatree.model import Tree, TreeBuilder
from privatree.model.tree import tree_importances
from privatree.schema import Numeric, Schema, Target

FEATURES = {f"x{i}": Numeric(0, 1) for i in range(4)}


def some_records(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (600, 4))
    return X, X[:, 0] + X[:, 2] ** 2 + rng.normal(0, 0.2, 600)


def copied(theirs: Any, builder: TreeBuilder, add_leaf: Any) -> dict[int, int]:
    """Give a builder the splits of scikit-learn's tree, and return the node of each new node."""
    waiting, new = [(0, builder.root)], {}
    while waiting:
        old, node = waiting.pop()
        new[node] = old
        if theirs.feature[old] < 0:
            add_leaf(node, theirs.value[old, 0])
            continue
        feature, threshold = theirs.feature[old], theirs.threshold[old]
        below = builder.split_numeric(node, int(feature), float(threshold))
        children = theirs.children_left[old], theirs.children_right[old]
        waiting += zip(children, below, strict=True)
    return new


def scikit_learns_tree(n_classes: int, seed: int) -> tuple[DecisionTreeClassifier, Tree]:
    """A tree that scikit-learn trained, and the same one with its exact counts as noisy ones."""
    X, sums = some_records(seed)
    y = np.clip((sums * n_classes / 2).astype(int), 0, n_classes - 1)
    theirs = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    builder = TreeBuilder(Schema(FEATURES, range(n_classes)))
    new = copied(theirs.tree_, builder, lambda node, share: builder.leaf(node, int(share.argmax())))
    tree = builder.build()
    counts = np.zeros((tree.n_nodes, n_classes), dtype=np.int64)
    shares = np.zeros((tree.n_nodes, n_classes))
    for node in tree.leaves.tolist():
        shares[node] = theirs.tree_.value[new[node], 0]
        counts[node] = np.rint(shares[node] * theirs.tree_.n_node_samples[new[node]])
    error = np.zeros(tree.n_nodes, dtype=np.int64)
    return theirs, replace(tree, probability=shares, noisy_counts=counts, support_error=error)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_without_noise_they_are_those_of_scikit_learn(n_classes: int, seed: int) -> None:
    theirs, tree = scikit_learns_tree(n_classes, seed)
    found = tree_importances(tree)
    np.testing.assert_allclose(found, theirs.feature_importances_, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_those_of_a_regression_tree_are_scikit_learns(seed: int) -> None:
    X, y = some_records(seed)
    theirs = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y)
    builder = TreeBuilder(Schema(FEATURES, target=Target(-2, 4)))
    new = copied(theirs.tree_, builder, lambda node, mean: builder.value_leaf(node, float(mean[0])))
    tree = builder.build()
    counts = np.zeros((tree.n_nodes, 1), dtype=np.int64)
    for node in tree.leaves.tolist():
        counts[node] = theirs.tree_.n_node_samples[new[node]]
    tree = replace(tree, noisy_counts=counts, support_error=np.zeros(tree.n_nodes, dtype=np.int64))
    found = tree_importances(tree)
    np.testing.assert_allclose(found, theirs.feature_importances_, atol=1e-12)


def test_counts_below_0_count_as_0() -> None:
    _, tree = scikit_learns_tree(2, 0)
    assert tree.noisy_counts is not None
    leaf = int(tree.leaves[0])
    none, negative = tree.noisy_counts.copy(), tree.noisy_counts.copy()
    none[leaf], negative[leaf] = 0, [3, -40]
    np.testing.assert_array_equal(
        tree_importances(replace(tree, noisy_counts=negative)),
        tree_importances(replace(tree, noisy_counts=none)),
    )


def test_a_tree_that_tells_nothing_has_zeros() -> None:
    _, tree = scikit_learns_tree(2, 0)
    assert tree.noisy_counts is not None
    empty = replace(tree, noisy_counts=np.zeros_like(tree.noisy_counts))
    assert not np.any(tree_importances(empty))
    builder = TreeBuilder(tree.schema)
    builder.leaf(builder.root, 0)
    leaf = replace(
        builder.build(),
        probability=np.array([[0.9, 0.1]]),
        noisy_counts=np.array([[90, 10]]),
        support_error=np.array([3]),
    )
    assert not np.any(tree_importances(leaf))


@pytest.fixture(scope="module")
def adult() -> tuple[Any, Any, Any]:
    return datasets.load("adult")


@pytest.mark.slow
def test_they_are_close_to_those_without_noise(adult: tuple[Any, Any, Any]) -> None:
    frame, labels, schema = adult
    model = PrivaTreeClassifier(1.0, schema=schema, random_state=0).fit(frame, labels)
    tree, leaves = model.tree_, model.apply(frame)
    counts = np.zeros((tree.n_nodes, 2), dtype=np.int64)
    np.add.at(counts, (leaves, (labels == schema.classes[1]).to_numpy().astype(int)), 1)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    shares[tree.leaves[counts[tree.leaves].sum(axis=1) == 0]] = 0.5
    exact = tree_importances(replace(tree, noisy_counts=counts, probability=shares))
    found = model.feature_importances_
    assert found.shape == (14,)
    assert found.sum() == pytest.approx(1)
    np.testing.assert_allclose(found, exact, atol=0.05)


def test_saved_models_have_them_and_scikit_learn_selects_by_them(
    adult: tuple[Any, Any, Any],
) -> None:
    frame, labels, schema = adult
    learner = PrivaTreeClassifier(1.0, max_depth=2, schema=schema, random_state=0)
    model = learner.fit(frame, labels).model_
    loaded = Model.from_dict(model.to_dict())
    np.testing.assert_array_equal(loaded.feature_importances_, learner.feature_importances_)
    chosen = SelectFromModel(learner, prefit=True).get_support()
    assert set(np.flatnonzero(chosen)) <= set(model.tree_.used_features)


@pytest.mark.parametrize("lost", [{"probability_share": 0}, {"epsilon": 1e-4}])
def test_trees_without_counts_have_none(lost: dict[str, Any], adult: tuple[Any, Any, Any]) -> None:
    frame, labels, schema = adult
    model = PrivaTreeClassifier(**{"epsilon": 1.0, "schema": schema, "random_state": 0} | lost)
    model.fit(frame, labels)
    for each in (model, model.model_):
        assert not hasattr(each, "feature_importances_")
        with pytest.raises(AttributeError, match="not released with this tree"):
            _ = each.feature_importances_
