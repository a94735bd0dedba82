"""All values that the page and the card show of a model. Only the released model is read."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from privatree.export import PathSpend, budget_path_bars, name_text, rules, support_text
from privatree.model import Tree, released_model
from privatree.privacy import PrivacyStatement, shown_amount
from privatree.report._certificate_section import CertificateSection, certificate_section
from privatree.report._citation import fingerprint
from privatree.report._page_data import page_script_data
from privatree.report._privacy_words import PrivacyWords, privacy_words
from privatree.report._shown_names import escape_shown_text, shorten_shown_names
from privatree.report._tree_drawing import TreeDrawing, draw_report_tree
from privatree.schema import About, Categorical, Feature, Schema

MAX_FIELDS = 200
MAX_CHOICES = 300
"""Largest number of categories that the page offers as a list of choices."""
MAX_RULES = 500
MAX_NAMES_IN_RULES = 200_000
MAX_ROWS = 300
_FEW_CATEGORIES, _MAX_CATEGORIES = 6, 400
_MAX_SEGMENTS = 9
_MAX_SHOWN_CLASSES = 50
_SEPARATE = "a place of its own"
"""Text that says what missing values count as, if the schema counts them separately."""


@dataclass(frozen=True)
class FeatureSummary:
    """A feature, as a row of the schema table and as an input of the form.

    `place` numbers the features that the tree uses, and is -1 for others. `choices` is empty if the
    feature has too many categories.
    """

    place: int
    name: str
    kind: str
    values: str
    missing: str
    hint: str
    input: Literal["number", "choice", "text"]
    all_values: str = ""
    choices: tuple[str, ...] = ()
    low: str = ""
    high: str = ""
    step: str = ""


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
class RuleSentence:
    """A rule in three parts: its condition, its prediction and the noisy number of records."""

    leaf: int
    label: int
    condition: str
    answer: str
    support: str
    has_support: bool


@dataclass(frozen=True)
class BudgetSegment:
    """A part of the budget bar. `share` is a percentage of the bar."""

    purpose: str
    how: str
    epsilon: str
    share: float
    is_spent: bool


@dataclass(frozen=True)
class BudgetBar:
    """The spends on the path that spent the most epsilon. `total` is empty if it is infinite."""

    segments: tuple[BudgetSegment, ...]
    spent: str
    total: str


@dataclass(frozen=True)
class ModelSummary:
    """A model as the page shows it. Texts outside `privacy` contain no control characters."""

    about: AboutTexts
    tree: Tree
    has_unsupported: bool
    """Whether a leaf has few or no records."""
    privacy: PrivacyStatement
    fingerprint: str
    learner: str
    classes: tuple[str, ...]
    n_classes: int
    n_features: int
    used: tuple[str, ...]
    words: PrivacyWords
    statement: str
    leaks: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    public: tuple[str, ...]
    unconfirmed: str
    """Schema entries that were read from the records and not confirmed; empty if there are none."""
    budget: BudgetBar
    drawing: TreeDrawing
    fields: tuple[FeatureSummary, ...]
    rules: tuple[RuleSentence, ...]
    rows: tuple[FeatureSummary, ...]
    n_rows_left_out: int
    certificate: CertificateSection
    data: dict[str, Any]


def summarize_model(model: Any, certificate: Any = None) -> ModelSummary:
    """Return all values that the page shows of a model and, if given, of a certificate."""
    released = released_model(model)
    privacy = released.privacy_
    section = certificate_section(privacy, certificate, released.schema_.classes)
    tree = shorten_shown_names(released.tree_)
    places = {position: place for place, position in enumerate(tree.used_features)}
    rows = [
        _feature_summary(places.get(position, -1), name, feature)
        for position, (name, feature) in enumerate(tree.schema.features.items())
    ]
    rows.sort(key=lambda row: row.place < 0)  # the features that the tree uses come first
    used = rows[: len(places)]
    return ModelSummary(
        about=_about_for_summary(released.schema_),
        tree=tree,
        has_unsupported=not all(map(tree.has_support, tree.leaves.tolist())),
        privacy=privacy,
        fingerprint=fingerprint(released),
        learner=escape_shown_text(privacy.learner),
        classes=tuple(name_text(label) for label in tree.schema.classes[:_MAX_SHOWN_CLASSES]),
        n_classes=len(tree.schema.classes),
        n_features=len(rows),
        used=tuple(row.name for row in used),
        words=privacy_words(privacy),
        statement=escape_shown_text(str(privacy)),
        leaks=tuple(
            (escape_shown_text(leak.name), escape_shown_text(leak.explanation))
            for leak in privacy.leaks
        ),
        notes=tuple(map(escape_shown_text, privacy.notes)),
        public=tuple(map(escape_shown_text, privacy.public)),
        unconfirmed=escape_shown_text(released.schema_.shown_unconfirmed()),
        budget=_budget_bar_for_summary(budget_path_bars(tree, privacy, _MAX_SEGMENTS), privacy),
        drawing=draw_report_tree(tree),
        fields=tuple(used[:MAX_FIELDS]),
        rules=_rules_for_summary(tree),
        rows=tuple(rows[:MAX_ROWS]),
        n_rows_left_out=max(0, len(rows) - MAX_ROWS),
        certificate=section,
        data=page_script_data(tree, section, privacy.words),
    )


def _rules_for_summary(tree: Tree) -> tuple[RuleSentence, ...]:
    """Return the rules of the leaves, or none if they are too many or too long."""
    if tree.n_leaves > MAX_RULES:
        return ()
    n_names = np.zeros(tree.n_nodes, dtype=np.int64)  # most names in the question of each node
    features = list(tree.schema.features.values())
    for node in tree.splits.tolist():
        feature = features[tree.feature[node]]
        n_names[node] = len(feature.categories) if isinstance(feature, Categorical) else 1
    if int(tree.path_sums(n_names)[tree.leaves].sum()) > MAX_NAMES_IN_RULES:
        return ()
    sentences = []
    for rule in rules(tree):
        end = len(f"If {' and '.join(rule.conditions)}, ") if rule.conditions else len("Always ")
        label, support = int(tree.label[rule.leaf]), support_text(tree, rule.leaf)
        text = rule.sentence
        start = len(text) - len(f" {support}.") if support else len(text)
        sentences.append(
            RuleSentence(
                rule.leaf,
                label,
                text[:end],
                text[end:start],
                text[start:].strip(),
                tree.has_support(rule.leaf),
            )
        )
    return tuple(sentences)


# --- the schema -----------------------------------------------------------------------------------


def _about_for_summary(schema: Schema) -> AboutTexts:
    about = schema.about or About()
    given = ((field.name, getattr(about, field.name)) for field in fields(AboutTexts))
    return AboutTexts(**{name: escape_shown_text(text or "") for name, text in given})


def _feature_summary(place: int, name: str, feature: Feature) -> FeatureSummary:
    if isinstance(feature, Categorical):
        names = [name_text(category) for category in feature.categories]
        n_names = len(names)
        missing = _SEPARATE if feature.separates_missing else names[feature.missing_place]
        more = f", … and {n_names - _MAX_CATEGORIES:,} more" * (n_names > _MAX_CATEGORIES)
        every, is_short = ", ".join(names[:_MAX_CATEGORIES]) + more, n_names <= MAX_CHOICES
        return FeatureSummary(
            place,
            name_text(name),
            kind=f"{n_names:,} categor{'y' if n_names == 1 else 'ies'}",
            values=", ".join(names[:_FEW_CATEGORIES]),
            all_values=every if n_names > _FEW_CATEGORIES else "",
            missing=missing,
            input="choice" if is_short else "text",
            choices=tuple(names) if is_short else (),
            hint=f"one of {n_names:,} categories; " * (not is_short)
            + _missing_hint(feature, missing),
        )
    low, high = _summary_number_text(feature.low), _summary_number_text(feature.high)
    missing = _SEPARATE
    if not feature.separates_missing:
        missing = _summary_number_text(feature.missing_place)
    cuts = "" if feature.cuts is None else f", {len(feature.cuts):,} public cut points"
    return FeatureSummary(
        place,
        name_text(name),
        kind="whole number" if feature.integer else "number",
        values=f"{low} to {high}{cuts}",
        missing=missing,
        input="number",
        low=low,
        high=high,
        step="1" if feature.integer else "any",
        hint=f"{low} to {high}{', whole' * feature.integer}; {_missing_hint(feature, missing)}",
    )


def _missing_hint(feature: Feature, missing: str) -> str:
    return "may be missing" if feature.separates_missing else f"missing counts as {missing}"


def _summary_number_text(value: float) -> str:
    """Return a number as text; a whole number has no decimal point."""
    plain = int(value) if float(value).is_integer() and abs(value) < 1e15 else float(value)
    return repr(plain)


# --- the budget -----------------------------------------------------------------------------------


def _budget_bar_for_summary(bars: list[PathSpend], privacy: PrivacyStatement) -> BudgetBar:
    whole = math.fsum(bar.epsilon for bar in bars) or 1.0
    return BudgetBar(
        segments=tuple(
            BudgetSegment(
                escape_shown_text(bar.purpose),
                _spend_for_summary(bar) if bar.mechanism else "",
                f"{bar.epsilon:.4g}",
                100 * bar.epsilon / whole,
                bar.releases > 0,
            )
            for bar in bars
        ),
        spent=f"{math.fsum(bar.epsilon for bar in bars if bar.releases):.4g}",
        total=shown_amount(privacy.epsilon) if math.isfinite(privacy.epsilon) else "",
    )


def _spend_for_summary(spend: PathSpend) -> str:
    where = (
        "once, for the whole dataset" if spend.depth is None
        else "at the root" if spend.depth == 0
        else f"{spend.depth} level{'' if spend.depth == 1 else 's'} below the root"
    )  # fmt: skip
    times = f", {spend.releases:,} times" if spend.releases > 1 else ""
    return f"{escape_shown_text(spend.mechanism)}, {where}{times}"
