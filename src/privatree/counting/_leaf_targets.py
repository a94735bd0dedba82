"""Codes of numeric targets at the leaves of a tree, and exact sums over them.

A leaf needs no more counts by feature. Its records leave the levels, and only the codes of their
targets are kept, until the values of all leaves are drawn.
"""

from __future__ import annotations

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
    """Codes of the targets of the records that have reached a leaf."""

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
