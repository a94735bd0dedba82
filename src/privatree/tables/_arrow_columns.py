"""Columns in Arrow's memory format, from which pandas and polars columns are read too."""

from __future__ import annotations

from typing import Any

import numpy as np

from privatree.tables._columns import CodedColumn, Column, ColumnType, Kind, NumberColumn

_MAX_DICTIONARY = 2**30
"""Bytes of text of which a dictionary can hold all, whatever it is."""


def arrow_column_type(found: Any) -> ColumnType:
    """Return what an Arrow type declares."""
    import pyarrow as pa

    values = _values_type(found)
    kind: Kind = "other"
    if pa.types.is_boolean(values):
        kind = "bool"
    elif pa.types.is_integer(values) or pa.types.is_floating(values) or pa.types.is_decimal(values):
        kind = "number"
    elif _is_text(values):
        kind = "string"
    elif pa.types.is_null(values):  # declares only that every value is missing
        kind = "object"
    is_category = pa.types.is_dictionary(found)
    plain = _type_name(values)
    name = f"dictionary of {plain}" if is_category else plain
    return ColumnType(kind, name, pa.types.is_integer(values), is_category)


def _type_name(values: Any) -> str:
    """What a type is called, without what can come from content: digits, lengths, names inside."""
    import pyarrow as pa

    if pa.types.is_decimal(values):
        return "decimal"
    if pa.types.is_fixed_size_binary(values):
        return "fixed_size_binary"
    return str(values).partition("<")[0]


def read_arrow_column(data: Any) -> Column:
    """Read an Arrow array or chunked array of a type that :func:`arrow_column_type` can read."""
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
    if _is_text(data.type) and data.get_total_buffer_size() < _MAX_DICTIONARY:
        data = data.dictionary_encode()
    elif _is_text(data.type):  # a dictionary for each chunk, lest one be larger than Arrow's can be
        encoded = [chunk.dictionary_encode() for chunk in data.chunks]
        data = pa.chunked_array(encoded)
    if pa.types.is_dictionary(data.type):
        return _dictionary_column(data)
    if pa.types.is_decimal(data.type):
        # Digit by digit: Arrow itself multiplies by 0.01, which is not 1 / 100.
        data = data.cast(pa.string()).cast(pa.float64())
    if data.null_count == 0:
        return NumberColumn(data.to_numpy())
    nothing = False if pa.types.is_boolean(data.type) else 0
    filled = data.fill_null(pa.scalar(nothing).cast(data.type))
    return NumberColumn(filled.to_numpy(), data.is_null().to_numpy())


def _values_type(found: Any) -> Any:
    """The type of single values under an extension, a dictionary or an encoding of runs."""
    import pyarrow as pa

    if isinstance(found, pa.BaseExtensionType):
        return _values_type(found.storage_type)
    if pa.types.is_dictionary(found) or pa.types.is_run_end_encoded(found):
        return _values_type(found.value_type)
    return found


def _is_text(found: Any) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_string(found)
        or pa.types.is_large_string(found)
        or pa.types.is_string_view(found)
    )


def _dictionary_column(data: Any) -> CodedColumn:
    """Join the chunks, each of which can have its own dictionary."""
    if data.num_chunks == 1 and data.null_count == 0:
        (chunk,) = data.chunks
        return CodedColumn(chunk.indices.to_numpy(), _python_values(chunk.dictionary))
    codes: list[Any] = [np.empty(0, dtype=np.int64)]
    values: list[Any] = []
    dictionary, offset = None, 0
    for chunk in data.chunks:
        if dictionary is None or not chunk.dictionary.equals(dictionary):
            dictionary, offset = chunk.dictionary, len(values)
            values.extend(_python_values(dictionary))
        places = chunk.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64) + offset
        if chunk.indices.null_count:
            places[chunk.indices.is_null().to_numpy(zero_copy_only=False)] = -1
        codes.append(places)
    return CodedColumn(np.concatenate(codes), values)


def _python_values(dictionary: Any) -> list[Any]:
    """The values as Python objects; text that is not UTF-8 is no value."""
    import pyarrow as pa

    try:
        return list(dictionary.to_pylist())
    except UnicodeDecodeError:
        return [_decoded(value) for value in dictionary.cast(pa.large_binary()).to_pylist()]


def _decoded(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode("utf-8")
    except UnicodeDecodeError:
        return None
