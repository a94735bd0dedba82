"""A model card in Markdown: what the model is, what it guarantees and what it assumes."""

from __future__ import annotations

import json
import re
from typing import Any

from privatree.model import TreeRelease, released_any
from privatree.privacy import PrivacyStatement
from privatree.report import _citation as citation
from privatree.report._card_text import (
    CardParts,
    card_bullets,
    card_code,
    escape_card_markdown,
)
from privatree.report._summary import ModelSummary
from privatree.report.ensemble import ensemble_card
from privatree.report.scores import scores_card
from privatree.report.tree import tree_card
from privatree.schema import About

_FRONT_MATTER = """---
library_name: privatree
pipeline_tag: {task}
tags:
- {tag}
- differential-privacy
- interpretable
- {task}
---"""
_INTENDED_USE = """## Intended use

*To be filled in by the publisher of this model:*

- **Purpose**: what the model should be used for, and what it should not be used for.
- **People**: who decides with the model, and whom the decisions are about.
- **Training data**: whose records, from when, and how they were collected."""
_QUALITY = """
- **Quality**: on which records it was measured. A figure measured on private records is not covered
  by the guarantee below, unless it comes from `privatree score`."""
_SCORED = """
- **Quality**: whose records it was scored with, below."""
_LIMITS = """## Limits

- The guarantee is for the records that the {noun} was {given}. It is not for the records that
  the {noun} is used on: a prediction for a person can reveal something about that person.
- The guarantee is for this one training. Other trainings on the same records cost epsilon again.
- {for_one}
- The guarantee does not hide what the {noun} says about people like somebody. The {noun} would
  say that without their {records}.
- The guarantee says nothing about accuracy, fairness or causes. Noise can make a {part} wrong,
  above all for small groups.
- A value that is missing, unknown or out of range counts as the table of columns says.
- This card is not signed. The statement is as trustworthy as whoever gave you this card."""


def model_card(model: Any, *, scores: Any = None) -> str:
    """Write a model card in Markdown, with the privacy statement for people and for programs.

    Parameters
    ----------
    model : model or fitted learner
        Model to describe. The card reveals no more than the model.
    scores : PrivateScores, optional
        Scores of the model, from :func:`privatree.evaluation.private_scores`. By default, they are
        the scores that the model itself has.

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
    released = released_any(model)
    own = tree_card(released) if isinstance(released, TreeRelease) else ensemble_card(released)
    summary, about = own.summary, released.schema_.about
    scores = getattr(model, "scores_", None) if scores is None else scores
    quality = [] if scores is None else [scores_card(scores, released.schema_)]
    parts = [
        _FRONT_MATTER.format(tag=own.tag, task=_card_task(summary)),
        _card_introduction(own, about),
        _card_intended_use(about, has_scores=bool(quality)),
        *quality,
        *own.sections,
        _card_privacy_section(summary),
        _card_public_section(summary),
        _card_limits(summary.noun, released.privacy_),
        f"## How to cite\n\n- {citation.SOFTWARE}\n- {citation.PAPER} {citation.PAPER_ID}.",
        _card_statement(released.privacy_),
    ]
    return "\n\n".join(parts) + "\n"


def _card_task(summary: ModelSummary) -> str:
    """Return the name that registries of models have for the task."""
    return f"tabular-{'classification' if summary.target is None else 'regression'}"


def _card_intended_use(about: About | None, *, has_scores: bool) -> str:
    if about is None or about.intended_use is None:
        return _INTENDED_USE + (_SCORED if has_scores else _QUALITY)
    return f"## Intended use\n\n{_card_paragraphs(about.intended_use)}"


def _card_paragraphs(text: str) -> str:
    return "\n\n".join(map(escape_card_markdown, re.split(r"\n\s*\n", text)))


def _card_introduction(own: CardParts, about: About | None) -> str:
    summary, about = own.summary, about or About()
    kind = "no privacy guarantee"
    if summary.words.epsilon != "∞":
        kind = "differential privacy" + ", its noise not secret" * summary.privacy.seeded
    kind = f"{own.kind} with {kind}"
    used = ", ".join(map(escape_card_markdown, summary.used)) or "no column"
    title = f"# {kind}\n\n"
    if about.title is not None:
        title = f"# {escape_card_markdown(about.title)}\n\n{kind}.\n\n"
    of = [text for text in (about.owner, about.date) if text is not None]
    if of:
        title += f"{escape_card_markdown(', '.join(of))}.\n\n"
    if about.description is not None:
        title += f"{_card_paragraphs(about.description)}\n\n"
    return (
        f"{title}The {summary.noun} predicts {_card_outcome(summary)} for a record with "
        f"{summary.n_features:,} columns. It asks about {used}. {own.size} "
        f"It was trained by {escape_card_markdown(summary.learner)}.\n\n"
        f"SHA-256 of the model (`privatree.report.fingerprint`): `{summary.fingerprint}`"
    )


def _card_outcome(summary: ModelSummary) -> str:
    """Return what the model predicts, in words."""
    if summary.target is not None:
        name = escape_card_markdown(summary.target.name or "a number")
        return f"{name} (a {summary.target.kind} from {summary.target.values})"
    target = f" of {escape_card_markdown(summary.about.target)}" if summary.about.target else ""
    classes = ", ".join(map(escape_card_markdown, summary.classes))
    if more := summary.n_classes - len(summary.classes):
        classes += f" and {more:,} more"
    return f"one of {summary.n_classes:,} classes{target} ({classes})"


def _card_limits(noun: str, privacy: PrivacyStatement) -> str:
    words = privacy.words
    for_one = (
        "The guarantee is for one record. A person with several records has epsilon for each "
        "of them."
    )
    if words.unit is not None:
        for_one = (
            f"The guarantee is for {escape_card_markdown(words.whole)} together. A person\n  whose "
            "records have several ids has epsilon for each of them."
        )
    return _LIMITS.format(
        noun=noun,
        given="trained on" if privacy.holdout is None else "trained on or scored with",
        part="rule" if noun == "tree" else "term",
        for_one=for_one,
        records="record" if words.unit is None else "records",
    )


def _card_privacy_section(summary: ModelSummary) -> str:
    words = summary.words
    parts = [
        "## Privacy",
        f"**Epsilon {words.epsilon}, {escape_card_markdown(words.headline)}.** "
        + escape_card_markdown(f"{words.meaning} {words.terms}"),
    ]
    parts += [
        f"> **{escape_card_markdown(alert.title)}.** {escape_card_markdown(alert.text)}"
        for alert in words.alerts
    ]
    if summary.privacy.records_text is not None:
        few = summary.privacy.few_records_text
        parts.append(
            f"The {summary.noun} was trained on {summary.privacy.records_text} usable "
            f"{summary.privacy.words.counted}, a noisy number: the bound on its error holds with a "
            f"probability of 95%. {few}".rstrip()
        )
    if summary.leaks:
        leaks = (f"{name}: {explanation}" for name, explanation in summary.leaks)
        parts.append(f"What the model reveals beyond the guarantee:\n\n{card_bullets(leaks)}")
    if summary.notes:
        parts.append(f"Notes:\n\n{card_bullets(summary.notes)}")
    return "\n\n".join(parts)


def _card_public_section(summary: ModelSummary) -> str:
    target = summary.target
    lines = ["| column | kind | values | missing counts as |", "| --- | --- | --- | --- |"]
    for row in summary.rows:
        cells = (row.name, row.kind, row.all_values or row.values, row.missing)
        lines.append(f"| {' | '.join(map(escape_card_markdown, cells))} |")
    if summary.n_rows_left_out:
        lines.append(f"| … and {summary.n_rows_left_out:,} more | | | |")
    if target is not None:
        cells = (target.called, f"{target.kind}, predicted", target.values, "left out of training")
        lines.append(f"| {' | '.join(map(escape_card_markdown, cells))} |")
    assumed = card_bullets(summary.public) if summary.public else "The statement names nothing."
    columns = "The columns as they were declared:"
    if summary.unconfirmed:
        columns = (
            "**Read from the records, and not confirmed as public by anybody:** "
            f"{escape_card_markdown(summary.unconfirmed)}. The columns:"
        )
    table = "\n".join(lines)
    return f"## What was assumed public\n\n{assumed}\n\n{columns}\n\n{table}"


def _card_statement(privacy: PrivacyStatement) -> str:
    written = json.dumps(privacy.to_dict(), indent=1, allow_nan=False)
    for character in "`<>&":  # in JSON they can only be inside texts
        written = written.replace(character, f"\\u{ord(character):04x}")
    return f"## Privacy statement for programs\n\n{card_code('json', written)}"
