"""Texts of the cells of an axis, on which a term of an ensemble is constant."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from privatree.export.text._shown_values import name_text, shown_thresholds
from privatree.model.terms import Axis
from privatree.schema import Categorical, Label

_MAX_NAMES = 3


def cell_texts(
    axis: Axis, max_names: int = _MAX_NAMES, shown: Mapping[float, str] | None = None
) -> list[str]:
    """Return what may follow the name of the feature, for each cell: "at most 25", "a or b".

    Of more than `max_names` categories, the first are named, and the others are counted. `shown`
    has the texts of finite cut points (``shown_thresholds``), by default those of this axis alone.
    """
    if isinstance(axis.feature, Categorical):
        feature = axis.feature
        return [_categories_text(feature, labels, max_names) for labels in axis.categories]
    cuts = [] if axis.cuts is None else axis.cuts.tolist()
    shown = shown_thresholds(axis.feature, cuts) if shown is None else shown
    texts = [shown[cut] for cut in cuts if cut in shown]  # minus infinity has no text
    missing = "missing or " if axis.feature.separates_missing and len(texts) == len(cuts) else ""
    first = f"{missing}at most {texts[0]}" if texts else "any number"
    between = [f"above {low}, at most {high}" for low, high in pairwise(texts)]
    last = [f"above {texts[-1]}"] if texts else []
    return [*(["missing"] if axis.has_missing_cell else []), first, *between, *last]


def _categories_text(feature: Categorical, labels: tuple[Label | None, ...], at_most: int) -> str:
    names = ["missing" if label is None else name_text(label) for label in labels]
    if feature.separates_missing:  # so that such a category is not taken for a missing value
        quoted = zip(names, labels, strict=True)
        names = ['"missing"' if name == label == "missing" else name for name, label in quoted]
    if (n_more := len(names) - at_most) > 0:
        return f"{', '.join(names[:at_most])} or {n_more:,} more"
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]
