"""Names of any length and kind, made fit to be shown: a stranger's file may hold anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from privatree._support import escape
from privatree.model import Tree
from privatree.schema import Categorical, Feature, Label, Schema

LONGEST = 100
"""A name of more characters is cut."""


def visible(text: str) -> str:
    """A text that hides nothing; its lines stay lines."""
    return escape.escape_text(text, keep="\n")


def with_short_names(tree: Tree) -> Tree:
    """The same tree, with names that are no longer than a line.

    Parameters
    ----------
    tree : Tree
        Of which the names of features, categories and classes are looked at.

    Returns
    -------
    Tree
        The same one if nothing had to be cut. Names that would look alike are numbered.
    """
    schema = tree.schema
    names = _short_all(schema.features)
    features = {
        short: _short_feature(feature)
        for short, feature in zip(names, schema.features.values(), strict=True)
    }
    shortened = Schema(features, _short_labels(schema.classes))
    return tree if shortened == schema else replace(tree, schema=shortened)


def _short_feature(feature: Feature) -> Feature:
    if not isinstance(feature, Categorical):
        return feature
    categories = _short_labels(feature.categories)
    if categories == feature.categories:
        return feature
    return replace(feature, categories=categories, missing=categories[feature.missing_place])


def _short_labels(labels: Iterable[Label]) -> tuple[Label, ...]:
    """As they are if all are short; else all as text."""
    labels = tuple(labels)
    if all(len(str(label)) <= LONGEST for label in labels):
        return labels
    return tuple(_short_all(map(str, labels)))


def _short_all(texts: Iterable[str] | Mapping[str, Feature]) -> list[str]:
    cut = [text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…" for text in texts]
    seen = dict[str, int]()
    for text in cut:
        seen[text] = seen.get(text, 0) + 1
    if all(count == 1 for count in seen.values()):
        return cut
    return [
        text if seen[text] == 1 else f"{text} (no. {place})" for place, text in enumerate(cut, 1)
    ]
