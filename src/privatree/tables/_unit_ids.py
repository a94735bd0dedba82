"""Ids of privacy units, such as persons: whole numbers or text that say who a row is about.

Ids are compared exactly: if two ids could be taken for one, a unit would change the weights of
another. So a value that may have lost digits or letters on the way is no id. A whole number and the
text that spells it are the same id, so that files of different types can be joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from privatree.errors import SchemaError
from privatree.tables._columns import CodedColumn, Column, ColumnType, NumberColumn
from privatree.tables._python_values import plain_python_values
from privatree.tables._text import BLANKS, MISSING_WORDS

_DAMAGED = "\N{REPLACEMENT CHARACTER}"
"""What readers put in the place of bytes that are not text: different ids can become the same."""
_MAX_EXACT = 2.0**53
"""Below this size, different whole numbers are different floats."""
_MAX_BITS = 4096
"""Largest size of a whole number as an id. Python refuses to write much larger ones."""


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
    plain = plain_python_values(column.values)
    for position, (given, value) in enumerate(zip(column.values, plain, strict=True)):
        unit_id = _as_unit_id(given, value)
        if unit_id is not None:
            known[position] = place_of.setdefault(unit_id, len(place_of))
    places = known[column.codes] if isinstance(column, CodedColumn) else known[:-1]
    return UnitIds(places, list(place_of))


def _as_unit_id(given: Any, plain: Any) -> str | None:
    """Return the id that a value spells; None if it is missing or not a whole number or text.

    `plain` is the value as text or a number. A float of 2^53 or more may have been another number.
    """
    kind = type(given)  # compared by identity: a class can claim to equal another class
    if kind is Decimal:
        is_whole = given.is_finite() and given == given.to_integral_value()
        return _whole_number_id(int(given)) if is_whole and given.adjusted() < 1000 else None
    if kind is UUID:
        return str(given)
    if isinstance(plain, str):
        return _text_id(plain)
    if plain is None or isinstance(plain, (bool, np.bool_)):
        return None
    if isinstance(plain, (float, np.floating)):
        number = float(plain)
        return str(int(number)) if number.is_integer() and abs(number) < _MAX_EXACT else None
    return _whole_number_id(int(plain))


def _text_id(text: str) -> str | None:
    """Return trimmed text; None if it is empty, a word for missing values, or damaged."""
    text = text.strip(BLANKS)
    if not text or text in MISSING_WORDS or _DAMAGED in text:
        return None
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a character
        return None
    return text


def _whole_number_id(number: int) -> str | None:
    return str(number) if number.bit_length() <= _MAX_BITS else None
