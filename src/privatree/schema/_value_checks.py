"""Checks of the values in a schema: finite numbers, text, labels and names of unconfirmed entries.

Each check returns the value as a plain Python object (not a numpy scalar), or raises a SchemaError.
"""

from __future__ import annotations

import math
import numbers
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from privatree.errors import SchemaError

Label: TypeAlias = str | bool | int | float
"""A category or class label: a value that both TOML and JSON can store."""

_MAX_SHOWN_LENGTH = 80
_MAX_RECORDS = 2**40
_MAX_LABEL = 10**4000
"""Largest whole number that can be a label. Python refuses to print or parse longer numbers."""


def _numpy_scalar_to_python(value: Any) -> Any:
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "shape", None) == () else value


def _is_finite_value(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond the range of floats
        return False


def shorten_value(value: Any) -> str:
    """Return the repr of a wrong value for an error message, cut if it is long."""
    try:
        text = repr(value)
    except ValueError:  # a number with more digits than Python prints
        return "a number of thousands of digits"
    return text if len(text) <= _MAX_SHOWN_LENGTH else f"{text[: _MAX_SHOWN_LENGTH - 1]}…"


def check_schema_number(name: str, value: Any) -> float:
    """Return a finite number as an int or float; raise a SchemaError for any other value."""
    value = _numpy_scalar_to_python(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SchemaError(f"{name} must be a number, got {shorten_value(value)}.")
    if not _is_finite_value(value):
        raise SchemaError(f"{name} must be a finite number, got {shorten_value(value)}.")
    return int(value) if isinstance(value, int) else float(value)


def check_min_records(value: Any) -> int:
    """Return a number of records as an int; raise a SchemaError for any other value."""
    value = _numpy_scalar_to_python(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MAX_RECORDS:
        raise SchemaError(
            f"min_records must be a whole number from 1 to {_MAX_RECORDS}, "
            f"got {shorten_value(value)}."
        )
    return int(value)


def check_schema_bool(name: str, value: Any) -> None:
    """Raise a SchemaError unless a value is True or False."""
    if not isinstance(value, bool):
        raise SchemaError(f"{name} must be True or False, got {shorten_value(value)}.")


def check_schema_text(name: str, value: str) -> str:
    """Return text as a Python str; raise a SchemaError if UTF-8 cannot encode it."""
    text = str.__str__(value)  # not str(): for a member of an enumeration it gives the member name
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise SchemaError(f"{name} must be valid Unicode, got {text!r}.") from None
    return text


def check_schema_label(name: str, value: Any) -> Label:
    """Return a category or class as a plain Python value; raise a SchemaError for other objects."""
    value = _numpy_scalar_to_python(value)
    if isinstance(value, str):
        return check_schema_text(name, value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if abs(value) > _MAX_LABEL:
            raise SchemaError(f"{name} must not contain numbers with thousands of digits.")
        return int(value)
    if isinstance(value, numbers.Real) and _is_finite_value(value):
        return float(value)
    raise SchemaError(
        f"{name} must be strings, finite numbers or booleans, got {shorten_value(value)}."
    )


def check_schema_labels(name: str, values: Any, at_least: int) -> tuple[Label, ...]:
    """Return categories or classes; raise a SchemaError if they repeat or differ in type."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise SchemaError(f"{name} must be a list, got {shorten_value(values)}.")
    labels = tuple(check_schema_label(name, value) for value in values)
    if len(labels) < at_least:
        entries = "entry" if at_least == 1 else "entries"
        raise SchemaError(f"{name} must have at least {at_least} {entries}, got {len(labels)}.")
    kinds = {"strings" if isinstance(v, str) else "booleans" if isinstance(v, bool) else "numbers"
             for v in labels}  # fmt: skip
    if len(kinds) > 1:
        raise SchemaError(
            f"{name} must be all strings, all numbers or all booleans, "
            f"got {' and '.join(sorted(kinds))}."
        )
    label, count = max(Counter(labels).items(), key=lambda found: found[1])
    if count > 1:
        raise SchemaError(f"{name} must be distinct, got {label!r} more than once.")
    return labels


def check_unconfirmed_names(values: Any, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names in the order of `known`; raise a SchemaError for any other name."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise SchemaError(f"unconfirmed must be a list of names, got {shorten_value(values)}.")
    marks = list(values)
    for mark in marks:
        if not isinstance(mark, str) or mark not in known:
            raise SchemaError(
                f"unconfirmed must list names among {', '.join(known)}, got {shorten_value(mark)}. "
                "Delete the line 'unconfirmed' after you have checked every value."
            )
    return tuple(name for name in known if name in marks)


def check_schema_keys(
    where: str, table: dict[Any, Any], allowed: set[str], needed: set[str]
) -> None:
    if unknown := sorted(str(key) for key in table.keys() - allowed):
        raise SchemaError(
            f"{where} has the unknown key {unknown[0]!r}; known keys are {sorted(allowed)}."
        )
    if absent := sorted(needed - table.keys()):
        raise SchemaError(f"{where} must have the key {absent[0]!r}, but lacks it. Add it.")
