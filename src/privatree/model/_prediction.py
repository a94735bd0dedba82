"""Where many records go, fast: the tree in the layout that a compiled kernel walks.

:func:`pack` renumbers a tree once, when it is made; :func:`walk` moves rows of numbers from the
root to their leaves. The rules are those of :mod:`privatree.model._tree`.
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
    from privatree.model._tree import Tree

MANY_ROWS = 50_000
"""From here on two threads share the rows; below, starting them costs more than it saves."""

Array: TypeAlias = NDArray[Any]
IntArray: TypeAlias = NDArray[np.int32]
FloatArray: TypeAlias = NDArray[np.float64]

_BLOCK = 64


class Packed(NamedTuple):
    """The same tree renumbered so that siblings are neighbours; a leaf is its own child."""

    node: IntArray
    label: IntArray
    feature: IntArray
    threshold: FloatArray
    missing_right: NDArray[np.bool_]
    first_child: NDArray[np.uint32]
    last_code: FloatArray
    table_start: NDArray[np.uint32]
    table: NDArray[np.bool_] | None
    """Of each category split: whether a missing code goes right, then whether each code does."""
    depth: int
    n_features: int
    used_features: tuple[int, ...]


def pack(tree: Tree) -> Packed:
    """Lay a finished tree out for :func:`walk`, in read-only arrays."""
    features = list(tree.schema.features.values())
    inside = tree.splits
    node = np.zeros(tree.n_nodes, dtype=np.int32)
    node[1::2], node[2::2] = tree.left[inside], tree.right[inside]
    place = np.empty_like(node)
    place[node] = np.arange(tree.n_nodes)
    first_child = np.arange(tree.n_nodes, dtype=np.uint32)
    first_child[place[inside]] = place[tree.left[inside]]

    feature, threshold = tree.feature[node], tree.threshold[node]
    missing = np.array([float(kind.missing_place) for kind in features])[feature]
    missing_right = (feature >= 0) & (missing > threshold)
    threshold[np.isnan(threshold)] = np.inf
    last_code = np.full(tree.n_nodes, -1.0)
    table_start = np.zeros(tree.n_nodes, dtype=np.uint32)
    table = list[NDArray[np.bool_]]()
    size = 0
    for here in np.flatnonzero(tree.mask_start[node] >= 0).tolist():
        kind = features[feature[here]]
        start = tree.mask_start[node[here]]
        goes_right = tree.goes_left[start : start + len(kind.categories)] == 0
        table += [goes_right[[kind.missing_place]], goes_right]
        table_start[here], last_code[here] = size, len(goes_right) - 1
        size += len(goes_right) + 1
    feature[feature < 0] = tree.feature[0]  # a leaf reads, and ignores, what the root reads
    packed = Packed(
        node=node,
        label=tree.label[node],
        feature=feature,
        threshold=threshold,
        missing_right=missing_right,
        first_child=first_child,
        last_code=last_code,
        table_start=table_start,
        table=np.concatenate(table) if table else None,
        depth=tree.depth,
        n_features=len(features),
        used_features=tree.used_features,
    )
    for array in packed:
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return packed


def walk(
    packed: Packed, matrix: ArrayLike, columns: Sequence[int] | Array, outcome: IntArray
) -> IntArray:
    """The outcome of the leaf that each record comes to.

    Parameters
    ----------
    packed : Packed
        The tree.
    matrix : 2-D array of numbers, records as rows
        Raw values in numeric columns, category codes in the others.
    columns : sequence of int
        Which column of `matrix` holds each schema feature; -1 where the tree uses none.
    outcome : int32 array of shape (n_nodes,)
        What to give for each node of `packed`: its `node` or its `label`.

    Returns
    -------
    int32 array
        An entry of `outcome` for each row.

    Raises
    ------
    ParameterError
        If `matrix` is not a matrix of numbers or `columns` does not fit it.
    """
    values = _as_matrix(matrix)
    n_rows = len(values)
    column = _as_columns(packed, columns, values.shape[1])[packed.feature]
    out = np.empty(n_rows, dtype=np.int32)

    def walk_some(start: int, stop: int) -> None:
        _walk_rows(values, column, packed.threshold, packed.missing_right, packed.first_child,
                   packed.last_code, packed.table_start, packed.table, outcome, out,
                   start, stop, packed.depth)  # fmt: skip

    if n_rows < MANY_ROWS:
        walk_some(0, n_rows)
        return out
    half = n_rows // 2
    with ThreadPoolExecutor(max_workers=1) as other:
        second = other.submit(walk_some, half, n_rows)
        walk_some(0, half)
        second.result()
    return out


def _as_matrix(matrix: ArrayLike) -> Array:
    """A read-only view in a type that the kernel is compiled for; a copy only if it must be."""
    try:
        values = np.asarray(matrix)
        if values.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
            values = values.astype(np.float64)
    except (TypeError, ValueError):
        raise ParameterError("matrix must be a 2-D array of numbers.", "matrix") from None
    if values.ndim != 2:
        raise ParameterError(f"matrix must have 2 dimensions, got {values.ndim}.", "matrix")
    view = values.view(np.ndarray)
    view.flags.writeable = False
    return view


def _as_columns(
    packed: Packed, columns: Sequence[int] | Array, n_columns: int
) -> NDArray[np.uint32]:
    column = np.asarray(columns)
    if column.shape != (packed.n_features,) or column.dtype.kind not in "iu":
        raise ParameterError(
            f"columns must be {packed.n_features} whole numbers, one for each feature.", "columns"
        )
    used = column[list(packed.used_features)]
    if ((used < 0) | (used >= n_columns)).any():
        raise ParameterError(f"columns of used features must be in 0 to {n_columns - 1}.")
    return column.astype(np.uint32)


_unsigned = np.uint64  # an unsigned index spares the kernel a test for negative ones


@compiled
def _walk_rows(
    matrix: Any,
    column: Any,
    threshold: Any,
    missing_right: Any,
    first_child: Any,
    last_code: Any,
    table_start: Any,
    table: Any,
    outcome: Any,
    out: Any,
    start: int,
    stop: int,
    depth: int,
) -> None:  # pragma: no cover
    """Move a block of rows down one level at a time: no branch depends on a value.

    The rows of a block are independent of each other, so the processor works on several at once.
    With ``table=None`` (no category splits) the compiler drops everything about categories.
    """
    here = np.zeros(_BLOCK, dtype=np.uint32)
    for base in range(_unsigned(start), _unsigned(stop), _unsigned(_BLOCK)):
        n_rows = min(_unsigned(_BLOCK), _unsigned(stop) - base)
        for row in range(n_rows):
            here[row] = 0
        for _ in range(depth):
            moved = _unsigned(0)
            for row in range(n_rows):
                node = _unsigned(here[row])
                value = np.float64(matrix[base + row, _unsigned(column[node])])
                right = (value > threshold[node]) | ((value != value) & missing_right[node])
                if table is not None:  # noqa: SIM102 - the outer test is settled when compiling
                    if last_code[node] >= 0.0:
                        known = (value >= 0.0) & (value <= last_code[node])
                        code = _unsigned(np.int64(value)) + _unsigned(1) if known else _unsigned(0)
                        right = table[_unsigned(table_start[node]) + code]
                below = _unsigned(first_child[node]) + _unsigned(right)
                moved |= below ^ node
                here[row] = np.uint32(below)
            if moved == 0:
                break
        for row in range(n_rows):
            out[base + row] = outcome[_unsigned(here[row])]
