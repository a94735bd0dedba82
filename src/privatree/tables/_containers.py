"""Columns of numpy arrays, lists, pandas, polars and Arrow.

pandas and polars are imported only if the user's object comes from them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from privatree.tables._arrow_columns import arrow_column_type, read_arrow_column
from privatree.tables._columns import (
    CodedColumn,
    Column,
    ColumnType,
    LazyColumn,
    NumberColumn,
    ValueColumn,
)

_Converted = TypeVar("_Converted")


@dataclass(frozen=True)
class Table:
    """The columns of a container, whose content is not read yet.

    `n_rows` is private. `names` are the container's own column names, of any type. `array` is the
    whole content as one array of numbers without a mask, if it is stored in this way. `has_shape`
    is False for a list without rows, whose number of columns is unknown.
    """

    n_rows: int
    columns: list[LazyColumn]
    names: list[Any] | None = None
    array: NDArray[Any] | None = None
    has_shape: bool = True


def is_instance_by_name(value: Any, *names: str) -> bool:
    """Tell whether a value is an instance of a class such as "pandas.Series", without an import."""
    parts = (name.rpartition(".") for name in names)
    found = (getattr(sys.modules.get(module), name, None) for module, _, name in parts)
    return any(kind is not None and isinstance(value, kind) for kind in found)


def convert_container(convert: Callable[[], _Converted], refusal: str) -> _Converted:
    """Call a function of another library; raise a TypeError in place of any error but MemoryError.

    The text of the original error can show a record, so it is not even kept as the context.
    """
    try:
        return convert()
    except MemoryError:
        raise
    except Exception:
        pass
    raise TypeError(f"{refusal} yourself to see the error.")


# --- numpy and lists ----------------------------------------------------------------------------


def numpy_table(array: NDArray[Any]) -> Table:
    """Open a two-dimensional array."""
    column_type = numpy_type(array.dtype)
    is_plain = array.dtype.kind in "biuf" and not isinstance(array, np.ma.MaskedArray)
    return Table(
        n_rows=array.shape[0],
        columns=[
            LazyColumn(column_type, partial(numpy_column, array[:, i]))
            for i in range(array.shape[1])
        ],
        array=np.asarray(array) if is_plain else None,
    )


def list_table(rows: Sequence[Sequence[Any]]) -> Table:
    """Open a list of rows. It has no types, so every column is read value by value."""
    width = len(rows[0]) if rows else 0
    if any(len(row) != width for row in rows):
        raise ValueError(
            "every row of X must have the same number of values. Use None for a missing value."
        )
    return Table(
        n_rows=len(rows),
        columns=[object_column(partial(_list_values_at, rows, i)) for i in range(width)],
        has_shape=len(rows) > 0,
    )


def _list_values_at(rows: Sequence[Sequence[Any]], i: int) -> list[Any]:
    return [row[i] for row in rows]


def object_column(values: Any) -> LazyColumn:
    """Open a column without a type; `values` is a function that returns the list of values."""
    return LazyColumn(ColumnType("object", "object"), lambda: ValueColumn(values()))


def numpy_type(dtype: np.dtype[Any]) -> ColumnType:
    """Return the column type for a numpy type, without string lengths, which depend on values."""
    match dtype.kind:
        case "b":
            return ColumnType("bool", "bool")
        case "i" | "u" | "f":
            return ColumnType("number", dtype.name, is_integer=dtype.kind != "f")
        case "U" | "T":
            return ColumnType("string", "str")
        case "O":
            return ColumnType("object", "object")
        case "S" | "V":
            return ColumnType("other", "bytes")
        case _:
            return ColumnType("other", str(dtype))


def numpy_column(values: NDArray[Any]) -> Column:
    """Read a one-dimensional array; the masked values of a masked array are missing."""
    mask = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    values = np.asarray(values)
    if values.dtype.kind in "biuf":
        return NumberColumn(values, mask)
    try:
        objects = values.tolist()
    except Exception:  # code points that do not exist in Unicode
        points = np.ascontiguousarray(values).view(np.uint32)
        existing = np.where(points > sys.maxunicode, 0xFFFD, points).astype(np.uint32)
        objects = existing.view(values.dtype).tolist()
    if mask is not None:
        objects = [None if gone else value for value, gone in zip(objects, mask, strict=True)]
    return ValueColumn(objects)


# --- pandas -------------------------------------------------------------------------------------


def pandas_table(frame: Any) -> Table:
    """Open a pandas DataFrame."""
    dtypes = list(frame.dtypes)
    return Table(
        n_rows=len(frame),
        columns=[
            LazyColumn(pandas_type(dtype), partial(_pandas_column_at, frame, i))
            for i, dtype in enumerate(dtypes)
        ],
        names=list(frame.columns),
        array=_array_behind_frame(frame, dtypes),
    )


def pandas_type(dtype: Any) -> ColumnType:
    """Return the column type for a pandas type."""
    import pandas as pd

    if isinstance(dtype, np.dtype):
        return numpy_type(dtype)
    if isinstance(dtype, pd.CategoricalDtype):
        values = pandas_type(np.dtype(object) if dtype.categories is None
                             else dtype.categories.dtype)  # fmt: skip
        return ColumnType(values.kind, f"category of {values.name}", values.is_integer, True)
    if isinstance(dtype, pd.StringDtype):
        return ColumnType("string", "str")
    if isinstance(dtype, pd.ArrowDtype):
        return arrow_column_type(dtype.pyarrow_dtype)
    if isinstance(dtype, pd.SparseDtype):
        return numpy_type(dtype.subtype)
    if pd.api.types.is_bool_dtype(dtype):
        return ColumnType("bool", str(dtype))
    if pd.api.types.is_numeric_dtype(dtype):
        return ColumnType("number", str(dtype), pd.api.types.is_integer_dtype(dtype))
    return ColumnType("other", str(dtype))


def pandas_column(series: Any) -> Column:
    """Read a pandas Series."""
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return CodedColumn(series.array.codes, dtype.categories.tolist())
    if isinstance(dtype, (np.dtype, pd.SparseDtype)):
        return numpy_column(series.to_numpy())
    if getattr(dtype, "storage", "pyarrow") == "python":
        return ValueColumn(series.to_numpy(dtype=object).tolist())
    return read_arrow_column(series.array.__arrow_array__())


def _pandas_column_at(frame: Any, i: int) -> Column:
    names = frame.columns
    by_name = names.is_unique and names.nlevels == 1  # five times faster than by position
    return pandas_column(frame[names[i]] if by_name else frame.iloc[:, i])


def _array_behind_frame(frame: Any, dtypes: list[Any]) -> NDArray[Any] | None:
    """Return the array behind a frame without a copy; None if its rows are not contiguous."""
    is_uniform = len(set(dtypes)) == 1 and isinstance(dtypes[0], np.dtype)
    if not is_uniform or dtypes[0].kind not in "biuf":
        return None
    first = frame.iloc[:, 0].to_numpy()
    by_rows = first.strides[0] == dtypes[0].itemsize * len(dtypes)
    array: NDArray[Any] | None = frame.to_numpy() if by_rows else None
    return array


# --- polars and Arrow ---------------------------------------------------------------------------


def polars_table(frame: Any) -> Table:
    """Open a polars DataFrame."""
    columns = [polars_column(series) for series in frame.get_columns()]
    return Table(n_rows=frame.height, columns=columns, names=list(frame.columns))


def polars_column(series: Any) -> LazyColumn:
    """Open a polars Series."""
    import polars as pl

    name = series.dtype.base_type().__name__
    if series.dtype == pl.Object:
        return object_column(series.to_list)
    if name in ("Int128", "UInt128"):  # Arrow has no such type
        wide = ColumnType("number", name, is_integer=True)
        return LazyColumn(wide, lambda: read_arrow_column(series.cast(pl.Float64).to_arrow()))
    try:
        found = arrow_column_type(series.clear().to_arrow().type)
    except Exception:  # a nested type that Arrow does not have
        found = ColumnType("other", name)
    column_type = ColumnType(found.kind, name, found.is_integer, found.is_category)
    return LazyColumn(column_type, lambda: read_arrow_column(series.to_arrow()))


def arrow_table(data: Any) -> Table:
    """Open an Arrow table, a record batch or any object with an Arrow stream."""
    import pyarrow as pa

    table = data
    if not isinstance(data, pa.Table):
        refusal = f"X must be a table, got a {type(data).__name__} that pyarrow cannot convert."
        table = convert_container(lambda: pa.table(data), f"{refusal} Call pyarrow.table(X)")
    columns = [
        LazyColumn(arrow_column_type(column.type), partial(read_arrow_column, column))
        for column in table.columns
    ]
    return Table(n_rows=table.num_rows, columns=columns, names=list(table.column_names))
