"""A model as HTML for a notebook: the tree, or the first rounds, and its privacy statement.

The HTML has no script, makes no request and styles nothing outside itself. It uses the colours of
the notebook, so it is readable in dark mode, too. Names may come from an untrusted file, so all
text is escaped.
"""

from __future__ import annotations

import re
from html import escape

from privatree.export.text._ensemble_text import ensemble_text
from privatree.export.text._tree_text import NO_SUPPORT, tree_text
from privatree.model import EnsembleRelease, TreeRelease

MAX_LINES, MAX_CHARACTERS = 150, 300
"""Maximum number of lines of a shown text, and of characters per line."""
_MAX_ENSEMBLE_LINES = 24
"""The same for the rounds of an ensemble, which are rarely read one by one."""

_UNSUPPORTED_LEAF = re.compile(rf"(predict [^\n]*, {NO_SUPPORT} (?:records|units))($|\n)")
_PRE_STYLE = (
    "margin:.4em 0;padding:.6em .8em;overflow:auto;white-space:pre;line-height:1.35;"
    "font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:90%;"
    "color:inherit;background:rgba(128,128,128,.12);border:0;border-radius:4px"
)


def notebook_html(released: TreeRelease | EnsembleRelease) -> str:
    """Return one ``div`` with the tree or the first rounds, and the privacy statement."""
    whole_statement = "print(model.privacy_) shows the whole statement."
    return (
        '<div style="color:inherit;background:transparent;border-left:3px solid #808080;'
        'padding:.1em 0 .1em .9em;margin:.5em 0;text-align:left">'
        f'<div style="font-weight:600">{escape(repr(released)[1:-1])}</div>'
        f"{_notebook_about(released)}"
        f"{_notebook_predictor(released)}"
        f"{_notebook_section('Privacy statement', str(released.privacy_), whole_statement)}"
        "</div>"
    )


def _notebook_predictor(released: TreeRelease | EnsembleRelease) -> str:
    shows = "print(privatree.export_text(model)) shows"
    if isinstance(released, TreeRelease):
        return _notebook_section("Tree", tree_text(released.tree_), f"{shows} the whole tree.")
    text, more = ensemble_text(released.ensemble_), f"{shows} all rounds."
    return _notebook_section("Ensemble", text, more, _MAX_ENSEMBLE_LINES)


def _notebook_about(released: TreeRelease | EnsembleRelease) -> str:
    about = released.schema_.about
    if about is None:
        return ""
    return _notebook_section("About", str(about), "print(model.schema_.about) shows all of it.")


def _notebook_section(title: str, text: str, more: str, max_lines: int = MAX_LINES) -> str:
    lines = text.split("\n")
    shown = "\n".join(
        line if len(line) <= MAX_CHARACTERS else f"{line[: MAX_CHARACTERS - 1]}…"
        for line in lines[:max_lines]
    )
    if (left_out := len(lines) - max_lines) > 0:
        shown += f"\n… and {left_out:,} more lines. {more}"
    marked = re.sub(_UNSUPPORTED_LEAF, r'<span style="color:#808080">\1</span>\2', escape(shown))
    return (
        f'<details open><summary style="cursor:pointer">{title}</summary>'
        f'<pre style="{_PRE_STYLE}">{marked}</pre></details>'
    )
