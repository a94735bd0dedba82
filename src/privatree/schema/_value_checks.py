"""What may stand in a schema: finite numbers, text and labels, each checked and made plain."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from privatree.errors import SchemaError

Label: TypeAlias = str | bool | int | float
"""A category or class label: what TOML and JSON can both write down."""

_MAX_SHOWN_LENGTH = 80
_MAX_LABEL = 10**4000
"""Python neither prints nor reads much larger ones."""


def is_whole(value: float) -> bool:
    """Tell whether a number is one that an integer feature can have."""
    return float(value).is_integer()


def _plain(value: Any) -> Any:
    """A numpy scalar as the Python value it stands for."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "shape", None) == () else value


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # beyond the floats
        return False


def shown(value: Any) -> str:
    """A wrong value for a message, cut if it is long."""
    try:
        text = repr(value)
    except ValueError:  # of more digits than Python prints
        return "a number of thousands of digits"
    return text if len(text) <= _MAX_SHOWN_LENGTH else f"{text[: _MAX_SHOWN_LENGTH - 1]}…"


def finite_number(name: str, value: Any) -> float:
    """A finite number as Python's own; anything else is a :class:`SchemaError`."""
    value = _plain(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SchemaError(f"{name} must be a number, got {shown(value)}.")
    if not _is_finite(value):
        raise SchemaError(f"{name} must be a finite number, got {shown(value)}.")
    return int(value) if isinstance(value, int) else float(value)


def text_of(name: str, value: str) -> str:
    """Text as Python's own, that can be written to a file."""
    text = str.__str__(value)  # not str(): an enumeration prints its name there
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise SchemaError(f"{name} must be valid Unicode, got {text!r}.") from None
    return text


def label_of(name: str, value: Any) -> Label:
    """A category or class as Python's own."""
    value = _plain(value)
    if isinstance(value, str):
        return text_of(name, value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if abs(value) > _MAX_LABEL:
            raise SchemaError(f"{name} must not be numbers of thousands of digits.")
        return int(value)
    if isinstance(value, numbers.Real) and _is_finite(value):
        return float(value)
    raise SchemaError(f"{name} must be strings, whole or finite numbers, or booleans.")


def labels_of(name: str, values: Any, at_least: int) -> tuple[Label, ...]:
    """Distinct categories or classes, all of one kind."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise SchemaError(f"{name} must be a list, got {shown(values)}.")
    labels = tuple(label_of(name, value) for value in values)
    if len(labels) < at_least:
        raise SchemaError(f"{name} must list at least {at_least}, got {len(labels)}.")
    kinds = {"string" if isinstance(v, str) else "bool" if isinstance(v, bool) else "number"
             for v in labels}  # fmt: skip
    if len(kinds) > 1:
        raise SchemaError(f"{name} must be all of one kind, got {' and '.join(sorted(kinds))}.")
    seen: set[Label] = set()
    for label in labels:
        if label in seen:
            raise SchemaError(f"{name} must be distinct, got {label!r} twice.")
        seen.add(label)
    return labels


def marks_of(values: Any, known: tuple[str, ...]) -> tuple[str, ...]:
    """The names of unconfirmed entries, in the order of `known`; any other name is refused."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise SchemaError(f"unconfirmed must be a list of names, got {shown(values)}.")
    marks = list(values)
    for mark in marks:
        if not isinstance(mark, str) or mark not in known:
            raise SchemaError(
                f"unconfirmed must list some of {', '.join(known)}, got {shown(mark)}. Delete the "
                "line once every value is checked."
            )
    return tuple(name for name in known if name in marks)
