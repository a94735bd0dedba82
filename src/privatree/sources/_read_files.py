"""Read files as Arrow tables: with a schema, in batches or all at once; or without a schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from privatree.errors import SchemaError
from privatree.schema import CsvDialect, Feature, Label, Numeric, Schema
from privatree.sources._data_file import (
    DataFile,
    FoundColumns,
    check_file_unit_type,
    find_file_columns,
    match_columns,
    wanted_columns,
)
from privatree.sources._parquet_file import open_parquet
from privatree.sources._paths import is_csv_path
from privatree.sources.csv._csv_file import CsvFile, open_csv
from privatree.tables import (
    CodedColumn,
    Column,
    column_to_codes,
    column_to_numbers,
    guess_text_column_type,
)

_NO_VALUES = CodedColumn(np.zeros(0, np.int8), ())


def open_file(path: Path, dialect: CsvDialect | None) -> DataFile:
    """Open a CSV or Parquet file that :func:`~privatree.sources.find_files` has listed."""
    return open_csv(path, dialect) if is_csv_path(path) else open_parquet(path)


# --- by a schema --------------------------------------------------------------------------------


@dataclass(frozen=True)
class FileRecords:
    """Records that were read from files."""

    features: Any
    """Table of type pyarrow.Table: the columns of the schema, in its order."""
    labels: Any
    """Label of each row, a pyarrow.ChunkedArray; None without a target."""
    ignored: tuple[str, ...] = ()
    """Columns of the files that were not read. Their names are public."""
    kept: Any = None
    """Table of the columns that are kept unchanged; None if all rows are read at once."""
    units: Any = None
    """Id of the unit of each row, a pyarrow.ChunkedArray; None unless it is asked for."""


@dataclass(frozen=True)
class OpenFiles:
    """Files in which the columns of a schema have been found."""

    files: list[FoundColumns]
    wanted: Mapping[str, Feature]
    target: str | None
    kept_schema: Any
    """Names and types of the columns to keep, a pyarrow.Schema."""

    @property
    def ignored(self) -> tuple[str, ...]:
        """Columns that are not read. Their names are public."""
        return tuple(dict.fromkeys(name for file in self.files for name in file.ignored))

    def read_batches(self, *, allow_ragged: bool) -> Iterator[FileRecords]:
        """Yield batches of rows, in order. The first batch has every column, but no row.

        Numbers are float64, with NaN for a missing value. Categories and labels have a dictionary
        type that lists those of the schema, with null for any other value. A CSV row with more or
        fewer values than the first row raises a SchemaError. With `allow_ragged`, it is a record in
        which every value is missing.
        """
        yield self._typed_batch([_NO_VALUES] * len(self.wanted), self.kept_schema.empty_table())
        for found in self.files:
            for rows in found.read_rows(allow_ragged=allow_ragged):
                columns = [column.read() for column in found.lazy_columns(rows)]
                kept = _file_columns_to_table(self.kept_schema, found.kept_columns(rows))
                yield self._typed_batch(columns, kept)

    def _typed_batch(self, columns: Sequence[Column], kept: Any) -> FileRecords:
        import pyarrow as pa

        table = pa.table(
            {
                name: file_column_to_arrow(column, feature)
                for column, (name, feature) in zip(columns, self.wanted.items(), strict=True)
            }
        )
        return _separate_file_labels(table, self.target, self.ignored, kept)


def open_files(
    files: Sequence[Path], schema: Schema, target: str | None = None, keep: Sequence[str] = ()
) -> OpenFiles:
    """Find the columns of a schema, the target and the columns to keep in files.

    Columns to keep are read without a change: as text from CSV files and folder names. Raise a
    SchemaError if a column is missing, if the type of a Parquet column contradicts the schema, or
    if a column to keep has types that do not fit together.
    """
    wanted = wanted_columns(schema, target)
    found = [find_file_columns(open_file(file, schema.csv), wanted, target, keep) for file in files]
    return OpenFiles(found, wanted, target, _schema_of_kept_columns(found, keep))


def read_files(
    files: Sequence[Path],
    schema: Schema,
    target: str | None = None,
    *,
    allow_ragged: bool,
    with_units: bool = False,
) -> FileRecords:
    """Read all rows of files, as :func:`open_files` and :meth:`OpenFiles.read_batches` do.

    A number takes 8 bytes of memory, and a category 4, however they are written in the files. With
    `with_units`, the ids of the schema's unit are read, too, if it has one.
    """
    import pyarrow as pa

    unit = schema.unit if with_units else None
    opened = open_files(files, schema, target, keep=[] if unit is None else [unit])
    if unit is not None:
        for found in opened.files:
            check_file_unit_type(found.file, unit, *found.kept)
    batches = list(opened.read_batches(allow_ragged=allow_ragged))
    features = pa.concat_tables([batch.features for batch in batches])
    ignored = tuple(name for name in opened.ignored if name != unit)
    labels = units = None
    if target is not None:
        labels = pa.chunked_array([chunk for batch in batches for chunk in batch.labels.chunks])
    if unit is not None:
        units = pa.concat_tables([batch.kept for batch in batches]).column(unit)
    return FileRecords(features, labels, ignored, units=units)


def _schema_of_kept_columns(files: Sequence[FoundColumns], keep: Sequence[str]) -> Any:
    import pyarrow as pa

    schemas = [
        pa.schema(
            [(name, found.file.arrow_type(at)) for name, at in zip(keep, found.kept, strict=True)]
        )
        for found in files
    ]
    with _redact_file_type_conflict():
        return pa.unify_schemas(schemas, promote_options="permissive")


@contextmanager
def _redact_file_type_conflict() -> Iterator[None]:
    """Raise a SchemaError in place of Arrow's error about a column of several types."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowException:
        raise SchemaError(
            "a column must have the same type in all files, but one column has different types. "
            "Convert it to one type in all files."
        ) from None


def _separate_file_labels(table: Any, target: str | None, *more: Any) -> FileRecords:
    if target is None:
        return FileRecords(table, None, *more)
    return FileRecords(table.drop_columns([target]), table.column(target), *more)


def _file_columns_to_table(schema: Any, columns: Sequence[Any]) -> Any:
    import pyarrow as pa

    return pa.table(dict(zip(schema.names, columns, strict=True))).cast(schema)


def file_column_to_arrow(column: Column, feature: Feature) -> Any:
    """Return an Arrow array of the type that a feature declares."""
    import pyarrow as pa

    if isinstance(feature, Numeric):
        return pa.array(column_to_numbers(column))
    codes = column_to_codes(column, feature.categories, -1, np.int32)
    return pa.DictionaryArray.from_arrays(
        pa.array(codes, mask=codes < 0), _file_labels_to_arrow(feature.categories)
    )


def _file_labels_to_arrow(labels: Sequence[Label]) -> Any:
    import pyarrow as pa

    if isinstance(labels[0], (str, bool)):
        return pa.array(labels)
    is_whole = all(isinstance(label, int) for label in labels)
    try:
        values = pa.array(labels, pa.int64() if is_whole else pa.float64())
    except (OverflowError, pa.ArrowInvalid):
        values = None
    if values is None or values.to_pylist() != list(labels):
        raise SchemaError(
            "categories and classes must be text, booleans or 64-bit numbers to be read from "
            "files. Change the schema."
        )
    return values


# --- without a schema ---------------------------------------------------------------------------


def read_files_without_schema(
    files: Sequence[Path], target: str, csv: CsvDialect | None = None
) -> FileRecords:
    """Read all columns of files, with types guessed from the values. **This leaks.**

    All files must have the columns of the first file, each with one type, and the target. A CSV row
    with more or fewer values than the first row is left out. CSV files must be valid in their
    encoding: a schema that is drafted from them must not contain damaged letters.
    """
    import pyarrow as pa

    tables: list[Any] = []
    wanted: list[str] = []
    for path in files:
        file = open_file(path, csv)
        wanted = wanted or list(dict.fromkeys([*_trim_names_of_file(file.names), target]))
        positions, unused = match_columns(
            path, file.names, wanted, file.hint_if_not_found, file.hint_if_none_found
        )
        if unused:
            raise SchemaError(
                f"{path}: must have only columns that the first file also has, but has others. "
                "Remove the others."
            )
        columns = _read_file_with_guessed_types(file, positions)
        tables.append(pa.table(dict(zip(positions, columns, strict=True))))
    with _redact_file_type_conflict():
        table = pa.concat_tables(tables, promote_options="permissive")
    return _separate_file_labels(table, target)


def _trim_names_of_file(names: list[str]) -> list[str]:
    """Remove the blanks around names, unless two names become equal."""
    trimmed = [name.strip() for name in names]
    return trimmed if len(set(trimmed)) == len(set(names)) else names


def _read_file_with_guessed_types(file: DataFile, positions: Mapping[str, int]) -> Iterator[Any]:
    """Yield the columns of a file, with guessed types for text that is not from folder names."""
    import pyarrow as pa

    places = list(positions.values())
    chunks: list[list[Any]] = [[] for _ in places]
    is_valid = file.has_valid_names
    for rows in file.read_rows(places):
        is_valid &= rows.is_valid
        for held, column in zip(chunks, rows.columns_without_ragged_rows(), strict=True):
            held += column.chunks
    if isinstance(file, CsvFile) and not is_valid:
        raise SchemaError(
            f"{file.path}: must be {file.dialect.encoding} text, but some bytes are not. Pass "
            "--encoding, such as latin-1."
        )
    for place, held in zip(places, chunks, strict=True):
        column = pa.chunked_array(held, file.arrow_type(place))
        is_guessed = file.is_text(place) and place < len(file.own_names)
        yield guess_text_column_type(column, file.decimal) if is_guessed else column
