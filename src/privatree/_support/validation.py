"""Checks of parameters. The error says what must hold and what was got, and names the parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from privatree.errors import ParameterError


def is_number(value: Any) -> bool:
    """Whether it is a number of Python or numpy; True and False are none."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def is_integer(value: Any) -> bool:
    """Whether it is an integer of Python or numpy; True and False are none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_number(name: str, value: Any, holds: Callable[[Any], bool], must: str) -> None:
    """Refuse anything but a number for which something holds.

    Parameters
    ----------
    name : str
        Of the parameter.
    value : object
        What was passed.
    holds : callable
        From a number to whether it is allowed. Of NaN no comparison is true.
    must : str
        What it must, in words: "be between 0 and 1".
    """
    if not is_number(value) or not holds(value):
        raise ParameterError(f"{name} must {must}, got {value!r}.", name)


def check_integer(
    name: str, value: Any, smallest: int, largest: int, *, unless: str | None = None
) -> None:
    """Refuse anything but an integer in a range.

    Parameters
    ----------
    name : str
        Of the parameter.
    value : object
        What was passed.
    smallest, largest : int
        The range, both included.
    unless : str, optional
        What else is allowed, as it is written in Python.
    """
    if not is_integer(value) or not smallest <= value <= largest:
        called = name if unless is None else f"{name} (if not {unless})"
        raise ParameterError(
            f"{called} must be an integer from {smallest} to {largest}, got {value!r}.", name
        )


def check_one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """Refuse anything but one of some words."""
    if not isinstance(value, str) or value not in allowed:
        words = " or ".join(f'"{word}"' for word in allowed)
        raise ParameterError(f"{name} must be {words}, got {value!r}.", name)


def check_same_length(n_rows: int, n_labels: int) -> None:
    """Refuse records and labels of different lengths, without a word on the lengths."""
    if n_rows != n_labels:
        raise ParameterError("X and y must have the same number of rows.", "y")


def list_some_names(names: Sequence[Any], at_most: int = 10, more: str = "more") -> str:
    """Names for a message: the first few, and how many there are besides.

    Parameters
    ----------
    names : sequence
        Of columns or classes, which are public.
    at_most : int, default=10
        How many are written out.
    more : str, default="more"
        What the others are called.
    """
    shown = ", ".join(map(repr, names[:at_most]))
    return shown if len(names) <= at_most else f"{shown} and {len(names) - at_most} {more}"
