"""Ids of privacy units, such as persons: whole numbers or text that say whose record a row is.

Ids are compared exactly. A hash of an id would let one unit change the weights of another. A whole
number and the text that spells it are the same id, so that files of different types can be joined.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.errors import SchemaError
from privatree.tables._columns import CodedColumn, Column, ColumnType, NumberColumn
from privatree.tables._python_values import plain_python_values
from privatree.tables._text import BLANKS, MISSING_WORDS


class UnitIds(NamedTuple):
    """Ids of some rows."""

    places: NDArray[np.int64]
    """For each row, the position of its id in `ids`; -1 if the row has no id."""
    ids: list[str]
    """Distinct ids."""


def check_unit_type(where: str, found: ColumnType) -> None:
    """Raise a SchemaError if a column of this type cannot hold ids.

    The error message uses only the type, so it reveals nothing about any record.
    """
    is_whole = found.kind == "number" and found.is_integer
    if not is_whole and found.kind not in ("string", "object"):
        raise SchemaError(
            f"{where} must have whole numbers or text as ids of units, but has type {found.name}. "
            "Convert it to text, or to a type of whole numbers; with missing values, pandas has "
            '"Int64" for this.'
        )


def check_weight_type(where: str, found: ColumnType) -> None:
    """Raise a SchemaError if a column of this type cannot hold weights.

    The error message uses only the type, so it reveals nothing about any record.
    """
    if found.kind not in ("number", "bool", "object"):
        raise SchemaError(
            f"{where} must have numbers as weights, but has type {found.name}. Convert it to "
            "numbers."
        )


def read_unit_ids(column: Column) -> UnitIds:
    """Read the ids of all rows. Empty text and words such as NA are no ids."""
    if isinstance(column, NumberColumn):
        numbers, places = np.unique(column.values, return_inverse=True)
        places = places.astype(np.int64, copy=False)
        if column.missing is not None:
            places = np.where(column.missing, -1, places)
        return UnitIds(places, [str(number) for number in numbers.tolist()])
    place_of: dict[str, int] = {}
    found = np.full(len(column.values) + 1, -1, dtype=np.int64)  # a code of -1 finds the last
    for position, value in enumerate(plain_python_values(column.values)):
        unit_id = _as_unit_id(value)
        if unit_id is not None:
            found[position] = place_of.setdefault(unit_id, len(place_of))
    places = found[column.codes] if isinstance(column, CodedColumn) else found[:-1]
    return UnitIds(places, list(place_of))


def _as_unit_id(value: Any) -> str | None:
    """Return the id that a value spells; None if it is missing or not a whole number or text."""
    if isinstance(value, str):
        text = value.strip(BLANKS)
        return None if not text or text in MISSING_WORDS else text
    if isinstance(value, (float, np.floating)):
        return str(int(value)) if float(value).is_integer() else None
    if value is None or isinstance(value, (bool, np.bool_)):
        return None
    return str(int(value))
