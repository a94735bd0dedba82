"""CSV and Parquet files as one Arrow table, its columns typed by the schema.

Everything that can go wrong here is about what is public: which files there are, what their columns
are called and, in Parquet, of which type they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from privatree._support.suggestions import did_you_mean
from privatree.errors import ParameterError, SchemaError
from privatree.schema import Categorical, CsvDialect, Feature, Schema
from privatree.sources._file_records import FileRecords, joined_records, typed_array
from privatree.sources._paths import is_csv, partition_values
from privatree.sources.csv._files import CsvFile, open_csv
from privatree.tables import (
    Column,
    ColumnType,
    arrow_column,
    arrow_type,
    check_class_type,
    check_feature_type,
    repeated_text,
    text_column,
)

_NO_NAMES = " Its first row must name the columns."


# --- reading by a schema ------------------------------------------------------------------------


def read_files(
    files: Sequence[Path], schema: Schema, target: str | None = None, *, allow_ragged: bool
) -> FileRecords:
    """Read the columns of a schema from files, in the order of the rows.

    Parameters
    ----------
    files : sequence of Path
        As :func:`~privatree.sources.find_files` lists them.
    schema : Schema
        What is public, and how CSV files are written.
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
            columns, unused = _csv_columns(file, schema.csv, wanted, allow_ragged)
        else:
            columns, unused = _parquet_columns(file, wanted, target)
        ignored |= dict.fromkeys(unused)
        parts.append({name: typed_array(columns[name], wanted[name]) for name in wanted})
    return joined_records([pa.table(part) for part in parts], target, tuple(ignored))


def _csv_columns(
    file: Path, dialect: CsvDialect | None, wanted: Mapping[str, Feature], allow_ragged: bool
) -> tuple[dict[str, Column], list[str]]:
    """The wanted columns of a CSV file, and the names of the others."""
    opened = open_csv(file, dialect)
    positions, unused = match_csv(opened, wanted)
    texts = opened.text(list(positions.values()), allow_ragged=allow_ragged).columns
    decimal = opened.dialect.decimal
    return {
        name: text_column(text, wanted[name], decimal)
        for name, text in zip(positions, texts, strict=True)
    }, unused


def match_csv(opened: CsvFile, wanted: Collection[str]) -> tuple[dict[str, int], list[str]]:
    """Find columns of a CSV file, as :func:`matched_columns` does."""
    return matched_columns(opened.path, opened.names, wanted, opened.mistake, _NO_NAMES)


def _parquet_columns(
    file: Path, wanted: Mapping[str, Feature], target: str | None
) -> tuple[dict[str, Column], list[str]]:
    """The wanted columns of a Parquet file, of types that fit, and the names of the others."""
    folders = partition_values(file)
    with open_parquet(file) as opened:
        found = opened.schema_arrow
        positions, unused = matched_columns(file, [*found.names, *folders], wanted)
        in_file = {name: at for name, at in positions.items() if at < len(found.names)}
        for name, at in in_file.items():
            check_column_type(file, name, arrow_type(found.types[at]), wanted[name], name == target)
        read = read_parquet(opened, folders, list(positions.values()))
        return {
            name: arrow_column(data) if name in in_file else text_column(data, wanted[name])
            for name, data in zip(positions, read, strict=True)
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


def read_parquet(
    opened: Any, folders: Mapping[str, str | None], positions: Sequence[int]
) -> list[Any]:
    """Read columns of a Parquet file, and such that folders give.

    Parameters
    ----------
    opened : pyarrow.parquet.ParquetFile
        The file.
    folders : mapping
        Names and values of the columns that the names of folders above it give.
    positions : sequence of int
        Which columns; those that folders give come behind those of the file.

    Returns
    -------
    list of pyarrow.ChunkedArray
        What folders say is text.
    """
    names, texts = opened.schema_arrow.names, list(folders.values())
    table = opened.read(columns=[names[at] for at in positions if at < len(names)])
    return [
        table.column(names[at])
        if at < len(names)
        else repeated_text(texts[at - len(names)], table.num_rows)
        for at in positions
    ]


def matched_columns(
    file: Path,
    found: Sequence[str],
    wanted: Collection[str],
    mistake: str = "",
    if_none: str = "",
) -> tuple[dict[str, int], list[str]]:
    """Where the wanted columns are, and the names of the others; blanks around names are fine.

    Parameters
    ----------
    file : Path
        For messages.
    found : sequence of str
        The names of all columns, in their order, those that folders give included.
    wanted : collection of str
        Names that must be among them, once.
    mistake : str
        Why one that is not there is not found, if that is known, to end a message with.
    if_none : str
        What to say if none of them is there, and nothing better is known.

    Raises
    ------
    SchemaError
        If one is not there, or twice.
    """
    called = trimmed_names(found, wanted)
    if absent := [name for name in wanted if name not in called]:
        others = [name for name in called if name not in wanted]
        hint = mistake or did_you_mean(absent[0], others or called)
        if not hint and len(absent) == len(wanted):
            hint = if_none
        raise SchemaError(f"{file}: must have every column needed, lacks {_listed(absent)}.{hint}")
    if twice := [name for name in wanted if called.count(name) > 1]:
        raise SchemaError(
            f"{file}: columns must be distinct, got {_listed(twice)} twice. Rename or delete one."
        )
    # Of a name no more than its first line: a stray quote in the first row can hide records in it.
    unused = [" ".join(name.splitlines()[:1]) for name in called if name not in wanted]
    return {name: called.index(name) for name in wanted}, unused


def trimmed_names(found: Sequence[str], wanted: Collection[str]) -> list[str]:
    """The names of columns without the blanks around them, unless they are wanted with these."""
    return [name if name in wanted else name.strip() for name in found]


def check_column_type(
    file: Path, name: str, found: ColumnType, feature: Feature, is_target: bool
) -> None:
    """Refuse a column of a file whose type contradicts its feature, or the classes.

    Raises
    ------
    SchemaError
        From the types alone, so it says nothing about the records.
    """
    try:
        if is_target and isinstance(feature, Categorical):
            check_class_type(f"column {name!r}", found, feature.categories)
        else:
            check_feature_type(name, found, feature, of_a_frame=True)
    except SchemaError as error:
        raise SchemaError(f"{file}: {error}") from None


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:10])
    return shown if len(names) <= 10 else f"{shown} and {len(names) - 10} more"


def read_columns(files: Sequence[Path], names: Sequence[str], csv: CsvDialect | None = None) -> Any:
    """Read columns as they are, whatever they hold, in the order of the rows.

    Parameters
    ----------
    files : sequence of Path
        As :func:`~privatree.sources.find_files` lists them.
    names : sequence of str
        Which columns.
    csv : CsvDialect, optional
        How CSV files are written.

    Returns
    -------
    pyarrow.Table
        Columns of CSV files are text, as are those that folders give. A CSV row that has not as
        many values as the first is an error, as it is for :func:`read_files` where each row needs
        its answer.
    """
    import pyarrow as pa

    parts = []
    for file in files:
        if is_csv(file):
            opened = open_csv(file, csv)
            positions, _ = matched_columns(file, opened.names, names, opened.mistake)
            read = opened.text(list(positions.values()), allow_ragged=False).columns
        else:
            folders = partition_values(file)
            with open_parquet(file) as parquet:
                found = [*parquet.schema_arrow.names, *folders]
                positions, _ = matched_columns(file, found, names)
                read = read_parquet(parquet, folders, list(positions.values()))
        parts.append(pa.table(dict(zip(names, read, strict=True))))
    return joined_records(parts, None, ignored=()).features


# --- reading without a schema -------------------------------------------------------------------


def read_files_without_schema(
    files: Sequence[Path], target: str, csv: CsvDialect | None = None
) -> FileRecords:
    """Read every column of files, of types that fit their values. **This leaks.**

    Parameters
    ----------
    files : sequence of Path
        As :func:`~privatree.sources.find_files` lists them.
    target : str
        The column of labels.
    csv : CsvDialect, optional
        How CSV files are written.

    Returns
    -------
    FileRecords
        With the columns of the first file.

    Raises
    ------
    SchemaError
        If the files have not all the same columns, each with one type, and the target among them,
        or a CSV file is not in its encoding: nobody should meet damaged letters in a schema.
    ParameterError, OSError
        If a file cannot be read.
    """
    import pyarrow as pa

    tables: list[Any] = []
    wanted: list[str] = []
    for file in files:
        names, read, mistake = _untyped(file, csv)
        wanted = wanted or list(dict.fromkeys([*_trimmed(names), target]))
        if_none = _NO_NAMES if is_csv(file) else ""
        positions, unused = matched_columns(file, names, wanted, mistake, if_none)
        if unused:
            raise SchemaError(f"{file}: must have the columns of the first file only.")
        tables.append(pa.table(dict(zip(positions, read(list(positions.values())), strict=True))))
    return joined_records(tables, target, ignored=())


def _trimmed(names: list[str]) -> list[str]:
    """Names without blanks around them, as a schema has them, where that keeps them distinct."""
    trimmed = [name.strip() for name in names]
    return trimmed if len(set(trimmed)) == len(set(names)) else names


def _untyped(
    file: Path, csv: CsvDialect | None
) -> tuple[list[str], Callable[[list[int]], list[Any]], str]:
    """The columns of a file, how to read some of them, and what its first row has wrong."""
    if is_csv(file):
        opened = open_csv(file, csv)
        return opened.names, partial(_guessed, opened), opened.mistake
    folders = partition_values(file)
    with open_parquet(file) as parquet:
        names = [*parquet.schema_arrow.names, *folders]
    return names, partial(_untyped_parquet, file, folders), ""


def _guessed(opened: CsvFile, positions: Sequence[int]) -> list[Any]:
    read = opened.guessed(positions)
    if not read.is_valid:
        raise SchemaError(
            f"{opened.path}: must be {opened.dialect.encoding} text, and is not. Pass "
            "--encoding, such as latin-1."
        )
    return read.columns


def _untyped_parquet(
    file: Path, folders: Mapping[str, str | None], positions: Sequence[int]
) -> list[Any]:
    with open_parquet(file) as parquet:
        return read_parquet(parquet, folders, positions)
