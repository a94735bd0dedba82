"""What the text of CSV files stands for: the schema, never the text, decides what it is read as.

A column is not made text because one of its values is no number: that value is missing. So reading
cannot fail because of what the records hold, which would tell neighbouring datasets apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from privatree.schema import Categorical, Feature, Label
from privatree.tables._arrow_columns import read_arrow_column
from privatree.tables._columns import CodedColumn, Column, NumberColumn

BLANKS = " \t\n\r\v\f"
"""Around values, where they do not count."""
# Without a choice of where digits belong: with one, a long value takes the square of its length.
_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBER_OR_INFINITY = rf"^(?:{_NUMBER}|[+-]?(?i:inf(?:inity)?))$"
_TRUTHS = {"true": True, "false": False}
MISSING_WORDS = frozenset(
    {"#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "N/A",
     "NA", "NULL", "NaN", "n/a", "nan", "null"}
)  # fmt: skip
"""What programs write where there is no value. To a person these are no misspelt values; training
takes them as any other text that is no number or category."""
_FIRST_ROWS = 1000
_MAX_DIGITS = 100  # more make a float of a whole number


def repeat_text_in_column(text: str | None, n_rows: int) -> Any:
    """Make a column of the same text in every row, such as the name of a folder gives.

    Returns
    -------
    pyarrow.ChunkedArray
        Strings, or nulls if the text is None.
    """
    import pyarrow as pa

    return pa.chunked_array([pa.repeat(pa.scalar(text, pa.string()), n_rows)])


def parse_text_column(text: Any, feature: Feature, decimal: str = ".") -> Column:
    """Read a column of text as what a feature declares.

    Parameters
    ----------
    text : pyarrow.ChunkedArray
        Strings.
    feature : Feature
        Numbers are read by :func:`parse_text_numbers`, categories by :func:`parse_text_labels`.
    decimal : {".", ","}
        The decimal mark of numbers.
    """
    if isinstance(feature, Categorical):
        return parse_text_labels(text, feature.categories, decimal)
    return parse_text_numbers(text, decimal)


def with_points(text: Any, decimal: str) -> Any:
    """Numbers with a decimal point, whatever their decimal mark is.

    With a decimal comma a point is no part of a number, so what has one no longer looks like one.
    """
    import pyarrow.compute as pc

    if decimal == ".":
        return text
    has_point = pc.match_substring(text, ".")
    return pc.if_else(has_point, "?", pc.replace_substring(text, decimal, "."))


def parse_text_numbers(text: Any, decimal: str = ".") -> NumberColumn:
    """Read a column of text as numbers; what is not a number is NaN.

    Parameters
    ----------
    text : pyarrow.ChunkedArray
        Strings. Blanks around a number do not count; ``true`` is 1 and ``false`` 0, in upper or
        lower case.
    decimal : {".", ","}
        The decimal mark.

    Returns
    -------
    NumberColumn
        Of float64; a number beyond the floats is infinite.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    text = with_points(text, decimal)
    # The quickest way that will do. One that does not costs more than one that does, so it is
    # tried on some values first.
    numbers = None
    if _cast(text.slice(0, _FIRST_ROWS)) is not None:
        numbers = _cast(text)
    if numbers is None:
        text = pc.ascii_trim_whitespace(text)
        text = pc.if_else(pc.is_in(text, pa.array(["", *sorted(MISSING_WORDS)])), "nan", text)
        numbers = _cast(text)
    if numbers is None:
        numbers = _spelt_numbers(text)
    return NumberColumn(numbers.to_numpy())


def guess_text_column_type(text: Any, decimal: str) -> Any:
    """Read a column of text as the first type that all its values fit. **This leaks.**

    Parameters
    ----------
    text : pyarrow.ChunkedArray
        Strings. Empty ones and words such as ``NA`` are nulls.
    decimal : {".", ","}
        The decimal mark.

    Returns
    -------
    pyarrow.ChunkedArray
        Whole numbers, booleans, dates, times, numbers or text; of nulls only, nulls.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.if_else(pc.is_in(text, pa.array(["", *sorted(MISSING_WORDS)])), None, text)
    if text.null_count == len(text):
        return pa.chunked_array([pa.nulls(len(text))])
    trimmed = pc.ascii_trim_whitespace(text)
    with_a_day = pc.binary_join_element_wise("1970-01-01", trimmed, " ")
    for written, kind in (
        (trimmed, pa.int64()),
        (trimmed, pa.bool_()),
        (trimmed, pa.date32()),
        (with_a_day, pa.timestamp("s")),  # a time
        (trimmed, pa.timestamp("s")),
        (trimmed, pa.timestamp("ns")),
        (with_points(trimmed, decimal), pa.float64()),
    ):
        try:
            return written.cast(kind)
        except pa.ArrowInvalid:
            continue
    return text


def _cast(text: Any) -> Any:
    """Numbers, or None if a value is no number."""
    import pyarrow as pa

    try:
        return text.cast(pa.float64())
    except pa.ArrowInvalid:
        return None


def _spelt_numbers(text: Any) -> Any:
    """Numbers of trimmed text in which anything can stand."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lower = pc.ascii_lower(text)
    for word, truth in _TRUTHS.items():
        text = pc.if_else(pc.equal(lower, word), str(int(truth)), text)
    is_number = pc.match_substring_regex(text, _NUMBER_OR_INFINITY)
    unsigned = pc.replace_substring_regex(text, r"^\+", "")
    return pc.if_else(is_number, unsigned, "nan").cast(pa.float64())


def parse_text_labels(text: Any, labels: Sequence[Label], decimal: str = ".") -> CodedColumn:
    """Read a column of text as the kind of value that labels are.

    Parameters
    ----------
    text : pyarrow.ChunkedArray
        Strings.
    labels : sequence
        Categories or classes. Text that is none of them counts without the blanks around it. For
        labels that are numbers or booleans it counts as the number it spells (``1.0`` is 1), and
        ``true`` and ``false``, in upper or lower case, as booleans, which equal 1 and 0.
    decimal : {".", ","}
        The decimal mark of labels that are numbers.

    Returns
    -------
    CodedColumn
        Values that need not be labels.
    """
    column = read_arrow_column(text)
    if not isinstance(column, CodedColumn):
        raise TypeError(f"text must be strings, got {text.type}.")
    if isinstance(labels[0], str):
        known = set(labels)
        values = [v if v is None or v in known else v.strip(BLANKS) for v in column.values]
    else:
        values = [None if v is None else _number(v.strip(BLANKS), decimal) for v in column.values]
    return CodedColumn(column.codes, values)


def count_labels_with_blanks(text: Any, labels: Sequence[Label]) -> int:
    """Count values that are labels only without the blanks around them. **This leaks.**

    Parameters
    ----------
    text : pyarrow.ChunkedArray
        Strings.
    labels : sequence
        Categories or classes. Of numbers and booleans nothing is counted: blanks around these
        count nowhere.
    """
    import pyarrow.compute as pc

    if not isinstance(labels[0], str):
        return 0
    known = set(labels)
    found, counts = pc.value_counts(text).flatten()
    return sum(
        count
        for value, count in zip(found.to_pylist(), counts.to_pylist(), strict=True)
        if value is not None and value not in known and value.strip(BLANKS) in known
    )


def _number(text: str, decimal: str) -> float | None:
    """The number or boolean that text spells exactly, if any."""
    if decimal != ".":
        text = "" if "." in text else text.replace(decimal, ".")
    if re.fullmatch(r"[+-]?[0-9]+", text) and len(text) <= _MAX_DIGITS:
        return int(text)
    if re.fullmatch(_NUMBER, text):
        return float(text)
    return _TRUTHS.get(text.lower())
