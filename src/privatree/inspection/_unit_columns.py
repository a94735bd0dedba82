"""Find columns that say who a row is about, and the comments on them. **This leaks.**

The draft of a schema proposes the likeliest one as the unit. A column that is not a unit costs
accuracy if it is named as one, but never privacy. A unit that nobody declares costs privacy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privatree.inspection._comments import count_in_words, quote_comment, wrap_comment
from privatree.inspection._id_names import describe_id_name
from privatree.inspection._profile import ColumnFacts
from privatree.inspection._unit_sizes import MANY_IDS, MAX_ROWS
from privatree.schema import Numeric

_MANY_UNNAMED = 50
"""Smallest number of distinct texts that look like ids, whatever their column is called."""
_MANY_NUMBERS = 200
"""The same limit for whole numbers: ages and years of birth have fewer values."""
_MAX_UNITS = 5
"""Most columns that the question for the unit names."""
_FLOATS = ("double", "float", "halffloat", "float64", "float32", "float16")
"""Types of numbers that cannot be ids: not every whole number has its own float."""

_WHO = """\
Is there a column that says who this is? If a person, or a household, can have several rows, name \
the column of their ids in a line such as unit = "patient_id" above the tables. Then epsilon \
holds for all rows of a person together, and otherwise for each row alone. A unit never costs \
privacy, even if every row is another person."""
_UNIT = (
    "Epsilon holds for all records of one of them together. Each weighs as much as one record, and "
    "a record without an id is left out of training."
)
SECOND_UNIT = (
    "looks like ids of persons, too. If it says who a row is about, write its name as the unit."
)
"""Why a column of ids that is not the proposed unit is left out."""


@dataclass(frozen=True)
class UnitColumns:
    """What columns say who a row is about."""

    proposed: ColumnFacts | None
    """The column that is likeliest to."""
    others: tuple[ColumnFacts, ...]
    """Further columns of ids by their names. They are no features either."""
    possible: tuple[ColumnFacts, ...]
    """Columns whose values look like ids that occur several times, under any name."""


def find_unit_columns(columns: Sequence[ColumnFacts]) -> UnitColumns:
    """Find the columns that look as if they said who a row is about.

    Of several, the one with the fewest ids is proposed: households rather than persons.
    """
    ranks = {column.name: _rank_by_name(column) for column in columns}
    named = [column for column in columns if ranks[column.name] is not None]
    named.sort(key=lambda column: (ranks[column.name], column.n_distinct))
    return UnitColumns(
        proposed=named[0] if named else None,
        others=tuple(named[1:]),
        possible=tuple(c for c in columns if ranks[c.name] is None and _looks_like_ids(c)),
    )


def are_ids_of_rows(column: ColumnFacts) -> bool:
    """Tell whether a column has the ids of rows or visits, by its name and values."""
    return (
        describe_id_name(column.name) == "row's id"
        and _can_be_ids(column)
        and column.n_distinct >= MANY_IDS
    )


def _rank_by_name(column: ColumnFacts) -> int | None:
    """Return 0 for ids of persons, 1 for ids of unknown things, None for anything else."""
    kind = describe_id_name(column.name)
    if not _can_be_ids(column) or column.n_distinct < 2:
        return None
    if kind == "person's id":
        return 0
    if kind == "person":
        is_many = column.n_distinct >= MANY_IDS or 2 * column.n_distinct > column.n_values
        return 0 if is_many else None
    return 1 if kind == "id" and column.n_distinct >= MANY_IDS and _occur_often(column) else None


def _can_be_ids(column: ColumnFacts) -> bool:
    """Tell whether a column has whole numbers or text."""
    if column.feature is None or 2 * column.n_dates > column.n_values:
        return False
    if isinstance(column.feature, Numeric):
        return column.feature.integer or column.is_numbered
    return not isinstance(column.feature.categories[0], bool)


def _looks_like_ids(column: ColumnFacts) -> bool:
    """Tell whether the values alone look like ids that occur several times."""
    if not _can_be_ids(column) or not _occur_often(column):
        return False
    if isinstance(column.feature, Numeric) or 10 * column.n_numbers >= 9 * column.n_values:
        return column.n_distinct >= _MANY_NUMBERS and column.is_numbered
    return column.n_distinct >= _MANY_UNNAMED and 10 * column.n_codes >= 9 * column.n_values


def _occur_often(column: ColumnFacts) -> bool:
    """Tell whether most values occur more than once, but not as often as those of a category."""
    is_often = 2 * column.n_repeated > column.n_distinct
    return is_often and column.n_values <= MAX_ROWS * column.n_distinct


# --- comments -----------------------------------------------------------------------------------


def who_comment(unit_column: ColumnFacts | None, found: UnitColumns) -> str:
    """Ask who a row is about, and name the columns that look as if they said it."""
    said = [_WHO]
    if unit_column is not None:
        said.append(f"In this file it is {quote_comment(unit_column.name)}: see the line below.")
    named = () if found.proposed is None else (found.proposed, *found.others)
    maybe = [column for column in (*named, *found.possible) if column is not unit_column]
    if maybe:
        names = ", ".join(quote_comment(column.name) for column in maybe[:_MAX_UNITS])
        more = ", ..." if len(maybe) > _MAX_UNITS else ""
        said.append(f"{'Others' if unit_column is not None else 'Some'} may be it: {names}{more}.")
    elif unit_column is None:
        said.append("No column looks like it.")
    return " ".join(said)


def unit_comment(column: ColumnFacts, is_csv: bool, *, is_guess: bool) -> list[str]:
    """Say what the unit is. `is_guess` tells that the draft has chosen it, and not a user."""
    said = ["Who a row is about."]
    if is_guess:
        said.append(
            f"{quote_comment(column.name)} looks like it, by its name: {column.n_distinct} "
            f"different values in {count_in_words(column.n_values)}."
        )
    said.append(_UNIT)
    if is_guess:
        said.append(
            "If the ids are not of persons or households, but of visits, shops or machines, delete "
            'this line, and the word "unit" below.'
        )
    if column.n_missing:
        said.append(f"{count_in_words(column.n_missing)} without an id.")
    if not is_csv and column.type_name in _FLOATS:
        said.append(
            f"The type of the column is {column.type_name}, which fit refuses: convert it to whole "
            "numbers or text in the data."
        )
    return wrap_comment(" ".join(said))
