from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from privatree.errors import ModelFormatError
from privatree.model import Tree, TreeBuilder
from privatree.model.tree._tree_checks import MAX_DEPTH
from privatree.schema import Numeric, Schema


def arrays_of(tree: Tree) -> dict[str, Any]:
    return {
        item.name: copy.deepcopy(getattr(tree, item.name))
        for item in dataclasses.fields(tree)
        if item.init
    }


def test_what_a_tree_knows_about_itself(small_tree: Callable[..., Tree]) -> None:
    tree = small_tree()
    assert (tree.n_nodes, tree.n_leaves, tree.depth) == (7, 4, 2)
    assert tree.used_features == (0, 1, 2)
    assert tree.left_codes(1) == (1, 2)
    assert tree.left_mask(1).tolist() == [False, True, True]
    assert tree.splits_by_feature() == {0: [0], 1: [1], 2: [2]}
    assert [tree.missing_goes_left(node) for node in (0, 1, 2)] == [True, True, False]


# --- walks ----------------------------------------------------------------------------------------


def random_tree(seed: int, n_splits: int) -> Tree:
    """Any shape: each split is of a leaf chosen at random."""
    rng = np.random.default_rng(seed)
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, [0, 1]))
    leaves = [builder.root]
    for _ in range(n_splits):
        leaf = leaves.pop(int(rng.integers(len(leaves))))
        leaves += builder.split_numeric(leaf, 0, 0.5)
    for leaf in leaves:
        builder.leaf(leaf, 0)
    return builder.build()


def paths_below(tree: Tree, path: tuple[int, ...] = (0,)) -> list[tuple[int, ...]]:
    """The path to each node, in the order of a walk to the left first."""
    if tree.feature[path[-1]] < 0:
        return [path]
    left, right = int(tree.left[path[-1]]), int(tree.right[path[-1]])
    return [path, *paths_below(tree, (*path, left)), *paths_below(tree, (*path, right))]


@pytest.mark.parametrize("n_splits", [0, 1, 2, 9, 40])
@pytest.mark.parametrize("seed", [0, 1])
def test_walks_are_those_of_a_recursion(seed: int, n_splits: int) -> None:
    tree = random_tree(seed, n_splits)
    paths = paths_below(tree)
    by_node = {path[-1]: path for path in paths}
    assert len(by_node) == tree.n_nodes == 2 * n_splits + 1
    nodes = range(tree.n_nodes)
    assert tree.depths().tolist() == [len(by_node[node]) - 1 for node in nodes]
    assert [tuple(path) for path in tree.paths(nodes)] == [by_node[node] for node in nodes]
    assert {*tree.splits.tolist()} == {above for path in paths for above in path[:-1]}
    assert sorted([*tree.splits.tolist(), *tree.leaves.tolist()]) == [*nodes]
    leaves = set(tree.leaves.tolist())
    assert tree.leaf_counts().tolist() == [
        sum(node in by_node[leaf] for leaf in leaves) for node in nodes
    ]
    values = np.random.default_rng(seed).integers(0, 100, tree.n_nodes)
    kept = values.copy()
    assert tree.path_sums(values).tolist() == [int(values[[*by_node[n]]].sum()) for n in nodes]
    assert values.tolist() == kept.tolist()
    for levels in (0, 1, 3, tree.depth):
        drawn = [path[-1] for path in paths if len(path) <= levels + 1]
        assert list(tree.preorder(levels)) == drawn


def test_arrays_are_copies_and_read_only(small_tree: Callable[..., Tree]) -> None:
    given_arrays = arrays_of(small_tree(probability=True, noisy_counts=True))
    tree = Tree(**given_arrays)
    given_arrays["label"][3] = 1
    assert tree.label[3] == 0
    given_names = {name for name, values in given_arrays.items() if values is not None}
    for name in given_names - {"schema", "counted"}:
        with pytest.raises(ValueError, match="read-only"):
            getattr(tree, name)[...] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        tree.feature = given_arrays["feature"]  # type: ignore[misc]


def test_a_mask_that_nobody_can_change_is_not_copied(small_tree: Callable[..., Tree]) -> None:
    """A small file can ask for many megabytes of masks."""
    arrays = arrays_of(small_tree())
    arrays["goes_left"] = np.frombuffer(bytes(arrays["goes_left"]), dtype=np.uint8)
    tree = Tree(**arrays)
    assert np.shares_memory(tree.goes_left, arrays["goes_left"])
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        tree.goes_left.flags.writeable = True
    arrays["goes_left"] = np.frombuffer(bytearray(arrays["goes_left"]), dtype=np.uint8)
    assert not np.shares_memory(Tree(**arrays).goes_left, arrays["goes_left"])


def test_certainty_of_many_classes_takes_no_square_of_them() -> None:
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, range(100_000)))
    builder.leaf(builder.root, 99_999)
    shares = builder.build().predict_proba([[0.5], [1.0]], [0])
    assert shares.shape == (2, 100_000)
    assert shares[:, -1].tolist() == shares.sum(axis=1).tolist() == [1.0, 1.0]


def test_pickling_checks_and_freezes_again(small_tree: Callable[..., Tree]) -> None:
    tree = small_tree(probability=True)
    for twin in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert twin == tree
        assert not twin.threshold.flags.writeable


def test_equality_sees_every_part(small_tree: Callable[..., Tree]) -> None:
    tree = small_tree()
    assert tree == small_tree()
    assert tree != small_tree(probability=True)
    assert tree != "a tree"
    for name, index, value in (("threshold", 0, 38.0), ("label", 3, 1), ("goes_left", 0, 1)):
        changed = arrays_of(tree)
        changed[name][index] = value
        assert Tree(**changed) != tree
    other = Schema(tree.schema.features, ["low", "higher"])
    assert Tree(**{**arrays_of(tree), "schema": other}) != tree


# --- validation ---------------------------------------------------------------------------------


def changed(tree: Tree, name: str, index: Any, value: Any) -> dict[str, Any]:
    arrays = arrays_of(tree)
    arrays[name] = arrays[name].copy()
    arrays[name][index] = value
    return arrays


WRONG = [
    ("feature", 0, 4, "feature must be less than 4"),
    ("feature", 3, -2, "feature must be -1 or"),
    ("feature", 0, -1, "must be -1 at a leaf"),
    ("feature", 0, 1, "threshold must be NaN"),
    ("threshold", 0, math.nan, "range, and less than high"),
    ("threshold", 0, -math.inf, "range, and less than high"),
    ("threshold", 0, 16.999, "range, and less than high"),
    ("threshold", 0, 90.0, "range, and less than high"),
    ("threshold", 1, 0.0, "threshold must be NaN"),
    ("threshold", 3, 0.0, "threshold must be NaN"),
    ("left", 0, 0, "larger than the node's own id"),
    ("left", 2, 1, "larger than the node's own id"),
    ("right", 2, -1, "larger than the node's own id"),
    ("right", 2, 7, "less than 7"),
    ("right", 2, 5, "child of exactly one"),
    ("left", 0, 2, "child of exactly one"),
    ("left", 3, 4, "must be -1 at a leaf"),
    ("mask_start", 1, 1, "mask_start"),
    ("mask_start", 1, -1, "mask_start"),
    ("mask_start", 0, 0, "mask_start"),
    ("goes_left", 0, 2, "goes_left"),
    ("label", 0, 0, "-1 inside"),
    ("label", 3, -1, "class code"),
    ("label", 3, 2, "class code"),
    ("probability", (0, 0), 0.5, "0 inside"),
    ("probability", (3, 0), 0.5, "sum to 1"),
    ("probability", 3, [-0.5, 1.5], "in 0 to 1"),
    ("probability", (3, 0), math.nan, "in 0 to 1"),
    ("probability", (3, 0), math.inf, "in 0 to 1"),
]


@pytest.mark.parametrize(("name", "index", "value", "message"), WRONG)
def test_arrays_that_are_no_tree_are_refused(
    small_tree: Callable[..., Tree], name: str, index: Any, value: Any, message: str
) -> None:
    with pytest.raises(ModelFormatError, match=message) as caught:
        Tree(**changed(small_tree(probability=True), name, index, value))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("schema", None, "must be a Schema"),
        ("feature", np.zeros(0, dtype=np.int32), "1 to 131072 nodes"),
        ("feature", np.full(2**17 + 1, -1, dtype=np.int32), "1 to 131072 nodes"),
        ("feature", np.zeros(7), "of type int32"),
        ("feature", np.zeros(7, dtype=bool), "of type int32"),
        ("feature", np.full(7, 2**31), "fit in the type int32"),
        ("label", np.full(7, -(2**31) - 1), "fit in the type int32"),
        ("threshold", np.full(7, "x"), "of type float64"),
        ("left", np.zeros(6, dtype=np.int32), r"shape \(7,\)"),
        ("probability", np.zeros((7, 3)), r"shape \(7, 2\)"),
        ("goes_left", np.zeros(2, dtype=np.uint8), "goes_left"),
        ("goes_left", np.zeros(4, dtype=np.uint8), "goes_left"),
        ("goes_left", np.full(3, 257), "fit in the type uint8"),
    ],
)
def test_arrays_of_the_wrong_kind_are_refused(
    small_tree: Callable[..., Tree], name: str, value: Any, message: str
) -> None:
    with pytest.raises(ModelFormatError, match=message):
        Tree(**{**arrays_of(small_tree()), name: value})


def test_a_very_deep_tree_is_refused(small_schema: Schema) -> None:
    def chain(depth: int) -> Tree:
        builder = TreeBuilder(small_schema)
        node = builder.root
        for _ in range(depth):
            leaf, node = builder.split_numeric(node, 0, 37.0)
            builder.leaf(leaf, 0)
        builder.leaf(node, 1)
        return builder.build()

    deepest = chain(MAX_DEPTH)
    assert deepest.depth == MAX_DEPTH
    assert deepest.predict([[30.0] * 4, [40.0] * 4], [0, 1, 2, 3]).tolist() == [0, 1]
    with pytest.raises(ModelFormatError, match="at most 1000 levels"):
        chain(MAX_DEPTH + 1)
