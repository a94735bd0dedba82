"""The schema: rows of a table, inputs of the form, data for its script, and the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from privatree.export import name_text
from privatree.report._shown_names import shorten_shown_text
from privatree.schema import Categorical, Feature, Schema, Target

MAX_CHOICES = 300
"""Largest number of categories that the page offers as a list of choices."""
_FEW_CATEGORIES, _MAX_CATEGORIES = 6, 400
_SEPARATE = "a place of its own"
"""Text that says what missing values count as, if the schema counts them separately."""


@dataclass(frozen=True)
class FeatureSummary:
    """A feature, as a row of the schema table and as an input of the form.

    `place` numbers the features that the model uses, and is -1 for others. `choices` is empty if
    the feature has too many categories.
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
class TargetSummary:
    """The number that a model predicts.

    `name` is empty if the target has none; `called` is then what a sentence calls it. `ends` are
    the exact ends of its range.
    """

    name: str
    called: str
    kind: str
    low: str
    high: str
    ends: tuple[float, float]
    log: bool

    @property
    def values(self) -> str:
        return f"{self.low} to {self.high}{', learned as a logarithm' * self.log}"


def target_summary(target: Target, name: str | None) -> TargetSummary:
    """Return what the page and the card say of a numeric target, and of the name of its column."""
    shown = "" if name is None else name_text(shorten_shown_text(name))
    return TargetSummary(
        name=shown,
        called=shown or "the target",
        kind="whole number" if target.integer else "number",
        low=_summary_number_text(target.low),
        high=_summary_number_text(target.high),
        ends=(float(target.low), float(target.high)),
        log=target.log,
    )


def schema_rows(schema: Schema, used: Sequence[int]) -> list[FeatureSummary]:
    """Return all features. Those at the positions `used` come first, in this order."""
    places = {position: place for place, position in enumerate(used)}
    rows = [
        _feature_summary(places.get(position, -1), name, feature)
        for position, (name, feature) in enumerate(schema.features.items())
    ]
    rows.sort(key=lambda row: (row.place < 0, row.place))
    return rows


def form_feature_data(name: str, feature: Feature) -> dict[str, Any]:
    """Return what the script of the form needs to know of a feature."""
    if isinstance(feature, Categorical):
        return {
            "name": name_text(name),
            "names": [name_text(category) for category in feature.categories],
            "missing": feature.missing_place,
            "separate": feature.separates_missing,
        }
    return {
        "name": name_text(name),
        "low": float(feature.low),
        "high": float(feature.high),
        "integer": feature.integer,
        "missing": None if feature.separates_missing else float(feature.missing_place),
        "separate": feature.separates_missing,
    }


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
