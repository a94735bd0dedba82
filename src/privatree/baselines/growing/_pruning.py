"""Pruning by released counts alone. A pruned subtree gets the same answer in all its leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from privatree.baselines.growing._growth import OpenNode
from privatree.baselines.growing._labellers import leaf_of_counts
from privatree.baselines.growing._method import Grown
from privatree.model import Tree

Counts = NDArray[np.float64]

_CONFIDENCE = 0.25
"""Confidence of the error-based pruning of C4.5."""


def prune_by_errors(grown: Grown) -> Tree:
    """Prune as C4.5 does, by class counts that were made consistent with noisy sizes.

    From the root down, the sizes of children are scaled to add up to that of their parent. A leaf's
    class counts are scaled to its size, and those of an inner node are the sums of its children's.
    """
    pruned: list[tuple[OpenNode, Counts]] = []
    if grown.root is not None:
        _consistent_errors(grown.root, max(grown.root.noisy_size or 0.0, 0.0), pruned)
    return _answer_alike(grown.tree, pruned)


def _consistent_errors(
    node: OpenNode, size: float, pruned: list[tuple[OpenNode, Counts]]
) -> tuple[Counts, float]:
    """Return the class counts of a node, and the estimated errors below it."""
    if not node.children:
        counts = np.maximum(np.zeros(1) if node.noisy_counts is None else node.noisy_counts, 0.0)
        counts = counts * (size / counts.sum()) if counts.sum() else counts
        return counts, _estimated_errors(counts)
    sizes = np.array([max(child.noisy_size or 0.0, 0.0) for child in node.children])
    scale = size / sizes.sum() if sizes.sum() else 0.0
    below = [
        _consistent_errors(child, float(own) * scale, pruned)
        for child, own in zip(node.children, sizes, strict=True)
    ]
    counts = np.sum([own for own, _ in below], axis=0)
    errors, of_leaf = sum(found for _, found in below), _estimated_errors(counts)
    if of_leaf > errors:
        return counts, errors
    pruned.append((node, counts))
    return counts, of_leaf


def _estimated_errors(counts: Counts) -> float:
    """Return the upper end of the confidence interval of the errors of a leaf."""
    size, errors = float(counts.sum()), float(counts.sum() - counts.max())
    if size - errors <= 0:
        return size
    return size * float(betaincinv(errors + 1, size - errors, 1 - _CONFIDENCE))


def prune_by_gini(grown: Grown) -> Tree:
    """Prune splits below the children of the root that do not lower the noisy Gini impurity."""
    pruned: list[tuple[OpenNode, Counts]] = []

    def visit(node: OpenNode) -> None:
        for child in node.children:
            visit(child)
        left = [child for child in node.children if child not in (one for one, _ in pruned)]
        inside = any(child.children for child in left)
        if node.depth < 2 or not node.children or inside or node.noisy_counts is None:
            return
        own = [c.noisy_counts for c in node.children if c.noisy_counts is not None]
        total = sum(counts.sum() for counts in own)
        below = sum(counts.sum() * _gini(counts) for counts in own)
        if total and below / total >= _gini(node.noisy_counts):
            pruned.append((node, node.noisy_counts))

    if grown.root is not None:
        visit(grown.root)
    return _answer_alike(grown.tree, pruned)


def _gini(counts: Counts) -> float:
    return 1.0 - float(((counts / max(float(counts.sum()), 1e-300)) ** 2).sum())


def _answer_alike(tree: Tree, pruned: list[tuple[OpenNode, Counts]]) -> Tree:
    label = tree.label.copy()
    probability = None if tree.probability is None else tree.probability.copy()
    for node, counts in pruned:  # children before parents
        leaf = leaf_of_counts(counts)
        for child in tree_below(tree, node.numbers[0]):
            label[child] = leaf.label
            if probability is not None:
                probability[child] = leaf.probability
    return replace(tree, label=label, probability=probability)


def tree_below(tree: Tree, node: int) -> list[int]:
    """Return the leaves below a node."""
    waiting, leaves = [node], list[int]()
    while waiting:
        here = waiting.pop()
        if tree.feature[here] < 0:
            leaves.append(here)
        else:
            waiting += tree.children(here)
    return leaves
