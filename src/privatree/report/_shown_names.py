"""Names made short and printable, because an untrusted model file may hold any text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from privatree._support.escape import escape_text
from privatree.schema import Categorical, Feature, Label, Schema

MAX_NAME_LENGTH = 100
"""A name with more characters is cut."""


def escape_shown_text(text: str) -> str:
    """Return a text with escapes for invisible characters other than line breaks."""
    return escape_text(text, keep="\n")


def shorten_shown_schema(schema: Schema) -> Schema:
    """Return the schema with long names cut. Names that become equal are numbered."""
    names = _shorten_shown_texts(schema.features)
    features = {
        short: _shorten_shown_categories(feature)
        for short, feature in zip(names, schema.features.values(), strict=True)
    }
    classes = _shorten_shown_labels(schema.classes)
    shortened = replace(schema, features=features, classes=classes)
    return schema if shortened == schema else shortened


def _shorten_shown_categories(feature: Feature) -> Feature:
    if not isinstance(feature, Categorical):
        return feature
    categories = _shorten_shown_labels(feature.categories)
    if categories == feature.categories:
        return feature
    if feature.separates_missing:
        return replace(feature, categories=categories)
    return replace(feature, categories=categories, missing=categories[feature.missing_place])


def _shorten_shown_labels(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Return the labels unchanged if all are short, and otherwise all of them as text."""
    labels = tuple(labels)
    if all(len(str(label)) <= MAX_NAME_LENGTH for label in labels):
        return labels
    return tuple(_shorten_shown_texts(map(str, labels)))


def shorten_shown_text(text: str) -> str:
    """Return a text, cut if it is long."""
    return text if len(text) <= MAX_NAME_LENGTH else f"{text[: MAX_NAME_LENGTH - 1]}…"


def _shorten_shown_texts(texts: Iterable[str]) -> list[str]:
    cut = [shorten_shown_text(text) for text in texts]
    count = Counter(cut)
    return [
        text if count[text] == 1 else f"{text} (no. {place})" for place, text in enumerate(cut, 1)
    ]
