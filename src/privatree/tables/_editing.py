"""Copies of tables with rows added and values changed, in the container that was given.

Records are a 2-D numpy array, a pandas or a polars frame; labels a 1-D array, a list or a Series.
Nothing here changes its input, and types stay as they are: a value that a column cannot hold is
refused instead of being cut, wrapped around or turned into a missing one. None, NaN and pandas.NA
all mean a missing value, which becomes what the column has for it.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.validation import check_same_length, is_integer
from privatree.errors import ParameterError
from privatree.tables._containers import is_instance_by_name

Rows = NDArray[np.intp]


def check_editable_table(X: Any, y: Any) -> None:
    """Refuse containers that cannot be edited, or whose lengths differ."""
    check_editable_records(X)
    is_plain = isinstance(y, list) or (isinstance(y, np.ndarray) and y.ndim == 1)
    if not (is_plain or is_instance_by_name(y, "pandas.Series", "polars.Series")):
        raise TypeError(
            "y must be a 1-D numpy array, a list or a pandas or polars Series, "
            f"got {_kind(y)}. Convert it to one of these."
        )
    check_same_length(len(X), len(y))


def check_editable_records(X: Any) -> None:
    """Refuse records that are neither a 2-D array nor a frame."""
    is_array = isinstance(X, np.ndarray) and X.ndim == 2
    if not (is_array or is_instance_by_name(X, "pandas.DataFrame", "polars.DataFrame")):
        raise TypeError(
            f"X must be a 2-D numpy array or a pandas or polars DataFrame, got {_kind(X)}. "
            "Convert it to one of these."
        )


def labels_as_objects(y: Any) -> list[Any]:
    """The labels as Python objects; None where one is missing."""
    if is_instance_by_name(y, "pandas.Series"):
        y = y.to_numpy(dtype=object, na_value=None)  # its own missing values compare with nothing
    objects = y.tolist() if isinstance(y, np.ndarray) else list(y)
    return [None if _is_missing(label) else label for label in objects]


def column_names(X: Any) -> list[Any]:
    """The names of a frame's columns; the numbers of an array's."""
    return list(range(X.shape[1])) if isinstance(X, np.ndarray) else list(X.columns)


def column_position(X: Any, column: Any) -> int:
    """Where a column is: by its name, or by its number where no name is a number."""
    names = column_names(X)
    if column in names:
        return names.index(column)
    if (
        is_integer(column)
        and all(isinstance(name, str) for name in names)
        and 0 <= column < len(names)
    ):
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
    if is_instance_by_name(container, "pandas.DataFrame", "pandas.Series"):
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
    if is_instance_by_name(container, "polars.DataFrame", "polars.Series"):
        import polars as pl

        return pl.concat([container, more])
    import pandas as pd

    return pd.concat([container, more], ignore_index=True)


# --- values -------------------------------------------------------------------------------------


def set_column(X: Any, position: int, value: Any) -> Any:
    """A copy of the records with one value in every row of a column."""
    name = f"column {column_names(X)[position]!r}"
    if isinstance(X, np.ndarray):
        changed, held = _array_for(X, value, name)
        changed[:, position] = held
        return changed
    everywhere = np.arange(len(X))
    if is_instance_by_name(X, "polars.DataFrame"):
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
        changed, held = _array_for(y, value, name)
        changed[rows] = held
        return changed
    if is_instance_by_name(y, "polars.Series"):
        places = np.arange(len(y))
        places[rows] = len(y)  # the row that is appended
        return append_rows(y, _polars_value(y, value, name))[places]
    held = _held_by_pandas(y.dtype, value, name)
    changed = y.copy()
    changed.iloc[rows] = held
    return changed


def _is_missing(value: Any) -> bool:
    if value is None or value is getattr(sys.modules.get("pandas"), "NA", None):
        return True
    differs = value != value  # of all values only NaN and NaT differ from themselves
    return isinstance(differs, (bool, np.bool_)) and bool(differs)


def _array_for(array: NDArray[Any], value: Any, name: str) -> tuple[NDArray[Any], Any]:
    """A copy of an array that can hold the value, and how; strings may become wider."""
    if isinstance(array, np.ma.MaskedArray) and _is_missing(value):
        return array.copy(), np.ma.masked
    dtype = array.dtype
    if dtype.kind == "U" and isinstance(value, str):
        dtype = np.result_type(dtype, np.array(value).dtype)
    return array.astype(dtype), _held_by_numpy(dtype, value, name)


_MISSING_IN_NUMPY = {"f": np.nan, "M": np.datetime64("NaT"), "m": np.timedelta64("NaT")}


def _held_by_numpy(dtype: np.dtype[Any], value: Any, name: str) -> Any:
    """The value as an array of this type takes it; refused if it would be another there."""
    if dtype.kind == "O":
        return value
    if _is_missing(value) and dtype.kind in _MISSING_IN_NUMPY:
        return _MISSING_IN_NUMPY[dtype.kind]
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
    return value


def _held_by_pandas(dtype: Any, value: Any, name: str) -> Any:
    """The value as a series of this type takes it; refused if it would be another there."""
    import pandas as pd

    if isinstance(dtype, np.dtype):
        return _held_by_numpy(dtype, value, name)
    missing = _is_missing(value)
    if isinstance(dtype, pd.CategoricalDtype) and not missing:
        if value in dtype.categories:
            return value
        raise ParameterError(
            f"{name} must have {value!r} among its categories to hold it. Choose one that it has, "
            "or add it, to the training and the test table alike: .cat.add_categories(...)."
        )
    held = dtype.na_value if missing else value
    try:
        one = pd.array([held], dtype=dtype)
        is_held = bool(one.isna()[0] if missing else one[0] == value)
    except (TypeError, ValueError, OverflowError):
        is_held = False
    if not is_held:
        raise _cannot_hold(name, dtype, value)
    return held


def _polars_value(series: Any, value: Any, name: str) -> Any:
    """A series of this one value, of the type of another series."""
    import polars as pl

    if _is_missing(value):
        return pl.Series(series.name, [None], dtype=series.dtype)
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
