"""The one door for records in memory: any frame to numbers and codes that a schema describes.

What the caller declares can be wrong: column names, column types, dimensions. Those are errors,
decided before any content is read. What the records contain is never an error: an exception would
tell two neighbouring datasets apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    check_class_type,
    check_feature_type,
    column_to_clipped_numbers,
    column_to_codes,
    column_to_numbers,
)
from privatree.tables._containers import Table, object_column
from privatree.tables._opening import open_frame, open_labels

__all__ = [
    "category_codes",
    "frame_batch",
    "open_frame",
    "open_labels",
    "open_matched",
    "prediction_matrix",
    "read_features",
    "read_labels",
]

_BLOCK_ROWS = 4096  # rows that are turned into columns together, so that they stay in the cache


def read_features(X: Any, schema: Schema, names: Sequence[str] | None = None) -> list[NDArray[Any]]:
    """Read every feature of a schema from a frame.

    Parameters
    ----------
    X : frame
        Anything :func:`open_frame` opens.
    schema : Schema
        What is public. Columns with names are matched by name, and those that it does not declare
        are ignored; columns without names are matched by position.
    names : sequence of str, optional
        Names of the columns of a frame that has none of its own.

    Returns
    -------
    list of ndarray
        One array per feature, in the order of the schema. Numeric: float64 inside the range.
        Categorical: codes in the smallest unsigned type that fits. Missing and unknown values are
        at the feature's ``missing_place``.

    Raises
    ------
    SchemaError
        If a column is not there, or the types, or the number of those without names, contradict
        the schema.
    TypeError, ValueError
        If X is not a frame.
    """
    table, positions = open_matched(X, schema, names)
    contents = _contents(table, positions)
    return [
        category_codes(column, feature)
        if isinstance(feature, Categorical)
        else column_to_clipped_numbers(column, feature)
        for column, feature in zip(contents, schema.features.values(), strict=True)
    ]


def read_labels(y: Any, schema: Schema) -> NDArray[np.int32]:
    """Read labels as positions in the classes of a schema.

    Parameters
    ----------
    y : labels
        A list, a 1-D numpy array, a pandas or polars Series, an Arrow array; or one column of a
        frame, with scikit-learn's warning; or what :func:`open_labels` returned.
    schema : Schema
        What is public.

    Returns
    -------
    ndarray of int32
        -1 where the label is missing or not one of the classes.

    Raises
    ------
    SchemaError
        If the type of the labels contradicts the classes. Floats never do: where the classes are
        text they are unknown, as the type of labels that are all missing is a floating one.
    TypeError, ValueError
        If y is not one column.
    """
    table = open_labels(y)
    (column,) = table.columns
    check_class_type("y", column.type, schema.classes)
    return column_to_codes(column.read(), schema.classes, -1, np.int32)


def frame_batch(X: Any, y: Any, schema: Schema, names: Sequence[str] | None = None) -> Batch:
    """Open a frame and its labels as one batch, without reading them.

    Parameters and errors are those of :func:`read_features` and :func:`read_labels`; also a
    ValueError if X and y have not equally many rows.
    """
    table, positions = open_matched(X, schema, names)
    target = open_labels(y)
    (labels,) = target.columns
    check_class_type("y", labels.type, schema.classes)
    check_same_length(table.n_rows, target.n_rows)
    in_order = positions == list(range(len(table.columns)))
    features = [table.columns[position] for position in positions]
    return Batch(table.n_rows, features, labels, table.array if in_order else None)


def prediction_matrix(
    X: Any, schema: Schema, used: Sequence[int], names: Sequence[str] | None = None
) -> tuple[NDArray[np.floating[Any]], NDArray[np.int64]]:
    """Read the features that a tree uses as one matrix, without a copy where that is possible.

    Parameters
    ----------
    X : frame
        Anything :func:`open_frame` opens.
    schema : Schema
        What is public.
    used : sequence of int
        Positions in the schema of the features to read.
    names : sequence of str, optional
        Names of the columns of a frame that has none of its own.

    Returns
    -------
    matrix : ndarray of float64 or float32, 2-D
        Numbers as they are, not yet clipped, NaN where missing; categories as codes. Possibly the
        caller's own array: do not write into it.
    columns : ndarray of int64
        For each feature of the schema its column in `matrix`, -1 for those not used.

    Raises
    ------
    SchemaError, TypeError, ValueError
        As :func:`read_features`, also for the columns that are not used.
    """
    table, positions = open_matched(X, schema, names)
    features = list(schema.features.values())
    columns = np.full(len(features), -1, dtype=np.int64)
    if len(used) == 0:
        return np.zeros((table.n_rows, 1)), columns
    wanted = [positions[feature] for feature in used]
    has_codes = any(isinstance(features[feature], Categorical) for feature in used)
    if table.array is not None and table.array.dtype in (np.float64, np.float32) and not has_codes:
        columns[list(used)] = wanted
        return table.array, columns
    matrix = np.empty((table.n_rows, len(used)))
    for place, (feature, column) in enumerate(zip(used, _contents(table, wanted), strict=True)):
        matrix[:, place] = _values(column, features[feature])
        columns[feature] = place
    return matrix, columns


def _values(column: Column, feature: Feature) -> NDArray[Any]:
    return (
        category_codes(column, feature)
        if isinstance(feature, Categorical)
        else column_to_numbers(column)
    )


def category_codes(column: Column, feature: Categorical) -> NDArray[Any]:
    """Read a column as positions in the categories of its feature."""
    return column_to_codes(
        column, feature.categories, feature.missing_place, category_code_dtype(feature)
    )


def open_matched(X: Any, schema: Schema, names: Sequence[str] | None) -> tuple[Table, list[int]]:
    """Open a frame and find, for every feature of the schema, its column; check the types.

    Parameters and errors are those of :func:`read_features`.
    """
    table = open_frame(X, names)
    if not table.has_shape:  # a list without rows fits every schema
        columns = [object_column(list) for _ in schema.names]
        table = replace(table, columns=columns, names=None, has_shape=True)
    positions = _positions(table, schema)
    for (name, feature), position in zip(schema.features.items(), positions, strict=True):
        found = table.columns[position].type
        check_feature_type(name, found, feature, of_a_frame=table.names is not None)
    return table, positions


def _positions(table: Table, schema: Schema) -> list[int]:
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
            "Add them or take them out of the schema."
            f"{did_you_mean(absent[0], [n for n in table.names if n not in schema.features])}"
        )
    return [position_of[name] for name in schema.names]


def _contents(table: Table, positions: Sequence[int]) -> Iterator[Column]:
    """Read columns; those of an array stored by rows all at once, which is faster."""
    array = table.array
    if array is None or len(positions) < 2 or array.strides[0] < array.strides[1]:
        return (table.columns[position].read() for position in positions)
    parts = [np.empty(table.n_rows, dtype=array.dtype) for _ in positions]
    for start in range(0, table.n_rows, _BLOCK_ROWS):
        block = array[start : start + _BLOCK_ROWS]
        for part, position in zip(parts, positions, strict=True):
            part[start : start + _BLOCK_ROWS] = block[:, position]
    return (NumberColumn(part, is_fresh=True) for part in parts)
