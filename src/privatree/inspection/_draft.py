"""A schema to edit: what the records show, as commented TOML, every value marked as unconfirmed.

The file teaches whoever opens it what to do. Its comments tell of the records, too: it is for the
eyes of their owner only.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any

from privatree._support.toml_files import toml_text
from privatree.errors import ParameterError
from privatree.inspection._profile import ColumnFacts, TableFacts
from privatree.schema import Categorical, CsvDialect, Feature, Numeric, Schema

_WIDTH = 96
_MAX_NAME_LENGTH = 60
_UNBROKEN = "\x1f"
"""For a blank in a name until lines are made, which must not end there."""
_MAX_CATEGORIES = 1000
_MANY_VALUES = 20
"""From there on it is no accident that all values differ, or nearly all."""
_MANY_NUMBERS = 50
"""The same for whole numbers: the ages of twenty persons can all differ."""
_MANY_CLASSES = 30
_UNKNOWN = "unknown"
_WORDS_FOR_UNKNOWN = (_UNKNOWN, "not known", "missing", "?")
"""Categories that missing values can count as, in lower case."""

_DATES = (
    "dates and times cannot be split on. Add a column of numbers to the data, such as the year, "
    "the age or the days since an event."
)
_AMOUNTS = (
    "like numbers with a decimal comma (then draft again with --decimal ',') or marks between the "
    "thousands (then take the marks out of the data)."
)

_HEADER = """\
DRAFT of a schema: what everybody may know about the table, before any model is trained on it.

Every value below was READ FROM THE RECORDS, so it can give away a single person: the oldest one, \
the only one of a category. Nothing of it is public until you say so. For each entry:

1. Compare it with what is public anyway: a codebook, a form, a law, a unit of measurement. \
Replace it by that: an age goes from 0 to 120, whoever is in the table. Ranges may be generous: \
ten times too wide costs a point or two of accuracy. List every category that is possible, also \
if no record has it; what is not in the list counts as the first, or as the one that a line \
missing = ... names.

2. Then delete its line "unconfirmed". Until then no finite epsilon holds, and fit refuses.

3. Delete the tables of columns that must not be used, such as names and numbers of persons, or \
what is known only after the outcome."""

_FOOTER = """\
This file and its comments are for the owner of the data. Do not publish it before every value is \
checked and every comment is deleted."""


@dataclass(frozen=True)
class NextCommands:
    """What to type next, for the comments of a draft.

    Parameters
    ----------
    data : sequence of str
        The files, as they were named.
    target : str
        The column of labels.
    schema : str
        The file that the draft is written to.
    """

    data: Sequence[str]
    target: str
    schema: str

    def check(self) -> str:
        """The command that tells which records do not fit."""
        return shlex.join(
            ["privatree", "schema", "check", self.schema, *self.data, "--target", self.target]
        )

    def fit(self) -> str:
        """The command that trains."""
        return shlex.join(
            ["privatree", "fit", *self.data, "--target", self.target, "--schema", self.schema,
             "--epsilon", "1", "-o", "model.json"]
        )  # fmt: skip


@dataclass(frozen=True)
class Draft:
    """A schema that was read from records, and what to tell whoever edits it.

    Parameters
    ----------
    schema : Schema
        Everything in it is unconfirmed.
    text : str
        The TOML file.
    left_out : tuple of str
        The columns that are in comments only.
    """

    schema: Schema
    text: str
    left_out: tuple[str, ...]


def draft_schema(
    facts: TableFacts, next_commands: NextCommands, *, is_csv: bool, csv: CsvDialect | None = None
) -> Draft:
    """Write down what the records show.

    Parameters
    ----------
    facts : TableFacts
        Of the records.
    next_commands : Command
        What to type next.
    is_csv : bool
        Whether the records are in CSV files, where the schema decides what a value is read as.
    csv : CsvDialect, optional
        How these files are written, if not in the usual way.

    Returns
    -------
    Draft
        Of the columns that can be features; those that look like identifiers or free text, and
        those of a type that cannot be used, are left out and named.

    Raises
    ------
    ParameterError
        If no column is left.
    """
    features: dict[str, Feature] = {}
    comments: dict[tuple[str, ...], list[str]] = {}
    left_out: dict[str, list[str]] = {}
    for column in facts.columns:
        why = _why_not(column, is_csv)
        if why is not None or column.feature is None:
            left_out[column.name] = _wrapped(f"{_named(column.name)}: {why}")
            continue
        feature = column.feature
        if _is_number_with_marks(column, is_csv) and column.numbers is not None:
            feature = column.numbers
        elif column.n_missing and isinstance(feature, Categorical):
            feature = _with_unknown(feature)
        features[column.name] = feature
        comments["features", column.name] = _remarks(column, feature, is_csv)
    if not features:
        raise ParameterError(
            "a schema must have a feature, and no column can be one: all hold identifiers, free "
            "text, dates or nothing. Name other files, or write the schema by hand."
        )
    schema = replace(Schema(features, facts.classes).all_unconfirmed(), csv=csv)
    if csv is not None:
        comments["csv",] = _about_csv(csv)
    comments[()] = _header(next_commands)
    comments["classes",] = _about_classes(facts, next_commands.target)
    if left_out:
        comments["features",] = list(_about_left_out(left_out))
    return Draft(schema, toml_text(schema.to_dict(), comments), tuple(left_out))


# --- words --------------------------------------------------------------------------------------


def _header(commands: NextCommands) -> list[str]:
    lines = _paragraphs(_HEADER)
    lines += ["", "Which records do not fit (for your eyes only):", f"  {commands.check()}"]
    lines += ["Train:", f"  {commands.fit()}", ""]
    return [*lines, *_paragraphs(_FOOTER)]


def _about_classes(facts: TableFacts, target: str) -> list[str]:
    said = (
        f"What {_named(target)} can be, so what a model can predict. List every possible label; a "
        "record with any other is left out of training."
    )
    if len(facts.classes) > _MANY_CLASSES:
        said += f" {len(facts.classes)} different labels: is this the column to predict?"
    if facts.n_unlabelled:
        said += f" {_records(facts.n_unlabelled)} without a label."
    said = " ".join([said, *_nearly_the_same(facts.classes, "labels")])
    return _wrapped(said)


def _about_csv(csv: CsvDialect) -> list[str]:
    said = (
        "How the CSV files are written, found out from the files themselves. fit, check and "
        "predict read them so, unless they are told otherwise."
    )
    if csv.encoding != "utf-8":
        said += " Look at the letters beyond a to z below: are they right in this encoding?"
    lines = _wrapped(said)
    if csv.multiline:
        lines += _wrapped(
            "multiline: some values in quotes span several lines. Read so, one row whose quotes do "
            "not close makes one row of all that follow it, and the privacy statement will say "
            "that the guarantee rests on this never happening. Better replace the line breaks in "
            "the data, and delete this line: then a line is a row, whatever stands in it."
        )
    return lines


def _about_left_out(left_out: dict[str, list[str]]) -> Iterable[str]:
    yield from _wrapped(
        "LEFT OUT, and ignored by fit. To use one all the same, write a table for it as those "
        "below, from public knowledge."
    )
    for lines in left_out.values():
        first, *rest = lines
        yield f"- {first}"
        yield from (f"  {line}" for line in rest)


def _why_not(column: ColumnFacts, is_csv: bool) -> str | None:
    """Why a column is no feature; None if it is one."""
    if column.feature is None:
        if "date" in column.type_name or "time" in column.type_name:
            return _DATES
        return f"of type {column.type_name}, which is neither numbers nor text."
    if column.n_values == 0:
        return "no record has a value."
    feature = column.feature
    if isinstance(feature, Numeric) or _is_number_with_marks(column, is_csv):
        if column.n_values >= _MANY_NUMBERS and column.is_numbered and _nearly_all_differ(column):
            return f"whole numbers with {_different(column)}, so it looks like an identifier."
        return None
    if isinstance(feature.categories[0], bool):
        return None
    if 10 * column.n_dates >= 9 * column.n_values:
        return f"text that looks like dates, and {_DATES}"
    if column.n_distinct > _MAX_CATEGORIES or (
        column.n_distinct >= _MANY_VALUES and 2 * column.n_distinct > column.n_values
    ):
        if _has_amounts(column):
            return f"text with {column.n_distinct} different values that look {_AMOUNTS}"
        if isinstance(feature.categories[0], str):
            return f"text with {_different(column)}, so it looks like an identifier or free text."
        return f"codes with {_different(column)}, so it looks like an identifier."
    return None


def _nearly_all_differ(column: ColumnFacts) -> bool:
    return column.n_distinct >= _MANY_VALUES and 20 * column.n_distinct >= 19 * column.n_values


def _different(column: ColumnFacts) -> str:
    return f"{column.n_distinct} different values in {_records(column.n_values)}"


def _with_unknown(feature: Categorical) -> Categorical:
    """The same categories and, if they are text, one that missing values count as."""
    if not isinstance(feature.categories[0], str):
        return feature
    by_key = {str(category).strip().casefold(): category for category in feature.categories}
    for word in _WORDS_FOR_UNKNOWN:
        if word in by_key:
            return replace(feature, missing=by_key[word], unconfirmed=["missing"])
    categories = [*feature.categories, _UNKNOWN]
    return Categorical(categories, missing=_UNKNOWN, unconfirmed=["missing"])


def _is_number_with_marks(column: ColumnFacts, is_csv: bool) -> bool:
    """Whether text is numbers but for a few words, as "unknown", in a file without types."""
    return is_csv and column.numbers is not None and 10 * column.n_numbers >= 9 * column.n_values


def _has_amounts(column: ColumnFacts) -> bool:
    """Whether text is numbers for a person, with some that are not read as numbers."""
    n_amounts = column.n_amounts
    return n_amounts > 0 and 10 * (n_amounts + column.n_numbers) >= 9 * column.n_values


def _nearly_the_same(labels: Sequence[Any], called: str) -> list[str]:
    """What to say if labels differ as typing mistakes do."""
    by_key: dict[str, str] = {}
    for label in labels:
        if isinstance(label, str):
            other = by_key.setdefault("".join(label.split()).casefold(), label)
            if other != label:
                return [
                    f"Some {called} differ in case or blanks only, as {_named(other)} and "
                    f"{_named(label)}: if they mean the same, make them one in the data."
                ]
    return []


def _remarks(column: ColumnFacts, feature: Feature, is_csv: bool) -> list[str]:
    said = [_kind(feature)]
    is_spelled = isinstance(feature, Numeric) and isinstance(column.feature, Categorical)
    if is_spelled:
        said.append(
            f"{_records(column.n_values - column.n_numbers)} with text that is not a number: it "
            "counts as missing."
        )
    if _has_amounts(column):
        said.append(f"{_records(column.n_amounts)} with text that looks {_AMOUNTS}")
    elif not is_spelled and 2 * column.n_numbers > column.n_values:
        instead = "write a table as those of numbers" if is_csv else "convert them in the data"
        said.append(f"Most spell numbers: if these are amounts, {instead}.")
    if column.tells_label:
        said.append(
            "The label of nearly every record follows from this column alone: if it is known only "
            "after the outcome, or made from it, delete this table."
        )
    has_unknown = isinstance(feature, Categorical) and feature.missing is not None
    if column.n_distinct == 1 and not has_unknown:
        said.append(
            "All have the same value, and a column of one value is of no use: write what is "
            "possible, or delete this table."
        )
    if isinstance(feature, Numeric):
        if feature.integer and _nearly_all_differ(column):
            said.append(
                "Nearly every record has its own value: if they identify persons, delete this "
                "table."
            )
        said += _about_missing(column, "low")
        lines = _wrapped(" ".join(said))
        if len(column.few_numbers) > 2:
            lines += [
                "If these are codes rather than amounts, write instead of the lines below:",
                '  kind = "categorical"',
                f"  categories = [{', '.join(map(str, column.few_numbers))}]",
                '  unconfirmed = ["kind", "categories"]',
            ]
        return lines
    said += _nearly_the_same(feature.categories, "categories")
    if isinstance(feature.missing, str):
        said.append(_about_unknown(column, feature.missing))
    else:
        said += _about_missing(column, "the first category")
    return _wrapped(" ".join(said))


def _kind(feature: Feature) -> str:
    if isinstance(feature, Numeric):
        return "Whole numbers." if feature.integer else "Numbers."
    if isinstance(feature.categories[0], bool):
        return "Yes or no."
    kind = "Text" if isinstance(feature.categories[0], str) else "Codes"
    n_categories = len(feature.categories)
    return f"{kind}: {n_categories} {'category' if n_categories == 1 else 'categories'}."


def _about_unknown(column: ColumnFacts, category: str) -> str:
    found = column.feature.categories if isinstance(column.feature, Categorical) else ()
    added = "" if category in found else ", a category that was added for it"
    return (
        f"{_records(column.n_missing)} with a missing value: it counts as {_named(category)}"
        f"{added}. So does what is not in the list."
    )


def _about_missing(column: ColumnFacts, place: str) -> list[str]:
    if not column.n_missing:
        return []
    return [
        f"{_records(column.n_missing)} with a missing value: it counts as {place}, unless a line "
        "missing = ... says otherwise."
    ]


def _records(count: int) -> str:
    return f"{count} record{'' if count == 1 else 's'}"


def _named(name: str) -> str:
    """A column's name on one line, as it stands in the file."""
    short = name if len(name) <= _MAX_NAME_LENGTH else f"{name[: _MAX_NAME_LENGTH - 1]}…"
    return json.dumps(short, ensure_ascii=False).replace(" ", _UNBROKEN)


def _paragraphs(text: str) -> list[str]:
    lines: list[Any] = []
    for paragraph in text.split("\n\n"):
        lines += ["", *_wrapped(paragraph, "   " if paragraph[0].isdigit() else "")]
    return lines[1:]


def _wrapped(text: str, indent: str = "") -> list[str]:
    lines = wrap(
        text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return [line.replace(_UNBROKEN, " ") for line in lines]
