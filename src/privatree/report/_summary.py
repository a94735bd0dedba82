"""Everything that the page shows of a model, as plain values; nothing but the model is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from privatree import __version__
from privatree.export import PathSpend, Rule, costliest_path_spends, name_text, rules
from privatree.model import Tree, released_model
from privatree.privacy import PrivacyStatement, shown_amount
from privatree.report._certificate_section import CertificateSection, certificate_section
from privatree.report._citation import fingerprint
from privatree.report._drawing import Drawing, draw
from privatree.report._page_data import page_data
from privatree.report._privacy_words import PrivacyWords, privacy_words
from privatree.report._shown_names import visible, with_short_names
from privatree.schema import Categorical, Feature

MAX_FIELDS = 200
MAX_CHOICES = 300
"""A feature of more categories is typed and not chosen."""
MAX_RULES = 500
MAX_NAMES_IN_RULES = 200_000
MAX_ROWS = 300
_FEW_CATEGORIES, _MAX_CATEGORIES = 6, 400
_MAX_SEGMENTS = 9
_MAX_ENTRIES = 50


@dataclass(frozen=True)
class Row:
    """A feature of the schema, in words; `place` counts those that the tree asks about, or -1."""

    name: str
    kind: str
    values: str
    all_values: str
    missing: str
    place: int


@dataclass(frozen=True)
class Field:
    """Where a reader enters a value; `choices` are there if there are not too many."""

    place: int
    name: str
    kind: str
    low: str
    high: str
    step: str
    hint: str
    choices: tuple[str, ...]


@dataclass(frozen=True)
class Sentence:
    """A rule in two halves: for which records, and what is predicted."""

    leaf: int
    label: int
    condition: str
    answer: str

    @property
    def sentence(self) -> str:
        """Both."""
        return self.condition + self.answer


@dataclass(frozen=True)
class Segment:
    """A part of the budget: what for, how much, and its share of the whole bar in per cent."""

    purpose: str
    how: str
    epsilon: str
    share: float


@dataclass(frozen=True)
class BudgetBar:
    """The spends on the path that spent most."""

    segments: tuple[Segment, ...]
    spent: str
    total: str
    unspent: str
    unspent_share: float


@dataclass(frozen=True)
class Summary:
    """A model as the page shows it. Texts are free of control characters."""

    version: str
    fingerprint: str
    learner: str
    is_the_papers: bool
    classes: tuple[str, ...]
    n_classes: int
    depth: int
    n_leaves: int
    n_features: int
    used: tuple[str, ...]
    has_probabilities: bool
    words: PrivacyWords
    statement: str
    leaks: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    public: tuple[str, ...]
    unconfirmed: str
    """What of the schema was read from the records, in words; empty if nothing was."""
    seeded: bool
    neighbours: str
    delta: str
    budget: BudgetBar
    drawing: Drawing
    fields: tuple[Field, ...]
    rules: tuple[Sentence, ...]
    rows: tuple[Row, ...]
    n_rows_left_out: int
    certificate: CertificateSection
    data: dict[str, Any]


def summary(model: Any, certificate: Any = None) -> Summary:
    """Gather what the page shows.

    Parameters
    ----------
    model : Model or fitted classifier
        What was released.
    certificate : AccuracyCertificate, optional
        Of the same learner; not private.
    """
    released = released_model(model)
    privacy = released.privacy_
    section = certificate_section(privacy, certificate, released.schema_.classes)
    tree = with_short_names(released.tree_)
    places = {position: i for i, position in enumerate(tree.used_features)}
    rows = [
        _row(name, feature, places.get(position, -1))
        for position, (name, feature) in enumerate(tree.schema.features.items())
    ]
    used = [row for row in rows if row.place >= 0]
    kept = (used + [row for row in rows if row.place < 0])[:MAX_ROWS]
    features = list(tree.schema.features.items())
    return Summary(
        version=__version__,
        fingerprint=fingerprint(released),
        learner=visible(privacy.learner),
        is_the_papers=privacy.claimed_epsilon is not None,
        classes=tuple(name_text(label) for label in tree.schema.classes[:_MAX_ENTRIES]),
        n_classes=len(tree.schema.classes),
        depth=tree.depth,
        n_leaves=tree.n_leaves,
        n_features=len(features),
        used=tuple(row.name for row in used),
        has_probabilities=tree.probability is not None,
        words=privacy_words(privacy),
        statement=visible(str(privacy)),
        leaks=tuple((visible(k.name), visible(k.explanation)) for k in privacy.leaks),
        notes=tuple(map(visible, privacy.notes)),
        public=tuple(map(visible, privacy.public)),
        unconfirmed=visible(released.schema_.shown_unconfirmed()),
        seeded=privacy.seeded,
        neighbours=privacy.neighbours,
        delta=shown_amount(privacy.delta),
        budget=_budget(costliest_path_spends(tree, privacy), privacy),
        drawing=draw(tree),
        fields=tuple(
            _field(place, *features[position])
            for place, position in enumerate(tree.used_features[:MAX_FIELDS])
        ),
        rules=tuple(_sentence(tree, rule) for rule in rules(tree)) if _can_be_listed(tree) else (),
        rows=tuple(kept),
        n_rows_left_out=len(rows) - len(kept),
        certificate=section,
        data=page_data(tree, section),
    )


def _can_be_listed(tree: Tree) -> bool:
    """Whether the rules are not too many, nor too long by the categories that they name."""
    if tree.n_leaves > MAX_RULES:
        return False
    names = np.zeros(tree.n_nodes, dtype=np.int64)  # in the question of each node, at most
    features = list(tree.schema.features.values())
    for node in tree.splits.tolist():
        feature = features[tree.feature[node]]
        names[node] = len(feature.categories) if isinstance(feature, Categorical) else 1
    return int(tree.path_sums(names)[tree.leaves].sum()) <= MAX_NAMES_IN_RULES


def _sentence(tree: Tree, rule: Rule) -> Sentence:
    before, answer = rule.sentence, ""
    if rule.conditions:
        start = len(f"If {' and '.join(rule.conditions)}, ")
        before, answer = before[:start], before[start:]
    return Sentence(rule.leaf, int(tree.label[rule.leaf]), before, answer)


# --- the schema -----------------------------------------------------------------------------------


def _row(name: str, feature: Feature, place: int) -> Row:
    if isinstance(feature, Categorical):
        shown = [name_text(category) for category in feature.categories[:_MAX_CATEGORIES]]
        more = len(feature.categories) - len(shown)
        every = ", ".join(shown) + (f", … and {more:,} more" if more else "")
        n_categories = len(feature.categories)
        return Row(
            name=name_text(name),
            kind=f"{n_categories:,} categor{'y' if n_categories == 1 else 'ies'}",
            values=", ".join(shown[:_FEW_CATEGORIES]),
            all_values=every if n_categories > _FEW_CATEGORIES else "",
            missing=name_text(feature.categories[feature.missing_place]),
            place=place,
        )
    cuts = "" if feature.cuts is None else f", {len(feature.cuts):,} public cut points"
    return Row(
        name=name_text(name),
        kind="whole number" if feature.integer else "number",
        values=f"{number(feature.low)} to {number(feature.high)}{cuts}",
        all_values="",
        missing=number(feature.missing_place),
        place=place,
    )


def _field(place: int, name: str, feature: Feature) -> Field:
    if isinstance(feature, Categorical):
        missing = name_text(feature.categories[feature.missing_place])
        choices = tuple(name_text(category) for category in feature.categories)
        few = len(choices) <= MAX_CHOICES
        hint = "" if few else f"one of {len(choices):,} categories; "
        return Field(
            place, name_text(name), "choice" if few else "text", "", "", "",
            f"{hint}missing counts as {missing}", choices if few else (),
        )  # fmt: skip
    whole = ", whole" if feature.integer else ""
    low, high = number(feature.low), number(feature.high)
    return Field(
        place, name_text(name), "number", low, high, "1" if feature.integer else "any",
        f"{low} to {high}{whole}; missing counts as {number(feature.missing_place)}", (),
    )  # fmt: skip


def number(value: float) -> str:
    """A number as a person writes it."""
    plain = int(value) if float(value).is_integer() and abs(value) < 1e15 else float(value)
    return repr(plain)


# --- the budget -----------------------------------------------------------------------------------


def _budget(path: tuple[PathSpend, ...], privacy: PrivacyStatement) -> BudgetBar:
    """Shares are of epsilon where it is finite, else of what was spent."""
    spent = math.fsum(spend.epsilon for spend in path)
    is_finite = math.isfinite(privacy.epsilon)
    whole = (max(privacy.epsilon, spent) if is_finite else spent) or 1.0
    first, others = path[:_MAX_SEGMENTS], path[_MAX_SEGMENTS:]
    segments = [
        Segment(
            visible(spend.purpose), _how(spend), _amount(spend.epsilon), 100 * spend.epsilon / whole
        )
        for spend in first
    ]
    if others:
        rest = math.fsum(spend.epsilon for spend in others)
        segments.append(Segment(f"{len(others)} more", "", _amount(rest), 100 * rest / whole))
    unspent = whole - spent if is_finite else 0.0
    if unspent < 1e-9 * whole:
        unspent = 0.0
    return BudgetBar(
        segments=tuple(segments),
        spent=_amount(spent),
        total=shown_amount(privacy.epsilon) if is_finite else "",
        unspent=_amount(unspent) if unspent else "",
        unspent_share=100 * unspent / whole,
    )


def _how(spend: PathSpend) -> str:
    where = (
        "once, for the whole table" if spend.depth is None
        else "at the root" if spend.depth == 0
        else f"{spend.depth} level{'' if spend.depth == 1 else 's'} below the root"
    )  # fmt: skip
    times = f", {spend.releases:,} times" if spend.releases > 1 else ""
    return f"{visible(spend.mechanism)}, {where}{times}"


def _amount(epsilon: float) -> str:
    return f"{epsilon:.4g}"
