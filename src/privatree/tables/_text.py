"""Convert text of CSV files to numbers and categories, as the schema declares each column.

A numeric column stays numeric if one of its values is not a number: this value counts as missing.
So the content of records cannot make reading fail, which would tell neighbouring datasets apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from privatree.schema import Categorical, Feature, Label
from privatree.tables._arrow_columns import read_arrow_column
from privatree.tables._columns import CodedColumn, Column, NumberColumn

BLANKS = " \t\n\r\v\f"
"""Characters that are trimmed from the ends of a value."""
# Unambiguous, so that it needs no backtracking: else a long value would take quadratic time.
_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBER_OR_INFINITY = rf"^(?:{_NUMBER}|[+-]?(?i:inf(?:inity)?))$"
_TRUTHS = {"true": True, "false": False}
MISSING_WORDS = frozenset(
    {"#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "N/A",
     "NA", "NULL", "NaN", "n/a", "nan", "null"}
)  # fmt: skip
"""Words that programs write for a missing value. Checks and drafts report them as missing, not as
misspelt; training treats them like any other text that is not a number or a category."""
_FIRST_ROWS = 1000
_MAX_DIGITS = 100  # a whole number with more digits becomes a float


def repeat_text_in_column(text: str | None, n_rows: int) -> Any:
    """Return an Arrow column for a text in a folder's name: the same text or null in each row."""
    import pyarrow as pa

    return pa.chunked_array([pa.repeat(pa.scalar(text, pa.string()), n_rows)])


def parse_text_column(text: Any, feature: Feature, decimal: str = ".") -> Column:
    """Parse an Arrow column of strings as the numbers or categories of a feature."""
    if isinstance(feature, Categorical):
        return parse_text_labels(text, feature.categories, decimal)
    return parse_text_numbers(text, decimal)


def _text_to_decimal_points(text: Any, decimal: str) -> Any:
    """Replace the decimal mark by a point.

    With a decimal comma, text that has a point is not a number. It becomes "?".
    """
    import pyarrow.compute as pc

    if decimal == ".":
        return text
    has_point = pc.match_substring(text, ".")
    return pc.if_else(has_point, "?", pc.replace_substring(text, decimal, "."))


def parse_text_numbers(text: Any, decimal: str = ".") -> NumberColumn:
    """Parse an Arrow column of strings as float64; text that is not a number becomes NaN.

    Blanks around a number are ignored. ``true`` is 1 and ``false`` is 0, in upper or lower case. A
    number beyond the range of floats is infinite.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    text = _text_to_decimal_points(text, decimal)
    # Fast ways are tried first. A failure costs more than a success, so the first rows are tried.
    numbers = None
    if _cast_text_to_float(text.slice(0, _FIRST_ROWS)) is not None:
        numbers = _cast_text_to_float(text)
    if numbers is None:
        text = pc.ascii_trim_whitespace(text)
        text = pc.if_else(pc.is_in(text, pa.array(["", *sorted(MISSING_WORDS)])), "nan", text)
        numbers = _cast_text_to_float(text)
    if numbers is None:
        numbers = _parse_mixed_text(text)
    return NumberColumn(numbers.to_numpy())


def guess_text_column_type(text: Any, decimal: str) -> Any:
    """Convert an Arrow column of strings to the first type that all values fit. **This leaks.**

    The types are: whole numbers, booleans, dates, times, numbers, text. Empty strings and words
    such as ``NA`` become nulls; a column that has only nulls gets the null type.
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
        (with_a_day, pa.timestamp("s")),  # a time without a date
        (trimmed, pa.timestamp("s")),
        (trimmed, pa.timestamp("ns")),
        (_text_to_decimal_points(trimmed, decimal), pa.float64()),
    ):
        try:
            return written.cast(kind)
        except pa.ArrowInvalid:
            continue
    return text


def _cast_text_to_float(text: Any) -> Any:
    """Return float64 numbers, or None if a value is not a number."""
    import pyarrow as pa

    try:
        return text.cast(pa.float64())
    except pa.ArrowInvalid:
        return None


def _parse_mixed_text(text: Any) -> Any:
    """Return float64 numbers for trimmed text, and NaN for text that is not a number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lower = pc.ascii_lower(text)
    for word, truth in _TRUTHS.items():
        text = pc.if_else(pc.equal(lower, word), str(int(truth)), text)
    is_number = pc.match_substring_regex(text, _NUMBER_OR_INFINITY)
    unsigned = pc.replace_substring_regex(text, r"^\+", "")
    return pc.if_else(is_number, unsigned, "nan").cast(pa.float64())


def parse_text_labels(text: Any, labels: Sequence[Label], decimal: str = ".") -> CodedColumn:
    """Parse an Arrow column of strings as values of the labels' type: text, numbers or booleans.

    Blanks around text are trimmed, unless the text with blanks is a label. If labels are numbers or
    booleans, text is parsed as a number (``1.0`` is 1) or as ``true`` or ``false``, in upper or
    lower case (equal to 1 and 0). The result may hold values that are not labels.
    """
    column = read_arrow_column(text)
    if not isinstance(column, CodedColumn):
        raise TypeError(f"text must be strings, got {text.type}.")
    if isinstance(labels[0], str):
        known = set(labels)
        values = [v if v is None or v in known else v.strip(BLANKS) for v in column.values]
    else:
        values = [
            None if v is None else _parse_exact_text(v.strip(BLANKS), decimal)
            for v in column.values
        ]
    return CodedColumn(column.codes, values)


def count_text_labels_with_blanks(text: Any, labels: Sequence[Label]) -> int:
    """Count strings that are text labels only after blanks are trimmed. **This leaks.**"""
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


def _parse_exact_text(text: str, decimal: str) -> float | None:
    """Parse one number or boolean; None if the text is neither."""
    if decimal != ".":
        text = "" if "." in text else text.replace(decimal, ".")
    if re.fullmatch(r"[+-]?[0-9]+", text) and len(text) <= _MAX_DIGITS:
        return int(text)
    if re.fullmatch(_NUMBER, text):
        return float(text)
    return _TRUTHS.get(text.lower())
