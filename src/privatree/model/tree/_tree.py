"""The released tree: read-only arrays that say where a record goes. They are public.

Node 0 is the root and a child's id is larger than its parent's, so a walk always ends.

- A numeric split sends a record left when ``value <= threshold``. Because every threshold lies in
  the feature's ``[low, high)``, clipping a value to its public range never changes its side; a
  missing number goes where ``Numeric.missing_place`` goes.
- If missing values are separate, they go left at every numeric split. A threshold of minus infinity
  asks "is missing": all numbers go right, minus infinity too.
- A category split sends the codes marked in its mask left. An unknown code goes where
  ``Categorical.missing_place`` goes.
- A leaf has a label and, if the learner released them, class probabilities. In a tree of a schema
  with a target, it has a number instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privatree.errors import ModelFormatError, ParameterError
from privatree.model.tree._prediction import (
    Array,
    FloatArray,
    IntArray,
    PackedTree,
    pack_tree,
    walk_to_leaves,
)
from privatree.model.tree._tree_checks import check_tree, compute_depth, freeze_arrays
from privatree.schema import Categorical, Schema


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A decision tree as read-only arrays with one entry per node.

    Parameters
    ----------
    schema : Schema
        Features and classes, to whose positions the arrays refer, or a target instead of classes.
    feature : int32 array of shape (n_nodes,)
        Position of the split's feature in the schema; -1 at a leaf.
    threshold : float64 array of shape (n_nodes,)
        Threshold of a numeric split, inclusive: ``value <= threshold`` goes left. Minus infinity
        for the question "is missing". NaN elsewhere.
    left, right : int32 arrays of shape (n_nodes,)
        Children of a split; -1 at a leaf.
    mask_start : int64 array of shape (n_nodes,)
        Start of a category split's mask in `goes_left`; -1 elsewhere. The masks are in the order
        of their nodes, without gaps.
    goes_left : uint8 array
        One entry for each category code of each category split, 1 if it goes left. Missing values
        that are separate have the last code.
    label : int32 array of shape (n_nodes,)
        Class code that a leaf predicts; -1 inside the tree, and everywhere in a tree that predicts
        a number.
    probability : float64 array of shape (n_nodes, n_classes), optional
        Class probabilities of the leaves, 0 inside the tree. Without this array, a leaf's label
        has probability 1. None in a tree that predicts a number.
    noisy_counts : int64 array of shape (n_nodes, n_classes), optional
        Released class counts of the leaves, which noise can make negative; 0 inside the tree. A
        tree that predicts a number has one column, for all records of a leaf.
    support_error : int64 array of shape (n_nodes,), optional
        Bound, with a probability of 95%, on the noise in the sum of a leaf's counts.
    value : float64 array of shape (n_nodes,), optional
        Number that a leaf predicts, in the range and units of the target; NaN inside the tree.
        None where the schema has classes.
    edges : float64 array of shape (n_intervals + 1,), optional
        Ends of the intervals of the target that `shares` is about, in increasing order.
    shares : float64 array of shape (n_nodes, n_intervals), optional
        Noisy share of a leaf's records in each interval; 0 inside the tree.
    counted : {"records", "units"}, default="records"
        What the counts count. It follows from the privacy statement of the model.

    Raises
    ------
    ModelFormatError
        If the arrays are not a tree of this schema.
    """

    schema: Schema
    feature: IntArray
    threshold: FloatArray
    left: IntArray
    right: IntArray
    mask_start: NDArray[np.int64]
    goes_left: NDArray[np.uint8]
    label: IntArray
    probability: FloatArray | None = None
    noisy_counts: NDArray[np.int64] | None = None
    support_error: NDArray[np.int64] | None = None
    value: FloatArray | None = None
    edges: FloatArray | None = None
    shares: FloatArray | None = None
    counted: str = "records"
    depth: int = field(init=False, repr=False)
    _features: tuple[Any, ...] = field(init=False, repr=False)
    packed: PackedTree = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Copy the arrays, make them read-only, and check that they are a tree."""
        if not isinstance(self.schema, Schema):
            raise ModelFormatError(f"schema must be a Schema, got {type(self.schema).__name__}.")
        freeze_arrays(self)
        check_tree(self)
        object.__setattr__(self, "depth", compute_depth(self))
        object.__setattr__(self, "_features", tuple(self.schema.features.values()))
        object.__setattr__(self, "packed", pack_tree(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        same = (self.schema, self.counted) == (other.schema, other.counted)
        return same and all(
            np.array_equal(mine, its, equal_nan=True)
            if mine is not None and its is not None
            else mine is its
            for mine, its in zip(self._arrays(), other._arrays(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[Tree], tuple[Any, ...]]:
        """Pickle by the constructor, so that an unpickled tree is checked and read-only."""
        return Tree, (self.schema, *self._arrays(), self.counted)

    def _arrays(self) -> tuple[Array | None, ...]:
        return (self.feature, self.threshold, self.left, self.right, self.mask_start,
                self.goes_left, self.label, self.probability, self.noisy_counts,
                self.support_error, self.value, self.edges, self.shares)  # fmt: skip

    @property
    def support(self) -> NDArray[np.int64] | None:
        """Noisy number of records, or units, of each leaf, at least 0; None if not released."""
        if self.noisy_counts is None:
            return None
        support: NDArray[np.int64] = np.maximum(self.noisy_counts.sum(axis=1), 0)
        return support

    def has_support(self, leaf: int) -> bool:
        """Return whether a leaf has more records than noise explains; True if this is unknown."""
        if self.support is None or self.support_error is None:
            return True
        return bool(self.support[leaf] > self.support_error[leaf])

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.leaves)

    @property
    def used_features(self) -> tuple[int, ...]:
        """Schema positions of the features that the tree splits on, in increasing order."""
        return tuple(np.unique(self.feature[self.splits]).tolist())

    def splits_by_feature(self) -> dict[int, list[int]]:
        """Return, for each used feature's position in the schema, the nodes that split on it."""
        nodes = dict[int, list[int]]()
        for node in self.splits.tolist():
            nodes.setdefault(int(self.feature[node]), []).append(node)
        return nodes

    def children(self, node: int) -> tuple[int, int]:
        """Return the left and the right child of a split."""
        return int(self.left[node]), int(self.right[node])

    def left_mask(self, node: int) -> NDArray[np.bool_]:
        """Return, for each category code of a category split, whether it goes left."""
        start = self.mask_start[node]
        n_codes = self._features[self.feature[node]].n_codes
        return self.goes_left[start : start + n_codes].astype(np.bool_)

    def left_codes(self, node: int) -> tuple[int, ...]:
        """Return the category codes that go left at a category split."""
        return tuple(np.flatnonzero(self.left_mask(node)).tolist())

    def missing_goes_left(self, node: int) -> bool:
        """Return whether a missing (or unknown) value goes left at a split."""
        feature = self._features[self.feature[node]]
        if isinstance(feature, Categorical):
            return bool(self.left_mask(node)[feature.missing_place])
        return bool(float(feature.missing_place) <= self.threshold[node])

    def asks_missing(self, node: int) -> bool:
        """Return whether a node is a numeric split that sends only missing values left."""
        return bool(self.threshold[node] == -np.inf)

    @property
    def splits(self) -> NDArray[np.intp]:
        """Nodes that split, parents before their children."""
        return np.flatnonzero(self.feature >= 0)

    @property
    def leaves(self) -> NDArray[np.intp]:
        """Nodes that are leaves."""
        return np.flatnonzero(self.feature < 0)

    def path_sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return, for each node, the sum of the values on the path from the root to the node."""
        sums = values.copy()
        for node in self.splits.tolist():
            sums[self.left[node]] += sums[node]
            sums[self.right[node]] += sums[node]
        return sums

    def depths(self) -> NDArray[np.int64]:
        """Return, for each node, the number of splits above the node."""
        return self.path_sums(np.ones(self.n_nodes, dtype=np.int64)) - 1

    def leaf_counts(self) -> NDArray[np.int64]:
        """Return, for each node, the number of leaves below the node; 1 at a leaf."""
        counts = np.ones(self.n_nodes, dtype=np.int64)
        for node in self.splits[::-1].tolist():
            counts[node] = counts[self.left[node]] + counts[self.right[node]]
        return counts

    def paths(self, nodes: Iterable[int]) -> Iterator[list[int]]:
        """Yield, for each of some nodes, the path from the root to the node, both included."""
        parent = np.full(self.n_nodes, -1)
        splits = self.splits
        parent[self.left[splits]] = parent[self.right[splits]] = splits
        for node in nodes:
            path = [int(node)]
            while parent[path[-1]] >= 0:
                path.append(int(parent[path[-1]]))
            yield path[::-1]

    def preorder(self, levels: int) -> Iterator[int]:
        """Yield the nodes down to a depth of `levels`, parents first, left before right."""
        waiting = [(0, 0)]
        while waiting:
            node, depth = waiting.pop()
            yield node
            if self.feature[node] >= 0 and depth < levels:
                waiting += [(child, depth + 1) for child in self.children(node)[::-1]]

    def apply(self, matrix: ArrayLike, columns: Sequence[int] | Array) -> IntArray:
        """Return the node id of each record's leaf.

        Parameters
        ----------
        matrix : 2-D array of numbers, records as rows
            Raw values in numeric columns, category codes in the others.
        columns : sequence of int
            Column of `matrix` for each feature of the schema; any number for an unused feature.
        """
        return walk_to_leaves(self, matrix, columns, self.packed.node)

    def predict(self, matrix: ArrayLike, columns: Sequence[int] | Array) -> Array:
        """Return the class code, or the predicted number, of each record.

        The arguments are those of :meth:`apply`.
        """
        if self.value is not None:
            return self.value[self.apply(matrix, columns)]
        return walk_to_leaves(self, matrix, columns, self.packed.label)

    def predict_proba(self, matrix: ArrayLike, columns: Sequence[int] | Array) -> FloatArray:
        """Return class probabilities of each record. The arguments are those of :meth:`apply`."""
        if self.value is not None:
            raise ParameterError(
                "a tree that predicts a number has no class probabilities. Call predict."
            )
        if self.probability is None:
            labels = self.predict(matrix, columns)
            certain = np.zeros((len(labels), len(self.schema.classes)))
            certain[np.arange(len(labels)), labels] = 1.0
            return certain
        return self.probability[self.apply(matrix, columns)]
