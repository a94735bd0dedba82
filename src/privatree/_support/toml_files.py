"""Read untrusted TOML files, with limits on time and memory, and write files with comments.

Python's parser has no limit on nesting, and needs quadratic time for a long dotted key.
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
"""Largest number of commas, and of lines, in a file: each takes the parser microseconds."""
MAX_KEY_PARTS = 8
"""Largest number of parts of a dotted key. A schema needs three: features.age.kind."""

_QUOTED_OR_COMMENT = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"{3,5}|\Z)'
    r"|'''.*?(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\.)*"?'
    r"|'[^'\n]*'?"
    r"|\#[^\n]*",
    re.DOTALL,
)
"""A string or comment, up to the place where the parser ends it or raises an error."""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{MAX_KEY_PARTS}}}")
"""A dotted key that is too long, after quoted parts were replaced by words. The possessive
quantifiers avoid backtracking, so the time is linear."""


def read_toml(path: str | os.PathLike[str], understand: Callable[[Any], Loaded]) -> Loaded:
    """Parse a TOML file, and return what `understand` makes of its dictionaries and lists.

    Every mistake in the file, even if `understand` finds it, raises a :class:`SchemaError` of one
    line that starts with `path`.
    """
    with open(path, "rb") as file:
        encoded = file.read(MAX_BYTES + 1)
    try:
        return understand(_parse_toml(encoded))
    except RecursionError:
        message = "a schema file must be TOML without deep nesting."
    except SchemaError as error:
        message = str(error)
    raise SchemaError(f"{path}: {shorten_message(message)}")


def write_toml(path: str | os.PathLike[str], table: dict[str, Any]) -> None:
    """Write a TOML file from strings, numbers, booleans, lists of these, and dictionaries."""
    try:
        text = toml_text(table)
    except SchemaError as error:
        raise SchemaError(f"{path}: {error}") from None
    replace_file(path, text)


def toml_text(
    table: dict[str, Any], comments: Mapping[tuple[str, ...], Sequence[str]] | None = None
) -> str:
    """Return the text of a TOML file, with comments for the person who edits it.

    `comments` maps a path of keys to the lines above this value or table; the lines of ``()`` begin
    the file. Raise a :class:`SchemaError` if the text is too large to be read back.
    """
    lines = list(_toml_lines(table, (), {} if comments is None else comments))
    text = "\n".join(lines).lstrip("\n") + "\n"
    _check_toml_size(text.encode("utf-8"))
    return text


# --- reading ------------------------------------------------------------------------------------


def _parse_toml(encoded: bytes) -> dict[str, Any]:
    _check_toml_size(encoded)
    try:
        text = encoded.decode("utf-8-sig")  # some editors write a byte order mark
        if _LONG_KEY.search(_QUOTED_OR_COMMENT.sub("_", text)):
            raise SchemaError(f"a dotted key must have at most {MAX_KEY_PARTS} parts.")
        return tomllib.loads(text)
    except UnicodeDecodeError:
        raise SchemaError("a schema file must be UTF-8 text. Save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"a schema file must be TOML, but is not ({error}).") from None
    except SchemaError:
        raise
    except ValueError:  # more digits than Python converts to an int
        raise SchemaError("a number must not have thousands of digits.") from None


def _check_toml_size(encoded: bytes) -> None:
    if len(encoded) > MAX_BYTES:
        raise SchemaError(f"a schema file must be at most {MAX_BYTES} bytes.")
    if max(map(encoded.count, (b",", b"\n"))) > MAX_VALUES:
        raise SchemaError(
            f"a schema file must have at most {MAX_VALUES} values, and at most {MAX_VALUES} lines."
        )


# --- writing ------------------------------------------------------------------------------------


def _toml_lines(
    table: dict[str, Any],
    place: tuple[str, ...],
    comments: Mapping[tuple[str, ...], Sequence[str]],
) -> Iterator[str]:
    """Yield first the values of a table, then the tables inside it, each after an empty line."""
    values = {key: value for key, value in table.items() if not isinstance(value, dict)}
    above = [_toml_comment_line(line) for line in comments.get(place, ())]
    if (place and values) or above:
        yield ""
    yield from above
    if place and values:
        yield f"[{'.'.join(map(_toml_key, place))}]"
    elif above and values:
        yield ""
    for key, value in values.items():
        yield from map(_toml_comment_line, comments.get((*place, key), ()))
        line = f"{_toml_key(key)} = {_toml_value(value)}"
        if isinstance(value, list) and len(line) > _WIDTH:
            yield from _toml_list_lines(key, value)
        else:
            yield line
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _toml_lines(value, (*place, key), comments)


def _toml_list_lines(key: str, values: list[Any]) -> Iterator[str]:
    """Yield the lines of a list, each as long as the width allows."""
    yield f"{_toml_key(key)} = ["
    line = "   "
    for value in values:
        item = f" {_toml_value(value)},"
        if len(line) + len(item) > _WIDTH and line.strip():
            yield line
            line = "   "
        line += item
    yield line
    yield "]"


def _toml_comment_line(line: str) -> str:
    """Return a comment of one line; characters that would end the line are escaped."""
    return f"# {escape_text(line)}".rstrip()


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml_value(key)


def _toml_value(value: Any) -> str:
    """Return a value as JSON, with DEL escaped: JSON allows this character, TOML does not."""
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("\x7f", "\\u007f")
