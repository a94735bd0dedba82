"""What the records of a table look like, column by column, for their owner's eyes. **This leaks.**

Only a person who drafts a schema comes here; nothing of it is used in training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from privatree.schema import Feature, Label, Numeric
from privatree.sources.columns import (
    CodedColumn,
    Column,
    ColumnType,
    LazyColumn,
    NumberColumn,
    to_numbers,
)
from privatree.sources.csv_text import MISSING_WORDS, text_numbers
from privatree.sources.inference import infer_classes, infer_feature
from privatree.sources.opening import open_frame, open_labels
from privatree.sources.values import is_missing

_BLANKS = " \t\n\r\v\f"
_FEW = 12
"""Distinct whole numbers that are listed."""
_LARGEST_EXACT = 2.0**53
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


def table_facts(X: Any, y: Any, *, trim: bool) -> TableFacts:
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
    return TableFacts(
        tuple(_facts(name, column) for name, column in zip(names, columns, strict=True)),
        classes,
        _counts(labels.read())[1],
    )


def _trimmed(column: LazyColumn) -> LazyColumn:
    if column.type.kind != "string":
        return column
    content = column.read()
    if not isinstance(content, CodedColumn):
        return column
    values = [_meant(v.strip(_BLANKS)) if isinstance(v, str) else v for v in content.values]
    codes = np.append([-1 if value is None else at for at, value in enumerate(values)], -1)
    trimmed = CodedColumn(np.take(codes, content.codes), values)
    return LazyColumn(column.type, lambda: trimmed)


def _meant(text: str) -> str | None:
    return None if not text or text in MISSING_WORDS else text


def _facts(name: str, column: LazyColumn) -> ColumnFacts:
    if column.type.kind == "other":
        return ColumnFacts(name, column.type.name, None, 0, 0, 0)
    content = column.read()
    counts, n_missing = _counts(content)
    feature = infer_feature(LazyColumn(column.type, lambda: content))
    values = list(counts)
    is_text = any(isinstance(value, str) for value in values)
    numbers, n_numbers, n_amounts, n_dates = _spelled(counts) if is_text else (None, 0, 0, 0)
    few: tuple[int, ...] = ()
    if isinstance(feature, Numeric) and 0 < len(values) <= _FEW:
        whole = all(float(value).is_integer() for value in values)
        few = tuple(sorted(int(value) for value in values)) if whole else ()
    return ColumnFacts(
        name, column.type.name, feature, sum(counts.values()), n_missing, len(values), few,
        numbers, n_numbers, n_amounts, n_dates,
    )  # fmt: skip


def _counts(content: Column) -> tuple[dict[Any, int], int]:
    """How often each value occurs, and how many records have none."""
    if isinstance(content, NumberColumn):
        numbers = to_numbers(content)
        found, counts = np.unique(numbers[np.isfinite(numbers)], return_counts=True)
        n_missing = int(np.isnan(numbers).sum())
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
        if is_missing(value):
            n_missing += times
        elif times:
            counted[value] = counted.get(value, 0) + times
    return counted, n_missing


def _spelled(counts: dict[Any, int]) -> tuple[Numeric | None, int, int, int]:
    """The range of the numbers that text spells, and how many records have one.

    Also how many have an amount that is not read as a number, and how many a date.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pa.chunked_array([pa.array(list(counts), pa.string())])
    times = np.array(list(counts.values()))
    numbers = to_numbers(text_numbers(text))
    is_number = np.isfinite(numbers)
    n_amounts, n_dates = (
        int(times[pc.match_substring_regex(text, pattern).to_numpy() & ~is_number].sum())
        for pattern in (_AMOUNT, _DATE)
    )
    found = numbers[is_number]
    if len(found) == 0:
        return None, 0, n_amounts, n_dates
    if np.all(found % 1 == 0) and np.abs(found).max() < _LARGEST_EXACT:
        found = found.astype(np.int64)
    kind = ColumnType("number", "text", is_integer=found.dtype.kind == "i")
    feature = infer_feature(LazyColumn(kind, lambda: NumberColumn(found)))
    n_numbers = int(times[is_number].sum())
    return (feature if isinstance(feature, Numeric) else None), n_numbers, n_amounts, n_dates
