"""Single Python objects of a column: text, numbers or missing values.

An object column can hold anything. The type of a value decides how the value is read, so an object
that is neither text nor a number is never compared, hashed or converted. Types are compared by
identity: a class can refuse to be hashed, or claim to equal another class. Exceptions and warnings
during the conversion of a number are suppressed.
"""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from threading import RLock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Plain: TypeAlias = str | int | float | None
"""A converted value: text, a number (booleans are numbers), or None if it is missing."""

_BASIC_TYPES: frozenset[type] = frozenset(
    {str, int, float, bool, type(None), np.str_, np.bool_, np.float16, np.float32, np.float64}
    | {np.dtype(code).type for code in np.typecodes["AllInteger"]}
)
"""Types whose values compare and hash like plain Python values, so they are not converted."""
_BASIC = frozenset(map(id, _BASIC_TYPES))

_one_at_a_time = RLock()


def plain_python_values(values: Sequence[Any]) -> list[Any]:
    """Convert every value to text or a number; any other object becomes None.

    Values can be any objects, even unhashable or hostile ones. Numpy scalars are kept: they compare
    and hash like Python numbers.
    """
    if set(map(id, map(type, values))) <= _BASIC:
        return list(values)
    with _without_value_warnings():
        kinds = {id(kind): kind for kind in map(type, values)}
        converters = {key: _value_converter(kind) for key, kind in kinds.items()}
        return [
            value if (convert := converters[id(type(value))]) is None else convert(value)
            for value in values
        ]


def python_values_to_numbers(values: Sequence[Any]) -> NDArray[np.float64]:
    """Convert values to float64; an object that is not a number becomes NaN.

    Text is not a number, even if it looks like one. An int beyond the range of floats is infinite.
    """
    plain = plain_python_values(values)
    if any(issubclass(kind, str) for kind in set(map(type, plain))):
        plain = [None if isinstance(value, str) else value for value in plain]
    with np.errstate(all="ignore"):  # a signalling NaN of a numpy scalar warns
        try:
            return np.array(plain, dtype=np.float64)
        except OverflowError:
            return np.array([_value_to_float(value) for value in plain], dtype=np.float64)


def is_missing_value(value: Any) -> bool:
    """Tell whether an object is a missing value: None, NaN, pandas.NA or pandas.NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, Decimal)) and math.isnan(_value_to_float(value))


def _value_converter(kind: type) -> Callable[[Any], Plain] | None:
    """Return the function that converts values of a type; None if values are kept unchanged."""
    if id(kind) in _BASIC:
        return None
    with suppress(Exception):  # a type can raise an error even in issubclass
        if issubclass(kind, str):
            return str.__str__  # not str(): for a member of an enumeration it gives the name
        if issubclass(kind, int):
            return int.__int__  # not int(): the type may define another conversion
        if issubclass(kind, float):
            return float.__float__
        if issubclass(kind, np.timedelta64):  # a duration, although numpy says it is an integer
            return _value_to_none
        if issubclass(kind, numbers.Integral):
            return _value_to_int
        if issubclass(kind, (numbers.Real, Decimal)):
            return _value_to_float
    return _value_to_none


@contextmanager
def _without_value_warnings() -> Iterator[None]:
    # Warning filters belong to the process. One thread at a time changes and restores them.
    with _one_at_a_time, np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _value_to_none(value: Any) -> None:
    return None


def _value_to_int(value: Any) -> int | None:
    try:
        return int(value)
    except Exception:
        return None


def _value_to_float(value: Any) -> float:
    try:
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    except Exception:
        return math.nan
