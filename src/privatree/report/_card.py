"""A model card in Markdown: what a model is, promises and assumes, for people and for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from privatree.export import export_text
from privatree.model import released_model
from privatree.privacy import PrivacyStatement
from privatree.report import _citation as citation
from privatree.report._shown_names import with_short_names
from privatree.report._summary import MAX_RULES, Summary, summary

_MAX_TREE_LENGTH = 50_000
"""Of a tree with more characters as text the card has no drawing."""
_FRONT_MATTER = """---
library_name: privatree
pipeline_tag: tabular-classification
tags:
- decision-tree
- differential-privacy
- interpretable
- tabular-classification
---"""
_USE = """## Intended use

*For whoever publishes this model to fill in:*

- **Purpose**: what it should be used for, and what not.
- **People**: who decides with it, and whom the decisions are about.
- **Training data**: whose records, from when, and how they were collected.
- **Quality**: on which records it was measured. A figure measured on private records is not covered
  by the guarantee below."""
_LIMITS = """## Limits

- The guarantee is about the records that the tree was trained on, not about those it is used for: a
  prediction for a person can tell something about that person.
- It is about this one training. Others on the same records cost epsilon again. It is for one
  record: a person with several is promised epsilon for each of them.
- What the tree says about people like somebody is not hidden: it would say that without their
  record.
- It says nothing about accuracy, fairness or causes. Noise can make a rule wrong, above all for
  small groups.
- A value that is missing, unknown or out of range counts as the table of columns says.
- The statement is as trustworthy as whoever gave you this card: it is not signed."""
_BACKSLASHED = re.compile(r"([\\*_\[\]{}#$~])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "`": "&#96;"}


def model_card(model: Any) -> str:
    """Write a model card in Markdown, with the privacy statement for people and for programs.

    Parameters
    ----------
    model : Model or fitted classifier
        What the card is about. Nothing else is read, so the card reveals nothing else.

    Returns
    -------
    str
        Markdown with a YAML header. The last block of code, of kind ``json``, is the statement:
        :meth:`privatree.privacy.PrivacyStatement.from_dict` reads it.
    """
    released = released_model(model)
    shown = summary(released)
    parts = [
        _FRONT_MATTER,
        _what_it_is(shown),
        _USE,
        _tree(export_text(with_short_names(released.tree_))),
        _rules(shown),
        _privacy(shown),
        _public(shown),
        _LIMITS,
        _cite(),
        _machine_readable(released.privacy_),
    ]
    return "\n\n".join(parts) + "\n"


def _what_it_is(shown: Summary) -> str:
    kind = "no privacy guarantee"
    if shown.words.epsilon != "∞":
        kind = "differential privacy" + ", its noise not secret" * shown.seeded
    listed = ", ".join(map(_escaped, shown.classes))
    more = f" and {shown.n_classes - len(shown.classes):,} more" * (
        shown.n_classes > len(shown.classes)
    )
    used = f"asks about {', '.join(map(_escaped, shown.used))}" if shown.used else "asks nothing"
    return (
        f"# A decision tree with {kind}\n\n"
        f"It predicts one of {shown.n_classes:,} classes ({listed}{more}) for a record of "
        f"{shown.n_features:,} columns, and {used}. "
        f"It has {_counted(shown.n_leaves, 'leaf', 'leaves')} and "
        f"{_counted(shown.depth, 'level', 'levels')} of questions, and was trained by "
        f"{_escaped(shown.learner)}.\n\n"
        f"SHA-256 of the model (`privatree.report.fingerprint`): `{shown.fingerprint}`"
    )


def _tree(drawn: str) -> str:
    if len(drawn) > _MAX_TREE_LENGTH:
        return (
            "## Tree\n\nToo large for this card: `privatree export MODEL --format text` draws it."
        )
    return f"## Tree\n\n{_fenced('text', drawn)}"


def _rules(shown: Summary) -> str:
    if not shown.rules:
        return f"## Rules\n\nToo many for this card, which has up to {MAX_RULES}."
    return f"## Rules\n\n{_bullets(rule.sentence for rule in shown.rules)}"


def _privacy(shown: Summary) -> str:
    words = shown.words
    parts = [
        "## Privacy",
        f"**Epsilon {words.epsilon}, {_escaped(words.headline)}.** {_escaped(words.meaning)} "
        f"{_escaped(words.terms)}",
    ]
    parts += [f"> **{_escaped(alert.title)}.** {_escaped(alert.text)}" for alert in words.alerts]
    if shown.leaks:
        leaks = (f"{name}: {explanation}" for name, explanation in shown.leaks)
        parts.append(f"What it reveals beyond the guarantee:\n\n{_bullets(leaks)}")
    if shown.notes:
        parts.append(f"Notes:\n\n{_bullets(shown.notes)}")
    return "\n\n".join(parts)


def _public(shown: Summary) -> str:
    lines = ["| column | kind | values | missing counts as |", "| --- | --- | --- | --- |"]
    for row in shown.rows:
        cells = (row.name, row.kind, row.all_values or row.values, row.missing)
        lines.append(f"| {' | '.join(map(_escaped, cells))} |")
    if shown.n_rows_left_out:
        lines.append(f"| … and {shown.n_rows_left_out:,} more | | | |")
    assumed = _bullets(shown.public) if shown.public else "The statement names nothing."
    columns = "The columns as they were declared:"
    if shown.unconfirmed:
        columns = (
            "**Read from the records, and confirmed by nobody as public:** "
            f"{_escaped(shown.unconfirmed)}. The columns:"
        )
    table = "\n".join(lines)
    return f"## What was assumed public\n\n{assumed}\n\n{columns}\n\n{table}"


def _cite() -> str:
    return f"## How to cite\n\n- {citation.SOFTWARE}\n- {citation.PAPER} {citation.PAPER_ID}."


def _machine_readable(privacy: PrivacyStatement) -> str:
    written = json.dumps(privacy.to_dict(), indent=1, allow_nan=False)
    for character in "`<>&":  # within JSON they are in texts only
        written = written.replace(character, f"\\u{ord(character):04x}")
    return f"## Privacy statement for programs\n\n{_fenced('json', written)}"


# --- Markdown -----------------------------------------------------------------------------------


def _escaped(text: str) -> str:
    """Escape a text, so that Markdown shows it unchanged and on one line."""
    line = " ".join(text.split())
    line = re.sub(r"[&<>|`]", lambda found: _ENTITIES[found.group()], line)
    return (
        _BACKSLASHED.sub(r"\\\1", line)
        .replace("://", "&#58;//")
        .replace("@", "&#64;")
        .replace("www.", "www&#46;")
    )


def _bullets(texts: Iterable[str]) -> str:
    return "\n".join(f"- {_escaped(text)}" for text in texts)


def _fenced(kind: str, text: str) -> str:
    """A block of code, whose fence is longer than any in it."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{kind}\n{text}\n{fence}"


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
