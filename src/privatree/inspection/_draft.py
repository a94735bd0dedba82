"""Draft a schema file from records: TOML with comments, every value marked as unconfirmed.

The comments explain what to do with the file. They reveal facts about the records, so the file is
for the owner of the records only.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from privatree._support.suggestions import did_you_mean
from privatree._support.toml_files import toml_text
from privatree.errors import ParameterError
from privatree.inspection._comments import (
    count_in_words,
    quote_comment,
    wrap_comment,
    wrap_paragraphs,
)
from privatree.inspection._profile import ColumnFacts, TableFacts
from privatree.inspection._unit_columns import (
    SECOND_UNIT,
    are_ids_of_rows,
    find_unit_columns,
    unit_comment,
    who_comment,
)
from privatree.schema import Categorical, CsvDialect, Feature, Numeric, Schema

_MAX_CATEGORIES = 1000
_MANY_VALUES = 20
"""With at least this many values, it is no accident if nearly all of them are distinct."""
_MANY_NUMBERS = 50
"""The same limit for whole numbers: the ages of twenty persons can all be distinct."""
_MANY_CLASSES = 30
_WORDS_FOR_UNKNOWN = ("unknown", "not known", "missing", "?")
"""Categories, in lower case, that can stand for missing values."""

_DATES = (
    "dates and times cannot be split on. Add a column of numbers to the data, such as the year, "
    "the age or the days since an event."
)
_AMOUNTS = (
    "like numbers with a decimal comma (then draft again with --decimal ',') or with separators "
    "between thousands (then remove the separators from the data)."
)

_HEADER = """\
DRAFT of a schema: the public facts about the data, which must be known before training.

Every value below was READ FROM THE RECORDS, so it can reveal a single person: the oldest person, \
or the only person in a category. No value is public until you confirm it. For each entry:

1. Replace it by public knowledge: a codebook, a form, a law, a unit of measurement. An age, for \
example, is from 0 to 120, whatever the records are. Ranges may be generous: a range that is \
ten times too wide costs a point or two of accuracy. List every possible category, even if no \
record has it. A value that is not in the list counts as missing. Missing values count as low or \
as the first category; as the value in a line missing = ...; or, with missing = "separate", as \
a place of their own, about which the tree can ask.

2. Then delete its line "unconfirmed". Until then no finite epsilon holds, and fit raises an error.

3. Delete the tables of columns that must not be used: names and identifiers of persons, and \
values that are known only after the outcome."""

_TARGET = (
    "The number that a model predicts. Write the range that everybody may know: targets outside "
    "count as the nearer end, and predictions lie inside. A range that is ten times too wide costs "
    "little. For targets from 0 on that range over several powers of ten, add the line log = true: "
    "the model then learns their logarithms."
)
_FEW_TARGETS = (
    "If the labels are amounts, draft again with --predict number: then a model predicts a number."
)
_FEW_RECORDS = 200
"""With fewer records, a draft proposes no min_records: the noise can be as large as that."""
_MIN_RECORDS = (
    "fit first draws the noisy number of {counted} that have {usable}. If it is below "
    "min_records, fit stops: then the wrong column, an empty file or {mistake} costs 3% of "
    "epsilon, not all of it. Proposed is half of the {counted} that were "
    "read, rounded down. Write what everybody may know: at most half of what you expect, and at "
    "least 150/epsilon. With fewer than 300/epsilon {counted}, delete this line."
)
_ABOUT = [
    "What the model is about, for its readers. Published with the model. Fill in what you like:",
    'title = "..."',
    'description = "What the records are."',
    'intended_use = "What the model is for, and what it is not for."',
    'owner = "Who answers for the model."',
    "date = 2026-01-31",
]

_FOOTER = """\
This file and its comments are for the owner of the data. Do not publish it before every value is \
checked and every comment is deleted."""


@dataclass(frozen=True)
class NextCommands:
    """The file names and the target in the commands that the comments of a draft propose."""

    data: Sequence[str]
    target: str
    schema: str

    def check(self) -> str:
        """Return the command that checks the records against the schema."""
        return shlex.join(
            ["privatree", "schema", "check", self.schema, *self.data, "--target", self.target]
        )

    def fit(self) -> str:
        """Return the command that trains a model."""
        return shlex.join(
            ["privatree", "fit", *self.data, "--target", self.target, "--schema", self.schema,
             "--epsilon", "1", "-o", "model.json"]
        )  # fmt: skip


@dataclass(frozen=True)
class Draft:
    """An unconfirmed schema, its TOML file, and the columns that were left out of the schema."""

    schema: Schema
    text: str
    left_out: tuple[str, ...]


def draft_schema(
    facts: TableFacts,
    next_commands: NextCommands,
    *,
    is_csv: bool,
    csv: CsvDialect | None = None,
    unit: str | None = None,
) -> Draft:
    """Draft a schema from facts about the records. **This leaks.**

    Columns that look like identifiers or free text, and columns of other types, are left out and
    named in comments. In CSV files (`is_csv`) the schema decides how a value is read, so a column
    of numbers and a few words can be numeric. `unit` is the column that says who a row is about;
    by default, the draft proposes one that looks like it.
    """
    features: dict[str, Feature] = {}
    comments: dict[tuple[str, ...], list[str]] = {}
    left_out: dict[str, list[str]] = {}
    found = find_unit_columns(facts.columns)
    unit_column = found.proposed if unit is None else _given_unit_column(facts, unit)
    for column in facts.columns:
        if column is unit_column:
            continue
        why = _reason_not_to_draft(column, is_csv)
        if column in found.others or column is found.proposed:
            why = SECOND_UNIT
        if why is not None or column.feature is None:
            left_out[column.name] = wrap_comment(f"{quote_comment(column.name)}: {why}")
            continue
        feature = column.feature
        if _can_draft_as_numbers(column, is_csv) and column.numbers is not None:
            feature = column.numbers
        if column.n_missing or _draft_has_words(column, feature):
            feature = _draft_place_of_missing(feature)
        features[column.name] = feature
        comments["features", column.name] = _feature_comment(
            column, feature, is_csv, can_be_unit=column in found.possible
        )
    if not features:
        raise ParameterError(
            "a schema must have a feature, but no column can be a feature, because each holds "
            "identifiers, free text, dates or no values. Choose other files, or write the schema "
            "by hand."
        )
    declared = Schema(
        features,
        facts.classes,
        target=facts.target,
        min_records=_propose_min_records(facts, unit_column),
        unit=None if unit_column is None else unit_column.name,
    ).with_target(next_commands.target)
    schema = replace(declared.all_unconfirmed(), csv=csv)
    if unit is not None:
        schema = replace(schema, unit_confirmed=True)
    if csv is not None:
        comments["csv",] = _dialect_comment(csv)
    comments[()] = _file_comment(next_commands, who_comment(unit_column, found))
    if facts.target is None:
        comments["classes",] = _classes_comment(facts, next_commands.target)
    else:
        comments["target",] = _target_comment(facts, next_commands.target)
    if unit_column is not None:
        comments["unit",] = unit_comment(unit_column, is_csv, is_guess=unit is None)
    comments["min_records",] = _min_records_comment(facts, unit_column)
    comments["about", "target"] = _ABOUT
    if left_out:
        comments["features",] = list(_left_out_comment(left_out))
    return Draft(schema, toml_text(schema.to_dict(), comments), tuple(left_out))


def _given_unit_column(facts: TableFacts, unit: str) -> ColumnFacts:
    """Return the column that a user has named as the unit."""
    by_name = {column.name: column for column in facts.columns}
    if unit not in by_name:
        raise ParameterError(
            "--unit must name a column of the data that is not the target, got "
            f"{unit!r}.{did_you_mean(unit, list(by_name))}",
            "unit",
        )
    return by_name[unit]


def _propose_min_records(facts: TableFacts, unit_column: ColumnFacts | None) -> int | None:
    """Return half of the records or units with a label, rounded down to one digit.

    Return None if there are few of them.
    """
    count = facts.n_labelled
    if unit_column is not None:
        count = min(count, unit_column.n_distinct)
    if count < _FEW_RECORDS:
        return None
    half = count // 2
    power_of_ten: int = 10 ** (len(str(half)) - 1)
    return half // power_of_ten * power_of_ten


# --- comments -----------------------------------------------------------------------------------


def _file_comment(commands: NextCommands, who: str) -> list[str]:
    lines = wrap_paragraphs(f"{_HEADER}\n\n{who}")
    lines += ["", "Show which records do not fit (not private):", f"  {commands.check()}"]
    lines += ["Train:", f"  {commands.fit()}", ""]
    return [*lines, *wrap_paragraphs(_FOOTER)]


def _classes_comment(facts: TableFacts, target: str) -> list[str]:
    said = (
        f"The labels in {quote_comment(target)}, which a model can predict. List every possible "
        "label. A record with another label is left out of training."
    )
    if isinstance(facts.classes[0], int | float) and not isinstance(facts.classes[0], bool):
        said += f" {_FEW_TARGETS}"
    if len(facts.classes) > _MANY_CLASSES:
        said += f" {len(facts.classes)} different labels: is this the column to predict?"
    if facts.n_unlabelled:
        said += f" {count_in_words(facts.n_unlabelled)} without a label."
    said = " ".join([said, *_similarity_comment(facts.classes, "labels")])
    return wrap_comment(said)


def _target_comment(facts: TableFacts, target: str) -> list[str]:
    said = f"{quote_comment(target)}: {_TARGET}"
    if facts.n_unlabelled:
        many = count_in_words(facts.n_unlabelled)
        said += f" {many} without a number: left out of training."
    said += " If the numbers are codes of classes, draft again with --predict classes."
    return wrap_comment(said)


def _min_records_comment(facts: TableFacts, unit_column: ColumnFacts | None) -> list[str]:
    usable, mistake = "one of these labels", "a misspelt label that most records have"
    if facts.target is not None:
        usable, mistake = "a number as their target", "a target that is no number"
    counted = "records" if unit_column is None else "units"
    return wrap_comment(_MIN_RECORDS.format(counted=counted, usable=usable, mistake=mistake))


def _dialect_comment(csv: CsvDialect) -> list[str]:
    said = (
        "How the CSV files are written, as detected from the files. fit, check and predict read "
        "files in this way, unless you pass other options."
    )
    if csv.encoding != "utf-8":
        said += " Look at the letters beyond a to z below: are they right in this encoding?"
    lines = wrap_comment(said)
    if csv.multiline:
        lines += wrap_comment(
            "multiline: some quoted values contain line breaks. With this line, a row that does "
            "not close its quotes swallows the rows after it, and the privacy statement will say "
            "that the guarantee holds only if this never happens. It is better to replace the line "
            "breaks in the data and to delete this line. Then every line is one row."
        )
    return lines


def _left_out_comment(left_out: dict[str, list[str]]) -> Iterable[str]:
    yield from wrap_comment(
        "LEFT OUT, so fit ignores these columns. To use a column, write a table for it, like the "
        "tables below, from public knowledge."
    )
    for lines in left_out.values():
        first, *rest = lines
        yield f"- {first}"
        yield from (f"  {line}" for line in rest)


def _reason_not_to_draft(column: ColumnFacts, is_csv: bool) -> str | None:
    """Return why a column cannot be a feature; None if it can."""
    if column.feature is None:
        if "date" in column.type_name or "time" in column.type_name:
            return _DATES
        return f"of type {column.type_name}, which is neither numbers nor text."
    if column.n_values == 0:
        return "no record has a value."
    feature = column.feature
    distinct = f"{column.n_distinct} different values in {count_in_words(column.n_values)}"
    if are_ids_of_rows(column):
        return f"{distinct}, so it looks like ids of rows, by its name."
    if isinstance(feature, Numeric) or _can_draft_as_numbers(column, is_csv):
        if column.n_values >= _MANY_NUMBERS and column.is_numbered and _draft_values_differ(column):
            return f"whole numbers with {distinct}, so it looks like an identifier."
        return None
    if isinstance(feature.categories[0], bool):
        return None
    if 10 * column.n_dates >= 9 * column.n_values:
        return f"text that looks like dates, and {_DATES}"
    if column.n_distinct > _MAX_CATEGORIES or (
        column.n_distinct >= _MANY_VALUES and 2 * column.n_distinct > column.n_values
    ):
        if _drafts_amounts(column):
            return f"text with {column.n_distinct} different values that look {_AMOUNTS}"
        if isinstance(feature.categories[0], str):
            return f"text with {distinct}, so it looks like an identifier or free text."
        return f"codes with {distinct}, so it looks like an identifier."
    return None


def _draft_values_differ(column: ColumnFacts) -> bool:
    return column.n_distinct >= _MANY_VALUES and 20 * column.n_distinct >= 19 * column.n_values


def _draft_place_of_missing(feature: Feature) -> Feature:
    """Return a copy whose missing values count as a category, such as "unknown", or separately."""
    missing: Any = "separate"
    if isinstance(feature, Categorical):
        by_key = {str(category).strip().casefold(): category for category in feature.categories}
        words = [by_key[word] for word in _WORDS_FOR_UNKNOWN if word in by_key]
        missing = words[0] if words else missing
        if not words and missing in feature.categories:
            return feature  # the text would mean this category
    return replace(feature, missing=missing, unconfirmed=["missing"])


def _draft_has_words(column: ColumnFacts, feature: Feature) -> bool:
    """Tell whether a column that is drafted as numbers also has text values."""
    return isinstance(feature, Numeric) and isinstance(column.feature, Categorical)


def _can_draft_as_numbers(column: ColumnFacts, is_csv: bool) -> bool:
    """Tell whether a text column of a CSV file has only numbers, except for a few words."""
    return is_csv and column.numbers is not None and 10 * column.n_numbers >= 9 * column.n_values


def _drafts_amounts(column: ColumnFacts) -> bool:
    """Tell whether a person would read the text as numbers that cannot be parsed: "1,234"."""
    n_amounts = column.n_amounts
    return n_amounts > 0 and 10 * (n_amounts + column.n_numbers) >= 9 * column.n_values


def _similarity_comment(labels: Sequence[Any], called: str) -> list[str]:
    """Return a remark if two labels differ in case or blanks only."""
    by_key: dict[str, str] = {}
    for label in labels:
        if isinstance(label, str):
            other = by_key.setdefault("".join(label.split()).casefold(), label)
            if other != label:
                return [
                    f"Some {called} differ in case or blanks only, as {quote_comment(other)} and "
                    f"{quote_comment(label)}: if they mean the same, make them equal in the data."
                ]
    return []


def _feature_comment(
    column: ColumnFacts, feature: Feature, is_csv: bool, *, can_be_unit: bool
) -> list[str]:
    said = [_values_comment(feature)]
    has_words = _draft_has_words(column, feature)
    if has_words:
        said.append(
            f"{count_in_words(column.n_values - column.n_numbers)} with text that is not a number: "
            "it counts as missing."
        )
    if _drafts_amounts(column):
        said.append(f"{count_in_words(column.n_amounts)} with text that looks {_AMOUNTS}")
    elif not has_words and 2 * column.n_numbers > column.n_values:
        instead = "write a table like those of numbers" if is_csv else "convert them in the data"
        said.append(f"Most values look like numbers: if they are amounts, {instead}.")
    if column.tells_label:
        said.append(
            "This column alone determines the label of nearly every record: if its values are "
            "known only after the outcome, or made from it, delete this table."
        )
    if can_be_unit:
        said.append(
            "Are these ids of persons, of which several records have the same? Then delete this "
            "table, and write its name as the unit."
        )
    if column.n_distinct == 1 and feature.missing is None:
        said.append(
            "All records have the same value, and such a column is of no use: write all possible "
            "values, or delete this table."
        )
    if isinstance(feature, Numeric):
        if feature.integer and _draft_values_differ(column):
            said.append(
                "Nearly every record has its own value: if the values identify persons, delete "
                "this table."
            )
        said += _missing_comment(column, feature)
        lines = wrap_comment(" ".join(said))
        if len(column.few_numbers) > 2:
            lines += [
                "If the numbers are codes and not amounts, replace the lines below by:",
                '  kind = "categorical"',
                f"  categories = [{', '.join(map(str, column.few_numbers))}]",
                '  unconfirmed = ["kind", "categories"]',
            ]
        return lines
    said += _similarity_comment(feature.categories, "categories")
    said += _missing_comment(column, feature)
    return wrap_comment(" ".join(said))


def _values_comment(feature: Feature) -> str:
    if isinstance(feature, Numeric):
        return "Whole numbers." if feature.integer else "Numbers."
    if isinstance(feature.categories[0], bool):
        return "Yes or no."
    kind = "Text" if isinstance(feature.categories[0], str) else "Codes"
    n_categories = len(feature.categories)
    return f"{kind}: {n_categories} {'category' if n_categories == 1 else 'categories'}."


def _missing_comment(column: ColumnFacts, feature: Feature) -> list[str]:
    if not column.n_missing:
        return []
    counts_as = "it counts as the first category, unless a line missing = ... says otherwise"
    if feature.separates_missing:
        counts_as = "it has a place of its own, about which the tree can ask"
    elif isinstance(feature, Categorical) and feature.missing is not None:
        counts_as = f"it counts as {quote_comment(str(feature.missing))}"
    others = ""
    if isinstance(feature, Categorical):
        others = " The same holds for a value that is not in the list."
    many = count_in_words(column.n_missing)
    return [f"{many} with a missing value: {counts_as}.{others}"]
