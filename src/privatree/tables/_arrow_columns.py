"""Columns in Arrow's memory format. Many columns of pandas and polars are read through Arrow."""

from __future__ import annotations

from typing import Any

import numpy as np

from privatree.tables._columns import CodedColumn, Column, ColumnType, Kind, NumberColumn

_MAX_DICTIONARY = 2**30
"""Number of bytes of text that always fit in one Arrow dictionary."""


def arrow_column_type(found: Any) -> ColumnType:
    """Return the column type for an Arrow type."""
    import pyarrow as pa

    values = _arrow_value_type(found)
    kind: Kind = "other"
    if pa.types.is_boolean(values):
        kind = "bool"
    elif pa.types.is_integer(values) or pa.types.is_floating(values) or pa.types.is_decimal(values):
        kind = "number"
    elif _is_arrow_text(values):
        kind = "string"
    elif pa.types.is_null(values):  # the type says only that every value is missing
        kind = "object"
    is_category = pa.types.is_dictionary(found)
    # The name must not have what can come from content: digits, lengths, names of fields.
    name = str(values).partition("<")[0]
    if pa.types.is_decimal(values):
        name = "decimal"
    elif pa.types.is_fixed_size_binary(values):
        name = "fixed_size_binary"
    name = f"dictionary of {name}" if is_category else name
    return ColumnType(kind, name, pa.types.is_integer(values), is_category)


def read_arrow_column(data: Any) -> Column:
    """Read an Arrow array or chunked array whose column type is not "other"."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(data, pa.ChunkedArray):
        data = pa.chunked_array([data])
    if isinstance(data.type, pa.BaseExtensionType):
        data = data.cast(data.type.storage_type)
    if pa.types.is_run_end_encoded(data.type):
        data = pc.run_end_decode(data)
    if pa.types.is_null(data.type):
        return CodedColumn(np.full(len(data), -1, dtype=np.int8), ())
    if _is_arrow_text(data.type) and data.get_total_buffer_size() < _MAX_DICTIONARY:
        data = data.dictionary_encode()
    elif _is_arrow_text(data.type):  # a dictionary per chunk: one for all could be too large
        encoded = [chunk.dictionary_encode() for chunk in data.chunks]
        data = pa.chunked_array(encoded)
    if pa.types.is_dictionary(data.type):
        return _join_arrow_dictionaries(data)
    if pa.types.is_decimal(data.type):
        # Through text, to get the nearest float: Arrow itself multiplies by 0.01, an inexact float.
        data = data.cast(pa.string()).cast(pa.float64())
    if data.null_count == 0:
        return NumberColumn(data.to_numpy())
    nothing = False if pa.types.is_boolean(data.type) else 0
    filled = data.fill_null(pa.scalar(nothing).cast(data.type))
    return NumberColumn(filled.to_numpy(), data.is_null().to_numpy())


def _arrow_value_type(found: Any) -> Any:
    """Return the type of single values inside an extension, dictionary or run-end type."""
    import pyarrow as pa

    if isinstance(found, pa.BaseExtensionType):
        return _arrow_value_type(found.storage_type)
    if pa.types.is_dictionary(found) or pa.types.is_run_end_encoded(found):
        return _arrow_value_type(found.value_type)
    return found


def _is_arrow_text(found: Any) -> bool:
    import pyarrow as pa

    return found in (pa.string(), pa.large_string(), pa.string_view())


def _join_arrow_dictionaries(data: Any) -> CodedColumn:
    """Join the chunks of a dictionary column; each chunk can have its own dictionary."""
    if data.num_chunks == 1 and data.null_count == 0:
        (chunk,) = data.chunks
        return CodedColumn(chunk.indices.to_numpy(), _arrow_to_python(chunk.dictionary))
    codes: list[Any] = [np.empty(0, dtype=np.int64)]
    values: list[Any] = []
    dictionary, offset = None, 0
    for chunk in data.chunks:
        if dictionary is None or not chunk.dictionary.equals(dictionary):
            dictionary, offset = chunk.dictionary, len(values)
            values.extend(_arrow_to_python(dictionary))
        places = chunk.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64) + offset
        if chunk.indices.null_count:
            places[chunk.indices.is_null().to_numpy(zero_copy_only=False)] = -1
        codes.append(places)
    return CodedColumn(np.concatenate(codes), values)


def _arrow_to_python(dictionary: Any) -> list[Any]:
    """Return the values as Python objects; text that is not valid UTF-8 becomes None."""
    import pyarrow as pa

    def decode(value: bytes | None) -> str | None:
        try:
            return None if value is None else value.decode("utf-8")
        except UnicodeDecodeError:
            return None

    try:
        return list(dictionary.to_pylist())
    except UnicodeDecodeError:
        return [decode(value) for value in dictionary.cast(pa.large_binary()).to_pylist()]
