"""Trees whose splits are drawn first, without a look at the leaves' records; then their labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.baselines.growing._coding import write_split
from privatree.baselines.growing._growth import Leaf, OpenNode
from privatree.model import MAX_NODES, Tree, TreeBuilder
from privatree.privacy import Ledger, Randomness
from privatree.privacy.mechanisms import Laplace
from privatree.schema import Categorical, Schema


def draw_random_splits(schema: Schema, max_depth: int, randomness: Randomness) -> Tree:
    """Draw a tree of random splits, without labels yet: every leaf has the first class.

    A node splits on a uniformly random feature: on all categories of one that was not used above,
    or on a threshold that is uniform in what is left of a number's range.
    """
    features = list(schema.features.values())
    builder, n_nodes = TreeBuilder(schema), 1
    full = {
        place: range(len(feature.categories))
        if isinstance(feature, Categorical)
        else (float(feature.low), float(feature.high))
        for place, feature in enumerate(features)
    }
    some = {place: kept for place, kept in full.items() if kept[0] != kept[-1]}
    level: list[tuple[int, dict[int, Any]]] = [(builder.root, some)]
    for _ in range(max_depth):
        next_level = []
        for node, left_over in level:
            if not left_over:
                next_level.append((node, left_over))
                continue
            place = list(left_over)[randomness.below(len(left_over))]
            kept, others = left_over[place], {p: k for p, k in left_over.items() if p != place}
            n_children = len(kept) if isinstance(kept, range) else 2
            if n_nodes + 2 * (n_children - 1) > MAX_NODES:
                next_level.append((node, {}))
                continue
            n_nodes += 2 * (n_children - 1)
            if isinstance(kept, range):
                codes = np.arange(n_children, dtype=np.int32)
                children = write_split(builder, node, place, None, codes)
                next_level += [(child, others) for (child,) in children]
                continue
            low, high = kept
            highest = math.nextafter(full[place][1], -math.inf)  # rounding may reach the end
            threshold = min(low + (high - low) * math.ldexp(randomness.bits(53), -53), highest)
            parts = (low, threshold), (threshold, high)
            for child, part in zip(
                builder.split_numeric(node, place, threshold), parts, strict=True
            ):
                next_level.append((child, {**others, place: part}))
        level = next_level
    for node, _ in level:
        builder.leaf(node, 0)
    return builder.build()


def deal_records(
    columns: Sequence[NDArray[Any]], labels: NDArray[np.int32], n_parts: int, randomness: Randomness
) -> list[tuple[list[NDArray[Any]], NDArray[np.int32]]]:
    """Divide the records: each draws its part by itself, so that one record moves no other."""
    part = randomness.words(len(labels)) % np.uint64(n_parts)
    masks = [part == place for place in range(n_parts)]
    return [([column[mask] for column in columns], labels[mask]) for mask in masks]


def count_leaves(
    splits: Tree, columns: Sequence[NDArray[Any]], labels: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return an array (leaf, class) of exact counts, with the leaves in the order of their ids."""
    n_classes, leaves = len(splits.schema.classes), splits.leaves
    matrix = np.column_stack([column.astype(np.float64) for column in columns])
    place = np.searchsorted(leaves, splits.apply(matrix, range(len(columns))))
    cells = np.bincount(place * n_classes + labels, minlength=len(leaves) * n_classes)
    return np.asarray(cells.reshape(len(leaves), n_classes).astype(np.int64))


def label_by_noisy_counts(
    splits: Tree, exact_counts: NDArray[np.int64], ledger: Ledger, epsilon: Fraction
) -> Tree:
    """Return the tree with the labels and shares of noisy class counts.

    Notes
    -----
    Neighbours: one record more or less.
    Sensitivity: 1 for the counts of all leaves together, because a record is in one leaf.
    Guarantee and cost: ``epsilon``.
    """
    noisy = ledger.release(Laplace(epsilon), exact_counts, purpose="class counts of all leaves")
    positive = np.maximum(noisy, 0.0)
    totals = positive.sum(axis=1, keepdims=True)
    shares = np.where(totals > 0, positive / np.where(totals > 0, totals, 1), 1 / noisy.shape[1])
    label, probability = splits.label.copy(), np.zeros((splits.n_nodes, noisy.shape[1]))
    label[splits.leaves], probability[splits.leaves] = np.argmax(noisy, axis=1), shares
    return replace(splits, label=label, probability=probability)


def label_one_by_one(
    splits: Tree,
    exact_counts: NDArray[np.int64],
    ledger: Ledger,
    labeller: Callable[[OpenNode, NDArray[np.int64]], Leaf],
) -> Tree:
    """Return the tree with a label for each leaf from its class counts, without probabilities."""
    label, leaves = splits.label.copy(), splits.leaves.tolist()
    for leaf, counts, part in zip(leaves, exact_counts, ledger.parallel(len(leaves)), strict=True):
        label[leaf] = labeller(OpenNode((leaf,), part, 0), counts).label
    return replace(splits, label=label)
