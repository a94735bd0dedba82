"""Read records in memory: convert a frame to the numbers and category codes of a schema.

Wrong column names, column types and dimensions are errors, and they are raised before any content
is read. The content of records is never an error: an exception would tell two neighbouring datasets
apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.suggestions import did_you_mean
from privatree._support.validation import check_same_length, list_some_names
from privatree.errors import SchemaError
from privatree.schema import Categorical, Feature, Schema
from privatree.tables._batch import Batch
from privatree.tables._columns import (
    Column,
    NumberColumn,
    category_code_dtype,
    check_feature_type,
    check_label_type,
    check_target_type,
    column_to_clipped_numbers,
    column_to_codes,
    column_to_numbers,
    label_codes,
)
from privatree.tables._containers import Table, object_column
from privatree.tables._opening import open_frame, open_labels

_BLOCK_ROWS = 4096  # rows that are transposed together, so that they stay in the processor's cache


def read_features(X: Any, schema: Schema, names: Sequence[str] | None = None) -> list[NDArray[Any]]:
    """Read every feature of a schema from a frame that :func:`open_frame` opens.

    Columns with names are matched by name, and columns that the schema does not have are ignored.
    Columns without names are matched by position; `names` gives them names.

    The result is one array per feature, in the order of the schema. A numeric feature is float64,
    clipped to its range. A categorical feature has codes of the smallest unsigned type. Missing and
    unknown values become the feature's ``missing_place``. If missing values are separate, this is
    outside the range or beyond the codes of the categories.
    """
    table, positions = _open_frame_for_schema(X, schema, names)
    contents = _read_frame_columns(table, positions)
    return [
        category_codes(column, feature)
        if isinstance(feature, Categorical)
        else column_to_clipped_numbers(column, feature)
        for column, feature in zip(contents, schema.features.values(), strict=True)
    ]


def read_labels(y: Any, schema: Schema) -> NDArray[np.int32]:
    """Read labels as positions in the classes of a schema; -1 for a missing or unknown label.

    Numeric targets become their codes. A SchemaError is raised if the type of the labels
    contradicts the schema. A floating type is always accepted, because labels that are all missing
    have such a type.
    """
    (column,) = open_labels(y).columns
    check_label_type("y", column.type, schema)
    return label_codes(column.read(), schema).astype(np.int32)


def read_target(y: Any) -> NDArray[np.float64]:
    """Read a numeric target; NaN for what is missing or not a number.

    A SchemaError is raised if the type of the target cannot hold numbers.
    """
    (column,) = open_labels(y).columns
    check_target_type("y", column.type)
    return column_to_numbers(column.read())


def frame_batch(X: Any, y: Any, schema: Schema, names: Sequence[str] | None = None) -> Batch:
    """Open a frame and its labels, which must have the same length, as one batch.

    The content is not read yet. Columns are matched as in :func:`read_features`.
    """
    table, positions = _open_frame_for_schema(X, schema, names)
    target = open_labels(y)
    (labels,) = target.columns
    check_label_type("y", labels.type, schema)
    check_same_length(table.n_rows, target.n_rows)
    in_order = positions == list(range(len(table.columns)))
    features = [table.columns[position] for position in positions]
    return Batch(table.n_rows, features, labels, table.array if in_order else None)


def prediction_matrix(
    X: Any, schema: Schema, used: Sequence[int], names: Sequence[str] | None = None
) -> tuple[NDArray[np.floating[Any]], NDArray[np.int64]]:
    """Read the features that a tree uses as one matrix, if possible without a copy.

    `used` are the positions of these features in the schema. All columns of the schema must exist,
    as in :func:`read_features`.

    Returns
    -------
    matrix : ndarray of float64 or float32, 2-D
        Numbers, not clipped, with NaN for a missing value; categories as codes. It can be the
        user's own array: do not write into it.
    columns : ndarray of int64
        For each feature of the schema its column in `matrix`; -1 for a feature that is not used.
    """
    table, positions = _open_frame_for_schema(X, schema, names)
    features = list(schema.features.values())
    columns = np.full(len(features), -1, dtype=np.int64)
    if len(used) == 0:
        return np.zeros((table.n_rows, 1)), columns
    wanted = [positions[feature] for feature in used]
    has_codes = any(isinstance(features[feature], Categorical) for feature in used)
    if table.array is not None and table.array.dtype in (np.float64, np.float32) and not has_codes:
        columns[list(used)] = wanted
        return table.array, columns
    return _used_matrix(table.n_rows, _read_frame_columns(table, wanted), features, used)


def batch_matrix(
    batch: Batch, schema: Schema, used: Sequence[int]
) -> tuple[NDArray[np.floating[Any]], NDArray[np.int64]]:
    """Read the features that a tree uses from a batch, as :func:`prediction_matrix` does."""
    features = list(schema.features.values())
    has_codes = any(isinstance(features[feature], Categorical) for feature in used)
    array = batch.array
    if array is not None and array.dtype in (np.float64, np.float32) and not has_codes:
        return array, np.arange(len(features))
    if len(used) == 0:
        return np.zeros((batch.n_rows, 1)), np.full(len(features), -1, dtype=np.int64)
    contents = (batch.features[feature].read() for feature in used)
    return _used_matrix(batch.n_rows, contents, features, used)


def _used_matrix(
    n_rows: int, contents: Iterable[Column], features: Sequence[Feature], used: Sequence[int]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the contents of the used features as a matrix, and the column of each feature."""
    columns = np.full(len(features), -1, dtype=np.int64)
    matrix = np.empty((n_rows, len(used)))
    for place, (position, column) in enumerate(zip(used, contents, strict=True)):
        feature = features[position]
        if isinstance(feature, Categorical):
            matrix[:, place] = category_codes(column, feature)
        else:
            matrix[:, place] = column_to_numbers(column)
        columns[position] = place
    return matrix, columns


def category_codes(column: Column, feature: Categorical) -> NDArray[Any]:
    return column_to_codes(
        column, feature.categories, feature.missing_place, category_code_dtype(feature)
    )


def _open_frame_for_schema(
    X: Any, schema: Schema, names: Sequence[str] | None
) -> tuple[Table, list[int]]:
    """Open a frame and find each feature's column; raise a SchemaError if one does not fit."""
    table = open_frame(X, names)
    if not table.has_shape:  # a list without rows fits every schema
        columns = [object_column(list) for _ in schema.names]
        table = replace(table, columns=columns, names=None, has_shape=True)
    positions = _find_frame_columns(table, schema)
    for (name, feature), position in zip(schema.features.items(), positions, strict=True):
        found = table.columns[position].type
        check_feature_type(name, found, feature, of_a_frame=table.names is not None)
    return table, positions


def _find_frame_columns(table: Table, schema: Schema) -> list[int]:
    if table.names is None:
        if len(table.columns) != len(schema.names):
            raise SchemaError(
                f"X must have the {len(schema.names)} columns of the schema, "
                f"got {len(table.columns)}. Pass the columns of the schema in its order."
            )
        return list(range(len(schema.names)))
    position_of = {name: position for position, name in enumerate(table.names)}
    if absent := [name for name in schema.names if name not in position_of]:
        raise SchemaError(
            f"X must have every column of the schema, but lacks {list_some_names(absent)}. "
            "Add them, or remove them from the schema."
            f"{did_you_mean(absent[0], [n for n in table.names if n not in schema.features])}"
        )
    return [position_of[name] for name in schema.names]


def _read_frame_columns(table: Table, positions: Sequence[int]) -> Iterator[Column]:
    """Return the columns. If an array is stored by rows, they are read together to save time."""
    array = table.array
    if array is None or len(positions) < 2 or array.strides[0] < array.strides[1]:
        return (table.columns[position].read() for position in positions)
    parts = [np.empty(table.n_rows, dtype=array.dtype) for _ in positions]
    for start in range(0, table.n_rows, _BLOCK_ROWS):
        block = array[start : start + _BLOCK_ROWS]
        for part, position in zip(parts, positions, strict=True):
            part[start : start + _BLOCK_ROWS] = block[:, position]
    return (NumberColumn(part, is_fresh=True) for part in parts)
