"""JSON files of strangers: read strictly, and at a cost that a file of that size should have.

Python reads more than JSON has (NaN, a key twice, whole numbers beyond the floats), and a list of
empty lists takes 20 times the memory of its text. So what a file may ask for is bounded before it
is understood.
"""

from __future__ import annotations

import gc
import json
import math
import os
from collections.abc import Callable
from typing import Any, TypeVar

from privatree.errors import ModelFormatError

Loaded = TypeVar("Loaded")

MAX_BYTES = 32 * 2**20
MAX_VALUES = 1_250_000
"""In a file: what a full tree of 16 levels takes, and its spends."""
MAX_NAMES = 100_000
"""In a file: keys that are not those of the format, such as names of features."""

_ALWAYS_SMALL = 2**22
"""Bytes of a file that takes no more than 200 MB whatever it holds."""
_MAX_MESSAGE = 300
_FORMAT_NAMES = (
    *("feature", "threshold", "categories", "left", "right", "label", "probability"),
    *("mechanism", "epsilon", "delta", "times", "purpose", "node"),
)
"""The keys that a large file repeats: those of nodes and of spends."""


def read_json(
    path: str | os.PathLike[str], what: str, understand: Callable[[Any], Loaded]
) -> Loaded:
    """Read a file; every mistake in it is a :class:`ModelFormatError` of one line.

    Parameters
    ----------
    path : path
        The file; messages start with it.
    what : str
        What the file must be, for messages: "a model file".
    understand : callable
        From plain dictionaries and lists to what they mean, or a :class:`ModelFormatError`.

    Returns
    -------
    object
        What `understand` returns.
    """
    try:
        return understand(_parsed(path, what))
    except RecursionError:
        message = f"{what} must be JSON that is not nested so deeply."
    except ModelFormatError as error:
        message = str(error)
    raise ModelFormatError(f"{path}: {shorten_message(message)}")


def check_json_size(encoded: bytes, what: str) -> None:
    """Refuse a file that would take much more memory than any that is written here.

    Parameters
    ----------
    encoded : bytes
        What the file holds.
    what : str
        What it must be, for the message.
    """
    # Where one character is beyond the first 65,536, Python takes four bytes for each.
    is_wide = any(first in encoded for first in b"\xf0\xf1\xf2\xf3\xf4")
    most = MAX_BYTES // 2 if is_wide else MAX_BYTES
    if len(encoded) > most:
        raise ModelFormatError(f"{what} must be at most {most} bytes.")
    if len(encoded) <= _ALWAYS_SMALL:
        return
    if sum(map(encoded.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise ModelFormatError(f"{what} must have at most {MAX_VALUES} values.")
    usual = sum(encoded.count(f'"{name}":'.encode()) for name in _FORMAT_NAMES)
    if encoded.count(b":") - usual > MAX_NAMES:
        raise ModelFormatError(f"{what} must have at most {MAX_NAMES} names.")


def shorten_message(message: str) -> str:
    """A message without line breaks, cut where it is too long to read."""
    line = " ".join(message.split())
    return line if len(line) <= _MAX_MESSAGE else f"{line[: _MAX_MESSAGE - 1]}…"


def _parsed(path: str | os.PathLike[str], what: str) -> Any:
    """Dictionaries and lists. The bytes are let go of before the text is turned into them.

    Meanwhile nothing is searched for garbage, of which there is none: with a million new lists that
    would take most of the time.
    """
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        return json.loads(
            _text(path, what),
            object_pairs_hook=_distinct,
            parse_float=_finite,
            parse_constant=_finite,
        )
    except json.JSONDecodeError as error:
        raise ModelFormatError(f"{what} must be JSON: {error}.") from None
    except ModelFormatError:
        raise
    except ValueError:  # more digits than Python turns into an int
        raise ModelFormatError("a number must not have thousands of digits.") from None
    finally:
        if was_collecting:
            gc.enable()


def _text(path: str | os.PathLike[str], what: str) -> str:
    with open(path, "rb") as file:
        encoded = file.read(MAX_BYTES + 1)
    check_json_size(encoded, what)
    try:
        return encoded.decode("utf-8-sig")  # some editors begin a file with that mark
    except UnicodeDecodeError:
        raise ModelFormatError(f"{what} must be UTF-8 text. Save it as UTF-8.") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ModelFormatError("an object must not have the same key twice.")
    return table


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise ModelFormatError("numbers must be finite.")
    return number
