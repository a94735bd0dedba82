"""TOML files of strangers: read at a cost that a file of that size should have; and written.

Python's reader goes as deep as a file says, and needs the square of the length of a dotted key.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from privatree._support.atomic_files import replace_file
from privatree._support.escape import escape_text
from privatree._support.json_files import shorten_message
from privatree.errors import SchemaError

Loaded = TypeVar("Loaded")

_WIDTH = 100

MAX_BYTES = 2**20
MAX_VALUES = 100_000
"""In lists, and lines: the reader takes some microseconds for each."""
MAX_KEY_PARTS = 8
"""A schema needs three: features.age.kind."""

_QUOTED_OR_COMMENT = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"{3,5}|\Z)'
    r"|'''.*?(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\.)*"?'
    r"|'[^'\n]*'?"
    r"|\#[^\n]*",
    re.DOTALL,
)
"""Ends where the reader would end it, or stop: after one that does not end nothing is read."""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{MAX_KEY_PARTS}}}")
"""Where quoted parts are words; nothing is tried twice, so that the time is that of the length."""


def read_toml(path: str | os.PathLike[str], understand: Callable[[Any], Loaded]) -> Loaded:
    """Read a file; every mistake in it is a :class:`SchemaError` of one line.

    Parameters
    ----------
    path : path
        The file; messages start with it.
    understand : callable
        From plain dictionaries and lists to what they mean, or a :class:`SchemaError`.

    Returns
    -------
    object
        What `understand` returns.
    """
    with open(path, "rb") as file:
        encoded = file.read(MAX_BYTES + 1)
    try:
        return understand(_parsed(encoded))
    except RecursionError:
        message = "not a TOML file of a schema: it must not be nested so deeply."
    except SchemaError as error:
        message = str(error)
    raise SchemaError(f"{path}: {shorten_message(message)}")


def write_toml(path: str | os.PathLike[str], table: dict[str, Any]) -> None:
    """Write strings, numbers, truth values, lists of them, and tables of all that.

    Parameters
    ----------
    path : path
        The file.
    table : dict
        What to write; keys are strings.
    """
    try:
        text = toml_text(table)
    except SchemaError as error:
        raise SchemaError(f"{path}: {error}") from None
    replace_file(path, text)


def toml_text(
    table: dict[str, Any], comments: Mapping[tuple[str, ...], Sequence[str]] | None = None
) -> str:
    """What :func:`write_toml` writes, with comments for whoever edits it.

    Parameters
    ----------
    table : dict
        What to write; keys are strings.
    comments : mapping, optional
        Lines to stand above a value or a table, by the keys that lead there. Those of ``()`` begin
        the file. Whatever characters a line has, it stays a comment.

    Returns
    -------
    str
        One that would be too large to read back is a :class:`SchemaError`.
    """
    lines = list(_lines(table, (), {} if comments is None else comments))
    text = "\n".join(lines).lstrip("\n") + "\n"
    _check_size(text.encode("utf-8"))
    return text


# --- reading ------------------------------------------------------------------------------------


def _parsed(encoded: bytes) -> dict[str, Any]:
    _check_size(encoded)
    try:
        text = encoded.decode("utf-8-sig")  # some editors begin a file with that mark
        if _LONG_KEY.search(_QUOTED_OR_COMMENT.sub("_", text)):
            raise SchemaError(f"a key must have at most {MAX_KEY_PARTS} parts with dots between.")
        return tomllib.loads(text)
    except UnicodeDecodeError:
        raise SchemaError("must be UTF-8 text. Save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"not a TOML file: {error}.") from None
    except SchemaError:
        raise
    except ValueError:  # more digits than Python turns into an int
        raise SchemaError("a number must not have thousands of digits.") from None


def _check_size(encoded: bytes) -> None:
    if len(encoded) > MAX_BYTES:
        raise SchemaError(f"a schema file must be at most {MAX_BYTES} bytes.")
    if max(map(encoded.count, (b",", b"\n"))) > MAX_VALUES:
        raise SchemaError(f"a schema file must have at most {MAX_VALUES} values and lines.")


# --- writing ------------------------------------------------------------------------------------


def _lines(
    table: dict[str, Any],
    place: tuple[str, ...],
    comments: Mapping[tuple[str, ...], Sequence[str]],
) -> Iterator[str]:
    """First the table's own values, then the tables inside it, each after an empty line."""
    values = {key: value for key, value in table.items() if not isinstance(value, dict)}
    above = [_comment(line) for line in comments.get(place, ())]
    if (place and values) or above:
        yield ""
    yield from above
    if place and values:
        yield f"[{'.'.join(map(_key, place))}]"
    elif above and values:
        yield ""
    for key, value in values.items():
        yield from map(_comment, comments.get((*place, key), ()))
        line = f"{_key(key)} = {_value(value)}"
        if isinstance(value, list) and len(line) > _WIDTH:
            yield from _long_list(key, value)
        else:
            yield line
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _lines(value, (*place, key), comments)


def _long_list(key: str, values: list[Any]) -> Iterator[str]:
    """A list as lines that a person can read; only a value that is long alone makes a long one."""
    yield f"{_key(key)} = ["
    line = "   "
    for value in values:
        item = f" {_value(value)},"
        if len(line) + len(item) > _WIDTH and line.strip():
            yield line
            line = "   "
        line += item
    yield line
    yield "]"


def _comment(line: str) -> str:
    """One line, whatever is in it: what would end it, or is not allowed, is written as escapes."""
    return f"# {escape_text(line)}".rstrip()


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: Any) -> str:
    """As in JSON, but for one character that TOML wants escaped and JSON does not."""
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("\x7f", "\\u007f")
