"""Labels and numbers of a model file, checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from privatree.errors import ModelFormatError
from privatree.schema import Categorical, Label

Codes = dict[tuple[type, Label | None], int]
"""The code of each label, by type and label: 1, 1.0 and true are equal in Python. The label None
stands for missing values that are separate."""


def labels_by_code(feature: Categorical) -> list[Label | None]:
    """Return the label of each category code; None for missing values that are separate."""
    return [*feature.categories, *([None] if feature.separates_missing else [])]


def codes_of_labels(labels: Sequence[Label | None]) -> Codes:
    return {(type(label), label): code for code, label in enumerate(labels)}


def code_of_label(label: Any, codes: Codes, of_what: str) -> int:
    is_label = label is None or isinstance(label, str | int | float)
    code = codes.get((type(label), label)) if is_label else None
    if code is None:
        raise ModelFormatError(f"a label must be one of {of_what}.")
    return code


def read_finite(value: Any, name: str) -> float:
    try:
        number = float(value) if type(value) in (int, float) else math.nan
    except OverflowError:  # an int beyond the floats
        number = math.inf
    if not math.isfinite(number):
        raise ModelFormatError(f"{name} must be a finite number.")
    return number
