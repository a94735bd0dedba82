"""CSV and Parquet files as one Arrow table, its columns typed by the schema.

Everything that can go wrong here is about what is public: which files there are, what their columns
are called and, in Parquet, of which type they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from privatree.errors import ParameterError, SchemaError
from privatree.near_names import did_you_mean
from privatree.schema import Categorical, Feature, Label, Numeric, Schema
from privatree.sources.arrow_columns import arrow_column, arrow_type
from privatree.sources.columns import (
    Column,
    ColumnType,
    check_class_type,
    check_feature_type,
    to_codes,
    to_numbers,
)
from privatree.sources.csv_text import first_row_mistake, open_csv, text_labels, text_numbers
from privatree.sources.paths import is_csv

_NO_NAMES = " Its first row must name the columns, with commas between."


@dataclass(frozen=True)
class FileRecords:
    """What was read from files.

    Parameters
    ----------
    features : pyarrow.Table
        The columns of the schema, in its order.
    labels : pyarrow.ChunkedArray or None
        The label of each row, if a target was named.
    ignored : tuple of str
        The columns of the files that were not read. Their names are public.
    """

    features: Any
    labels: Any
    ignored: tuple[str, ...]


# --- reading by a schema ------------------------------------------------------------------------


def read_files(
    files: Sequence[Path], schema: Schema, target: str | None = None, *, allow_ragged: bool
) -> FileRecords:
    """Read the columns of a schema from files, in the order of the rows.

    Parameters
    ----------
    files : sequence of Path
        As :func:`~privatree.sources.paths.find_files` lists them.
    schema : Schema
        What is public.
    target : str, optional
        The column of labels.
    allow_ragged : bool
        What becomes of a CSV row that has not as many values as the first. True, as it must be
        where the records are private: it is taken, without a word, for one of which every value is
        missing. False, as it must be where each row needs its answer: it is an error.

    Returns
    -------
    FileRecords
        Numeric columns are of float64, NaN where there is no number. Categories and labels are
        of a dictionary type that lists what the schema does, null where the value is not in it.

    Raises
    ------
    SchemaError
        If a column is not there or, in Parquet, has a type that contradicts the schema; or about
        ragged rows.
    ParameterError, OSError
        If a file cannot be read.
    """
    import pyarrow as pa

    if target is not None and target in schema.features:
        raise SchemaError(
            f"the target {target!r} must not be a feature of the schema. Take it out of there."
        )
    wanted = dict(schema.features)
    if target is not None:
        wanted[target] = Categorical(schema.classes)
    parts: list[Any] = []
    ignored: dict[str, None] = {}
    for file in files:
        if is_csv(file):
            columns, unused = _csv_columns(file, wanted, allow_ragged)
        else:
            columns, unused = _parquet_columns(file, wanted, target)
        ignored |= dict.fromkeys(unused)
        parts.append({name: _typed(columns[name], wanted[name]) for name in wanted})
    return _joined([pa.table(part) for part in parts], target, tuple(ignored))


def _csv_columns(
    file: Path, wanted: Mapping[str, Feature], allow_ragged: bool
) -> tuple[dict[str, Column], list[str]]:
    """The wanted columns of a CSV file, and the names of the others."""
    opened = open_csv(file)
    positions, unused = _matched(file, opened.names, wanted)
    texts = opened.text(list(positions.values()), allow_ragged=allow_ragged)
    columns: dict[str, Column] = {}
    for name, text in zip(positions, texts, strict=True):
        feature = wanted[name]
        if isinstance(feature, Numeric):
            columns[name] = text_numbers(text)
        else:
            columns[name] = text_labels(text, feature.categories)
    return columns, unused


def _parquet_columns(
    file: Path, wanted: Mapping[str, Feature], target: str | None
) -> tuple[dict[str, Column], list[str]]:
    """The wanted columns of a Parquet file, of types that fit, and the names of the others."""
    with open_parquet(file) as opened:
        found = opened.schema_arrow
        positions, unused = _matched(file, found.names, wanted)
        for name, position in positions.items():
            _check_type(file, name, arrow_type(found.types[position]), wanted[name], name == target)
        table = opened.read(columns=[found.names[position] for position in positions.values()])
        return {
            name: arrow_column(table.column(found.names[position]))
            for name, position in positions.items()
        }, unused


@contextmanager
def open_parquet(file: Path) -> Iterator[Any]:
    """Open a Parquet file; whatever is wrong with it is a :class:`ParameterError`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open(file, "rb") as handle:
        try:
            with pq.ParquetFile(handle) as opened:
                yield opened
        except (pa.ArrowException, OSError):
            raise ParameterError(f"{file}: not a Parquet file that can be read.") from None


def _matched(
    file: Path, found: Sequence[str], wanted: Collection[str], if_none: str = _NO_NAMES
) -> tuple[dict[str, int], list[str]]:
    """Where the wanted columns are, and the names of the others; blanks around names are fine."""
    called = [name if name in wanted else name.strip() for name in found]
    if absent := [name for name in wanted if name not in called]:
        hint = first_row_mistake(found) if is_csv(file) else ""
        if not hint:
            others = [name for name in called if name not in wanted]
            hint = did_you_mean(absent[0], others or called)
        if not hint and is_csv(file) and len(absent) == len(wanted):
            hint = if_none
        raise SchemaError(f"{file}: must have every column needed, lacks {_listed(absent)}.{hint}")
    if twice := [name for name in wanted if called.count(name) > 1]:
        raise SchemaError(
            f"{file}: columns must be distinct, got {_listed(twice)} twice. Rename or delete one."
        )
    # Of a name no more than its first line: a stray quote in the first row can hide records in it.
    unused = [" ".join(name.splitlines()[:1]) for name in called if name not in wanted]
    return {name: called.index(name) for name in wanted}, unused


def _check_type(
    file: Path, name: str, found: ColumnType, feature: Feature, is_target: bool
) -> None:
    try:
        if is_target and isinstance(feature, Categorical):
            check_class_type(f"column {name!r}", found, feature.categories)
        else:
            check_feature_type(name, found, feature, of_a_frame=True)
    except SchemaError as error:
        raise SchemaError(f"{file}: {error}") from None


def _typed(column: Column, feature: Feature) -> Any:
    """An Arrow array of the type that a feature declares."""
    import pyarrow as pa

    if isinstance(feature, Numeric):
        return pa.array(to_numbers(column))
    codes = to_codes(column, feature.categories, -1, np.int32)
    return pa.DictionaryArray.from_arrays(
        pa.array(codes, mask=codes < 0), _arrow_labels(feature.categories)
    )


def _arrow_labels(labels: Sequence[Label]) -> Any:
    import pyarrow as pa

    if isinstance(labels[0], (str, bool)):
        return pa.array(labels)
    is_whole = all(isinstance(label, int) for label in labels)
    try:
        values = pa.array(labels, pa.int64() if is_whole else pa.float64())
    except (OverflowError, pa.ArrowInvalid):
        values = None
    if values is None or values.to_pylist() != list(labels):
        raise SchemaError("categories and classes in files must be numbers of 64 bits or text.")
    return values


def _joined(tables: Sequence[Any], target: str | None, ignored: tuple[str, ...]) -> FileRecords:
    import pyarrow as pa

    try:
        table = pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException:
        raise SchemaError("a column must have one type in all files.") from None
    if target is None:
        return FileRecords(table, None, ignored)
    return FileRecords(table.drop_columns([target]), table.column(target), ignored)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:10])
    return shown if len(names) <= 10 else f"{shown} and {len(names) - 10} more"


def read_columns(files: Sequence[Path], names: Sequence[str]) -> Any:
    """Read columns as they are, whatever they hold, in the order of the rows.

    Parameters
    ----------
    files : sequence of Path
        As :func:`~privatree.sources.paths.find_files` lists them.
    names : sequence of str
        Which columns.

    Returns
    -------
    pyarrow.Table
        Columns of CSV files are text. A CSV row that has not as many values as the first is an
        error, as it is for :func:`read_files` where each row needs its answer.
    """
    import pyarrow as pa

    parts = []
    for file in files:
        if is_csv(file):
            opened = open_csv(file)
            positions, _ = _matched(file, opened.names, names, if_none="")
            read = opened.text(list(positions.values()), allow_ragged=False)
        else:
            with open_parquet(file) as parquet:
                found = parquet.schema_arrow.names
                positions, _ = _matched(file, found, names)
                table = parquet.read(columns=[found[at] for at in positions.values()])
            read = [table.column(found[at]) for at in positions.values()]
        parts.append(pa.table(dict(zip(names, read, strict=True))))
    return _joined(parts, None, ignored=()).features


# --- reading without a schema -------------------------------------------------------------------


def read_files_without_schema(files: Sequence[Path], target: str) -> FileRecords:
    """Read every column of files, of types that fit their values. **This leaks.**

    Parameters
    ----------
    files : sequence of Path
        As :func:`~privatree.sources.paths.find_files` lists them.
    target : str
        The column of labels.

    Returns
    -------
    FileRecords
        With the columns of the first file.

    Raises
    ------
    SchemaError
        If the files have not all the same columns, each with one type, and the target among them,
        or a CSV file is not UTF-8: nobody should meet damaged letters in a schema.
    ParameterError, OSError
        If a file cannot be read.
    """
    import pyarrow as pa

    tables: list[Any] = []
    wanted: list[str] = []
    for file in files:
        names, read, is_utf8 = _untyped(file)
        wanted = wanted or list(dict.fromkeys([*_trimmed(names), target]))
        positions, unused = _matched(file, names, wanted)
        if unused:
            raise SchemaError(f"{file}: must have the columns of the first file only.")
        if not is_utf8:
            raise SchemaError(f"{file}: must be UTF-8 text, and is not. Save it as CSV UTF-8.")
        tables.append(pa.table(dict(zip(positions, read(list(positions.values())), strict=True))))
    return _joined(tables, target, ignored=())


def _trimmed(names: list[str]) -> list[str]:
    """Names without blanks around them, as a schema has them, where that keeps them distinct."""
    trimmed = [name.strip() for name in names]
    return trimmed if len(set(trimmed)) == len(set(names)) else names


def _untyped(file: Path) -> tuple[list[str], Callable[[list[int]], list[Any]], bool]:
    """The columns of a file, how to read some of them, and whether its text is UTF-8."""
    if is_csv(file):
        opened = open_csv(file)
        return opened.names, opened.guessed, opened.is_utf8
    with open_parquet(file) as parquet:
        table = parquet.read()
    return table.column_names, lambda positions: [table.column(at) for at in positions], True
