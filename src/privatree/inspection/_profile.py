"""Profile the columns of a dataset, for a draft of a schema. **This leaks.**

Training never uses this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from privatree.inspection._infer import (
    infer_classes,
    infer_feature,
    infer_target,
    target_of_range,
)
from privatree.inspection._label_rules import LabelRules
from privatree.schema import Feature, Label, Numeric, Target
from privatree.tables import (
    BLANKS,
    MISSING_WORDS,
    CodedColumn,
    Column,
    ColumnType,
    LazyColumn,
    NumberColumn,
    column_to_codes,
    column_to_numbers,
    is_missing_value,
    open_frame,
    open_labels,
    parse_text_numbers,
    python_values_to_numbers,
)

_FEW = 12
"""Largest number of distinct whole numbers that are listed."""
_MANY_NUMBERS = 20
"""Labels with more distinct numbers than these are a number to predict, not classes."""
_MAX_EXACT = 2.0**53
"""Every whole number up to this one is exactly a float."""

_AMOUNT = (
    r"^[+-]?(?:"
    r"[0-9]*,[0-9]+"  # 8,9
    r"|[0-9]{1,3}(?:[. '\x{a0}\x{202f}][0-9]{3})+(?:,[0-9]+)?"  # 1.296,50
    r"|[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?"  # 1,296.50
    r")$"
)
_CODE = r"^\S*[0-9]\S*$"  # P-00123
_TIME = (
    r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)? ?(?:[AaPp][Mm]|Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_DAY = "(?:0?[1-9]|[12][0-9]|3[01])"
_DATE = (
    rf"^(?:{_DAY}[./-]{_DAY}[./-](?:[0-9]{{4}}|[0-9]{{2}})"  # 27.08.2023, 08/27/23
    rf"|[0-9]{{4}}[./-]{_DAY}[./-]{_DAY})"  # 2023-08-27
    rf"(?:(?:T|,? ){_TIME})?$"
)


@dataclass(frozen=True)
class ColumnFacts:
    """Facts about the content of a column. Counts are numbers of records."""

    name: str
    type_name: str
    feature: Feature | None  # inferred from the values; None if the type cannot be a feature
    n_values: int
    n_missing: int
    n_distinct: int
    n_repeated: int = 0  # distinct values that several records have
    few_numbers: tuple[int, ...] = ()  # distinct values, if they are few and whole numbers
    numbers: Numeric | None = None  # for text: range of the values that are numbers
    n_numbers: int = 0  # for text: records with a number
    n_amounts: int = 0  # for text: with a decimal comma or with separators between thousands
    n_dates: int = 0  # for text: records with a date
    n_codes: int = 0  # for text: records with a word that contains a digit, as ids are written
    is_numbered: bool = False  # whole numbers that look like identifiers
    tells_label: bool = False  # this column alone determines nearly every label


@dataclass(frozen=True)
class TableFacts:
    """Facts about columns, the classes or target, and numbers of records with and without one."""

    columns: tuple[ColumnFacts, ...]
    classes: tuple[Label, ...]
    n_unlabelled: int
    n_labelled: int = 0
    target: Target | None = None
    """Range of the numbers to predict. Then there are no classes."""


def profile_table(
    X: Any, y: Any, *, trim: bool, decimal: str = ".", predict: str | None = None
) -> TableFacts:
    """Return facts about all columns of a frame and about its labels. **This leaks.**

    With `trim`, as for CSV files, blanks around text are ignored, and words such as ``NA`` are
    missing values. `decimal` is the decimal mark of numbers in text. `predict` is "classes" or
    "number"; by default, labels are a number to predict if they are numbers with many different
    values. A TypeError or ValueError is raised if there are fewer than two classes, or no numbers.
    """
    table, (labels,) = open_frame(X), open_labels(y).columns
    if trim:
        labels = _trim_profiled_text(labels)
    content = labels.read()
    target = None if predict == "classes" else _profile_target(labels, decimal, predict == "number")
    if target is None:
        classes = tuple(infer_classes(labels))
        label_groups = column_to_codes(content, classes, -1, np.int64)
    else:
        classes = ()
        label_groups = _tenths(_profiled_numbers(content, decimal))
    names = table.names or [f"x{place}" for place in range(len(table.columns))]
    columns = [_trim_profiled_text(column) for column in table.columns] if trim else table.columns
    rules = LabelRules(label_groups)
    counts, n_unlabelled = _count_profiled_values(content)
    n_labelled = sum(counts.values())
    if target is not None:
        n_labelled = int(np.sum(label_groups >= 0))
        n_unlabelled = len(label_groups) - n_labelled
    return TableFacts(
        tuple(
            _profile_column(name, column, rules, decimal)
            for name, column in zip(names, columns, strict=True)
        ),
        classes,
        n_unlabelled,
        n_labelled,
        target,
    )


def _profile_target(labels: LazyColumn, decimal: str, is_asked: bool) -> Target | None:
    """Return the target with the range of the labels; None if they look like classes.

    In text, most values must be numbers. Raise a ValueError if a number is asked for, and the
    labels are not numbers.
    """
    if labels.type.kind == "other":
        return None if not is_asked else infer_target(labels)
    numbers = _profiled_numbers(labels.read(), decimal)
    present = np.unique(numbers[np.isfinite(numbers)])
    if not is_asked and (labels.type.kind == "bool" or len(present) <= _MANY_NUMBERS):
        return None
    if len(present) == 0:
        raise ValueError("the target must have numbers to predict, but has none.")
    counts, _ = _count_profiled_values(labels.read())
    if not is_asked and 10 * np.isfinite(numbers).sum() < 9 * sum(counts.values()):
        return None
    found = infer_feature(LazyColumn(ColumnType("number", ""), lambda: NumberColumn(present)))
    feature = cast("Numeric", found)
    return target_of_range(_to_integer_range(feature) if _are_whole(present) else feature)


def _profiled_numbers(content: Column, decimal: str) -> NDArray[np.float64]:
    """Return the numbers of a column, also those that are written as text; NaN for other values."""
    import pyarrow as pa

    if isinstance(content, CodedColumn) and all(isinstance(v, str | None) for v in content.values):
        text = pa.chunked_array([pa.array(list(content.values), pa.string())])
        numbers = column_to_numbers(parse_text_numbers(text, decimal))
        return np.take(np.append(numbers, np.nan), content.codes)
    return column_to_numbers(content)


def _tenths(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the tenth of all numbers to which each belongs; -1 for a missing number."""
    known = np.isfinite(numbers)
    cuts = np.unique(np.quantile(numbers[known], np.arange(1, 10) / 10))
    return np.where(known, np.searchsorted(cuts, numbers, side="right"), -1)


def _trim_profiled_text(column: LazyColumn) -> LazyColumn:
    if column.type.kind != "string":
        return column
    content = column.read()
    if not isinstance(content, CodedColumn):
        return column
    values = [v.strip(BLANKS) if isinstance(v, str) else v for v in content.values]
    values = [None if v == "" or v in MISSING_WORDS else v for v in values]
    codes = np.append([-1 if value is None else at for at, value in enumerate(values)], -1)
    trimmed = CodedColumn(np.take(codes, content.codes), values)
    return LazyColumn(column.type, lambda: trimmed)


def _profile_column(name: str, column: LazyColumn, rules: LabelRules, decimal: str) -> ColumnFacts:
    if column.type.kind == "other":
        return ColumnFacts(name, column.type.name, None, 0, 0, 0)
    content = column.read()
    counts, n_missing = _count_profiled_values(content)
    feature = infer_feature(LazyColumn(column.type, lambda: content))
    values = list(counts)
    found: dict[str, Any] = {}
    if any(isinstance(value, str) for value in values):
        found = _facts_about_text(counts, decimal)
    elif isinstance(feature, Numeric) and _are_whole(numbers := python_values_to_numbers(values)):
        feature = _to_integer_range(feature)
        found["is_numbered"] = _profiled_look_like_identifiers(numbers)
        found["few_numbers"] = tuple(sorted(map(int, values))) if len(values) <= _FEW else ()
    return ColumnFacts(
        name,
        column.type.name,
        feature,
        n_values=sum(counts.values()),
        n_missing=n_missing,
        n_distinct=len(values),
        n_repeated=sum(times > 1 for times in counts.values()),
        tells_label=rules.column_determines_label(content),
        **found,
    )


def _are_whole(numbers: NDArray[np.float64]) -> bool:
    is_finite = bool(np.isfinite(numbers).all()) and len(numbers) > 0
    return is_finite and bool(np.all(numbers == np.floor(numbers)))


def _to_integer_range(feature: Numeric) -> Numeric:
    """Return an integer feature for a column of whole numbers, even if their type is a float.

    Whole numbers are floats in pandas if one of them is missing, and in files that write 65.0.
    """
    if max(abs(feature.low), abs(feature.high)) >= _MAX_EXACT:
        return feature
    return Numeric(int(feature.low), int(feature.high), integer=True)


def _profiled_look_like_identifiers(numbers: NDArray[np.float64]) -> bool:
    """Tell whether distinct whole numbers look like identifiers, consecutive or random.

    Amounts seldom look so: they differ in the number of digits and are not spread evenly.
    """
    numbers = np.sort(numbers)
    low, high = float(numbers[0]), float(numbers[-1])
    if low >= 0 and len(str(int(low))) == len(str(int(high))):
        return True
    # Kolmogorov-Smirnov test: of sets that are drawn uniformly from the range, one in a hundred
    # deviates more than this.
    evenly = np.linspace(low, high, len(numbers))
    return bool(np.max(np.abs(numbers - evenly)) < 1.63 / np.sqrt(len(numbers)) * (high - low))


def _count_profiled_values(content: Column) -> tuple[dict[Any, int], int]:
    """Return how often each value occurs, and the number of records without a value."""
    if isinstance(content, NumberColumn):
        numbers = column_to_numbers(content)
        n_missing, present = int(np.isnan(numbers).sum()), np.isfinite(numbers)
        if (
            content.values.dtype.kind in "iu"
        ):  # not as floats: long whole numbers can be equal as floats
            numbers = content.values
        found, counts = np.unique(numbers[present], return_counts=True)
        return dict(zip(found.tolist(), counts.tolist(), strict=True)), n_missing
    if isinstance(content, CodedColumn):
        known = content.codes[content.codes >= 0]
        occurring = np.bincount(known, minlength=len(content.values)).tolist()
        pairs: Sequence[tuple[Any, int]] = list(zip(content.values, occurring, strict=True))
        n_missing = len(content.codes) - len(known)
    else:
        pairs, n_missing = [(value, 1) for value in content.values], 0
    counted: dict[Any, int] = {}
    for value, times in pairs:
        if is_missing_value(value):
            n_missing += times
        elif times:
            counted[value] = counted.get(value, 0) + times
    return counted, n_missing


def _facts_about_text(counts: dict[Any, int], decimal: str) -> dict[str, Any]:
    """Return those fields of ColumnFacts that are about numbers and dates in text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pa.chunked_array([pa.array(list(counts), pa.string())])
    times = np.array(list(counts.values()))
    numbers = column_to_numbers(parse_text_numbers(text, decimal))
    is_number = np.isfinite(numbers)
    facts: dict[str, Any] = {
        name: int(times[pc.match_substring_regex(text, pattern).to_numpy() & ~is_number].sum())
        for name, pattern in (("n_amounts", _AMOUNT), ("n_dates", _DATE), ("n_codes", _CODE))
    }
    found = numbers[is_number]
    if len(found) > 0:
        numeric = LazyColumn(ColumnType("number", "text"), lambda: NumberColumn(found))
        feature = cast("Numeric", infer_feature(numeric))
        is_whole = _are_whole(found)
        facts["numbers"] = _to_integer_range(feature) if is_whole else feature
        facts["n_numbers"] = int(times[is_number].sum())
        facts["is_numbered"] = is_whole and _profiled_look_like_identifiers(np.unique(found))
    return facts
