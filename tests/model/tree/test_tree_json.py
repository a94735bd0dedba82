from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.errors import ModelFormatError
from privatree.model import MAX_MASK, Tree, TreeBuilder
from privatree.model.tree import tree_from_dict, tree_to_dict
from privatree.schema import Categorical, Numeric, Schema


def test_the_written_form_is_readable(small_tree: Callable[..., Tree]) -> None:
    nodes = tree_to_dict(small_tree(probability=True))["nodes"]
    assert nodes[0] == {"feature": "age", "threshold": 37.0, "left": 1, "right": 2}
    assert nodes[1] == {"feature": "work", "categories": ["state", "none"], "left": 3, "right": 4}
    assert nodes[4] == {"label": "high", "probability": [0.25, 0.75]}
    assert tree_to_dict(small_tree())["nodes"][3] == {"label": "low"}


def test_questions_about_missing_values_are_written_as_such() -> None:
    tree, nodes = _about_missing()
    assert nodes[0] == {"feature": "x", "missing": True, "left": 1, "right": 2}
    assert nodes[2] == {"feature": "c", "categories": ["b", None], "left": 3, "right": 4}
    assert tree_from_dict({"nodes": nodes}, tree.schema) == tree


def _about_missing() -> tuple[Tree, list[dict[str, Any]]]:
    schema = Schema(
        {
            "x": Numeric(0, 9, missing="separate"),
            "c": Categorical(["a", "b"], missing="separate"),
            "y": Numeric(0, 9),
        },
        [0, 1],
    )
    builder = TreeBuilder(schema)
    left, right = builder.split_numeric(builder.root, 0, -math.inf)
    for leaf in (left, *builder.split_categories(right, 1, [1, 2])):
        builder.leaf(leaf, 0)
    tree = builder.build()
    return tree, tree_to_dict(tree)["nodes"]


@pytest.mark.parametrize(
    ("node", "change", "message"),
    [
        (0, {"missing": False}, "'missing' must be true"),
        (0, {"missing": 1}, "'missing' must be true"),
        (0, {"missing": None}, "'missing' must be true"),
        (0, {"feature": "y"}, "on a feature whose missing values are separate"),
        (0, {"feature": "c"}, "must have the key 'categories'"),
        (0, {"threshold": 1.0}, "one of 'threshold', 'missing' and 'categories'"),
        (2, {"categories": [None, None]}, "distinct"),
        (2, {"categories": ["missing"]}, "one of the feature's categories"),
    ],
)
def test_a_wrong_question_about_missing_values_is_refused(
    node: int, change: dict[str, Any], message: str
) -> None:
    tree, nodes = _about_missing()
    nodes[node] |= change
    with pytest.raises(ModelFormatError, match=message):
        tree_from_dict({"nodes": nodes}, tree.schema)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_tree_survives_being_written(
    random_tree: Callable[..., Tree], random_value: Callable[..., float], seed: int
) -> None:
    rng = random.Random(seed)
    tree = random_tree(rng)
    twin = tree_from_dict(json.loads(json.dumps(tree_to_dict(tree), allow_nan=False)), tree.schema)
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
    (
        0,
        {"feature": "age", "categories": [], "left": 1, "right": 2},
        "must have the key 'threshold'",
    ),
    (
        1,
        {"feature": "work", "threshold": 1.0, "left": 3, "right": 4},
        "must have the key 'categories'",
    ),
    *[
        (0, {"feature": "age", "threshold": value, "left": 1, "right": 2}, "finite number")
        for value in (None, True, "37", [37], math.nan, math.inf, 10**400, -(10**5000), NESTED)
    ],
    (0, {"feature": "age", "threshold": 10**300, "left": 1, "right": 2}, "less than high"),
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
def test_a_wrong_node_is_refused(
    small_tree: Callable[..., Tree], node: int, entry: Any, message: str
) -> None:
    tree = small_tree()
    written = tree_to_dict(tree)
    written["nodes"][node] = entry
    with pytest.raises(ModelFormatError, match=message) as caught:
        tree_from_dict(written, tree.schema)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "written",
    [None, [], {}, {"nodes": None}, {"nodes": []}, {"nodes": {}}, {"nodes": [], "more": 1}],
)
def test_a_wrong_list_of_nodes_is_refused(small_schema: Schema, written: Any) -> None:
    with pytest.raises(ModelFormatError, match="nodes"):
        tree_from_dict(written, small_schema)


def test_one_true_and_one_are_different_labels() -> None:
    schema = Schema({"x": Numeric(0, 1)}, [1, 2.0])
    assert tree_from_dict({"nodes": [{"label": 1}]}, schema).label[0] == 0
    for label in (True, 1.0, 2):
        with pytest.raises(ModelFormatError, match="one of the classes"):
            tree_from_dict({"nodes": [{"label": label}]}, schema)


def test_a_tree_has_no_more_nodes_than_sixteen_levels(small_schema: Schema) -> None:
    with pytest.raises(ModelFormatError, match="1 to 131072 nodes"):
        tree_from_dict({"nodes": [None] * 131_073}, small_schema)


@pytest.mark.slow
def test_many_features_and_nodes_are_written_in_no_time(takes_at_most: Callable[..., Any]) -> None:
    """Not in the time of their product."""
    schema = Schema({f"f{n}": Numeric(0, 1) for n in range(10_000)}, [0, 1])
    builder = TreeBuilder(schema)
    for node in range(5000):
        builder.split_numeric(node, node, 0.5)
    for node in range(5000, 10_001):
        builder.leaf(node, 0)
    tree = builder.build()
    written = takes_at_most(1, lambda: tree_to_dict(tree))
    assert written["nodes"][4999]["feature"] == "f4999"


def test_a_small_file_cannot_ask_for_a_large_memory() -> None:
    schema = Schema({"c": Categorical(range(MAX_MASK // 4096))}, [0, 1])
    node = {"feature": "c", "categories": [], "left": 1, "right": 2}
    with pytest.raises(ModelFormatError, match=r"node 4096: .* at most"):
        tree_from_dict({"nodes": [node] * 5000}, schema)
