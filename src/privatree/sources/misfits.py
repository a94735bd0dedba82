"""What in the records does not fit a schema, for their owner's eyes. **This leaks.**

Training never comes here: it takes what does not fit without a word. Here it is counted and shown,
so that a misspelt label or a unit that was mixed up is found before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from privatree.errors import SchemaError
from privatree.near_names import did_you_mean
from privatree.schema import Categorical, Feature, Numeric, Schema
from privatree.sources.arrow_columns import arrow_column, arrow_type
from privatree.sources.columns import (
    CodedColumn,
    Column,
    NumberColumn,
    check_class_type,
    check_feature_type,
    to_codes,
    to_numbers,
)
from privatree.sources.csv_files import CsvFile, open_csv
from privatree.sources.csv_text import MISSING_WORDS, count_trimmed, text_column
from privatree.sources.files import open_parquet, read_parquet
from privatree.sources.paths import is_csv, partition_values
from privatree.sources.values import is_missing

MOST_EXAMPLES = 3


@dataclass(frozen=True)
class Misfit:
    """Something about a column that does not fit.

    Parameters
    ----------
    column : str
        Its name.
    what : str
        In words: ``"above the range"``.
    records : int or None
        How many records; None if it is about the whole column.
    examples : tuple of str
        Some of the values, the most frequent ones first. They are private.
    """

    column: str
    what: str
    records: int | None = None
    examples: tuple[str, ...] = ()


@dataclass
class Misfits:
    """What was found in files.

    Parameters
    ----------
    found : list of Misfit
        In the order of the schema, the target last.
    n_records : int
        How many records there are, the ragged ones included.
    n_ragged : int
        How many rows of CSV files have not as many values as the first row has names.
    ignored : list of str
        Columns that are neither in the schema nor the target.
    not_utf8 : list of str
        CSV files with bytes that are no text in their encoding.
    trimmed : dict
        By column, how many values of CSV files fit only without the blanks around them. Training
        on a file takes them off; frames in Python are taken as they are.
    """

    found: list[Misfit] = field(default_factory=list)
    n_records: int = 0
    n_ragged: int = 0
    ignored: list[str] = field(default_factory=list)
    not_utf8: list[str] = field(default_factory=list)
    trimmed: dict[str, int] = field(default_factory=dict)


def find_misfits(files: Sequence[Path], schema: Schema, target: str) -> Misfits:
    """Look at all records. **This leaks.**

    Parameters
    ----------
    files : sequence of Path
        As :func:`~privatree.sources.paths.find_files` lists them.
    schema : Schema
        What they should fit.
    target : str
        The column of labels.

    Returns
    -------
    Misfits
        With values of records.

    Raises
    ------
    SchemaError, ParameterError, OSError
        If a file cannot be read or has no column of the schema, or the target is a feature.
    """
    if target in schema.features:
        raise SchemaError(
            f"the target {target!r} must not be a feature of the schema. Take it out of there."
        )
    wanted: dict[str, Feature] = {**schema.features, target: Categorical(schema.classes)}
    counted: dict[tuple[str, str], Counter[str]] = {}
    whole: dict[Misfit, None] = {}
    result = Misfits()
    for file in files:
        if is_csv(file):
            read, problems = _csv(open_csv(file, schema.csv), wanted, result)
        else:
            read, problems = _parquet(file, wanted, target, result)
        whole |= dict.fromkeys(problems)
        for name, column in read.items():
            for what, examples in _misfits(column, wanted[name], is_target=name == target):
                counted.setdefault((name, what), Counter()).update(examples)
    found = [Misfit(name, what, *_summed(examples)) for (name, what), examples in counted.items()]
    order = {name: place for place, name in enumerate(wanted)}
    result.found = sorted([*whole, *found], key=lambda misfit: order[misfit.column])
    result.ignored = list(dict.fromkeys(result.ignored))
    return result


def _summed(examples: Counter[str]) -> tuple[int, tuple[str, ...]]:
    shown = [value for value, _ in examples.most_common(MOST_EXAMPLES + 1) if value]
    return examples.total(), tuple(shown[:MOST_EXAMPLES])


# --- reading ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Read:
    """A column as training reads it and, of a CSV file, the text that stands there."""

    content: Column
    text: Any = None

    def texts_at(self, rows: Any) -> Counter[str]:
        """What stands in some rows, but for blanks."""
        texts = self.text.take(np.flatnonzero(rows)).to_pylist()
        return Counter(text.strip() for text in texts if text is not None and text.strip())


def _csv(
    opened: CsvFile, wanted: Mapping[str, Feature], result: Misfits
) -> tuple[dict[str, _Read], list[Misfit]]:
    hint = opened.mistake or " Its first row must name them."
    positions, problems = _positions(opened.path, opened.names, wanted, result, hint)
    read = opened.text(list(positions.values()), allow_ragged=True)
    if not read.is_valid:
        result.not_utf8.append(str(opened.path))
    result.n_records += read.n_rows
    result.n_ragged += read.n_ragged
    whole = np.flatnonzero(~read.is_ragged)
    columns = {
        name: _read_text(name, text.take(whole), wanted[name], result, opened.dialect.decimal)
        for name, text in zip(positions, read.columns, strict=True)
    }
    return columns, problems


def _read_text(
    name: str, text: Any, feature: Feature, result: Misfits, decimal: str = "."
) -> _Read:
    if isinstance(feature, Categorical) and (n := count_trimmed(text, feature.categories)):
        result.trimmed[name] = result.trimmed.get(name, 0) + n
    return _Read(text_column(text, feature, decimal), text)


def _parquet(
    file: Path, wanted: Mapping[str, Feature], target: str, result: Misfits
) -> tuple[dict[str, _Read], list[Misfit]]:
    columns = {}
    folders = partition_values(file)
    with open_parquet(file) as opened:
        found = opened.schema_arrow
        positions, problems = _positions(file, [*found.names, *folders], wanted, result, "")
        result.n_records += opened.metadata.num_rows
        for name, position in positions.items():
            if position >= len(found.names):
                (text,) = read_parquet(opened, folders, [position])
                columns[name] = _read_text(name, text, wanted[name], result)
                continue
            try:
                _check_type(name, arrow_type(found.types[position]), wanted[name], name == target)
            except SchemaError as error:
                problems.append(Misfit(name, f"{file}: {error}"))
                continue
            (data,) = read_parquet(opened, folders, [position])
            columns[name] = _Read(arrow_column(data))
    return columns, problems


def _check_type(name: str, found: Any, feature: Feature, is_target: bool) -> None:
    if is_target and isinstance(feature, Categorical):
        check_class_type(f"column {name!r}", found, feature.categories)
    else:
        check_feature_type(name, found, feature, of_a_frame=True)


def _positions(
    file: Path,
    found: Sequence[str],
    wanted: Mapping[str, Feature],
    result: Misfits,
    hint_if_none: str,
) -> tuple[dict[str, int], list[Misfit]]:
    """Where the wanted columns are; blanks around names are fine, as in training."""
    called = [name if name in wanted else name.strip() for name in found]
    if wanted.keys().isdisjoint(called):  # not this table at all
        raise SchemaError(
            f"{file}: must have the columns of the schema, and has none.{hint_if_none}"
        )
    others = [name for name in called if name not in wanted]
    result.ignored += [" ".join(name.splitlines()[:1]) for name in others]
    readable = [name for name in others if "\ufffd" not in name]
    problems = [
        Misfit(name, f"not in {file}: fit will refuse.{did_you_mean(name, readable)}")
        for name in wanted
        if name not in called
    ]
    problems += [
        Misfit(name, f"twice in {file}: fit will refuse. Rename or delete one.")
        for name in wanted
        if called.count(name) > 1
    ]
    return {name: called.index(name) for name in wanted if called.count(name) == 1}, problems


# --- counting -----------------------------------------------------------------------------------


def _misfits(
    read: _Read, feature: Feature, *, is_target: bool
) -> Iterable[tuple[str, Mapping[str, int]]]:
    """What does not fit in a column, with how often each value of it occurs."""
    if isinstance(feature, Numeric):
        yield from _of_numbers(read, feature)
        return
    codes = to_codes(read.content, feature.categories, -1, np.int64)
    missing, unknown = _unplaced(read, codes < 0)
    if missing:
        yield "missing: left out" if is_target else "missing", missing
    if unknown:
        yield "not a class: left out" if is_target else "not a category", unknown


def _of_numbers(read: _Read, feature: Numeric) -> Iterable[tuple[str, Mapping[str, int]]]:
    numbers = to_numbers(read.content)
    missing, words = _unplaced(read, np.isnan(numbers))
    below, above = numbers < float(feature.low), numbers > float(feature.high)
    if missing:
        yield "missing", missing
    if words:
        yield "not a number: counts as missing", words
    for what, misplaced in (("below the range", below), ("above the range", above)):
        if misplaced.any():
            yield what, _counted(numbers[misplaced])
    if feature.integer:
        broken = np.isfinite(numbers) & ~(below | above) & (numbers != np.floor(numbers))
        if broken.any():
            yield "not whole", _counted(numbers[broken])


def _unplaced(read: _Read, rows: Any) -> tuple[Counter[str], Counter[str]]:
    """Of rows with nothing that fits: what stands for no value there, and what else stands."""
    missing: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    if read.text is None:
        unknown = _unknown_values(read.content, rows)
    else:
        for text, count in read.texts_at(rows).items():
            (missing if text in MISSING_WORDS else unknown)[repr(text)] = count
    if n_empty := int(np.sum(rows)) - missing.total() - unknown.total():
        missing[""] = n_empty
    return missing, unknown


def _counted(numbers: Any) -> dict[str, int]:
    values, counts = np.unique(numbers, return_counts=True)
    return {f"{value:.15g}": int(n) for value, n in zip(values, counts, strict=True)}


def _unknown_values(content: Column, unplaced: Any) -> Counter[str]:
    """The values of a typed column that do not fit."""
    if isinstance(content, NumberColumn):
        numbers = to_numbers(content)
        return Counter(_counted(numbers[unplaced & ~np.isnan(numbers)]))
    unknown: Counter[str] = Counter()
    if isinstance(content, CodedColumn):
        for code in content.codes[unplaced & (np.asarray(content.codes) >= 0)].tolist():
            if not is_missing(content.values[code]):
                unknown[repr(content.values[code])] += 1
    return unknown
