"""A model card in Markdown: what the model is, what it guarantees and what it assumes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from privatree.export import export_text
from privatree.model import released_model
from privatree.privacy import PrivacyStatement, UnitWords
from privatree.report import _citation as citation
from privatree.report._shown_names import shorten_shown_names
from privatree.report._summary import MAX_RULES, ModelSummary, summarize_model
from privatree.schema import About

_MAX_TREE_LENGTH = 50_000
"""A tree whose text has more characters is left out of the card."""
_NO_TREE = "Too large for this card: `privatree export MODEL --format text` draws it."
_NO_RULES = f"Too many for this card, which has up to {MAX_RULES}."
_FRONT_MATTER = """---
library_name: privatree
pipeline_tag: tabular-classification
tags:
- decision-tree
- differential-privacy
- interpretable
- tabular-classification
---"""
_NOT_COUNTED = "Records per leaf were not counted."
_INTENDED_USE = """## Intended use

*To be filled in by the publisher of this model:*

- **Purpose**: what the model should be used for, and what it should not be used for.
- **People**: who decides with the model, and whom the decisions are about.
- **Training data**: whose records, from when, and how they were collected.
- **Quality**: on which records it was measured. A figure measured on private records is not covered
  by the guarantee below."""
_LIMITS = """## Limits

- The guarantee is for the records that the tree was trained on. It is not for the records that the
  tree is used on: a prediction for a person can reveal something about that person.
- The guarantee is for this one training. Other trainings on the same records cost epsilon again.
- {for_one}
- The guarantee does not hide what the tree says about people like somebody. The tree would say that
  without their {records}.
- The guarantee says nothing about accuracy, fairness or causes. Noise can make a rule wrong, above
  all for small groups.
- A value that is missing, unknown or out of range counts as the table of columns says.
- This card is not signed. The statement is as trustworthy as whoever gave you this card."""
_NEEDS_BACKSLASH = re.compile(r"([\\*_\[\]{}#$~])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "`": "&#96;"}


def model_card(model: Any) -> str:
    """Write a model card in Markdown, with the privacy statement for people and for programs.

    Parameters
    ----------
    model : Model or fitted classifier
        Model to describe. The card reveals no more than the model.

    Returns
    -------
    str
        Markdown with a YAML header. The last block of code, of kind ``json``, is the statement, and
        :meth:`privatree.privacy.PrivacyStatement.from_dict` reads it.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> X, y, schema = datasets.load("breast-w")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=1, schema=schema, random_state=0)
    >>> card = model_card(model.fit(X, y))
    >>> [line for line in card.splitlines() if line.startswith("## ")][:3]
    ['## Intended use', '## Tree', '## Rules']
    """
    released = released_model(model)
    summary = summarize_model(released)
    tree = export_text(shorten_shown_names(released.tree_))
    rules = _card_bullets(
        f"{rule.condition}{rule.answer} {rule.support}".strip() for rule in summary.rules
    )
    parts = [
        _FRONT_MATTER,
        _card_introduction(summary, released.schema_.about),
        _card_intended_use(released.schema_.about),
        f"## Tree\n\n{_card_code('text', tree) if len(tree) <= _MAX_TREE_LENGTH else _NO_TREE}",
        _card_counts(summary),
        f"## Rules\n\n{rules or _NO_RULES}",
        _card_privacy_section(summary),
        _card_public_section(summary),
        _card_limits(released.privacy_.words),
        f"## How to cite\n\n- {citation.SOFTWARE}\n- {citation.PAPER} {citation.PAPER_ID}.",
        _card_statement(released.privacy_),
    ]
    return "\n\n".join(parts) + "\n"


def _card_intended_use(about: About | None) -> str:
    if about is None or about.intended_use is None:
        return _INTENDED_USE
    return f"## Intended use\n\n{_card_paragraphs(about.intended_use)}"


def _card_paragraphs(text: str) -> str:
    return "\n\n".join(map(_escape_card_markdown, re.split(r"\n\s*\n", text)))


def _card_introduction(summary: ModelSummary, about: About | None) -> str:
    about = about or About()
    kind = "no privacy guarantee"
    if summary.words.epsilon != "∞":
        kind = "differential privacy" + ", its noise not secret" * summary.privacy.seeded
    classes = ", ".join(map(_escape_card_markdown, summary.classes))
    if more := summary.n_classes - len(summary.classes):
        classes += f" and {more:,} more"
    used = ", ".join(map(_escape_card_markdown, summary.used)) or "no column"
    leaves = "1 leaf" if summary.tree.n_leaves == 1 else f"{summary.tree.n_leaves:,} leaves"
    levels = "1 level" if summary.tree.depth == 1 else f"{summary.tree.depth:,} levels"
    title = f"# A decision tree with {kind}\n\n"
    if about.title is not None:
        title = f"# {_escape_card_markdown(about.title)}\n\nA decision tree with {kind}.\n\n"
    of = [text for text in (about.owner, about.date) if text is not None]
    if of:
        title += f"{_escape_card_markdown(', '.join(of))}.\n\n"
    if about.description is not None:
        title += f"{_card_paragraphs(about.description)}\n\n"
    target = "" if about.target is None else f" of {_escape_card_markdown(about.target)}"
    return (
        f"{title}The tree predicts one of {summary.n_classes:,} classes{target} ({classes}) for a "
        f"record with {summary.n_features:,} columns. It asks about {used}. It has {leaves} and "
        f"{levels} of questions. It was trained by {_escape_card_markdown(summary.learner)}.\n\n"
        f"SHA-256 of the model (`privatree.report.fingerprint`): `{summary.fingerprint}`"
    )


def _card_counts(summary: ModelSummary) -> str:
    """Say what the numbers of the leaves are."""
    if summary.tree.support is None:
        return _NOT_COUNTED
    words = summary.privacy.words
    counted = (
        f"Numbers of {words.counted} are noisy: the noise is larger than the number after ± with a "
        f"probability of 5%. A leaf with few or no {words.counted} has no more than noise "
        f"explains: do not rely on it. {_escape_card_markdown(words.definition)}"
    )
    return counted.rstrip()


def _card_limits(words: UnitWords) -> str:
    if words.unit is None:
        for_one = (
            "The guarantee is for one record. A person with several records has epsilon for each "
            "of them."
        )
        return _LIMITS.format(for_one=for_one, records="record")
    for_one = (
        f"The guarantee is for {_escape_card_markdown(words.whole)} together. A person\n  whose "
        "records have several ids has epsilon for each of them."
    )
    return _LIMITS.format(for_one=for_one, records="records")


def _card_privacy_section(summary: ModelSummary) -> str:
    words = summary.words
    parts = [
        "## Privacy",
        f"**Epsilon {words.epsilon}, {_escape_card_markdown(words.headline)}.** "
        + _escape_card_markdown(f"{words.meaning} {words.terms}"),
    ]
    parts += [
        f"> **{_escape_card_markdown(alert.title)}.** {_escape_card_markdown(alert.text)}"
        for alert in words.alerts
    ]
    if summary.privacy.records_text is not None:
        few = summary.privacy.few_records_text
        parts.append(
            f"The tree was trained on {summary.privacy.records_text} usable "
            f"{summary.privacy.words.counted}, a noisy number: the bound on its error holds with a "
            f"probability of 95%. {few}".rstrip()
        )
    if summary.leaks:
        leaks = (f"{name}: {explanation}" for name, explanation in summary.leaks)
        parts.append(f"What the model reveals beyond the guarantee:\n\n{_card_bullets(leaks)}")
    if summary.notes:
        parts.append(f"Notes:\n\n{_card_bullets(summary.notes)}")
    return "\n\n".join(parts)


def _card_public_section(summary: ModelSummary) -> str:
    lines = ["| column | kind | values | missing counts as |", "| --- | --- | --- | --- |"]
    for row in summary.rows:
        cells = (row.name, row.kind, row.all_values or row.values, row.missing)
        lines.append(f"| {' | '.join(map(_escape_card_markdown, cells))} |")
    if summary.n_rows_left_out:
        lines.append(f"| … and {summary.n_rows_left_out:,} more | | | |")
    assumed = _card_bullets(summary.public) if summary.public else "The statement names nothing."
    columns = "The columns as they were declared:"
    if summary.unconfirmed:
        columns = (
            "**Read from the records, and not confirmed as public by anybody:** "
            f"{_escape_card_markdown(summary.unconfirmed)}. The columns:"
        )
    table = "\n".join(lines)
    return f"## What was assumed public\n\n{assumed}\n\n{columns}\n\n{table}"


def _card_statement(privacy: PrivacyStatement) -> str:
    written = json.dumps(privacy.to_dict(), indent=1, allow_nan=False)
    for character in "`<>&":  # in JSON they can only be inside texts
        written = written.replace(character, f"\\u{ord(character):04x}")
    return f"## Privacy statement for programs\n\n{_card_code('json', written)}"


# --- Markdown -----------------------------------------------------------------------------------


def _escape_card_markdown(text: str) -> str:
    """Escape a text so that Markdown shows it unchanged and on one line."""
    line = _NEEDS_BACKSLASH.sub(r"\\\1", " ".join(text.split()))  # before entities, which have a #
    return (
        re.sub(r"[&<>|`]", lambda found: _ENTITIES[found.group()], line)
        .replace("://", "&#58;//")
        .replace("@", "&#64;")
        .replace("www.", "www&#46;")
    )


def _card_bullets(texts: Iterable[str]) -> str:
    return "\n".join(f"- {_escape_card_markdown(text)}" for text in texts)


def _card_code(kind: str, text: str) -> str:
    """Return a Markdown code block, with a fence longer than every fence in the code."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{kind}\n{text}\n{fence}"
