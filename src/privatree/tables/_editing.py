"""Copies of records and labels with rows added or values changed, in the user's own container.

Records are a 2-D numpy array or a pandas or polars frame. Labels are a 1-D array, a list or a
Series. The input is never changed, and types stay the same: a value that a column cannot hold is
refused; it is not cut, wrapped around or made a missing value. None, NaN and pandas.NA all mean a
missing value, and become the missing value of the column's type.
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
    """Raise an error unless records and labels can be edited and have the same length."""
    check_editable_records(X)
    is_plain = isinstance(y, list) or (isinstance(y, np.ndarray) and y.ndim == 1)
    if not (is_plain or is_instance_by_name(y, "pandas.Series", "polars.Series")):
        raise TypeError(
            "y must be a 1-D numpy array, a list or a pandas or polars Series, "
            f"got {_name_of_uneditable(y)}. Convert it to one of these."
        )
    check_same_length(len(X), len(y))


def check_editable_records(X: Any) -> None:
    """Raise a TypeError unless records are a 2-D array or a frame."""
    is_array = isinstance(X, np.ndarray) and X.ndim == 2
    if not (is_array or is_instance_by_name(X, "pandas.DataFrame", "polars.DataFrame")):
        raise TypeError(
            f"X must be a 2-D numpy array or a pandas or polars DataFrame, got "
            f"{_name_of_uneditable(X)}. Convert it to one of these."
        )


def labels_as_objects(y: Any) -> list[Any]:
    """Return the labels as Python objects; None for a missing label."""
    if is_instance_by_name(y, "pandas.Series"):
        y = y.to_numpy(dtype=object, na_value=None)  # pandas.NA cannot be compared
    objects = y.tolist() if isinstance(y, np.ndarray) else list(y)
    return [None if _edits_missing(label) else label for label in objects]


def column_names(X: Any) -> list[Any]:
    """Return the names of a frame's columns, or 0, 1, ... for an array."""
    return list(range(X.shape[1])) if isinstance(X, np.ndarray) else list(X.columns)


def column_position(X: Any, column: Any) -> int:
    """Return the position of a column, given its name or, if all names are text, its number."""
    names = column_names(X)
    if column in names:
        return names.index(column)
    is_text = all(isinstance(name, str) for name in names)
    if is_text and is_integer(column) and 0 <= column < len(names):
        return int(column)
    if isinstance(X, np.ndarray):
        raise ParameterError(
            f"column {column!r} must be a number from 0 to {len(names) - 1}: X is an array, whose "
            "columns have no names."
        )
    raise ParameterError(
        f"column {column!r} must be one of the columns of X. Their names are in X.columns."
    )


# --- rows ---------------------------------------------------------------------------------------


def take_rows(container: Any, rows: Rows) -> Any:
    """Return a copy of the given rows, in the given order."""
    if isinstance(container, list):
        return [container[row] for row in rows.tolist()]
    if is_instance_by_name(container, "pandas.DataFrame", "pandas.Series"):
        return container.take(rows)
    return container[rows]


def append_rows(container: Any, more: Any) -> Any:
    """Return a copy with more rows at the end. A pandas index becomes 0, 1, 2, ..."""
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
    """Return a copy of the records with the same value in every row of a column."""
    name = f"column {column_names(X)[position]!r}"
    if isinstance(X, np.ndarray):
        changed, held = _copy_to_edit(X, value, name)
        changed[:, position] = held
        return changed
    everywhere = np.arange(len(X))
    if is_instance_by_name(X, "polars.DataFrame"):
        return X.with_columns(set_labels(X.to_series(position), everywhere, value, name))
    frame = X.copy()
    frame.isetitem(position, set_labels(X.iloc[:, position], everywhere, value, name))
    return frame


def set_labels(y: Any, rows: Rows, value: Any, name: str = "y") -> Any:
    """Return a copy of labels, or of a column, with one value in some rows.

    `name` is the name of the labels or the column in error messages.
    """
    if isinstance(y, list):
        chosen = set(rows.tolist())
        return [value if row in chosen else label for row, label in enumerate(y)]
    if isinstance(y, np.ndarray):
        changed, held = _copy_to_edit(y, value, name)
        changed[rows] = held
        return changed
    if is_instance_by_name(y, "polars.Series"):
        places = np.arange(len(y))
        places[rows] = len(y)  # the row that is appended
        return append_rows(y, _edit_value_for_polars(y, value, name))[places]
    held = _edit_value_for_pandas(y.dtype, value, name)
    changed = y.copy()
    changed.iloc[rows] = held
    return changed


def _edits_missing(value: Any) -> bool:
    if value is None or value is getattr(sys.modules.get("pandas"), "NA", None):
        return True
    differs = value != value  # only NaN and NaT differ from themselves
    return isinstance(differs, (bool, np.bool_)) and bool(differs)


def _copy_to_edit(array: NDArray[Any], value: Any, name: str) -> tuple[NDArray[Any], Any]:
    """Return a copy of an array, with wider strings if needed, and the value to store in it."""
    if isinstance(array, np.ma.MaskedArray) and _edits_missing(value):
        return array.copy(), np.ma.masked
    dtype = array.dtype
    if dtype.kind == "U" and isinstance(value, str):
        dtype = np.result_type(dtype, np.array(value).dtype)
    return array.astype(dtype), _edit_value_for_numpy(dtype, value, name)


_MISSING_IN_NUMPY = {"f": np.nan, "M": np.datetime64("NaT"), "m": np.timedelta64("NaT")}


def _edit_value_for_numpy(dtype: np.dtype[Any], value: Any, name: str) -> Any:
    """Return the value to store in an array of this type; raise an error if it would change."""
    if dtype.kind == "O":
        return value
    if _edits_missing(value) and dtype.kind in _MISSING_IN_NUMPY:
        return _MISSING_IN_NUMPY[dtype.kind]
    try:
        with np.errstate(all="ignore"):
            held = np.array([value]).astype(dtype)[0]
            is_held = bool(held == value)
            if dtype.kind == "f" and not isinstance(value, str):  # rounding is allowed
                is_held = bool(np.isfinite(held) == np.isfinite(value))
    except (TypeError, ValueError, OverflowError):
        is_held = False
    if not is_held:
        raise _refused_edit(name, dtype, value)
    return value


def _edit_value_for_pandas(dtype: Any, value: Any, name: str) -> Any:
    """Return the value to store in a Series of this type; raise an error if it would change."""
    import pandas as pd

    if isinstance(dtype, np.dtype):
        return _edit_value_for_numpy(dtype, value, name)
    missing = _edits_missing(value)
    if isinstance(dtype, pd.CategoricalDtype) and not missing:
        if value in dtype.categories:
            return value
        raise ParameterError(
            f"{name} must have the category {value!r} to hold this value. Choose one of its "
            "categories, or add the category to the training and the test data: "
            ".cat.add_categories(...)."
        )
    held = dtype.na_value if missing else value
    try:
        one = pd.array([held], dtype=dtype)
        is_held = bool(one.isna()[0] if missing else one[0] == value)
    except (TypeError, ValueError, OverflowError):
        is_held = False
    if not is_held:
        raise _refused_edit(name, dtype, value)
    return held


def _edit_value_for_polars(series: Any, value: Any, name: str) -> Any:
    """Return the value as a Series of the same type; raise an error if it would change."""
    import polars as pl

    if _edits_missing(value):
        return pl.Series(series.name, [None], dtype=series.dtype)
    try:
        one = pl.Series(series.name, [value], dtype=series.dtype, strict=True)
        is_held = one[0] == value or (series.dtype.is_float() and one.is_finite()[0])
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        is_held = False
    if not is_held:
        raise _refused_edit(name, series.dtype, value)
    return one


def _refused_edit(name: str, dtype: Any, value: Any) -> ParameterError:
    return ParameterError(
        f"{name} must have a type that can hold {value!r} unchanged, got {dtype}. Choose another "
        f"value, or convert {name} to another type."
    )


def _name_of_uneditable(value: Any) -> str:
    dimensions = f" of {value.ndim} dimensions" if isinstance(value, np.ndarray) else ""
    return type(value).__name__ + dimensions
