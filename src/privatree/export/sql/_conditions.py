"""Conditions that are TRUE on one side of a split, and for missing values never."""

from __future__ import annotations

from collections.abc import Sequence

from privatree.errors import ParameterError
from privatree.export.sql._dialect import Dialect
from privatree.schema import Categorical, Label

_UNIQUE_WHOLE = 2**53
"""Below it no two whole numbers are the same double."""
BEYOND_WHOLE = 2**63
"""The first whole number without a type in SQLite."""


def is_beside(column: str, threshold: float, to_left: bool, dialect: Dialect) -> str:
    """That a number is at most the threshold, or above it."""
    number = dialect.number_in(column)
    if abs(threshold) < dialect.min_positive:  # the next below of those that there are
        threshold = 0.0 if threshold >= 0 else -dialect.min_positive
    if to_left:
        return f"{number} <= {dialect.double(threshold)}"
    if dialect.nan_is_largest:
        return f"-{number} < {dialect.double(-threshold)}"
    return f"{number} > {dialect.double(threshold)}"


def is_one_of(column: str, categories: Sequence[Label], dialect: Dialect) -> str:
    """That a value is one of some categories; an empty text if none of them can occur."""
    if not categories:
        return ""
    if isinstance(categories[0], str):
        literals = dialect.text_literals([str(category) for category in categories])
        return _is_in(dialect.text_of.format(column), literals)
    if isinstance(categories[0], bool):
        literals = [literal for truth in categories for literal in dialect.truths[bool(truth)]]
        return _is_in(dialect.truth_of.format(column), literals)
    numbers = [category for category in categories if not isinstance(category, str)]
    small = [float(n) for n in numbers if abs(n) < _UNIQUE_WHOLE]
    doubles = [dialect.double(number) for number in small if dialect.holds(number)]
    found = [_is_in(dialect.number_in(column), doubles)] if doubles else []
    found += [_is_large(column, int(n), dialect) for n in numbers if abs(n) >= _UNIQUE_WHOLE]
    return _any_of(found) if found else ""


def _is_in(value: str, literals: Sequence[str]) -> str:
    if len(literals) == 1:
        return f"{value} = {literals[0]}"
    return f"{value} IN ({', '.join(literals)})"


def _any_of(conditions: Sequence[str]) -> str:
    """Joined in pairs of pairs: SQLite takes no more than a thousand in a row."""
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) // 2
    return f"({_any_of(conditions[:half])} OR {_any_of(conditions[half:])})"


def _is_large(column: str, number: int, dialect: Dialect) -> str:
    """Of a column of whole numbers, where other numbers are the same double; or of doubles."""
    try:
        nearest = int(float(number))
    except OverflowError:
        raise too_large("categories", number) from None
    is_nearest = f"{dialect.number_in(column)} = {dialect.double(float(nearest))}"
    if abs(number) < BEYOND_WHOLE:
        if number == nearest:
            return f"({column} = {number} AND {is_nearest})"
        return f"({column} = {number} AND {column} <> {nearest})"  # no double is this number
    if number == nearest:
        return is_nearest
    raise too_large("categories", number)


def check_categories(feature: Categorical, dialect: Dialect) -> None:
    """Refuse categories that the database takes for the same."""
    if not dialect.ignores_last_blanks or not isinstance(feature.categories[0], str):
        return
    seen: dict[str, str] = {}
    for category in map(str, feature.categories):
        if (other := seen.setdefault(category.rstrip(" "), category)) != category:
            raise ParameterError(
                f"{dialect.title} needs categories that differ in more than blanks at the end, "
                f"got {other!r} and {category!r}."
            )


def too_large(what: str, number: int) -> ParameterError:
    """What to raise for a whole number that no type holds."""
    digits = f"{number:.6g}" if abs(number) < 10**300 else "one of hundreds of digits"
    return ParameterError(f"SQL needs {what} of at most 63 bits, got {digits}. Use text instead.")
