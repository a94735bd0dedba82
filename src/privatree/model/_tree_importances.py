"""How much each feature of a tree tells about the class, from the noisy counts of its leaves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privatree.model._tree import Tree


def tree_importances(tree: Tree) -> NDArray[np.float64] | None:
    """Return the share of each feature in all decreases of the Gini impurity.

    The decrease of a split is that of its node minus those of its children, each times the number
    of records in the node. A leaf has its noisy number of records, at least 0, with its released
    probabilities; a split has the sums of its leaves. Without released numbers, the result is None.
    A tree without a split, or without records, gives zeros.
    """
    if tree.support is None or tree.probability is None:
        return None
    masses = tree.support[:, None] * tree.probability  # 0 inside the tree
    for node in tree.splits[::-1].tolist():
        masses[node] = masses[tree.left[node]] + masses[tree.right[node]]
    sizes = masses.sum(axis=1)
    impurities = sizes - (masses**2).sum(axis=1) / np.maximum(sizes, 1.0)
    splits = tree.splits
    below = impurities[tree.left[splits]] + impurities[tree.right[splits]]
    decreases = np.maximum(impurities[splits] - below, 0.0)  # below 0 by rounding alone
    found = np.bincount(tree.feature[splits], decreases, minlength=len(tree.schema.features))
    return np.asarray(found / (found.sum() or 1.0), dtype=np.float64)
