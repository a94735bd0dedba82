"""Checks that arrays are a tree of their schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ModelFormatError
from privatree.model.tree._prediction import Array
from privatree.schema import Categorical, Schema, Target

if TYPE_CHECKING:
    from privatree.model.tree._tree import Tree

MAX_NODES = 2**17
"""Largest number of nodes: one more than a full tree with 16 levels of splits has."""
MAX_DEPTH = 1000
MAX_NOISY_COUNT = 2**40
"""Largest size of a released count: sums over classes and leaves stay in 64 bits."""
MAX_MASK = 2**25
"""Largest length of `goes_left`, so that a small file cannot ask for much memory."""
MAX_EDGES = 1000
"""Largest number of edges of the distribution of a target."""
_SUM_ERROR = 1e-9

_OPTIONAL = ("probability", "noisy_counts", "support_error", "value", "edges", "shares")


def freeze_arrays(tree: Tree) -> None:
    """Replace the arrays of a new tree by read-only copies of the right types and shapes."""
    n_nodes = np.size(tree.feature)
    if not 1 <= n_nodes <= MAX_NODES:
        raise ModelFormatError(f"a tree must have 1 to {MAX_NODES} nodes, got {n_nodes}.")
    n_edges = 0 if tree.edges is None else np.size(tree.edges)
    if tree.edges is not None and not 2 <= n_edges <= MAX_EDGES:
        raise ModelFormatError(f"a tree must have 2 to {MAX_EDGES} edges, got {n_edges}.")
    shapes: dict[str, tuple[type[np.generic], tuple[int, ...]]] = {
        "feature": (np.int32, (n_nodes,)),
        "threshold": (np.float64, (n_nodes,)),
        "left": (np.int32, (n_nodes,)),
        "right": (np.int32, (n_nodes,)),
        "mask_start": (np.int64, (n_nodes,)),
        "goes_left": (np.uint8, (np.size(tree.goes_left),)),
        "label": (np.int32, (n_nodes,)),
        "probability": (np.float64, (n_nodes, len(tree.schema.classes))),
        "noisy_counts": (np.int64, (n_nodes, n_counts(tree.schema))),
        "support_error": (np.int64, (n_nodes,)),
        "value": (np.float64, (n_nodes,)),
        "edges": (np.float64, (n_edges,)),
        "shares": (np.float64, (n_nodes, max(n_edges - 1, 0))),
    }
    for name, (kind, shape) in shapes.items():
        if name not in _OPTIONAL or getattr(tree, name) is not None:
            array = _freeze_array(name, getattr(tree, name), kind, shape)
            object.__setattr__(tree, name, array)


def n_counts(schema: Schema) -> int:
    """Return how many noisy counts a leaf has: one for each class, or one for a target."""
    return len(schema.classes) if schema.target is None else 1


def check_tree(tree: Tree) -> None:
    """Raise a ModelFormatError unless the arrays are a tree of their schema."""
    _check_links(tree)
    _check_splits(tree)
    _check_leaves(tree)


def _freeze_array(name: str, values: Any, kind: type[np.generic], shape: tuple[int, ...]) -> Array:
    array = np.asarray(values)
    wanted = np.dtype(kind)
    if array.shape != shape:
        raise ModelFormatError(f"{name} must have shape {shape}, got {array.shape}.")
    if array.dtype.kind not in ("iu" if wanted.kind in "iu" else "f"):
        raise ModelFormatError(f"{name} must be of type {wanted}, got {array.dtype}.")
    if wanted.kind in "iu" and array.size:
        limits = np.iinfo(wanted)
        if int(array.min()) < limits.min or int(array.max()) > limits.max:
            raise ModelFormatError(f"the numbers of {name} must fit in the type {wanted}.")
    if array.dtype == wanted == np.uint8 and isinstance(array.base, bytes):  # is read-only already
        return array
    frozen = np.array(array, dtype=wanted, order="C")
    frozen.flags.writeable = False
    return frozen


def _reject(bad: NDArray[np.bool_], message: str) -> None:
    if bad.any():
        raise ModelFormatError(f"node {int(np.flatnonzero(bad)[0])}: {message}")


def _check_links(tree: Tree) -> None:
    """Check that each node but the root has one parent, with a smaller id: no cycle can exist."""
    nodes = np.arange(tree.n_nodes)
    inside = tree.feature >= 0
    for name, child in (("left", tree.left), ("right", tree.right)):
        _reject(~inside & (child != -1), f"{name} must be -1 at a leaf.")
        _reject(inside & (child <= nodes), f"{name} must be larger than the node's own id.")
        _reject(child >= tree.n_nodes, f"{name} must be less than {tree.n_nodes}.")
    children = np.concatenate([tree.left[inside], tree.right[inside]])
    parents = np.bincount(children, minlength=tree.n_nodes)
    parents[0] += 1
    _reject(parents != 1, "the node must be the child of exactly one node.")


def _check_splits(tree: Tree) -> None:
    features = list(tree.schema.features.values())
    _reject(tree.feature < -1, "feature must be -1 or a position in the schema.")
    _reject(tree.feature >= len(features), f"feature must be less than {len(features)}.")
    low, high, n_codes = (np.zeros(len(features) + 1) for _ in range(3))
    separate = np.zeros(len(features) + 1, dtype=np.bool_)
    for position, feature in enumerate(features):
        if isinstance(feature, Categorical):
            n_codes[position] = feature.n_codes
        else:
            low[position], high[position] = float(feature.low), float(feature.high)
            separate[position] = feature.separates_missing
    length = n_codes.astype(np.int64)[tree.feature]  # 0 at leaves: position -1 is the spare
    numeric, category = (tree.feature >= 0) & (length == 0), length > 0
    _reject(~numeric & ~np.isnan(tree.threshold), "threshold must be NaN without a numeric split.")
    asks_missing = separate[tree.feature] & (tree.threshold == -np.inf)
    inside = (low[tree.feature] <= tree.threshold) & (tree.threshold < high[tree.feature])
    _reject(
        numeric & ~inside & ~asks_missing,
        "threshold must be in the feature's range, and less than high.",
    )
    starts = np.where(category, np.cumsum(length) - length, -1)
    _reject(tree.mask_start != starts, "mask_start must be the end of the mask before, or -1.")
    if length.sum() > MAX_MASK:
        raise ModelFormatError(
            f"all category splits together must have at most {MAX_MASK} categories."
        )
    if len(tree.goes_left) != length.sum() or (tree.goes_left > 1).any():
        raise ModelFormatError(
            "goes_left must have an entry, 0 or 1, for each category of each category split."
        )


def _check_leaves(tree: Tree) -> None:
    leaf = tree.feature < 0
    if tree.schema.target is None:
        _check_classes(tree, leaf)
    else:
        _check_values(tree, leaf, tree.schema.target)
    if (tree.noisy_counts is None) != (tree.support_error is None):
        raise ModelFormatError("noisy_counts and support_error must be given together.")
    if tree.noisy_counts is not None and tree.support_error is not None:
        some = np.any(tree.noisy_counts != 0, axis=1) | (tree.support_error != 0)
        _reject(~leaf & some, "noisy_counts and support_error must be 0 inside the tree.")
        _reject(tree.support_error < 0, "support_error must be at least 0.")
        too_large = np.asarray((np.abs(tree.noisy_counts) > MAX_NOISY_COUNT).any(axis=1))
        _reject(too_large, f"noisy_counts must be at most {MAX_NOISY_COUNT} in size.")


def _check_classes(tree: Tree, leaf: NDArray[np.bool_]) -> None:
    n_classes = len(tree.schema.classes)
    if tree.value is not None or tree.edges is not None or tree.shares is not None:
        raise ModelFormatError("value, edges and shares must be None where the schema has classes.")
    _reject(~leaf & (tree.label != -1), "label must be -1 inside the tree.")
    _reject(leaf & ((tree.label < 0) | (tree.label >= n_classes)), "label must be a class code.")
    if tree.probability is not None:
        _check_shares("probability", tree.probability, leaf)


def _check_values(tree: Tree, leaf: NDArray[np.bool_], target: Target) -> None:
    if tree.value is None or tree.probability is not None:
        raise ModelFormatError(
            "value must be given where the schema has a target, and probability must be None."
        )
    _reject(tree.label != -1, "label must be -1 where the schema has a target.")
    _reject(~leaf & ~np.isnan(tree.value), "value must be NaN inside the tree.")
    inside = (tree.value >= float(target.low)) & (tree.value <= float(target.high))
    _reject(leaf & ~inside, "value must be in the range of the target.")
    if (tree.edges is None) != (tree.shares is None):
        raise ModelFormatError("edges and shares must be given together.")
    if tree.edges is not None and tree.shares is not None:
        if not np.isfinite(tree.edges).all() or (np.diff(tree.edges) <= 0).any():
            raise ModelFormatError("edges must be finite numbers in increasing order.")
        if tree.edges[0] < float(target.low) or tree.edges[-1] > float(target.high):
            raise ModelFormatError("edges must be in the range of the target.")
        _check_shares("shares", tree.shares, leaf)


def _check_shares(name: str, shares: NDArray[np.float64], leaf: NDArray[np.bool_]) -> None:
    _reject(~leaf & (shares != 0).any(axis=1), f"{name} must be 0 inside the tree.")
    in_range = ((shares >= 0) & (shares <= 1 + _SUM_ERROR)).all(axis=1)
    _reject(leaf & ~in_range, f"{name} must be in 0 to 1.")
    off = np.abs(shares.sum(axis=1) - 1.0) > _SUM_ERROR
    _reject(leaf & off, f"{name} of a leaf must sum to 1.")


def compute_depth(tree: Tree) -> int:
    depth, level = 0, np.zeros(1, dtype=np.int32)
    while len(level := level[tree.feature[level] >= 0]):
        depth += 1
        if depth > MAX_DEPTH:
            raise ModelFormatError(f"a tree must have at most {MAX_DEPTH} levels of splits.")
        level = np.concatenate([tree.left[level], tree.right[level]])
    return depth
