"""What the pages and cards of all models show. Only the released model is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from privatree.export import name_text
from privatree.model import EnsembleRelease, TreeRelease
from privatree.privacy import PrivacyStatement
from privatree.report._certificate_section import CertificateSection, certificate_section
from privatree.report._citation import fingerprint
from privatree.report._privacy_words import PrivacyWords, privacy_words
from privatree.report._schema_table import (
    FeatureSummary,
    TargetSummary,
    schema_rows,
    target_summary,
)
from privatree.report._shown_names import escape_shown_text
from privatree.schema import About, Schema

MAX_FIELDS = 200
MAX_ROWS = 300
_MAX_SHOWN_CLASSES = 50


@dataclass(frozen=True)
class AboutTexts:
    """What the publisher says about the model. A text that is not given is empty."""

    title: str
    target: str
    description: str
    intended_use: str
    owner: str
    date: str


@dataclass(frozen=True)
class ModelSummary:
    """What all pages show. Texts outside `privacy` contain no control characters.

    `noun` is what the page calls the model. There are classes, or there is a target. `used` has the
    features that the model uses, and `fields` those that the form asks for.
    """

    noun: Literal["tree", "ensemble"]
    about: AboutTexts
    privacy: PrivacyStatement
    fingerprint: str
    learner: str
    classes: tuple[str, ...]
    n_classes: int
    target: TargetSummary | None
    n_features: int
    used: tuple[str, ...]
    words: PrivacyWords
    statement: str
    leaks: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    public: tuple[str, ...]
    unconfirmed: str
    """Schema entries that were read from the records and not confirmed; empty if there are none."""
    fields: tuple[FeatureSummary, ...]
    rows: tuple[FeatureSummary, ...]
    n_rows_left_out: int
    certificate: CertificateSection


def summarize_model(
    released: TreeRelease | EnsembleRelease,
    schema: Schema,
    used: Sequence[int],
    certificate: Any = None,
) -> ModelSummary:
    """Return what all pages show of a model and, if given, of a certificate.

    `schema` is that of the model with names to show, and `used` are the positions of the features
    that the model uses.
    """
    privacy = released.privacy_
    noun: Literal["tree", "ensemble"] = "ensemble" if released.kind == "ensemble" else "tree"
    rows, about = schema_rows(schema, used), schema.about or About()
    return ModelSummary(
        noun=noun,
        about=_about_for_summary(released.schema_),
        privacy=privacy,
        fingerprint=fingerprint(released),
        learner=escape_shown_text(privacy.learner),
        classes=tuple(name_text(label) for label in schema.classes[:_MAX_SHOWN_CLASSES]),
        n_classes=len(schema.classes),
        target=None if schema.target is None else target_summary(schema.target, about.target),
        n_features=len(rows),
        used=tuple(row.name for row in rows[: len(used)]),
        words=privacy_words(privacy, noun),
        statement=escape_shown_text(str(privacy)),
        leaks=tuple(
            (escape_shown_text(leak.name), escape_shown_text(leak.explanation))
            for leak in privacy.leaks
        ),
        notes=tuple(map(escape_shown_text, privacy.notes)),
        public=tuple(map(escape_shown_text, privacy.public)),
        unconfirmed=escape_shown_text(released.schema_.shown_unconfirmed()),
        fields=tuple(rows[: len(used)][:MAX_FIELDS]),
        rows=tuple(rows[:MAX_ROWS]),
        n_rows_left_out=max(0, len(rows) - MAX_ROWS),
        certificate=certificate_section(privacy, certificate, released.schema_),
    )


def _about_for_summary(schema: Schema) -> AboutTexts:
    about = schema.about or About()
    given = ((field.name, getattr(about, field.name)) for field in fields(AboutTexts))
    return AboutTexts(**{name: escape_shown_text(text or "") for name, text in given})
