"""Texts of strangers, made fit for a screen: a name must not move the cursor or hide a line."""

from __future__ import annotations

from collections.abc import Callable


def escape_text(text: str, keep: str = "") -> str:
    """Write out control and direction characters and other signs that nobody sees.

    Parameters
    ----------
    text : str
        From a file, or a name.
    keep : str, optional
        Characters to leave as they are.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else ascii(c)[1:-1] for c in text)


def escape_to_one_line(text: str) -> str:
    """The same on one line: runs of blanks and line breaks become one blank."""
    return escape_text(" ".join(text.split()))


def escape_json(text: str) -> str:
    """JSON that means the same, with what nobody sees written as JSON writes it.

    Parameters
    ----------
    text : str
        JSON. Such signs stand in its strings only, but for line breaks.
    """
    return _escaped(text, _units)


def escape_toml(text: str) -> str:
    """The same for TOML, whose escapes are of whole characters."""
    return _escaped(text, _character)


def _escaped(text: str, written: Callable[[str], str]) -> str:
    return "".join(c if c.isprintable() or c == "\n" else written(c) for c in text)


def _units(char: str) -> str:
    code = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{code[start : start + 4]}" for start in range(0, len(code), 4))


def _character(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 2**16 else f"\\U{ord(char):08x}"
