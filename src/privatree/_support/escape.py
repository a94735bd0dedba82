"""Escapes for untrusted text, so that a name can neither move the cursor nor hide a line."""

from __future__ import annotations

from collections.abc import Callable


def escape_text(text: str, keep: str = "") -> str:
    """Replace invisible characters, such as control and direction marks, by Python escapes.

    Characters in `keep` are left as they are.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else ascii(c)[1:-1] for c in text)


def escape_to_one_line(text: str) -> str:
    """Escape text, and replace each run of blanks and line breaks by one blank."""
    return escape_text(" ".join(text.split()))


def escape_json(text: str) -> str:
    """Replace invisible characters in JSON by JSON escapes. The meaning stays the same.

    Line breaks are kept. All other invisible characters are inside JSON strings.
    """
    return _escape_invisible(text, _json_escape)


def escape_toml(text: str) -> str:
    """Replace invisible characters in TOML by TOML escapes. The meaning stays the same."""
    return _escape_invisible(text, _toml_escape)


def _escape_invisible(text: str, escape: Callable[[str], str]) -> str:
    return "".join(c if c.isprintable() or c == "\n" else escape(c) for c in text)


def _json_escape(char: str) -> str:
    code = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{code[start : start + 4]}" for start in range(0, len(code), 4))


def _toml_escape(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 2**16 else f"\\U{ord(char):08x}"
