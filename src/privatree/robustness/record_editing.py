"""Copies of tables with rows added and values changed, in the container that was given.

Records are a 2-D numpy array, a pandas or a polars frame; labels a 1-D array, a list or a Series.
Nothing here changes its input, and types stay as they are: a value that a column cannot hold is
refused instead of being cut, wrapped around or turned into a missing one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.sources.containers import is_from

Rows = NDArray[np.intp]


def check_table(X: Any, y: Any) -> None:
    """Refuse containers that cannot be edited, or whose lengths differ."""
    check_records(X)
    is_plain = isinstance(y, list) or (isinstance(y, np.ndarray) and y.ndim == 1)
    if not (is_plain or is_from("pandas", "Series", y) or is_from("polars", "Series", y)):
        raise TypeError(
            "y must be a 1-D numpy array, a list or a pandas or polars Series, "
            f"got {_kind(y)}. Convert it to one of these."
        )
    if len(X) != len(y):
        raise ParameterError("X and y must have the same number of rows.")


def check_records(X: Any) -> None:
    """Refuse records that are neither a 2-D array nor a frame."""
    is_array = isinstance(X, np.ndarray) and X.ndim == 2
    if not (is_array or is_from("pandas", "DataFrame", X) or is_from("polars", "DataFrame", X)):
        raise TypeError(
            f"X must be a 2-D numpy array or a pandas or polars DataFrame, got {_kind(X)}. "
            "Convert it to one of these."
        )


def label_objects(y: Any) -> list[Any]:
    """The labels as Python objects; None where one is missing."""
    if is_from("pandas", "Series", y):
        y = y.to_numpy(dtype=object, na_value=None)  # its own missing values compare with nothing
    objects = y.tolist() if isinstance(y, np.ndarray) else list(y)
    # NaN is the only label that differs from itself.
    return [None if label is None or label != label else label for label in objects]


def column_names(X: Any) -> list[Any]:
    """The names of a frame's columns; the numbers of an array's."""
    return list(range(X.shape[1])) if isinstance(X, np.ndarray) else list(X.columns)


def column_position(X: Any, column: Any) -> int:
    """Where a column is: by its name, or by its number where no name is a number."""
    names = column_names(X)
    if column in names:
        return names.index(column)
    is_number = isinstance(column, (int, np.integer)) and not isinstance(column, bool)
    if is_number and all(isinstance(name, str) for name in names) and 0 <= column < len(names):
        return int(column)
    if isinstance(X, np.ndarray):
        raise ParameterError(
            f"column {column!r} must be the number of a column of X, from 0 to {len(names) - 1}: "
            "an array has no names."
        )
    raise ParameterError(
        f"column {column!r} must be one of the columns of X. Their names are in X.columns."
    )


# --- rows ---------------------------------------------------------------------------------------


def take_rows(container: Any, rows: Rows) -> Any:
    """A copy of some rows, in this order."""
    if isinstance(container, list):
        return [container[row] for row in rows.tolist()]
    if is_from("pandas", "DataFrame", container) or is_from("pandas", "Series", container):
        return container.take(rows)
    return container[rows]


def append_rows(container: Any, more: Any) -> Any:
    """A copy with more rows at the end; the rows of pandas are numbered afresh."""
    if isinstance(container, list):
        return container + more
    if isinstance(container, np.ma.MaskedArray):
        return np.ma.concatenate([container, more])  # type: ignore[no-untyped-call]
    if isinstance(container, np.ndarray):
        return np.concatenate([container, more])
    if is_from("polars", "DataFrame", container) or is_from("polars", "Series", container):
        import polars as pl

        return pl.concat([container, more])
    import pandas as pd

    return pd.concat([container, more], ignore_index=True)


# --- values -------------------------------------------------------------------------------------


def set_column(X: Any, position: int, value: Any) -> Any:
    """A copy of the records with one value in every row of a column."""
    name = f"column {column_names(X)[position]!r}"
    if isinstance(X, np.ndarray):
        changed = _array_for(X, value, name)
        changed[:, position] = value
        return changed
    everywhere = np.arange(len(X))
    if is_from("polars", "DataFrame", X):
        return X.with_columns(set_labels(X.to_series(position), everywhere, value, name))
    frame = X.copy()
    frame.isetitem(position, set_labels(X.iloc[:, position], everywhere, value, name))
    return frame


def set_labels(y: Any, rows: Rows, value: Any, name: str = "y") -> Any:
    """A copy of the labels with one value in some rows; `name` is how errors call them."""
    if isinstance(y, list):
        chosen = set(rows.tolist())
        return [value if row in chosen else label for row, label in enumerate(y)]
    if isinstance(y, np.ndarray):
        changed = _array_for(y, value, name)
        changed[rows] = value
        return changed
    if is_from("polars", "Series", y):
        places = np.arange(len(y))
        places[rows] = len(y)  # the row that is appended
        return append_rows(y, _polars_value(y, value, name))[places]
    _check_pandas_holds(y.dtype, value, name)
    changed = y.copy()
    changed.iloc[rows] = value
    return changed


def _array_for(array: NDArray[Any], value: Any, name: str) -> NDArray[Any]:
    """A copy of an array that can hold the value: strings may become wider."""
    dtype = array.dtype
    if dtype.kind == "U" and isinstance(value, str):
        dtype = np.result_type(dtype, np.array(value).dtype)
    _check_numpy_holds(dtype, value, name)
    return array.astype(dtype)


def _check_numpy_holds(dtype: np.dtype[Any], value: Any, name: str) -> None:
    if dtype.kind == "O":
        return
    try:
        with np.errstate(all="ignore"):
            held = np.array([value]).astype(dtype)[0]
            is_held = bool(held == value)
            if dtype.kind == "f" and not isinstance(value, str):  # it may be rounded
                is_held = bool(np.isfinite(held) == np.isfinite(value))
    except (TypeError, ValueError, OverflowError):
        is_held = False
    if not is_held:
        raise _cannot_hold(name, dtype, value)


def _check_pandas_holds(dtype: Any, value: Any, name: str) -> None:
    import pandas as pd

    if isinstance(dtype, np.dtype):
        return _check_numpy_holds(dtype, value, name)
    if isinstance(dtype, pd.CategoricalDtype):
        if value in dtype.categories:
            return None
        raise ParameterError(
            f"{name} must have {value!r} among its categories to hold it. Choose one that it has, "
            "or add it, to the training and the test table alike: .cat.add_categories(...)."
        )
    try:
        is_held = bool(pd.array([value], dtype=dtype)[0] == value)
    except (TypeError, ValueError, OverflowError):
        is_held = False
    if not is_held:
        raise _cannot_hold(name, dtype, value)
    return None


def _polars_value(series: Any, value: Any, name: str) -> Any:
    """A series of this one value, of the type of another series."""
    import polars as pl

    try:
        one = pl.Series(series.name, [value], dtype=series.dtype, strict=True)
        is_held = one[0] == value or (series.dtype.is_float() and one.is_finite()[0])
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        is_held = False
    if not is_held:
        raise _cannot_hold(name, series.dtype, value)
    return one


def _cannot_hold(name: str, dtype: Any, value: Any) -> ParameterError:
    return ParameterError(
        f"{name} must be able to hold {value!r} as it is, but is of type {dtype}. "
        "Choose another value, or convert it to a type that can."
    )


def _kind(value: Any) -> str:
    dimensions = f" of {value.ndim} dimensions" if isinstance(value, np.ndarray) else ""
    return type(value).__name__ + dimensions
