"""Files as Arrow tables: by a schema, some rows at a time or all together, or without one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from privatree.errors import SchemaError
from privatree.schema import Categorical, CsvDialect, Feature, Label, Numeric, Schema
from privatree.sources._files import DataFile, FoundColumns, find_columns, matched_columns
from privatree.sources._parquet_file import open_parquet
from privatree.sources._paths import is_csv
from privatree.sources.csv._files import CsvFile, open_csv
from privatree.tables import (
    CodedColumn,
    Column,
    column_to_codes,
    column_to_numbers,
    guess_text_column_type,
)

_NO_VALUES = CodedColumn(np.zeros(0, np.int8), ())


def open_file(path: Path, dialect: CsvDialect | None) -> DataFile:
    """Open a file of either kind, as :func:`~privatree.sources.find_files` lists it."""
    return open_csv(path, dialect) if is_csv(path) else open_parquet(path)


# --- by a schema --------------------------------------------------------------------------------


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
    kept : pyarrow.Table or None
        The columns to keep, as they are, of a batch.
    """

    features: Any
    labels: Any
    ignored: tuple[str, ...] = ()
    kept: Any = None


@dataclass(frozen=True)
class OpenFiles:
    """Files in which the columns of a schema have been found.

    Parameters
    ----------
    files : list of FoundColumns
        In their order.
    wanted : mapping
        Features, and perhaps the classes, by name.
    target : str or None
        The column of labels.
    kept_schema : pyarrow.Schema
        Names and types of the columns to keep.
    """

    files: list[FoundColumns]
    wanted: Mapping[str, Feature]
    target: str | None
    kept_schema: Any

    @property
    def ignored(self) -> tuple[str, ...]:
        """The columns that are not read. Their names are public."""
        return tuple(dict.fromkeys(name for file in self.files for name in file.ignored))

    def batches(self, *, allow_ragged: bool) -> Iterator[FileRecords]:
        """Read some rows at a time, in their order. The first batch has none, but every column.

        Parameters
        ----------
        allow_ragged : bool
            What becomes of a CSV row that has not as many values as the first: a record of which
            every value is missing or, if each row needs its answer, an error.

        Yields
        ------
        FileRecords
            Numeric columns are of float64, NaN where there is no number. Categories and labels are
            of a dictionary type that lists what the schema does, null where the value is not in it.

        Raises
        ------
        SchemaError
            About ragged rows.
        ParameterError, OSError
            If a file cannot be read.
        """
        yield self._typed([_NO_VALUES] * len(self.wanted), self.kept_schema.empty_table())
        for found in self.files:
            for rows in found.rows(allow_ragged=allow_ragged):
                columns = [column.read() for column in found.columns(rows)]
                yield self._typed(columns, _table(self.kept_schema, found.kept_columns(rows)))

    def _typed(self, columns: Sequence[Column], kept: Any) -> FileRecords:
        import pyarrow as pa

        table = pa.table(
            {
                name: typed_array(column, feature)
                for column, (name, feature) in zip(columns, self.wanted.items(), strict=True)
            }
        )
        return _records(table, self.target, self.ignored, kept)


def open_files(
    files: Sequence[Path], schema: Schema, target: str | None = None, keep: Sequence[str] = ()
) -> OpenFiles:
    """Find the columns of a schema in files.

    Parameters
    ----------
    files : sequence of Path
        As :func:`~privatree.sources.find_files` lists them.
    schema : Schema
        What is public, and how CSV files are written.
    target : str, optional
        The column of labels.
    keep : sequence of str
        Columns to read beside them, as they are: those of CSV files, and what folders give, as
        text.

    Raises
    ------
    SchemaError
        If a column is not there or, in Parquet, has a type that contradicts the schema; or a column
        to keep has types that cannot be one.
    ParameterError, OSError
        If a file cannot be read.
    """
    wanted = dict(schema.features)
    if target is not None:
        wanted |= target_feature(target, schema)
    found = [find_columns(open_file(file, schema.csv), wanted, target, keep) for file in files]
    return OpenFiles(found, wanted, target, _kept_schema(found, keep))


def target_feature(target: str, schema: Schema) -> dict[str, Feature]:
    """The column of labels as a feature of the classes.

    Raises
    ------
    SchemaError
        If it is a feature already.
    """
    if target in schema.features:
        raise SchemaError(
            f"the target {target!r} must not be a feature of the schema. Take it out of there."
        )
    return {target: Categorical(schema.classes)}


def read_files(
    files: Sequence[Path], schema: Schema, target: str | None = None, *, allow_ragged: bool
) -> FileRecords:
    """Read all rows, as :func:`open_files` finds and :meth:`OpenFiles.batches` reads them.

    What is held is 8 bytes for a number and 4 for a category, however they are written.
    """
    import pyarrow as pa

    opened = open_files(files, schema, target)
    batches = list(opened.batches(allow_ragged=allow_ragged))
    features = pa.concat_tables([batch.features for batch in batches])
    if target is None:
        return FileRecords(features, None, opened.ignored)
    labels = pa.chunked_array([chunk for batch in batches for chunk in batch.labels.chunks])
    return FileRecords(features, labels, opened.ignored)


def _kept_schema(files: Sequence[FoundColumns], keep: Sequence[str]) -> Any:
    import pyarrow as pa

    schemas = [
        pa.schema(
            [(name, found.file.arrow_type(at)) for name, at in zip(keep, found.kept, strict=True)]
        )
        for found in files
    ]
    with _one_type():
        return pa.unify_schemas(schemas, promote_options="permissive")


@contextmanager
def _one_type() -> Iterator[None]:
    """What Arrow says of types that cannot be one, in our words."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowException:
        raise SchemaError("a column must have one type in all files.") from None


def _records(table: Any, target: str | None, *more: Any) -> FileRecords:
    """Take the labels out of a table."""
    if target is None:
        return FileRecords(table, None, *more)
    return FileRecords(table.drop_columns([target]), table.column(target), *more)


def _table(schema: Any, columns: Sequence[Any]) -> Any:
    """Columns as a table of these names and types."""
    import pyarrow as pa

    return pa.table(dict(zip(schema.names, columns, strict=True))).cast(schema)


def typed_array(column: Column, feature: Feature) -> Any:
    """An Arrow array of the type that a feature declares."""
    import pyarrow as pa

    if isinstance(feature, Numeric):
        return pa.array(column_to_numbers(column))
    codes = column_to_codes(column, feature.categories, -1, np.int32)
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


# --- without a schema ---------------------------------------------------------------------------


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
        With the columns of the first file. A CSV row that has not as many values as the first is
        left out.

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
    for path in files:
        file = open_file(path, csv)
        wanted = wanted or list(dict.fromkeys([*_trimmed(file.names), target]))
        positions, unused = matched_columns(
            path, file.names, wanted, file.mistake, file.if_none_found
        )
        if unused:
            raise SchemaError(f"{path}: must have the columns of the first file only.")
        tables.append(pa.table(dict(zip(positions, _untyped(file, positions), strict=True))))
    with _one_type():
        table = pa.concat_tables(tables, promote_options="permissive")
    return _records(table, target)


def _trimmed(names: list[str]) -> list[str]:
    """Names without blanks around them, as a schema has them, where that keeps them distinct."""
    trimmed = [name.strip() for name in names]
    return trimmed if len(set(trimmed)) == len(set(names)) else names


def _untyped(file: DataFile, positions: Mapping[str, int]) -> Iterator[Any]:
    """Columns of a file; text in it, not that of folders, of the types that all values fit."""
    import pyarrow as pa

    places = list(positions.values())
    chunks: list[list[Any]] = [[] for _ in places]
    is_valid = file.has_valid_names
    for rows in file.rows(places):
        is_valid &= rows.is_valid
        for held, column in zip(chunks, rows.whole_columns(), strict=True):
            held += column.chunks
    if isinstance(file, CsvFile) and not is_valid:
        raise SchemaError(
            f"{file.path}: must be {file.dialect.encoding} text, and is not. Pass "
            "--encoding, such as latin-1."
        )
    for place, held in zip(places, chunks, strict=True):
        column = pa.chunked_array(held, file.arrow_type(place))
        is_guessed = file.is_text(place) and place < len(file.own_names)
        yield guess_text_column_type(column, file.decimal) if is_guessed else column
