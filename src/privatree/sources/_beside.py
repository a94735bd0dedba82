"""Records in memory with what is passed beside them: ids of units, and sample weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from privatree._support.validation import check_same_length
from privatree.errors import ParameterError, SchemaError
from privatree.privacy import UNNAMED_UNIT
from privatree.schema import Schema
from privatree.sources._source import FrameRecords
from privatree.tables import (
    ColumnType,
    LazyColumn,
    Table,
    check_unit_type,
    check_weight_type,
    open_labels,
)


def open_frame_records(
    table: Table,
    target: Table,
    schema: Schema,
    *,
    sample_weight: Any,
    units: Any,
    max_weight: float,
) -> tuple[FrameRecords, str | None, bool]:
    """Return the records of a frame, the name of their unit, and whether they have weights.

    The number and the type of units and weights must fit. Units are by default the column that the
    schema names. The name is None if every record is a unit of its own.
    """
    weights = _open_beside("sample_weight", sample_weight, table, check_weight_type)
    if units is not None and schema.unit in (table.names or ()):
        raise ParameterError(
            f"units must be None, because X has the column {schema.unit!r}, the unit of the "
            "schema. Remove one of the two.",
            "units",
        )
    if units is None and schema.unit is not None:
        units = unit_column(table, schema.unit)
    opened = _open_beside("units", units, table, check_unit_type)
    records = FrameRecords(
        table, target, schema, units=opened, weights=weights, max_weight=max_weight
    )
    unit = None if opened is None else schema.unit or UNNAMED_UNIT
    return records, unit, weights is not None


def unit_column(table: Table, unit: str) -> Table:
    """Return the column of units of a frame. Raise a ParameterError if the frame has none."""
    names = table.names or []
    if names.count(unit) != 1:
        raise ParameterError(
            f"units must be given: the schema has the unit {unit!r}, and X must have one column of "
            "this name, or the ids must be passed as units=.",
            "units",
        )
    return Table(table.n_rows, [table.columns[names.index(unit)]])


def _open_beside(
    name: str, values: Any, table: Table, check_type: Callable[[str, ColumnType], None]
) -> LazyColumn | None:
    """Open ids of units, or weights; their number and type must fit."""
    if values is None:
        return None
    opened = open_labels(values, name)
    (column,) = opened.columns
    check_same_length(table.n_rows, opened.n_rows, name)
    if opened.n_rows == 0:  # the type of an empty array says nothing
        return column
    try:
        check_type(name, column.type)
    except SchemaError as error:
        raise ParameterError(str(error), name) from None
    return column
