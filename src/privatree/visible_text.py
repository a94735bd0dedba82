"""Texts of strangers, made fit for a screen: a name must not move the cursor or hide a line."""

from __future__ import annotations


def visible(text: str, keep: str = "") -> str:
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


def visible_line(text: str) -> str:
    """The same on one line: runs of blanks and line breaks become one blank."""
    return visible(" ".join(text.split()))
