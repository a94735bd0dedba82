"""Single Python objects of a column: which count as text, which as numbers, which as missing.

An object column can hold anything. The type of a value decides what it is, once per type and not
per value, so nothing that is neither text nor a number is ever compared, hashed or converted. Types
themselves are told apart by identity: a class can refuse to be hashed, or claim to equal another.
Whatever the code of a number says while it is converted, an exception or a warning, stays here.
"""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from threading import RLock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Plain: TypeAlias = str | int | float | None
"""What a value stands for: text, a number (booleans are numbers), or missing."""

_BASIC_TYPES: frozenset[type] = frozenset(
    {str, int, float, bool, type(None), np.str_, np.bool_, np.float16, np.float32, np.float64}
    | {np.dtype(code).type for code in np.typecodes["AllInteger"]}
)
"""Types that compare and hash like the Python value they stand for, without surprises."""
_BASIC = frozenset(map(id, _BASIC_TYPES))

_one_at_a_time = RLock()


def plain_python_values(values: Sequence[Any]) -> list[Any]:
    """Replace every value by the text or number it stands for, anything else by None.

    Parameters
    ----------
    values : sequence
        Any objects; unhashable and hostile ones too.

    Returns
    -------
    list
        As long as `values`. Numpy scalars are kept: they equal and hash like Python's own.
    """
    if set(map(id, map(type, values))) <= _BASIC:
        return list(values)
    with _unheard():
        kinds = {id(kind): kind for kind in map(type, values)}
        converters = {key: _converter(kind) for key, kind in kinds.items()}
        return [
            value if (convert := converters[id(type(value))]) is None else convert(value)
            for value in values
        ]


def python_values_to_numbers(values: Sequence[Any]) -> NDArray[np.float64]:
    """Read numbers; whatever is not a number is NaN, an int beyond the floats is infinite.

    Parameters
    ----------
    values : sequence
        Any objects. Text is not a number, even if it spells one.

    Returns
    -------
    ndarray of float64
        As long as `values`.
    """
    plain = plain_python_values(values)
    if any(issubclass(kind, str) for kind in set(map(type, plain))):
        plain = [None if isinstance(value, str) else value for value in plain]
    with np.errstate(all="ignore"):  # of numpy's scalars, a signalling NaN complains
        try:
            return np.array(plain, dtype=np.float64)
        except OverflowError:
            return np.array([_real(value) for value in plain], dtype=np.float64)


def is_missing_value(value: Any) -> bool:
    """Tell whether an object stands for "no value": None, NaN, or pandas' own marks."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, Decimal)) and math.isnan(_real(value))


def _converter(kind: type) -> Callable[[Any], Plain] | None:
    """How to read values of a type; None if they can stay as they are."""
    if id(kind) in _BASIC:
        return None
    try:
        if issubclass(kind, str):
            return str.__str__  # not str(): an enumeration prints its name there
        if issubclass(kind, int):
            return int.__int__  # not int(): the type may have its own idea of what it is
        if issubclass(kind, float):
            return float.__float__
        if issubclass(kind, np.timedelta64):  # a duration, though numpy counts it as an integer
            return _nothing
        if issubclass(kind, numbers.Integral):
            return _whole
        if issubclass(kind, (numbers.Real, Decimal)):
            return _real
    except Exception:  # a type may refuse even this question
        return _nothing
    return _nothing


@contextmanager
def _unheard() -> Iterator[None]:
    """Let conversions warn nobody: neither numpy's, nor those of types that we do not know."""
    # Filters of warnings are the process's: entered and left in turn, they are as they were.
    with _one_at_a_time, np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _nothing(value: Any) -> None:
    return None


def _whole(value: Any) -> int | None:
    try:
        return int(value)
    except Exception:
        return None


def _real(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return _infinity_towards(value)
    except Exception:
        return math.nan


def _infinity_towards(value: Any) -> float:
    try:
        return math.inf if value > 0 else -math.inf
    except Exception:
        return math.nan
