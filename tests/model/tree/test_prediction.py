from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.errors import ParameterError
from privatree.model import Tree, TreeBuilder
from privatree.model.tree._prediction import MANY_ROWS
from privatree.schema import Categorical, Numeric, Schema


def plain_walk(tree: Tree, row: list[float]) -> int:
    """What the documentation says, word for word: place the value, then compare."""
    node = 0
    features = list(tree.schema.features.values())
    while tree.feature[node] >= 0:
        feature, value = features[tree.feature[node]], row[tree.feature[node]]
        if isinstance(feature, Categorical):
            known = value in range(feature.n_codes)
            goes_left = (int(value) if known else feature.missing_place) in tree.left_codes(node)
        else:
            clipped = min(max(value, float(feature.low)), float(feature.high))
            placed = float(feature.missing_place) if math.isnan(value) else clipped
            goes_left = placed <= tree.threshold[node]
        node = int(tree.left[node] if goes_left else tree.right[node])
    return node


def in_layout(matrix: np.ndarray, layout: str) -> np.ndarray:
    if layout == "strided":
        wide = np.full((matrix.shape[0] * 2, matrix.shape[1] * 3), 1e6, dtype=matrix.dtype)
        view = wide[::-2, ::3]
        view[...] = matrix
        return view
    return np.asarray(matrix, order=layout)


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    dtype=st.sampled_from([np.float32, np.float64]),
    layout=st.sampled_from(["C", "F", "strided"]),
    n_rows=st.sampled_from([0, 1, 63, 64, 65, 130]),
)
def test_the_kernel_agrees_with_a_plain_walk(
    random_tree: Callable[..., Tree],
    random_value: Callable[..., float],
    seed: int,
    dtype: type,
    layout: str,
    n_rows: int,
) -> None:
    rng = random.Random(seed)
    tree = random_tree(rng)
    features = list(tree.schema.features.values())
    rows = [[random_value(rng, feature, tree) for feature in features] for _ in range(n_rows)]
    order = [*range(len(features)), -1]  # one column more than needed, in any order
    rng.shuffle(order)
    with np.errstate(over="ignore"):
        matrix = np.array([[0.5 if j < 0 else row[j] for j in order] for row in rows], dtype=dtype)
    matrix = in_layout(matrix.reshape(n_rows, len(order)), layout)
    columns = [order.index(j) if j in tree.used_features else -1 for j in range(len(features))]
    widened = matrix.astype(np.float64)[:, [order.index(j) for j in range(len(features))]]

    expected = [plain_walk(tree, row) for row in widened.tolist()]

    assert tree.apply(matrix, columns).tolist() == expected
    assert tree.predict(matrix, columns).tolist() == tree.label[expected].tolist()
    probability = tree.predict_proba(matrix, columns)
    if tree.probability is None:
        assert (
            probability.tolist() == np.eye(len(tree.schema.classes))[tree.label[expected]].tolist()
        )
    else:
        assert probability.tolist() == tree.probability[expected].tolist()


@pytest.mark.slow
def test_a_single_precision_value_is_widened_before_it_is_compared() -> None:
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, [0, 1]))
    left, right = builder.split_numeric(builder.root, 0, 0.1)
    builder.leaf(left, 0)
    builder.leaf(right, 1)
    tree = builder.build()
    assert tree.predict(np.array([[0.1]], dtype=np.float64), [0]).tolist() == [0]
    assert tree.predict(np.array([[0.1]], dtype=np.float32), [0]).tolist() == [1]  # 0.100000001...


def test_missing_values_go_to_their_public_place(small_tree: Callable[..., Tree]) -> None:
    tree, nan = small_tree(), math.nan
    assert tree.apply([[nan, 0, 0, 0]], [0, 1, 2, 3]).tolist() == [4]  # age: low end, left
    assert tree.apply([[17, nan, 0, 0]], [0, 1, 2, 3]).tolist() == [3]  # work: "none", left
    assert tree.apply([[90, 0, nan, 0]], [0, 1, 2, 3]).tolist() == [6]  # gain: 0.75, right


def test_missing_values_with_a_place_of_their_own_are_asked_about() -> None:
    schema = Schema(
        {
            "x": Numeric(0, 9, missing="separate"),
            "c": Categorical(["a", "b"], missing="separate"),
        },
        [0, 1, 2],
    )
    builder = TreeBuilder(schema)
    missing, present = builder.split_numeric(builder.root, 0, -math.inf)
    low, high = builder.split_numeric(present, 0, 4.0)
    gone, there = builder.split_categories(missing, 1, [2])
    for leaf in (low, high, gone, there):
        builder.leaf(leaf, 0)
    tree = builder.build()
    assert tree.asks_missing(0)
    assert not tree.asks_missing(present)
    assert tree.missing_goes_left(0)
    assert tree.missing_goes_left(present)
    x = [math.nan, math.nan, math.nan, -math.inf, -5.0, 4.0, 5.0, math.inf]
    c = [0.0, math.nan, 7.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    found = tree.apply(np.column_stack([x, c]), [0, 1])
    assert found.tolist() == [there, gone, gone, low, low, low, high, high]


def test_many_rows_are_shared_by_two_threads(small_tree: Callable[..., Tree]) -> None:
    tree, rng = small_tree(), np.random.default_rng(0)
    matrix = rng.random((MANY_ROWS + 77, 4)) * [90, 3, 1, 2]
    in_pieces = [tree.apply(piece, [0, 1, 2, 3]) for piece in np.array_split(matrix, 5)]
    assert np.array_equal(tree.apply(matrix, [0, 1, 2, 3]), np.concatenate(in_pieces))


@pytest.mark.parametrize("kind", [np.int64, np.bool_, np.float16, ">f8", object])
def test_other_numbers_are_converted(small_tree: Callable[..., Tree], kind: Any) -> None:
    matrix = np.array([[1, 0, 1, 0], [0, 1, 0, 1]]).astype(kind)
    assert small_tree().apply(matrix, [0, 1, 2, 3]).tolist() == [4, 3]


def test_the_callers_array_stays_writeable(small_tree: Callable[..., Tree]) -> None:
    matrix = np.zeros((3, 4))
    small_tree().predict(matrix, [0, 1, 2, 3])
    matrix[0, 0] = 1.0
    assert matrix[0, 0] == 1.0


@pytest.mark.parametrize(
    ("matrix", "columns", "message"),
    [
        (np.zeros(4), [0, 1, 2, 3], "2 dimensions"),
        (np.array([["a"] * 4]), [0, 1, 2, 3], "numbers"),
        (np.zeros((2, 4)), [0, 1, 2], "4 whole numbers"),
        (np.zeros((2, 4)), [0.0, 1.0, 2.0, 3.0], "4 whole numbers"),
        (np.zeros((2, 4)), [0, 1, 4, -1], "in 0 to 3"),
        (np.zeros((2, 4)), [0, 1, -1, -1], "in 0 to 3"),
    ],
)
def test_a_wrong_matrix_is_refused(
    small_tree: Callable[..., Tree], matrix: Any, columns: Any, message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        small_tree().predict(matrix, columns)


def test_a_lone_leaf_needs_no_column(small_schema: Schema) -> None:
    builder = TreeBuilder(small_schema)
    builder.leaf(builder.root, 1)
    tree = builder.build()
    assert (tree.depth, tree.n_leaves, tree.used_features) == (0, 1, ())
    assert tree.predict(np.zeros((3, 0)), [-1] * 4).tolist() == [1, 1, 1]
