"""What in one column does not fit its feature, counted with examples of values. **This leaks.**"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True)
class ReadColumn:
    """A column as training reads it and, of a CSV file, the text that stands there."""

    content: Column
    text: Any = None

    def texts_at(self, rows: Any) -> Counter[str]:
        """What stands in some rows, but for blanks."""
        texts = self.text.take(np.flatnonzero(rows)).to_pylist()
        return Counter(text.strip() for text in texts if text is not None and text.strip())


def column_misfits(
    read: ReadColumn, feature: Feature, *, is_target: bool
) -> Iterable[tuple[str, Mapping[str, int]]]:
    """What does not fit in a column, with how often each value of it occurs."""
    if isinstance(feature, Numeric):
        yield from _of_numbers(read, feature)
        return
    codes = column_to_codes(read.content, feature.categories, -1, np.int64)
    missing, unknown = _unplaced(read, codes < 0)
    if missing:
        yield "missing: left out" if is_target else "missing", missing
    if unknown:
        yield "not a class: left out" if is_target else "not a category", unknown


def _of_numbers(read: ReadColumn, feature: Numeric) -> Iterable[tuple[str, Mapping[str, int]]]:
    numbers = column_to_numbers(read.content)
    missing, words = _unplaced(read, np.isnan(numbers))
    below, above = numbers < float(feature.low), numbers > float(feature.high)
    if missing:
        yield "missing", missing
    if words:
        yield "not a number: counts as missing", words
    for what, misplaced in (("below the range", below), ("above the range", above)):
        if misplaced.any():
            yield what, _counted(numbers[misplaced])
    if feature.integer:
        broken = np.isfinite(numbers) & ~(below | above) & (numbers != np.floor(numbers))
        if broken.any():
            yield "not whole", _counted(numbers[broken])


def _unplaced(read: ReadColumn, rows: Any) -> tuple[Counter[str], Counter[str]]:
    """Of rows with nothing that fits: what stands for no value there, and what else stands."""
    missing: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    if read.text is None:
        unknown = _unknown_values(read.content, rows)
    else:
        for text, count in read.texts_at(rows).items():
            (missing if text in MISSING_WORDS else unknown)[repr(text)] = count
    if n_empty := int(np.sum(rows)) - missing.total() - unknown.total():
        missing[""] = n_empty
    return missing, unknown


def _counted(numbers: Any) -> dict[str, int]:
    values, counts = np.unique(numbers, return_counts=True)
    return {f"{value:.15g}": int(n) for value, n in zip(values, counts, strict=True)}


def _unknown_values(content: Column, unplaced: Any) -> Counter[str]:
    """The values of a typed column that do not fit."""
    if isinstance(content, NumberColumn):
        numbers = column_to_numbers(content)
        return Counter(_counted(numbers[unplaced & ~np.isnan(numbers)]))
    if isinstance(content, CodedColumn):
        codes = content.codes[unplaced & (np.asarray(content.codes) >= 0)].tolist()
        values = [content.values[code] for code in codes]
    else:
        values = [content.values[row] for row in np.flatnonzero(unplaced).tolist()]
    present = [value for value in values if not is_missing_value(value)]
    return Counter(map(_shown, present, plain_python_values(present)))


def _shown(value: Any, plain: Any) -> str:
    """A value of any type as an example; of what is neither text nor a number, its type."""
    if plain is None:
        return f"a {type(value).__name__}"
    return repr(plain.item() if isinstance(plain, np.generic) else plain)


def misfit_count(examples: Counter[str]) -> tuple[int, tuple[str, ...]]:
    """How many records have something that does not fit, and some of their values."""
    shown = [value for value, _ in examples.most_common(MAX_EXAMPLES + 1) if value]
    return examples.total(), tuple(shown[:MAX_EXAMPLES])
