"""What was read from files, as one Arrow table whose types the schema alone decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from privatree.errors import SchemaError
from privatree.schema import Feature, Label, Numeric
from privatree.tables import Column, to_codes, to_numbers


@dataclass(frozen=True)
class FileRecords:
    """What was read from files.

    Parameters
    ----------
    features : pyarrow.Table
        The columns of the schema, in its order.
    labels : pyarrow.ChunkedArray or None
        The label of each row, if a target was named.
    ignored : tuple of str
        The columns of the files that were not read. Their names are public.
    """

    features: Any
    labels: Any
    ignored: tuple[str, ...]


def typed_array(column: Column, feature: Feature) -> Any:
    """An Arrow array of the type that a feature declares."""
    import pyarrow as pa

    if isinstance(feature, Numeric):
        return pa.array(to_numbers(column))
    codes = to_codes(column, feature.categories, -1, np.int32)
    return pa.DictionaryArray.from_arrays(
        pa.array(codes, mask=codes < 0), _arrow_labels(feature.categories)
    )


def _arrow_labels(labels: Sequence[Label]) -> Any:
    import pyarrow as pa

    if isinstance(labels[0], (str, bool)):
        return pa.array(labels)
    is_whole = all(isinstance(label, int) for label in labels)
    try:
        values = pa.array(labels, pa.int64() if is_whole else pa.float64())
    except (OverflowError, pa.ArrowInvalid):
        values = None
    if values is None or values.to_pylist() != list(labels):
        raise SchemaError("categories and classes in files must be numbers of 64 bits or text.")
    return values


def joined_records(
    tables: Sequence[Any], target: str | None, ignored: tuple[str, ...]
) -> FileRecords:
    """Join the tables of several files, and take the labels out of them.

    Raises
    ------
    SchemaError
        If a column has types that cannot be one.
    """
    import pyarrow as pa

    try:
        table = pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException:
        raise SchemaError("a column must have one type in all files.") from None
    if target is None:
        return FileRecords(table, None, ignored)
    return FileRecords(table.drop_columns([target]), table.column(target), ignored)
