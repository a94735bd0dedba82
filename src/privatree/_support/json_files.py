"""Strict reading of untrusted JSON files, with limits on time and memory.

Python accepts more than JSON allows (NaN, repeated keys, whole numbers beyond the range of floats),
and a list of empty lists takes 20 times the memory of its text. So size and number of values are
checked before a file is parsed.
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
"""Largest number of values in a file: enough for a full tree of 16 levels and its spends."""
MAX_NAMES = 100_000
"""Largest number of keys that are not part of the format, such as names of features."""

_ALWAYS_SMALL = 2**22
"""A file of at most this many bytes takes at most 200 MB of memory, whatever its content."""
_MAX_MESSAGE = 300
"""Largest number of characters of an error message."""
_FORMAT_NAMES = (
    *("feature", "threshold", "categories", "left", "right", "label", "probability"),
    *("mechanism", "epsilon", "delta", "times", "purpose", "node"),
)
"""Keys of the format that a large file repeats: those of nodes and of spends."""


def read_json(
    path: str | os.PathLike[str], what: str, understand: Callable[[Any], Loaded]
) -> Loaded:
    """Parse a JSON file, and return what `understand` makes of its dictionaries and lists.

    `what` describes the file in messages: "a model file". Every mistake in the file, also one that
    `understand` finds, raises a :class:`ModelFormatError` of one line that starts with `path`.
    """
    try:
        return understand(_parse_json(path, what))
    except RecursionError:
        message = f"{what} must be JSON without deep nesting."
    except ModelFormatError as error:
        message = str(error)
    raise ModelFormatError(f"{path}: {shorten_message(message)}")


def check_json_size(encoded: bytes, what: str) -> None:
    """Raise a ModelFormatError if a file would take more memory than any valid file."""
    # If one character is beyond the first 65,536, Python stores every character in four bytes.
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
        raise ModelFormatError(f"{what} must have at most {MAX_NAMES} keys.")


def shorten_message(message: str) -> str:
    """Return a message without line breaks, cut if it is very long."""
    line = " ".join(message.split())
    return line if len(line) <= _MAX_MESSAGE else f"{line[: _MAX_MESSAGE - 1]}…"


def _parse_json(path: str | os.PathLike[str], what: str) -> Any:
    """Parse a file without garbage collection, which a million new lists would make slow."""
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        return json.loads(
            _read_json_text(path, what),  # in a function: its bytes are freed before parsing
            object_pairs_hook=_refuse_repeated_json_keys,
            parse_float=_parse_finite_json_number,
            parse_constant=_parse_finite_json_number,
        )
    except json.JSONDecodeError as error:
        raise ModelFormatError(f"{what} must be JSON, but is not ({error}).") from None
    except ModelFormatError:
        raise
    except ValueError:  # more digits than Python converts to an int
        raise ModelFormatError("a number must not have thousands of digits.") from None
    finally:
        if was_collecting:
            gc.enable()


def _read_json_text(path: str | os.PathLike[str], what: str) -> str:
    with open(path, "rb") as file:
        encoded = file.read(MAX_BYTES + 1)
    check_json_size(encoded, what)
    try:
        return encoded.decode("utf-8-sig")  # some editors write a byte order mark
    except UnicodeDecodeError:
        raise ModelFormatError(f"{what} must be UTF-8 text. Save it as UTF-8.") from None


def _refuse_repeated_json_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ModelFormatError("a JSON object must not have the same key twice. Remove one.")
    return table


def _parse_finite_json_number(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise ModelFormatError(f"numbers must be finite, got {literal}.")
    return number
