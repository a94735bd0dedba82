"""How much each feature of a tree tells about what is predicted, from the noisy leaves alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privatree.model.tree._tree import Tree


def tree_importances(tree: Tree) -> NDArray[np.float64] | None:
    """Return the share of each feature in all decreases of the impurity.

    The impurity is that of Gini, or the variance where the tree predicts a number. The decrease of
    a split is that of its node minus those of its children, each times the number of records in the
    node. A leaf has its noisy number of records, at least 0, with its released probabilities or
    its value; a split has the sums of its leaves. Without released numbers, the result is None. A
    tree without a split, or without records, gives zeros.
    """
    means = tree.probability if tree.value is None else np.nan_to_num(tree.value)[:, None]
    if tree.support is None or means is None:
        return None
    sizes = tree.support.astype(np.float64)
    sums = sizes[:, None] * means  # 0 inside the tree
    splits, left, right = tree.splits, tree.left, tree.right
    for node in splits[::-1].tolist():
        sizes[node] = sizes[left[node]] + sizes[right[node]]
        sums[node] = sums[left[node]] + sums[right[node]]
    means = sums / np.maximum(sizes, 1.0)[:, None]
    left, right = left[splits], right[splits]
    apart = ((means[left] - means[right]) ** 2).sum(axis=1)
    # what Gini's impurity and the variance lose when two groups with these means are told apart
    decreases = sizes[left] * sizes[right] / np.maximum(sizes[splits], 1.0) * apart
    found = np.bincount(tree.feature[splits], decreases, minlength=len(tree.schema.features))
    return np.asarray(found / (found.sum() or 1.0), dtype=np.float64)
