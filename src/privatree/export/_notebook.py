"""A model as a fragment of HTML for a notebook: the tree and what it promises.

No script, no request, no style that reaches beyond it. Colours are the notebook's own, so that it
is legible on light and dark. Names come from strangers: all of them are escaped.
"""

from __future__ import annotations

from html import escape

from privatree.export._text import export_text
from privatree.model import Release

MAX_LINES, MAX_CHARACTERS = 150, 300
"""Of a text that is shown, and of each of its lines: more is for a file."""

_PRE = (
    "margin:.4em 0;padding:.6em .8em;overflow:auto;white-space:pre;line-height:1.35;"
    "font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:90%;"
    "color:inherit;background:rgba(128,128,128,.12);border:0;border-radius:4px"
)


def notebook_html(released: Release) -> str:
    """Show the tree and the privacy statement of a model.

    Parameters
    ----------
    released : Release
        Whose to show. Nothing else is read.

    Returns
    -------
    str
        One ``div``.
    """
    tree, statement = export_text(released.tree_), str(released.privacy_)
    more = "print(privatree.export_text(model)) shows all of it."
    return (
        '<div style="color:inherit;background:transparent;border-left:3px solid #808080;'
        'padding:.1em 0 .1em .9em;margin:.5em 0;text-align:left">'
        f'<div style="font-weight:600">{escape(repr(released)[1:-1])}</div>'
        f"{_folded('Tree', tree, more)}"
        f"{_folded('Privacy statement', statement, 'print(model.privacy_) shows all of it.')}"
        "</div>"
    )


def _folded(title: str, text: str, more: str) -> str:
    """A text under a title that opens and closes it."""
    return (
        f'<details open><summary style="cursor:pointer">{title}</summary>'
        f'<pre style="{_PRE}">{escape(_cut(text, more))}</pre></details>'
    )


def _cut(text: str, more: str) -> str:
    lines = text.split("\n")
    shown = [
        line if len(line) <= MAX_CHARACTERS else f"{line[: MAX_CHARACTERS - 1]}…"
        for line in lines[:MAX_LINES]
    ]
    if left_out := len(lines) - len(shown):
        shown.append(f"… and {left_out:,} more lines. {more}")
    return "\n".join(shown)
