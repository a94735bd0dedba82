"""How hypothesis runs, and the trees that several tests share, as fixtures.

They last for the session because hypothesis asks it of fixtures; what they give is never changed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from privatree.schema import Categorical, Numeric, Schema
from privatree.tree import Tree
from privatree.tree_building import TreeBuilder
from privatree.tree_json import tree_from_dict, tree_to_dict

# The same examples every time, however slow the machine: a failure can be had again.
settings.register_profile("privatree", deadline=None, derandomize=True)
settings.load_profile("privatree")

_SCHEMA = Schema(
    features={
        "age": Numeric(17, 90, integer=True),
        "work": Categorical(["private", "state", "none"], missing="none"),
        "gain": Numeric(0.0, 1.0, missing=0.75),
        "flag": Categorical([False, True]),
    },
    classes=["low", "high"],
)


def _small_tree(probability: bool = False) -> Tree:
    """age <= 37 ? (work in {state, none} ? low : high) : (gain <= 0.5 ? low : high)."""
    builder = TreeBuilder(_SCHEMA)
    young, old = builder.split_numeric(builder.root, 0, 37.0)
    first, second = builder.split_categories(young, 1, [1, 2])
    third, fourth = builder.split_numeric(old, 2, 0.5)
    for node, label in ((first, 0), (second, 1), (third, 0), (fourth, 1)):
        builder.leaf(node, label, [0.75 - label / 2, 0.25 + label / 2] if probability else None)
    return builder.build()


def _random_feature(rng: random.Random) -> Numeric | Categorical:
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


def _random_tree(rng: random.Random) -> Tree:
    features = {f"f{j}": _random_feature(rng) for j in range(rng.randint(1, 4))}
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
    return _renumbered(builder.build(), rng)


def _renumbered(tree: Tree, rng: random.Random) -> Tree:
    """The same tree with other ids: siblings need not be neighbours."""
    order, frontier = list[int](), [0]
    while frontier:
        node = frontier.pop(rng.randrange(len(frontier)))
        order.append(node)
        if tree.feature[node] >= 0:
            frontier += [int(tree.left[node]), int(tree.right[node])]
    nodes = tree_to_dict(tree)["nodes"]
    place = {old: new for new, old in enumerate(order)}
    moved = [dict(nodes[old]) for old in order]
    for entry in moved:
        if "feature" in entry:
            entry["left"], entry["right"] = place[entry["left"]], place[entry["right"]]
    return tree_from_dict({"nodes": moved}, tree.schema)


def _random_value(rng: random.Random, feature: Numeric | Categorical, tree: Tree) -> float:
    if isinstance(feature, Categorical):
        return float(rng.choice([*range(len(feature.categories))] * 5 + [-1, 99, math.nan]))
    thresholds = [float(t) for t in tree.threshold if not math.isnan(t)]
    near = thresholds + [float(np.nextafter(t, math.inf)) for t in thresholds]
    return rng.choice(
        [math.nan, math.inf, -math.inf, float(feature.low), float(feature.high),
         float(feature.low) - 1, float(feature.high) + 1,
         rng.uniform(float(feature.low), float(feature.high)), *near]
    )  # fmt: skip


@pytest.fixture(scope="session")
def small_schema() -> Schema:
    """Two numbers and two lists of categories; the schema of `small_tree`."""
    return _SCHEMA


@pytest.fixture(scope="session")
def small_tree() -> Callable[..., Tree]:
    """Makes a tree of seven nodes, with ``probability=True`` one that has class probabilities."""
    return _small_tree


@pytest.fixture(scope="session")
def random_tree() -> Callable[[random.Random], Tree]:
    """Draws a tree of up to 12 splits, of a schema of its own, siblings in any place."""
    return _random_tree


@pytest.fixture(scope="session")
def random_value() -> Callable[[random.Random, Numeric | Categorical, Tree], float]:
    """Draws a value of a feature: often missing, odd or at a threshold of the tree."""
    return _random_value
