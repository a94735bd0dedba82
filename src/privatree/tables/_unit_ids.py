"""Ids of privacy units, such as persons: whole numbers or text that say whose record a row is.

Ids are compared exactly. A hash of an id would let one unit change the weights of another. A whole
number and the text that spells it are the same id, so that files of different types can be joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.errors import SchemaError
from privatree.tables._columns import CodedColumn, Column, ColumnType, NumberColumn
from privatree.tables._python_values import plain_python_values
from privatree.tables._text import BLANKS, MISSING_WORDS


@dataclass(frozen=True, eq=False)
class UnitIds:
    """Ids of some rows.

    Parameters
    ----------
    places : array of int64
        For each row, the position of its id in `ids`; -1 if the row has no id.
    distinct : array of integers, or sequence of str
        Distinct ids.
    """

    places: NDArray[np.int64]
    distinct: NDArray[Any] | Sequence[str]

    @cached_property
    def ids(self) -> list[str]:
        """Distinct ids as text."""
        if isinstance(self.distinct, np.ndarray):
            return [str(number) for number in self.distinct.tolist()]
        return list(self.distinct)


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
        import pandas as pd

        values = column.values if column.missing is None else column.values[~column.missing]
        found, numbers = pd.factorize(values)
        if column.missing is None:
            return UnitIds(found, numbers)
        places = np.full(len(column.values), -1, dtype=np.int64)
        places[~column.missing] = found
        return UnitIds(places, numbers)
    place_of: dict[str, int] = {}
    known = np.full(len(column.values) + 1, -1, dtype=np.int64)  # a code of -1 finds the last
    for position, value in enumerate(plain_python_values(column.values)):
        unit_id = _as_unit_id(value)
        if unit_id is not None:
            known[position] = place_of.setdefault(unit_id, len(place_of))
    places = known[column.codes] if isinstance(column, CodedColumn) else known[:-1]
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
