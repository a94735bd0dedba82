"""Numeric targets: their counts, and exact sums over them at the leaves of a tree.

A leaf needs no more counts by feature. Its records leave the levels, and only the codes of their
targets matter, once, when the values of all leaves are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.counting._count_kernels import add_target_sums

LEAF = -2
"""Number of leaf 0 among the children of a node. Leaf k has the number ``LEAF - k``."""


def count_leaves(children: NDArray[np.int32]) -> int:
    """Return the number of leaves up to the last one among the children of some nodes."""
    return max(0, LEAF - int(children.min(initial=-1)) + 1)


class LeafTargets:
    """Codes of the targets of the records in memory that have reached a leaf."""

    def __init__(self) -> None:
        self._n_leaves = 0
        self._parts: list[tuple[NDArray[Any], NDArray[Any], NDArray[np.int32] | None]] = []

    def add(
        self,
        n_leaves: int,
        found: NDArray[np.int32],
        targets: NDArray[Any],
        weights: NDArray[np.int32] | None,
    ) -> None:
        """Add the records whose number in `found` is that of a leaf."""
        self._n_leaves = max(self._n_leaves, n_leaves)
        here = found <= LEAF
        if here.any():
            kept = None if weights is None else weights[here]
            self._parts.append((LEAF - found[here], targets[here], kept))

    def sums(self, table: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return exact sums of the rows of `table`, an array (leaf, column)."""
        exact_sums = np.zeros((self._n_leaves, table.shape[1]), dtype=np.int64)
        for part in self._parts:
            add_target_sums(*part, table, exact_sums)
        return exact_sums


class LeafNodes:
    """Leaves of a tree that is grown by passes: which nodes they are, and what is known of them."""

    def __init__(self) -> None:
        self._leaf_of_node: dict[int, int] = {}
        self._exact_totals: dict[int, NDArray[np.int64]] = {}

    def add(self, node: int, child: int, exact_totals: NDArray[np.int64]) -> None:
        """Add a node whose number among the children is that of a leaf, and its class totals."""
        leaf = LEAF - child
        self._leaf_of_node[node] = leaf
        self._exact_totals[leaf] = self._exact_totals.get(leaf, 0) + exact_totals

    def places(self, n_nodes: int) -> NDArray[np.int32]:
        """Return the leaf of each node, or -1."""
        places = np.full(n_nodes, -1, dtype=np.int32)
        places[list(self._leaf_of_node)] = list(self._leaf_of_node.values())
        return places

    def class_totals(self, n_classes: int) -> NDArray[np.int64]:
        """Return what is known from earlier passes, an array (leaf, class)."""
        known: Mapping[int, NDArray[np.int64]] = self._exact_totals
        totals = np.zeros((1 + max(known, default=-1), n_classes), dtype=np.int64)
        for leaf, exact_totals in known.items():
            totals[leaf] = exact_totals
        return totals
