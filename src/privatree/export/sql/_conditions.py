"""SQL conditions that are TRUE on one side of a split, and never TRUE for missing values."""

from __future__ import annotations

from collections.abc import Sequence

from privatree.errors import ParameterError
from privatree.export.sql._dialects import Dialect
from privatree.schema import Categorical, Label

_EXACT_DOUBLES = 2**53
"""Every smaller integer is exactly a double, and no other integer has the same double."""
BEYOND_64_BITS = 2**63
"""The smallest positive integer that a 64-bit integer cannot hold."""
_CATEGORIES = "integer categories of at most 63 bits"


def threshold_condition(column: str, threshold: float, to_left: bool, dialect: Dialect) -> str:
    """Return the condition that a number is at most the threshold (`to_left`) or above it."""
    number = dialect.column_as_double(column)
    if abs(threshold) < dialect.min_positive:  # the next smaller double that a column can hold
        threshold = 0.0 if threshold >= 0 else -dialect.min_positive
    if to_left:
        return f"{number} <= {dialect.double_literal(threshold)}"
    if dialect.nan_is_largest:
        return f"-{number} < {dialect.double_literal(-threshold)}"
    return f"{number} > {dialect.double_literal(threshold)}"


def is_number_condition(column: str, dialect: Dialect) -> str:
    """Return the condition that a number is not missing: neither NULL nor NaN."""
    if not dialect.has_nan:
        return f"{column} IS NOT NULL"
    at_most, above = (threshold_condition(column, 0.0, side, dialect) for side in (True, False))
    return f"({at_most} OR {above})"


def complement_condition(column: str, condition: str) -> str:
    """Return the condition that a value is missing or that another condition on it is FALSE."""
    if condition == f"{column} IS NOT NULL":
        return f"{column} IS NULL"
    return f"({column} IS NULL OR NOT ({condition}))"


def category_condition(column: str, categories: Sequence[Label], dialect: Dialect) -> str:
    """Return the condition that a value is one of the categories; "" if it never can be."""
    if not categories:
        return ""
    if isinstance(categories[0], str):
        literals = dialect.text_literals([str(category) for category in categories])
        return _sql_in_condition(dialect.text_template.format(column), literals)
    if isinstance(categories[0], bool):
        literals = [
            literal for value in categories for literal in dialect.boolean_literals[bool(value)]
        ]
        return _sql_in_condition(dialect.boolean_template.format(column), literals)
    numbers = [category for category in categories if not isinstance(category, str)]
    small = [float(n) for n in numbers if abs(n) < _EXACT_DOUBLES]
    doubles = [dialect.double_literal(number) for number in small if dialect.can_hold(number)]
    found = [_sql_in_condition(dialect.column_as_double(column), doubles)] if doubles else []
    found += [
        _large_integer_condition(column, int(n), dialect)
        for n in numbers
        if abs(n) >= _EXACT_DOUBLES
    ]
    return _join_conditions(found) if found else ""


def _sql_in_condition(value: str, literals: Sequence[str]) -> str:
    if len(literals) == 1:
        return f"{value} = {literals[0]}"
    return f"{value} IN ({', '.join(literals)})"


def _join_conditions(conditions: Sequence[str]) -> str:
    """Join the conditions by OR, nested in pairs: SQLite allows at most a thousand in a row."""
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) // 2
    return f"({_join_conditions(conditions[:half])} OR {_join_conditions(conditions[half:])})"


def _large_integer_condition(column: str, number: int, dialect: Dialect) -> str:
    """Return the condition that a column of any type equals an integer of 2^53 or more."""
    try:
        nearest = int(float(number))
    except OverflowError:
        raise unwritable_in_sql(_CATEGORIES, number) from None
    is_nearest = f"{dialect.column_as_double(column)} = {dialect.double_literal(float(nearest))}"
    if abs(number) < BEYOND_64_BITS:
        if number == nearest:
            return f"({column} = {number} AND {is_nearest})"
        return f"({column} = {number} AND {column} <> {nearest})"  # this number is no double
    if number == nearest:
        return is_nearest
    raise unwritable_in_sql(_CATEGORIES, number)


def check_sql_text_categories(feature: Categorical, dialect: Dialect) -> None:
    """Raise ParameterError if the database cannot tell two text categories apart."""
    if not dialect.ignores_trailing_blanks or not isinstance(feature.categories[0], str):
        return
    seen: dict[str, str] = {}
    for category in map(str, feature.categories):
        if (other := seen.setdefault(category.rstrip(" "), category)) != category:
            raise ParameterError(
                f"{dialect.title} needs categories that differ in more than blanks at the end, "
                f"got {other!r} and {category!r}. Rename one of them."
            )


def unwritable_in_sql(requirement: str, number: int) -> ParameterError:
    digits = f"{number:.6g}" if abs(number) < 10**300 else "a number of hundreds of digits"
    return ParameterError(f"SQL needs {requirement}, got {digits}. Use text instead.")
