"""Comments of a draft: counts and names in words, and lines of a fixed width."""

from __future__ import annotations

import json
from textwrap import wrap
from typing import Any

_WIDTH = 96
_MAX_NAME_LENGTH = 60
_UNBROKEN = "\x1f"
"""Replaces blanks in names while lines are wrapped, so that no line ends inside a name."""


def count_in_words(count: int) -> str:
    """Return a number of records in words."""
    return f"{count} record{'' if count == 1 else 's'}"


def quote_comment(name: str) -> str:
    """Return a column's name in quotes, cut if it is long. `wrap_comment` does not break it."""
    short = name if len(name) <= _MAX_NAME_LENGTH else f"{name[: _MAX_NAME_LENGTH - 1]}…"
    return json.dumps(short, ensure_ascii=False).replace(" ", _UNBROKEN)


def wrap_paragraphs(text: str) -> list[str]:
    """Return the lines of paragraphs, with an empty line between two of them."""
    lines: list[Any] = []
    for paragraph in text.split("\n\n"):
        lines += ["", *wrap_comment(paragraph, "   " if paragraph[0].isdigit() else "")]
    return lines[1:]


def wrap_comment(text: str, indent: str = "") -> list[str]:
    """Return the lines of a paragraph. `indent` begins each line but the first."""
    lines = wrap(
        text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return [line.replace(_UNBROKEN, " ") for line in lines]
