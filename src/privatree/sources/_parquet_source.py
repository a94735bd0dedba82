"""Parquet files, read some rows at a time, as often as there are passes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from privatree._support.redact_errors import shielded
from privatree.errors import ParameterError, SourceError
from privatree.schema import Categorical, Feature, Schema
from privatree.sources._file_source import FileSource
from privatree.sources._files import check_column_type, matched_columns, open_parquet
from privatree.sources._paths import is_parquet, partition_values
from privatree.tables import (
    Batch,
    CodedColumn,
    Column,
    ColumnType,
    LazyColumn,
    NumberColumn,
    arrow_column,
    arrow_type,
    repeated_text,
    text_column,
)

_BATCH_CELLS, _MOST_ROWS, _FEWEST_ROWS = 2**22, 2**17, 2**10
_PART_ROWS, _ENOUGH_PARTS = 2**18, 8
_BUFFER = 2**17  # bytes of each column that are read ahead

_Item = TypeVar("_Item")


class ParquetSource(FileSource):
    """Records in Parquet files.

    Parameters
    ----------
    paths : path or sequence of path
        Files, folders and patterns such as ``"data/part-*.parquet"``. Folders may be partitioned
        (``year=2024/part.parquet``): what is in their names is text, read as in a CSV file.
    target : str
        The column of labels.
    progress : bool, optional
        Whether passes are shown on stderr. By default, if it is a terminal.
    in_memory : bool, default=False
        Whether records are read once and kept as codes, a byte for most values, rather than read
        again in each pass.

    Attributes
    ----------
    ignored : tuple of str
        The columns that are neither features nor the target, once columns were looked for. Their
        names are public.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ParameterError
        If a file is of another kind or named twice.

    Notes
    -----
    Only the columns that are needed are read. What is decoded at any time is a few batches of rows,
    however large the files and their row groups are. (pyarrow's scanner of datasets decodes whole
    row groups.)

    Files may differ in the order and the types of their columns, as long as each fits the schema.
    They must not change between the passes of one training.
    """

    another_kind = "must be a Parquet file. CsvSource reads CSV files."
    _names: tuple[str, ...]
    _files: list[_File]

    @staticmethod
    def _is_kind(path: Path) -> bool:
        return is_parquet(path)

    def _open(self, schema: Schema) -> None:
        wanted = {**schema.features, self.target: Categorical(schema.classes)}
        self._names = schema.names
        self._files = [_opened(path, wanted, self.target) for path in self._paths]
        self.ignored = tuple(dict.fromkeys(name for file in self._files for name in file.ignored))

    def _parts(self) -> Iterator[tuple[_Part, Iterator[Any]]]:
        parts = (part for file in self._files for part in _shielded(file, file.parts()))
        if sum(file.n_parts for file in self._files) >= _ENOUGH_PARTS:
            for part in parts:  # each thread decodes parts of its own
                yield part, part.rows(use_threads=False)
            return
        for part in parts:  # one at a time is decoded, and its rows are dealt to the threads
            for rows in _shielded(part.file, part.rows(use_threads=True)):
                yield part, iter([rows])

    def _batches(self, part: tuple[_Part, Iterator[Any]]) -> Iterator[Batch]:
        file = part[0].file
        for rows in _shielded(file, part[1]):
            columns = file.columns(rows)
            features = [columns[name] for name in self._names]
            yield Batch(rows.num_rows, features, columns[self.target])

    def file_batches(self, place: int) -> Iterator[Batch]:
        """The rows of one file, read by this thread alone."""
        file = self._files[place]
        for part in _shielded(file, file.parts()):
            yield from self._batches((part, part.rows(use_threads=False)))


def _shielded(file: _File, items: Iterator[_Item]) -> Iterator[_Item]:
    """The same; what is wrong with the file is told without what Arrow says of it."""
    return shielded(items, _errors(), partial(_unreadable, file.path))


def _errors() -> tuple[type[Exception], ...]:
    import pyarrow as pa

    return (pa.ArrowException, OSError)


def _unreadable(path: Path) -> ParameterError:
    return ParameterError(f"{path}: not a Parquet file that can be read to its end.")


@dataclass(frozen=True)
class _File:
    """A file whose columns have been found.

    Parameters
    ----------
    path : Path
        Where it is.
    arrow_schema : pyarrow.Schema
        Names and types of all its columns.
    names : dict
        For each wanted column that is in the file what it is called there.
    from_folders : dict
        For each other wanted column its only value.
    as_dictionary : list of str
        Columns of text, by their names in the file, to be read as positions in a list of values.
    ignored : list of str
        Columns that are not wanted.
    n_parts : int
        About how many parts can be decoded apart.
    """

    path: Path
    arrow_schema: Any
    names: dict[str, str]
    from_folders: dict[str, Column]
    as_dictionary: list[str]
    ignored: list[str]
    n_parts: int

    def parts(self) -> Iterator[_Part]:
        """Row groups, so many together that a part is worth a thread's while."""
        import pyarrow.parquet as pq

        with self.open() as handle:
            metadata = pq.read_metadata(handle)
        if not metadata.schema.to_arrow_schema().equals(self.arrow_schema):
            raise SourceError(f"{self.path}: must not change while it is read.")
        groups: list[int] = []
        n_rows = 0
        for group in range(metadata.num_row_groups):
            groups.append(group)
            n_rows += metadata.row_group(group).num_rows
            if n_rows >= _PART_ROWS or group == metadata.num_row_groups - 1:
                yield _Part(self, metadata, groups)
                groups, n_rows = [], 0

    def open(self) -> Any:
        """The file's bytes."""
        import pyarrow as pa

        return pa.OSFile(os.fsencode(self.path))

    def columns(self, rows: Any) -> dict[str, LazyColumn]:
        """The wanted columns of some rows."""
        found = {}
        for name, called in self.names.items():
            content = rows.column(called)
            found[name] = LazyColumn(arrow_type(content.type), partial(arrow_column, content))
        text = ColumnType("string", "str")
        for name, value in self.from_folders.items():
            found[name] = LazyColumn(text, partial(_repeated, value, rows.num_rows))
        return found


@dataclass(frozen=True)
class _Part:
    """Some row groups of a file, whose metadata has been read."""

    file: _File
    metadata: Any
    groups: list[int]

    def rows(self, use_threads: bool) -> Iterator[Any]:
        """Some rows at a time, as Arrow batches."""
        import pyarrow as pa

        n_done = 0
        try:
            for rows in self._batches(_MOST_ROWS, self.file.as_dictionary, use_threads):
                yield rows
                n_done += rows.num_rows
        except pa.ArrowCapacityError:  # more text than a dictionary holds: the rest without one
            for rows in self._batches(_FEWEST_ROWS, [], use_threads):
                skipped = min(n_done, rows.num_rows)
                n_done -= skipped
                yield rows.slice(skipped)

    def _batches(self, most: int, as_dictionary: list[str], use_threads: bool) -> Iterator[Any]:
        import pyarrow.parquet as pq

        names = list(self.file.names.values())
        size = max(_BATCH_CELLS // max(1, len(names)), _FEWEST_ROWS)
        options = {"read_dictionary": as_dictionary, "buffer_size": _BUFFER}
        with (
            self.file.open() as handle,
            pq.ParquetFile(  # without pre_buffer, which holds a row group
                handle, metadata=self.metadata, pre_buffer=False, **options
            ) as opened,
        ):
            yield from opened.iter_batches(
                min(size, most), self.groups, names, use_threads=use_threads
            )


def _opened(path: Path, wanted: Mapping[str, Feature], target: str) -> _File:
    """Find the wanted columns in a file and the names of its folders, and check their types."""
    folders = partition_values(path)
    with open_parquet(path) as opened:
        found, metadata = opened.schema_arrow, opened.metadata
        stored = metadata.schema.to_arrow_schema()
        n_parts = min(metadata.num_row_groups, 1 + metadata.num_rows // _PART_ROWS)
    positions, ignored = matched_columns(path, [*found.names, *folders], wanted)
    names, from_folders, as_dictionary = {}, {}, []
    for name, position in positions.items():
        if position >= len(found.names):
            value = list(folders.values())[position - len(found.names)]
            from_folders[name] = text_column(repeated_text(value, 1), wanted[name])
            continue
        kind = arrow_type(found.types[position])
        check_column_type(path, name, kind, wanted[name], name == target)
        names[name] = found.names[position]
        if kind.kind == "string" and not kind.is_category:
            as_dictionary.append(names[name])
    return _File(path, stored, names, from_folders, as_dictionary, ignored, n_parts)


def _repeated(column: Column, n_rows: int) -> Column:
    """A column of one row as one of many."""
    if isinstance(column, NumberColumn):
        return NumberColumn(np.broadcast_to(column.values, n_rows))
    if isinstance(column, CodedColumn):
        return CodedColumn(np.broadcast_to(column.codes, n_rows), column.values)
    raise TypeError(f"text must be numbers or codes, got {type(column).__name__}.")
