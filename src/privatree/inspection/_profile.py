"""What the records of a table look like, column by column, for their owner's eyes. **This leaks.**

Only a person who drafts a schema comes here; nothing of it is used in training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from privatree.inspection._infer import infer_classes, infer_feature
from privatree.inspection._label_rules import LabelRules
from privatree.schema import Feature, Label, Numeric
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
"""Distinct whole numbers that are listed."""
_MAX_EXACT = 2.0**53
"""Beyond, not every whole number is a float."""

_AMOUNT = (
    r"^[+-]?(?:"
    r"[0-9]*,[0-9]+"  # 8,9
    r"|[0-9]{1,3}(?:[. '\x{a0}\x{202f}][0-9]{3})+(?:,[0-9]+)?"  # 1.296,50
    r"|[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?"  # 1,296.50
    r")$"
)
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
    """What a column holds.

    Parameters
    ----------
    name : str
        What it is called.
    type_name : str
        The type of its values.
    feature : Numeric, Categorical or None
        What the values look like; None if no feature can be of this type.
    n_values : int
        How many records have a value.
    n_missing : int
        How many have none.
    n_distinct : int
        How many different values there are.
    few_numbers : tuple of int
        The values, if they are few and all whole numbers.
    numbers : Numeric or None
        Of text: the range of the values that spell numbers, if any does.
    n_numbers : int
        Of text: how many records have such a value.
    n_amounts : int
        Of text: how many have what a person reads as a number, and nothing here does: with a
        decimal comma, or marks between the thousands.
    n_dates : int
        Of text: how many have what looks like a date.
    is_numbered : bool
        Whether the values, or the numbers that text spells, are whole and look as numbers do that
        were given out: all of one length, or evenly spread over their range.
    tells_label : bool
        Whether the label of nearly every record follows from this column alone.
    """

    name: str
    type_name: str
    feature: Feature | None
    n_values: int
    n_missing: int
    n_distinct: int
    few_numbers: tuple[int, ...] = ()
    numbers: Numeric | None = None
    n_numbers: int = 0
    n_amounts: int = 0
    n_dates: int = 0
    is_numbered: bool = False
    tells_label: bool = False


@dataclass(frozen=True)
class TableFacts:
    """What a table and its labels hold.

    Parameters
    ----------
    columns : tuple of ColumnFacts
        In the order of the table.
    classes : tuple
        The sorted labels.
    n_unlabelled : int
        How many records have no label.
    """

    columns: tuple[ColumnFacts, ...]
    classes: tuple[Label, ...]
    n_unlabelled: int


def profile_table(X: Any, y: Any, *, trim: bool, decimal: str = ".") -> TableFacts:
    """Look at all records. **This leaks.**

    Parameters
    ----------
    X : frame
        With names of its columns.
    y : labels
        As many as the frame has rows.
    trim : bool
        Whether blanks around text do not count, and ``NA`` and the like stand for no value, as in
        CSV files.
    decimal : {".", ","}
        The decimal mark of numbers that are text.

    Returns
    -------
    TableFacts
        What they look like.

    Raises
    ------
    TypeError, ValueError
        If the labels are not two or more classes.
    """
    table, (labels,) = open_frame(X), open_labels(y).columns
    if trim:
        labels = _trimmed(labels)
    classes = tuple(infer_classes(labels))
    names = table.names or [f"x{place}" for place in range(len(table.columns))]
    columns = [_trimmed(column) for column in table.columns] if trim else table.columns
    content = labels.read()
    rules = LabelRules(column_to_codes(content, classes, -1, np.int64))
    return TableFacts(
        tuple(
            _facts(name, column, rules, decimal)
            for name, column in zip(names, columns, strict=True)
        ),
        classes,
        _counts(content)[1],
    )


def _trimmed(column: LazyColumn) -> LazyColumn:
    if column.type.kind != "string":
        return column
    content = column.read()
    if not isinstance(content, CodedColumn):
        return column
    values = [_meant(v.strip(BLANKS)) if isinstance(v, str) else v for v in content.values]
    codes = np.append([-1 if value is None else at for at, value in enumerate(values)], -1)
    trimmed = CodedColumn(np.take(codes, content.codes), values)
    return LazyColumn(column.type, lambda: trimmed)


def _meant(text: str) -> str | None:
    return None if not text or text in MISSING_WORDS else text


def _facts(name: str, column: LazyColumn, rules: LabelRules, decimal: str) -> ColumnFacts:
    if column.type.kind == "other":
        return ColumnFacts(name, column.type.name, None, 0, 0, 0)
    content = column.read()
    counts, n_missing = _counts(content)
    feature = infer_feature(LazyColumn(column.type, lambda: content))
    values = list(counts)
    few: tuple[int, ...] = ()
    spelled, is_numbered = _Spelled(), False
    if any(isinstance(value, str) for value in values):
        spelled = _spelled(counts, decimal)
        is_numbered = spelled.is_numbered
    elif isinstance(feature, Numeric) and _are_whole(numbers := python_values_to_numbers(values)):
        feature = _whole(feature)
        few = tuple(sorted(map(int, values))) if len(values) <= _FEW else ()
        is_numbered = _are_numbered(numbers)
    return ColumnFacts(
        name,
        column.type.name,
        feature,
        n_values=sum(counts.values()),
        n_missing=n_missing,
        n_distinct=len(values),
        few_numbers=few,
        numbers=spelled.range,
        n_numbers=spelled.n_numbers,
        n_amounts=spelled.n_amounts,
        n_dates=spelled.n_dates,
        is_numbered=is_numbered,
        tells_label=rules.is_told_by(content),
    )


def _are_whole(numbers: NDArray[np.float64]) -> bool:
    is_finite = bool(np.isfinite(numbers).all()) and len(numbers) > 0
    return is_finite and bool(np.all(numbers == np.floor(numbers)))


def _whole(feature: Numeric) -> Numeric:
    """A range of whole numbers, also if they have a type with decimals.

    They have in pandas where one is missing, and in files that say 65.0.
    """
    if max(abs(feature.low), abs(feature.high)) >= _MAX_EXACT:
        return feature
    return Numeric(int(feature.low), int(feature.high), integer=True)


def _are_numbered(numbers: NDArray[np.float64]) -> bool:
    """Whether distinct whole numbers look given out, one after the other or at random.

    Amounts seldom do: they have one length only if none is tenfold another, and they crowd.
    """
    numbers = np.sort(numbers)
    low, high = float(numbers[0]), float(numbers[-1])
    if low >= 0 and len(str(int(low))) == len(str(int(high))):
        return True
    # Kolmogorov and Smirnov: of numbers that are drawn evenly from the range, one set in a hundred
    # is further from even than this.
    evenly = np.linspace(low, high, len(numbers))
    return bool(np.max(np.abs(numbers - evenly)) < 1.63 / np.sqrt(len(numbers)) * (high - low))


def _counts(content: Column) -> tuple[dict[Any, int], int]:
    """How often each value occurs, and how many records have none."""
    if isinstance(content, NumberColumn):
        numbers = column_to_numbers(content)
        n_missing, present = int(np.isnan(numbers).sum()), np.isfinite(numbers)
        if content.values.dtype.kind in "iu":  # as they are: long ones can be equal as floats
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


class _Spelled(NamedTuple):
    """What text spells: the range of its numbers, and how many records have which kind."""

    range: Numeric | None = None
    n_numbers: int = 0
    n_amounts: int = 0
    n_dates: int = 0
    is_numbered: bool = False


def _spelled(counts: dict[Any, int], decimal: str) -> _Spelled:
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pa.chunked_array([pa.array(list(counts), pa.string())])
    times = np.array(list(counts.values()))
    numbers = column_to_numbers(parse_text_numbers(text, decimal))
    is_number = np.isfinite(numbers)
    n_amounts, n_dates = (
        int(times[pc.match_substring_regex(text, pattern).to_numpy() & ~is_number].sum())
        for pattern in (_AMOUNT, _DATE)
    )
    found = numbers[is_number]
    if len(found) == 0:
        return _Spelled(n_amounts=n_amounts, n_dates=n_dates)
    numeric = LazyColumn(ColumnType("number", "text"), lambda: NumberColumn(found))
    feature = cast("Numeric", infer_feature(numeric))
    is_whole = _are_whole(found)
    return _Spelled(
        _whole(feature) if is_whole else feature,
        int(times[is_number].sum()),
        n_amounts,
        n_dates,
        is_numbered=is_whole and _are_numbered(np.unique(found)),
    )
