"""A tree as indented text, and the texts of its single nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from privatree.export.text._distributions import spread_text
from privatree.export.text._shown_values import (
    category_set_text,
    name_text,
    share_text,
    shown_thresholds,
    value_text,
)
from privatree.model import Tree
from privatree.privacy import shown_count
from privatree.schema import Categorical, Numeric

NO_SUPPORT = "few or no"
"""Beginning of the text for a leaf that has no more records, or units, than noise explains."""
_MAX_SHOWN_CLASSES = 4

_Node = TypeVar("_Node")


def tree_text(tree: Tree) -> str:
    """Return one line for each node of a tree, without a line break at the end."""
    texts = node_texts(tree)

    def children(node: int) -> tuple[int, int] | None:
        return tree.children(node) if tree.feature[node] >= 0 else None

    return "\n".join(branching_lines(0, texts.__getitem__, children))


def branching_lines(
    root: _Node,
    text: Callable[[_Node], str],
    children: Callable[[_Node], tuple[_Node, _Node] | None],
) -> list[str]:
    """Return a line for each node, with the two answers of a question indented below it."""
    lines = []
    waiting = [(root, "", "")]  # node, prefix of its line, prefix of the lines below it
    while waiting:
        node, before, below = waiting.pop()
        lines.append(before + text(node))
        if (sides := children(node)) is not None:
            left, right = sides
            waiting.append((right, f"{below}└─ no:  ", f"{below}   "))
            waiting.append((left, f"{below}├─ yes: ", f"{below}│  "))
    return lines


def node_texts(tree: Tree) -> tuple[str, ...]:
    """Return the question of each split and the prediction of each leaf, by node number."""
    features = list(tree.schema.features.items())
    thresholds, may_be_missing = threshold_texts(tree), nodes_with_missing(tree)
    texts = []
    for node, position in enumerate(tree.feature.tolist()):
        if position < 0:
            support = support_text(tree, node)
            after = f", {support}" if support else ""
            texts.append(f"predict {outcome_text(tree, node)}{_shares_text(tree, node)}{after}")
            continue
        name, feature = features[position]
        if isinstance(feature, Categorical):
            condition = category_set_text(feature, tree.left_mask(node))
        elif tree.asks_missing(node):
            condition = "is missing"
        else:
            condition = f"{'is missing or ' * (node in may_be_missing)}<= {thresholds[node]}"
        texts.append(f"{name_text(name)} {condition}")
    return tuple(texts)


def outcome_text(tree: Tree, leaf: int) -> str:
    """Return the class or the number that a leaf predicts."""
    if tree.value is None or tree.schema.target is None:
        return name_text(tree.schema.classes[tree.label[leaf]])
    return value_text(tree.schema.target, float(tree.value[leaf]))


def nodes_with_missing(tree: Tree) -> set[int]:
    """Return the numeric splits that missing values can reach, if they are separate.

    Such values go left at every split on their feature, so none comes after the answer no.
    """
    features = list(tree.schema.features.values())
    found = set[int]()
    present: list[frozenset[int]] = [frozenset()] * tree.n_nodes  # features that are not missing
    for node, position in zip(
        tree.splits.tolist(), tree.feature[tree.splits].tolist(), strict=True
    ):
        left, right = tree.children(node)
        present[left] = present[right] = present[node]
        if isinstance(features[position], Numeric) and features[position].separates_missing:
            present[right] |= {position}
            if position not in present[node]:
                found.add(node)
    return found


def support_text(tree: Tree, leaf: int) -> str:
    """Return the noisy number of records, or units, of a leaf with its error; or else ""."""
    if tree.support is None or tree.support_error is None:
        return ""
    if not tree.has_support(leaf):
        return f"{NO_SUPPORT} {tree.counted}"
    noisy, error = int(tree.support[leaf]), int(tree.support_error[leaf])
    return f"{shown_count(noisy, error)} {tree.counted}"


def _shares_text(tree: Tree, leaf: int) -> str:
    """Return a leaf's probabilities, or the range of most of its records, in parentheses."""
    if tree.value is not None:
        spread = spread_text(tree, leaf)
        return f" ({spread})" if spread else ""
    if tree.probability is None:
        return ""
    row, classes = tree.probability[leaf], tree.schema.classes
    likeliest = sorted(np.argsort(-row, kind="stable")[:_MAX_SHOWN_CLASSES].tolist())
    more = ", …" * (len(classes) > _MAX_SHOWN_CLASSES)
    shown = ", ".join(f"{name_text(classes[i])} {share_text(row[i])}" for i in likeliest)
    return f" ({shown}{more})"


def threshold_texts(tree: Tree) -> dict[int, str]:
    """Return the rounded threshold of each numeric split that has one, by node number."""
    features = list(tree.schema.features.values())
    texts = dict[int, str]()
    for position, nodes in tree.splits_by_feature().items():
        feature = features[position]
        if isinstance(feature, Categorical):
            continue
        nodes = [node for node in nodes if not tree.asks_missing(node)]
        shown = shown_thresholds(feature, tree.threshold[nodes].tolist())
        texts |= {node: shown[float(tree.threshold[node])] for node in nodes}
    return texts
