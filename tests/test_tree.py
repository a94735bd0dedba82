from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.errors import ModelFormatError, ParameterError
from privatree.schema import Categorical, Numeric, Schema
from privatree.tree import MANY_ROWS, MAX_DEPTH, MAX_MASK, Tree, TreeBuilder

SCHEMA = Schema(
    features={
        "age": Numeric(17, 90, integer=True),
        "work": Categorical(["private", "state", "none"], missing="none"),
        "gain": Numeric(0.0, 1.0, missing=0.75),
        "flag": Categorical([False, True]),
    },
    classes=["low", "high"],
)


def small_tree(probability: bool = False) -> Tree:
    """age <= 37 ? (work in {state, none} ? low : high) : (gain <= 0.5 ? low : high)."""
    builder = TreeBuilder(SCHEMA)
    young, old = builder.split_numeric(builder.root, 0, 37.0)
    first, second = builder.split_categories(young, 1, [1, 2])
    third, fourth = builder.split_numeric(old, 2, 0.5)
    for node, label in ((first, 0), (second, 1), (third, 0), (fourth, 1)):
        builder.leaf(node, label, [0.75 - label / 2, 0.25 + label / 2] if probability else None)
    return builder.build()


def arrays_of(tree: Tree) -> dict[str, Any]:
    return {
        item.name: copy.deepcopy(getattr(tree, item.name))
        for item in dataclasses.fields(tree)
        if item.init
    }


# --- random trees -------------------------------------------------------------------------------


def random_feature(rng: random.Random) -> Numeric | Categorical:
    if rng.random() < 0.4:
        categories: list[Any] = rng.choice(
            [["a", "b", "c", "d"], [3, 1, 2.5], [True, False], ["only"], ["", "ü\n", "x"]]
        )
        return Categorical(categories, missing=rng.choice([None, categories[-1]]))
    low, high = rng.choice([(0, 1), (-5.5, 7.25), (0, 100), (-1e9, 1e-3)])
    whole = isinstance(low, int) and rng.random() < 0.5
    return Numeric(
        low, high, integer=whole, missing=rng.choice([None, low, high, (low + high) / 2])
    )


def random_tree(rng: random.Random) -> Tree:
    features = {f"f{j}": random_feature(rng) for j in range(rng.randint(1, 4))}
    classes: list[Any] = rng.choice([["no", "yes"], [0, 1, 2], [True, False], [0.5, 1.5]])
    schema = Schema(features, classes)
    builder = TreeBuilder(schema)
    with_probability = rng.random() < 0.5
    open_nodes, n_splits = [builder.root], rng.randint(0, 12)
    while open_nodes:
        node = open_nodes.pop(rng.randrange(len(open_nodes)))
        if n_splits == 0:
            shares = np.array([rng.random() + 1e-3 for _ in classes])
            row = (shares / shares.sum()).tolist() if with_probability else None
            builder.leaf(node, rng.randrange(len(classes)), row)
            continue
        n_splits -= 1
        position = rng.randrange(len(features))
        feature = list(features.values())[position]
        if isinstance(feature, Categorical):
            codes = [c for c in range(len(feature.categories)) if rng.random() < 0.5]
            open_nodes += builder.split_categories(node, position, codes)
        else:
            threshold = feature.low + rng.choice([0.0, 0.5, rng.random()]) * (
                feature.high - feature.low
            )
            threshold = min(threshold, float(np.nextafter(feature.high, -math.inf)))
            open_nodes += builder.split_numeric(node, position, threshold)
    return renumbered(builder.build(), rng)


def renumbered(tree: Tree, rng: random.Random) -> Tree:
    """The same tree with other ids: siblings need not be neighbours."""
    order, frontier = list[int](), [0]
    while frontier:
        node = frontier.pop(rng.randrange(len(frontier)))
        order.append(node)
        if tree.feature[node] >= 0:
            frontier += [int(tree.left[node]), int(tree.right[node])]
    nodes = tree.to_dict()["nodes"]
    place = {old: new for new, old in enumerate(order)}
    moved = [dict(nodes[old]) for old in order]
    for entry in moved:
        if "feature" in entry:
            entry["left"], entry["right"] = place[entry["left"]], place[entry["right"]]
    return Tree.from_dict({"nodes": moved}, tree.schema)


def random_value(rng: random.Random, feature: Numeric | Categorical, tree: Tree) -> float:
    if isinstance(feature, Categorical):
        return float(rng.choice([*range(len(feature.categories))] * 5 + [-1, 99, math.nan]))
    thresholds = [float(t) for t in tree.threshold if not math.isnan(t)]
    near = thresholds + [float(np.nextafter(t, math.inf)) for t in thresholds]
    return rng.choice(
        [math.nan, math.inf, -math.inf, float(feature.low), float(feature.high),
         float(feature.low) - 1, float(feature.high) + 1,
         rng.uniform(float(feature.low), float(feature.high)), *near]
    )  # fmt: skip


def plain_walk(tree: Tree, row: list[float]) -> int:
    """What the documentation says, word for word: place the value, then compare."""
    node = 0
    features = list(tree.schema.features.values())
    while tree.feature[node] >= 0:
        feature, value = features[tree.feature[node]], row[tree.feature[node]]
        if isinstance(feature, Categorical):
            known = value in range(len(feature.categories))
            goes_left = (int(value) if known else feature.missing_place) in tree.left_codes(node)
        else:
            placed = float(feature.missing_place) if math.isnan(value) else value
            clipped = min(max(placed, float(feature.low)), float(feature.high))
            goes_left = clipped <= tree.threshold[node]
        node = int(tree.left[node] if goes_left else tree.right[node])
    return node


# --- prediction ---------------------------------------------------------------------------------


def in_layout(matrix: np.ndarray, layout: str) -> np.ndarray:
    if layout == "strided":
        wide = np.full((matrix.shape[0] * 2, matrix.shape[1] * 3), 1e6, dtype=matrix.dtype)
        view = wide[::-2, ::3]
        view[...] = matrix
        return view
    return np.asarray(matrix, order=layout)


@settings(max_examples=120, deadline=None)
@given(
    rng=st.randoms(use_true_random=False),
    dtype=st.sampled_from([np.float32, np.float64]),
    layout=st.sampled_from(["C", "F", "strided"]),
    n_rows=st.sampled_from([0, 1, 63, 64, 65, 130]),
)
def test_the_kernel_agrees_with_a_plain_walk(
    rng: random.Random, dtype: type, layout: str, n_rows: int
) -> None:
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


def test_a_single_precision_value_is_widened_before_it_is_compared() -> None:
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, [0, 1]))
    left, right = builder.split_numeric(builder.root, 0, 0.1)
    builder.leaf(left, 0)
    builder.leaf(right, 1)
    tree = builder.build()
    assert tree.predict(np.array([[0.1]], dtype=np.float64), [0]).tolist() == [0]
    assert tree.predict(np.array([[0.1]], dtype=np.float32), [0]).tolist() == [1]  # 0.100000001...


def test_missing_values_go_to_their_public_place() -> None:
    tree, nan = small_tree(), math.nan
    assert tree.apply([[nan, 0, 0, 0]], [0, 1, 2, 3]).tolist() == [4]  # age: low end, left
    assert tree.apply([[17, nan, 0, 0]], [0, 1, 2, 3]).tolist() == [3]  # work: "none", left
    assert tree.apply([[90, 0, nan, 0]], [0, 1, 2, 3]).tolist() == [6]  # gain: 0.75, right


def test_many_rows_are_shared_by_two_threads() -> None:
    tree, rng = small_tree(), np.random.default_rng(0)
    matrix = rng.random((MANY_ROWS + 77, 4)) * [90, 3, 1, 2]
    in_pieces = [tree.apply(piece, [0, 1, 2, 3]) for piece in np.array_split(matrix, 5)]
    assert np.array_equal(tree.apply(matrix, [0, 1, 2, 3]), np.concatenate(in_pieces))


@pytest.mark.parametrize("kind", [np.int64, np.bool_, np.float16, ">f8", object])
def test_other_numbers_are_converted(kind: Any) -> None:
    matrix = np.array([[1, 0, 1, 0], [0, 1, 0, 1]]).astype(kind)
    assert small_tree().apply(matrix, [0, 1, 2, 3]).tolist() == [4, 3]


def test_the_callers_array_stays_writeable() -> None:
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
def test_a_wrong_matrix_is_refused(matrix: Any, columns: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        small_tree().predict(matrix, columns)


def test_a_lone_leaf_needs_no_column() -> None:
    builder = TreeBuilder(SCHEMA)
    builder.leaf(builder.root, 1)
    tree = builder.build()
    assert (tree.depth, tree.n_leaves, tree.used_features) == (0, 1, ())
    assert tree.predict(np.zeros((3, 0)), [-1] * 4).tolist() == [1, 1, 1]


# --- the tree as an object ----------------------------------------------------------------------


def test_what_a_tree_knows_about_itself() -> None:
    tree = small_tree()
    assert (tree.n_nodes, tree.n_leaves, tree.depth) == (7, 4, 2)
    assert tree.used_features == (0, 1, 2)
    assert tree.left_codes(1) == (1, 2)


def test_arrays_are_copies_and_read_only() -> None:
    given_arrays = arrays_of(small_tree(probability=True))
    tree = Tree(**given_arrays)
    given_arrays["label"][3] = 1
    assert tree.label[3] == 0
    for name in given_arrays.keys() - {"schema"}:
        with pytest.raises(ValueError, match="read-only"):
            getattr(tree, name)[...] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        tree.feature = given_arrays["feature"]  # type: ignore[misc]


def test_pickling_checks_and_freezes_again() -> None:
    tree = small_tree(probability=True)
    for twin in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert twin == tree
        assert not twin.threshold.flags.writeable


def test_equality_sees_every_part() -> None:
    tree = small_tree()
    assert tree == small_tree()
    assert tree != small_tree(probability=True)
    assert tree != "a tree"
    for name, index, value in (("threshold", 0, 38.0), ("label", 3, 1), ("goes_left", 0, 1)):
        changed = arrays_of(tree)
        changed[name][index] = value
        assert Tree(**changed) != tree
    other = Schema(SCHEMA.features, ["low", "higher"])
    assert Tree(**{**arrays_of(tree), "schema": other}) != tree


# --- validation ---------------------------------------------------------------------------------


def changed(name: str, index: Any, value: Any) -> dict[str, Any]:
    arrays = arrays_of(small_tree(probability=True))
    arrays[name] = arrays[name].copy()
    arrays[name][index] = value
    return arrays


WRONG = [
    ("feature", 0, 4, "feature must be less than 4"),
    ("feature", 3, -2, "feature must be -1 or"),
    ("feature", 0, -1, "must be -1 at a leaf"),
    ("feature", 0, 1, "threshold must be NaN"),
    ("threshold", 0, math.nan, r"in the feature's \[low, high\)"),
    ("threshold", 0, -math.inf, r"in the feature's \[low, high\)"),
    ("threshold", 0, 16.999, r"in the feature's \[low, high\)"),
    ("threshold", 0, 90.0, r"in the feature's \[low, high\)"),
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
    name: str, index: Any, value: Any, message: str
) -> None:
    with pytest.raises(ModelFormatError, match=message) as caught:
        Tree(**changed(name, index, value))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("schema", None, "must be a Schema"),
        ("feature", np.zeros(0, dtype=np.int32), "1 to 1048576 nodes"),
        ("feature", np.full(2**20 + 1, -1, dtype=np.int32), "1 to 1048576 nodes"),
        ("feature", np.zeros(7), "of type int32"),
        ("feature", np.zeros(7, dtype=bool), "of type int32"),
        ("feature", np.full(7, 2**31), "fit in int32"),
        ("label", np.full(7, -(2**31) - 1), "fit in int32"),
        ("threshold", np.full(7, "x"), "of type float64"),
        ("left", np.zeros(6, dtype=np.int32), r"shape \(7,\)"),
        ("probability", np.zeros((7, 3)), r"shape \(7, 2\)"),
        ("goes_left", np.zeros(2, dtype=np.uint8), "goes_left"),
        ("goes_left", np.zeros(4, dtype=np.uint8), "goes_left"),
        ("goes_left", np.full(3, 257), "fit in uint8"),
    ],
)
def test_arrays_of_the_wrong_kind_are_refused(name: str, value: Any, message: str) -> None:
    with pytest.raises(ModelFormatError, match=message):
        Tree(**{**arrays_of(small_tree()), name: value})


def test_a_very_deep_tree_is_refused() -> None:
    def chain(depth: int) -> Tree:
        builder = TreeBuilder(SCHEMA)
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


# --- building -----------------------------------------------------------------------------------


def test_ids_are_handed_out_in_order_of_the_calls() -> None:
    builder = TreeBuilder(SCHEMA)
    assert builder.split_numeric(builder.root, 0, 37.0) == (1, 2)
    assert builder.split_categories(2, 1, [0]) == (3, 4)
    assert builder.split_numeric(1, 2, 0.5) == (5, 6)


def test_an_unfinished_tree_is_refused() -> None:
    builder = TreeBuilder(SCHEMA)
    left, _ = builder.split_numeric(builder.root, 0, 37.0)
    builder.leaf(left, 0)
    with pytest.raises(ParameterError, match="node 2 is neither"):
        builder.build()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: b.leaf(1, 0), "unfinished node, got 1"),
        (lambda b: b.leaf(-1, 0), "unfinished node, got -1"),
        (lambda b: (b.leaf(0, 0), b.leaf(0, 0)), "unfinished node, got 0"),
        (lambda b: b.split_numeric(0, 4, 0.5), "feature must be in 0 to 3"),
        (lambda b: b.split_numeric(0, -1, 0.5), "feature must be in 0 to 3"),
        (lambda b: b.split_categories(0, 0, [0]), "no categories"),
        (lambda b: b.split_categories(0, 1, [3]), "in 0 to 2"),
        (lambda b: b.split_categories(0, 1, [-1]), "in 0 to 2"),
    ],
)
def test_a_wrong_call_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        call(TreeBuilder(SCHEMA))


def test_all_leaves_have_probabilities_or_none() -> None:
    builder = TreeBuilder(SCHEMA)
    left, right = builder.split_numeric(builder.root, 0, 37.0)
    builder.leaf(left, 0, [1.0, 0.0])
    builder.leaf(right, 1)
    with pytest.raises(ModelFormatError, match="every leaf must have 2 probabilities"):
        builder.build()


# --- written form -------------------------------------------------------------------------------


def test_the_written_form_is_readable() -> None:
    nodes = small_tree(probability=True).to_dict()["nodes"]
    assert nodes[0] == {"feature": "age", "threshold": 37.0, "left": 1, "right": 2}
    assert nodes[1] == {"feature": "work", "categories": ["state", "none"], "left": 3, "right": 4}
    assert nodes[4] == {"label": "high", "probability": [0.25, 0.75]}
    assert small_tree().to_dict()["nodes"][3] == {"label": "low"}


@settings(max_examples=100, deadline=None)
@given(rng=st.randoms(use_true_random=False))
def test_a_tree_survives_being_written(rng: random.Random) -> None:
    tree = random_tree(rng)
    twin = Tree.from_dict(json.loads(json.dumps(tree.to_dict(), allow_nan=False)), tree.schema)
    assert twin == tree
    features = list(tree.schema.features.values())
    matrix = np.array([[random_value(rng, f, tree) for f in features] for _ in range(20)])
    columns = np.arange(len(features))
    assert np.array_equal(twin.predict(matrix, columns), tree.predict(matrix, columns))
    assert np.array_equal(twin.predict_proba(matrix, columns), tree.predict_proba(matrix, columns))


NESTED: Any = []
for _ in range(5000):
    NESTED = [NESTED]

BAD_NODES = [
    (0, None, "must be an object"),
    (0, [1], "must be an object"),
    (0, {}, "must have the keys"),
    (0, {"feature": "age", "threshold": 37.0, "left": 1}, "must have the keys"),
    (0, {"feature": "age", "left": 1, "right": 2}, "must have the keys"),
    (3, {"label": "low", "extra": 1}, "must have the keys"),
    (3, {"probability": [1.0, 0.0]}, "must have the keys"),
    (0, {"feature": "height", "threshold": 37.0, "left": 1, "right": 2}, "of the schema"),
    (0, {"feature": 0, "threshold": 37.0, "left": 1, "right": 2}, "of the schema"),
    (0, {"feature": ["age"], "threshold": 37.0, "left": 1, "right": 2}, "of the schema"),
    (0, {"feature": "age", "categories": [], "left": 1, "right": 2}, "must have 'threshold'"),
    (1, {"feature": "work", "threshold": 1.0, "left": 3, "right": 4}, "must have 'categories'"),
    *[
        (0, {"feature": "age", "threshold": value, "left": 1, "right": 2}, "finite number")
        for value in (None, True, "37", [37], math.nan, math.inf, 10**400, -(10**5000), NESTED)
    ],
    (0, {"feature": "age", "threshold": 10**300, "left": 1, "right": 2}, r"\[low, high\)"),
    *[
        (0, {"feature": "age", "threshold": 37.0, "left": value, "right": 2}, "'left' must be")
        for value in (None, True, 1.0, "1", -1, 0, 7, 10**30, 10**5000, NESTED)
    ],
    (2, {"feature": "gain", "threshold": 0.5, "left": 2, "right": 6}, "larger than"),
    (2, {"feature": "gain", "threshold": 0.5, "left": 1, "right": 6}, "larger than"),
    (0, {"feature": "age", "threshold": 37.0, "left": 1, "right": 1}, "exactly one"),
    *[
        (1, {"feature": "work", "categories": value, "left": 3, "right": 4}, message)
        for value, message in (
            ("state", "must be a list"),
            ({"state": 1}, "must be a list"),
            (["unknown"], "one of the feature's categories"),
            ([0], "one of the feature's categories"),
            ([None], "one of the feature's categories"),
            ([["state"]], "one of the feature's categories"),
            (["state", "state"], "distinct"),
        )
    ],
    (1, {"feature": "flag", "categories": [1], "left": 3, "right": 4}, "one of the feature's"),
    *[
        (3, {"label": value}, "one of the classes")
        for value in (None, 0, True, "Low", ["low"], math.nan, NESTED)
    ],
    *[
        (3, {"label": "low", "probability": value}, message)
        for value, message in (
            (None, "list of 2"),
            ([1.0], "list of 2"),
            ([0.5, 0.5, 0.0], "list of 2"),
            ([True, 0.0], "finite number"),
            ([math.nan, 1.0], "finite number"),
            ([10**400, 1.0], "finite number"),
            ([1.0, 0.0], "every leaf must have"),
        )
    ],
]


@pytest.mark.parametrize(("node", "entry", "message"), BAD_NODES)
def test_a_wrong_node_is_refused(node: int, entry: Any, message: str) -> None:
    written = small_tree().to_dict()
    written["nodes"][node] = entry
    with pytest.raises(ModelFormatError, match=message) as caught:
        Tree.from_dict(written, SCHEMA)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "written",
    [None, [], {}, {"nodes": None}, {"nodes": []}, {"nodes": {}}, {"nodes": [], "more": 1}],
)
def test_a_wrong_list_of_nodes_is_refused(written: Any) -> None:
    with pytest.raises(ModelFormatError, match="nodes"):
        Tree.from_dict(written, SCHEMA)


def test_one_true_and_one_are_different_labels() -> None:
    schema = Schema({"x": Numeric(0, 1)}, [1, 2.0])
    assert Tree.from_dict({"nodes": [{"label": 1}]}, schema).label[0] == 0
    for label in (True, 1.0, 2):
        with pytest.raises(ModelFormatError, match="one of the classes"):
            Tree.from_dict({"nodes": [{"label": label}]}, schema)


def test_a_small_file_cannot_ask_for_a_large_memory() -> None:
    schema = Schema({"c": Categorical(range(MAX_MASK // 4096))}, [0, 1])
    node = {"feature": "c", "categories": [], "left": 1, "right": 2}
    with pytest.raises(ModelFormatError, match=r"node 4096: .* at most"):
        Tree.from_dict({"nodes": [node] * 5000}, schema)
