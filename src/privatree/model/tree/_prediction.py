"""Fast prediction of many records, by a compiled kernel.

:func:`pack_tree` renumbers a tree once, when it is made. :func:`walk_to_leaves` moves rows of
numbers from the root to their leaves, by the rules of :mod:`privatree.model.tree._tree`.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privatree._support.kernels.compiling import compiled
from privatree.errors import ParameterError

if TYPE_CHECKING:
    from privatree.model.tree._tree import Tree

MANY_ROWS = 50_000
"""Number of rows above which two threads are faster than one."""

Array: TypeAlias = NDArray[Any]
IntArray: TypeAlias = NDArray[np.int32]
FloatArray: TypeAlias = NDArray[np.float64]

_ROWS_PER_BLOCK = 64


class PackedTree(NamedTuple):
    """A tree renumbered so that siblings are neighbours. A leaf is its own child.

    At a split that asks "is missing", the siblings are exchanged: with a threshold of infinity, all
    numbers go to the first child, and missing values to the second.
    """

    node: IntArray
    label: IntArray
    feature: IntArray
    threshold: FloatArray
    missing_right: NDArray[np.bool_]
    first_child: NDArray[np.uint32]
    last_code: FloatArray
    table_start: NDArray[np.uint32]
    table: NDArray[np.bool_] | None
    """For each category split: whether a missing code goes right, then the same for each code."""


def pack_tree(tree: Tree) -> PackedTree:
    """Return a finished tree, renumbered for :func:`walk_to_leaves`, in read-only arrays."""
    features = list(tree.schema.features.values())
    inside = tree.splits
    node = np.zeros(tree.n_nodes, dtype=np.int32)
    exchanged = tree.threshold[inside] == -np.inf
    first = np.where(exchanged, tree.right[inside], tree.left[inside])
    node[1::2], node[2::2] = first, np.where(exchanged, tree.left[inside], tree.right[inside])
    place = np.empty_like(node)
    place[node] = np.arange(tree.n_nodes)
    first_child = np.arange(tree.n_nodes, dtype=np.uint32)
    first_child[place[inside]] = place[first]

    feature, threshold = tree.feature[node], tree.threshold[node]
    missing = np.array([float(kind.missing_place) for kind in features])[feature]
    missing_right = (feature >= 0) & ((missing > threshold) | (threshold == -np.inf))
    threshold[~np.isfinite(threshold)] = np.inf
    last_code = np.full(tree.n_nodes, -1.0)
    table_start = np.zeros(tree.n_nodes, dtype=np.uint32)
    table = list[NDArray[np.bool_]]()
    size = 0
    for here in np.flatnonzero(tree.mask_start[node] >= 0).tolist():
        kind = features[feature[here]]
        start = tree.mask_start[node[here]]
        goes_right = tree.goes_left[start : start + kind.n_codes] == 0
        table += [goes_right[[kind.missing_place]], goes_right]
        table_start[here], last_code[here] = size, len(goes_right) - 1
        size += len(goes_right) + 1
    feature[feature < 0] = tree.feature[0]  # a leaf reads the root's feature, and ignores it
    packed = PackedTree(
        node=node,
        label=tree.label[node],
        feature=feature,
        threshold=threshold,
        missing_right=missing_right,
        first_child=first_child,
        last_code=last_code,
        table_start=table_start,
        table=np.concatenate(table) if table else None,
    )
    for array in packed:
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return packed


def walk_to_leaves(
    tree: Tree, matrix: ArrayLike, columns: Sequence[int] | Array, outcome: IntArray
) -> IntArray:
    """Return, for each record, the entry of `outcome` at the record's leaf.

    `matrix` and `columns` are those of :meth:`Tree.apply`. `outcome` has an entry for each node of
    the packed tree: its `node` or its `label`.
    """
    values, packed = _check_matrix(matrix), tree.packed
    n_rows = len(values)
    column = _check_column_positions(tree, columns, values.shape[1])[packed.feature]
    out = np.empty(n_rows, dtype=np.int32)

    def walk_some(start: int, stop: int) -> None:
        _walk_rows(values, column, packed, packed.table, outcome, out, start, stop, tree.depth)

    if n_rows < MANY_ROWS:
        walk_some(0, n_rows)
        return out
    half = n_rows // 2
    with ThreadPoolExecutor(max_workers=1) as other:
        second = other.submit(walk_some, half, n_rows)
        walk_some(0, half)
        second.result()
    return out


def _check_matrix(matrix: ArrayLike) -> Array:
    """Return a read-only matrix of a type that the kernel is compiled for, if possible a view."""
    try:
        values = np.asarray(matrix)
        if values.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
            values = values.astype(np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            "matrix must be a 2-D array of numbers, got values that cannot be converted to one.",
            "matrix",
        ) from None
    if values.ndim != 2:
        raise ParameterError(f"matrix must have 2 dimensions, got {values.ndim}.", "matrix")
    view = values.view(np.ndarray)
    view.flags.writeable = False
    return view


def _check_column_positions(
    tree: Tree, columns: Sequence[int] | Array, n_columns: int
) -> NDArray[np.uint32]:
    column = np.asarray(columns)
    if column.shape != (len(tree.schema.features),) or column.dtype.kind not in "iu":
        raise ParameterError(
            f"columns must be {len(tree.schema.features)} whole numbers, one for each feature.",
            "columns",
        )
    used = column[list(tree.used_features)]
    if ((used < 0) | (used >= n_columns)).any():
        raise ParameterError(
            f"columns must hold a position in 0 to {n_columns - 1} for each feature that the tree "
            "uses.",
            "columns",
        )
    return column.astype(np.uint32)


_unsigned = np.uint64  # with unsigned indices, the kernel need not test for negative indices


@compiled
def _walk_rows(
    matrix: Any,
    column: Any,
    tree: Any,
    table: Any,
    outcome: Any,
    out: Any,
    start: int,
    stop: int,
    depth: int,
) -> None:  # pragma: no cover
    """Move rows down one level at a time, in blocks. No branch depends on a value.

    The rows of a block are independent of each other, so the processor works on several at once.
    With ``table=None`` (no category splits) the compiler drops all code for categories. It can
    do so only because `table` is an argument of its own, not a field of `tree`.
    """
    here = np.zeros(_ROWS_PER_BLOCK, dtype=np.uint32)
    for base in range(_unsigned(start), _unsigned(stop), _unsigned(_ROWS_PER_BLOCK)):
        n_rows = min(_unsigned(_ROWS_PER_BLOCK), _unsigned(stop) - base)
        for row in range(n_rows):
            here[row] = 0
        for _ in range(depth):
            moved = _unsigned(0)
            for row in range(n_rows):
                node = _unsigned(here[row])
                value = np.float64(matrix[base + row, _unsigned(column[node])])
                right = (value > tree.threshold[node]) | (
                    (value != value) & tree.missing_right[node]
                )
                if table is not None:  # noqa: SIM102 - the outer test is settled when compiling
                    if tree.last_code[node] >= 0.0:
                        known = (value >= 0.0) & (value <= tree.last_code[node])
                        code = _unsigned(np.int64(value)) + _unsigned(1) if known else _unsigned(0)
                        right = table[_unsigned(tree.table_start[node]) + code]
                below = _unsigned(tree.first_child[node]) + _unsigned(right)
                moved |= below ^ node
                here[row] = np.uint32(below)
            if moved == 0:
                break
        for row in range(n_rows):
            out[base + row] = outcome[_unsigned(here[row])]
