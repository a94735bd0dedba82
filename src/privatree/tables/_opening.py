"""Recognise containers and open them: one function for frames, another for labels.

Every error is about the type or the dimensions of the container, never about its content.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.errors import SchemaError
from privatree.tables._arrow_columns import arrow_column_type, read_arrow_column
from privatree.tables._columns import LazyColumn
from privatree.tables._containers import (
    Table,
    arrow_table,
    convert_container,
    is_instance_by_name,
    list_table,
    numpy_column,
    numpy_table,
    numpy_type,
    object_column,
    pandas_column,
    pandas_table,
    pandas_type,
    polars_column,
    polars_table,
)


def open_frame(X: Any, names: Sequence[str] | None = None, *, allow_repeats: bool = False) -> Table:
    """Open a frame without reading it. `names` of the result are strings, or None without names.

    A frame is a 2-D numpy array, a list of rows, a pandas or polars DataFrame, a polars LazyFrame
    (which is collected), an Arrow table or any object with an Arrow stream. A Table that was opened
    before is used again, because some streams can be read only once. `names` are column names for a
    frame without names. With `allow_repeats`, several columns may have the same name.
    """
    table = X if isinstance(X, Table) else _open_container(X)
    own = table.names
    if own is None or (own and own == list(range(len(own)))):
        own = None if names is None else list(names)
    elif not all(isinstance(name, str) for name in own):
        raise SchemaError(
            "column names must be strings, or 0, 1, 2, ... in this order. Rename the columns."
        )
    if own is not None and table.has_shape:
        _check_frame_names(own, len(table.columns), allow_repeats)
    return replace(table, names=own if own is None else [str(name) for name in own])


def collect_lazy_frame(X: Any) -> Any:
    """Collect X if it is a polars LazyFrame; return every other X unchanged."""
    if not is_instance_by_name(X, "polars.LazyFrame"):
        return X
    refusal = "X must be a table, got a LazyFrame that cannot be collected. Call X.collect()"
    return convert_container(X.collect, refusal)


def open_labels(y: Any, called: str = "y") -> Table:
    """Open labels, without reading them, as a Table with one column.

    `called` is the name of the argument in messages: weights and ids of units are opened alike.

    Labels are a list, a 1-D numpy array, a pandas or polars Series, an Arrow array, or a frame with
    one column, for which scikit-learn's DataConversionWarning is issued. A Table is returned
    unchanged, so the warning occurs once. Raise a TypeError or ValueError if y is not one column.
    """
    if isinstance(y, Table):
        return y
    if y is None:
        raise ValueError("fitting requires y to be passed, but the target y is None.")
    _refuse_sparse_container(called, y)
    if is_instance_by_name(y, "pandas.Index", "pandas.api.extensions.ExtensionArray"):
        import pandas as pd

        y = pd.Series(y)
    if is_instance_by_name(y, "pandas.Series"):
        return Table(len(y), [LazyColumn(pandas_type(y.dtype), partial(pandas_column, y))])
    if is_instance_by_name(y, "polars.Series"):
        return Table(len(y), [polars_column(y)])
    if is_instance_by_name(y, "pyarrow.Array", "pyarrow.ChunkedArray"):
        return Table(len(y), [LazyColumn(arrow_column_type(y.type), partial(read_arrow_column, y))])
    if isinstance(y, (list, tuple)):  # value by value: no value decides how others are read
        return Table(len(y), [object_column(partial(_unwrap_labels, y))])
    if _is_array_container(y):
        array = _container_to_array(called, y)
        if array.ndim == 1:
            column = LazyColumn(numpy_type(array.dtype), partial(numpy_column, array))
            return Table(len(array), [column])
        y = array
    elif not _is_arrow_container(y):
        raise ValueError(
            f"{called} should be a 1d array, got {type(y).__name__}. Pass one value per row."
        )
    return _open_label_column(y, called)


def _open_label_column(y: Any, called: str) -> Table:
    from sklearn.utils.validation import column_or_1d  # imports pandas, which is rarely needed

    if isinstance(y, np.ndarray) and y.ndim != 2:
        raise ValueError(
            f"{called} should be a 1d array, got {y.ndim} dimensions. Pass a 1d array."
        )
    table = open_frame(y)
    if len(table.columns) != 1:
        raise ValueError(
            f"{called} should be a 1d array, got {len(table.columns)} columns. Pass one column "
            "alone."
        )
    column_or_1d(np.empty((table.n_rows, 1)), warn=True)  # the warning, without the content
    return table


def _open_container(X: Any) -> Table:
    _refuse_sparse_container("X", X)
    if is_instance_by_name(X, "pyspark.sql.DataFrame"):
        raise TypeError(
            "X must be in memory, got a Spark DataFrame. Train on SparkSource(X, target=...). "
            "Predict in batches of rows or with privatree.export.export_sql."
        )
    if is_instance_by_name(X, "privatree.sources._source.Source"):
        raise TypeError(
            f"X must be in memory, got a {type(X).__name__}: a source is for training. Predict in "
            "batches of rows, with privatree predict or with privatree.export.export_sql."
        )
    X = collect_lazy_frame(X)
    if is_instance_by_name(X, "pandas.DataFrame"):
        return pandas_table(X)
    if is_instance_by_name(X, "polars.DataFrame"):
        return polars_table(X)
    columns = ("pandas.Series", "polars.Series", "pyarrow.Array", "pyarrow.ChunkedArray")
    if is_instance_by_name(X, *columns):
        raise _not_a_frame_error(1)
    if _is_arrow_container(X):
        return arrow_table(X)
    if isinstance(X, (list, tuple)):
        if not all(map(_is_frame_row, X)):
            raise _not_a_frame_error(1)
        return list_table(X)
    if _is_array_container(X):
        array = _container_to_array("X", X)
        if array.ndim != 2:
            raise _not_a_frame_error(array.ndim)
        return numpy_table(array)
    raise TypeError(
        "X must be a 2-D numpy array, a list of rows, a pandas or polars DataFrame or an Arrow "
        f"table, got {type(X).__name__}. Convert it to one of these."
    )


def _check_frame_names(names: Sequence[Hashable], n_columns: int, allow_repeats: bool) -> None:
    if len(names) != n_columns:
        raise SchemaError(
            f"names must have one name per column of X, got {len(names)} names for {n_columns} "
            "columns."
        )
    repeated = sorted({str(name) for name in names if names.count(name) > 1})
    if repeated and not allow_repeats:
        raise SchemaError(
            f"column names must be distinct, got {repeated} more than once. Rename the columns."
        )


def _not_a_frame_error(found: int) -> ValueError:
    return ValueError(
        f"Expected 2D array, got {found}D array instead. Reshape your data: one row per record, "
        "array.reshape(-1, 1) if it has a single feature, array.reshape(1, -1) if it is a single "
        "record."
    )


def _refuse_sparse_container(name: str, value: Any) -> None:
    if is_instance_by_name(value, "scipy.sparse.sparray", "scipy.sparse.spmatrix"):
        raise TypeError(
            f"{name} must be dense, got a sparse {type(value).__name__}. "
            f"Pass {name}.toarray() to make it dense."
        )


def _is_frame_row(value: Any) -> bool:
    kind = type(value)  # isinstance would ask the value for its __class__
    return issubclass(kind, (list, tuple)) or (issubclass(kind, np.ndarray) and value.ndim > 0)


def _unwrap_labels(values: Sequence[Any]) -> list[Any]:
    """Return the values, with each list, tuple or array of one value replaced by this value."""
    return [value[0] if _is_plain_row(value) and len(value) == 1 else value for value in values]


def _is_plain_row(value: Any) -> bool:
    """Tell whether a value is a row whose type is exactly list, tuple or numpy array."""
    kind = type(value)  # compared by identity: a class can claim to equal another class
    return (kind is list or kind is tuple or kind is np.ndarray) and _is_frame_row(value)


def _is_array_container(value: Any) -> bool:
    return hasattr(type(value), "__array__") and not isinstance(value, np.generic)


def _container_to_array(name: str, value: Any) -> NDArray[Any]:
    if isinstance(value, np.ma.MaskedArray):
        return value
    refusal = f"{name} must be an array, got a {type(value).__name__} that numpy cannot convert."
    return convert_container(lambda: np.asarray(value), f"{refusal} Call numpy.asarray({name})")


def _is_arrow_container(value: Any) -> bool:
    is_known = is_instance_by_name(value, "pandas.DataFrame", "pyarrow.RecordBatch")
    return is_known or hasattr(type(value), "__arrow_c_stream__")
