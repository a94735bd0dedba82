"""Checks of parameters. Each error names the parameter, what is allowed, and what was passed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from privatree.errors import ParameterError


def is_number(value: Any) -> bool:
    """Tell whether a value is a number of Python or numpy, but not a boolean."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def is_integer(value: Any) -> bool:
    """Tell whether a value is an integer of Python or numpy, but not a boolean."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_number(name: str, value: Any, holds: Callable[[Any], bool], must: str) -> None:
    """Raise a ParameterError unless a parameter is a number for which `holds` returns True.

    `must` says the condition in words: "be between 0 and 1". `holds` must return False for
    NaN, as every comparison with NaN does.
    """
    if not is_number(value) or not holds(value):
        raise ParameterError(f"{name} must {must}, got {value!r}.", name)


def check_integer(
    name: str, value: Any, smallest: int, largest: int, *, unless: str | None = None
) -> None:
    """Raise a ParameterError unless a parameter is an integer from `smallest` to `largest`.

    Both ends are allowed. `unless` is another allowed value, as Python code for the message; the
    caller tests for it.
    """
    if not is_integer(value) or not smallest <= value <= largest:
        called = name if unless is None else f"{name} (if not {unless})"
        raise ParameterError(
            f"{called} must be an integer from {smallest} to {largest}, got {value!r}.", name
        )


def check_one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """Raise a ParameterError unless a parameter is one of the allowed strings."""
    if not isinstance(value, str) or value not in allowed:
        words = " or ".join(f'"{word}"' for word in allowed)
        raise ParameterError(f"{name} must be {words}, got {value!r}.", name)


def check_same_length(n_rows: int, n_values: int, name: str = "y") -> None:
    """Raise a ParameterError unless the lengths, which it does not show, are equal."""
    if n_rows != n_values:
        raise ParameterError(f"X and {name} must have the same number of rows.", name)


def list_some_names(names: Sequence[Any], at_most: int = 10, more: str = "more") -> str:
    """Return the first names of columns or classes, quoted, and the number of the others."""
    shown = ", ".join(map(repr, names[:at_most]))
    return shown if len(names) <= at_most else f"{shown} and {len(names) - at_most} {more}"
