"""Find the values of one column that do not fit its feature, and count them. **This leaks.**"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from privatree.schema import Feature, Numeric
from privatree.tables import (
    MISSING_WORDS,
    CodedColumn,
    Column,
    NumberColumn,
    column_to_codes,
    column_to_numbers,
    is_missing_value,
    plain_python_values,
)

MAX_EXAMPLES = 3
LEFT_OUT = ": left out"
"""End of the description of a misfit whose records are left out of training."""


def column_misfits(
    content: Column, feature: Feature, *, is_target: bool, text: Any = None
) -> Iterable[tuple[str, Mapping[str, int]]]:
    """Yield each kind of misfit in a column, such as "missing", with the counts of its values.

    `content` is the column as training reads it; `text` is its text in a CSV file. A missing value
    fits if missing values of the feature are separate.
    """
    if isinstance(feature, Numeric):
        yield from _number_misfits(content, text, feature, is_target)
        return
    codes = column_to_codes(content, feature.categories, -1, np.int64)
    missing, unknown = _unknown_misfits(content, text, codes < 0)
    if missing and not feature.separates_missing:
        yield f"missing{LEFT_OUT * is_target}", missing
    if unknown:
        counts = ": counts as missing" * feature.separates_missing
        yield f"not a class{LEFT_OUT}" if is_target else f"not a category{counts}", unknown


def _number_misfits(
    content: Column, text: Any, feature: Numeric, is_target: bool
) -> Iterable[tuple[str, Mapping[str, int]]]:
    numbers = column_to_numbers(content)
    missing, words = _unknown_misfits(content, text, np.isnan(numbers))
    below, above = numbers < float(feature.low), numbers > float(feature.high)
    if missing and not feature.separates_missing:
        yield f"missing{LEFT_OUT * is_target}", missing
    if words:
        yield f"not a number{LEFT_OUT if is_target else ': counts as missing'}", words
    for what, misplaced in (("below the range", below), ("above the range", above)):
        if misplaced.any():
            yield what, _count_misfit_numbers(numbers[misplaced])
    if feature.integer:
        broken = np.isfinite(numbers) & ~(below | above) & (numbers != np.floor(numbers))
        if broken.any():
            yield "not a whole number", _count_misfit_numbers(numbers[broken])


def _unknown_misfits(content: Column, text: Any, rows: Any) -> tuple[Counter[str], Counter[str]]:
    """Count missing values (also words such as NA) and other values in rows that do not fit."""
    missing: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    if text is None:
        unknown = _count_misfit_values(content, rows)
    else:
        found = text.take(np.flatnonzero(rows)).to_pylist()
        trimmed = Counter(value.strip() for value in found if value is not None and value.strip())
        for value, count in trimmed.items():
            (missing if value in MISSING_WORDS else unknown)[repr(value)] = count
    if n_empty := int(np.sum(rows)) - missing.total() - unknown.total():
        missing[""] = n_empty
    return missing, unknown


def _count_misfit_numbers(numbers: Any) -> dict[str, int]:
    values, counts = np.unique(numbers, return_counts=True)
    return {f"{value:.15g}": int(n) for value, n in zip(values, counts, strict=True)}


def _count_misfit_values(content: Column, unplaced: Any) -> Counter[str]:
    """Count the values of a typed column in some rows; missing values are left out."""
    if isinstance(content, NumberColumn):
        numbers = column_to_numbers(content)
        return Counter(_count_misfit_numbers(numbers[unplaced & ~np.isnan(numbers)]))
    if isinstance(content, CodedColumn):
        codes = content.codes[unplaced & (np.asarray(content.codes) >= 0)].tolist()
        values = [content.values[code] for code in codes]
    else:
        values = [content.values[row] for row in np.flatnonzero(unplaced).tolist()]
    present = [value for value in values if not is_missing_value(value)]
    return Counter(map(_show_misfit_value, present, plain_python_values(present)))


def _show_misfit_value(value: Any, plain: Any) -> str:
    """Return the text of an example: a text or number itself, or the type of another object."""
    if plain is None:
        return f"a {type(value).__name__}"
    return repr(plain.item() if isinstance(plain, np.generic) else plain)


def misfit_count(examples: Counter[str]) -> tuple[int, tuple[str, ...]]:
    """Return the number of records with a misfit, and the most frequent values."""
    shown = [value for value, _ in examples.most_common(MAX_EXAMPLES + 1) if value]
    return examples.total(), tuple(shown[:MAX_EXAMPLES])
