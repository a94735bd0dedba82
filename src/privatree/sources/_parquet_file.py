"""The content of Parquet files, some rows at a time."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from privatree._support.redact_errors import redact_errors
from privatree.errors import ParameterError, SourceError
from privatree.sources._files import DataFile, FileRows, Part
from privatree.sources._paths import partition_values
from privatree.tables import arrow_column_type

_BATCH_CELLS, _MAX_ROWS, _MIN_ROWS = 2**22, 2**17, 2**10
_PART_ROWS = 2**18
_BUFFER = 2**17  # bytes of each column that are read ahead

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class ParquetFile(DataFile):
    """A Parquet file whose footer has been read.

    Parameters
    ----------
    path : Path
        Where it is.
    folders : dict
        Names and values of the columns that the names of folders give.
    arrow_schema : pyarrow.Schema
        Names of all its columns, and their types as they are read.
    stored_schema : pyarrow.Schema
        The same as they are stored.
    n_parts : int
        About how many parts can be read apart.
    """

    path: Path
    folders: dict[str, str | None]
    arrow_schema: Any
    stored_schema: Any
    n_parts: int

    @property
    def own_names(self) -> list[str]:
        """What the columns in the file itself are called."""
        return list(self.arrow_schema.names)

    def is_text(self, position: int) -> bool:
        """Only what folders give: the file itself says of which type a column is."""
        return position >= len(self.arrow_schema)

    def arrow_type(self, position: int) -> Any:
        """See :class:`~privatree.sources._files.DataFile`."""
        import pyarrow as pa

        return pa.string() if self.is_text(position) else self.arrow_schema.types[position]

    def parts(
        self, positions: Sequence[int], *, coded: Collection[int] = (), apart: bool = False
    ) -> Iterator[Part]:
        """See :class:`~privatree.sources._files.DataFile`.

        Raises
        ------
        SourceError
            If the file has other columns by now.
        ParameterError
            If it cannot be read to its end.
        """
        return self._shielded(self._parts(positions, coded, apart))

    def _parts(
        self, positions: Sequence[int], coded: Collection[int], apart: bool
    ) -> Iterator[Part]:
        own = [position for position in positions if not self.is_text(position)]
        names = [self.arrow_schema.names[position] for position in own]
        as_dictionary = [
            name for name, at in zip(names, own, strict=True) if at in coded and self._is_plain(at)
        ]
        for metadata, groups in self._row_groups():
            group = _RowGroups(self, metadata, groups, names, as_dictionary)
            if apart:  # decoded where it is read
                yield partial(self._part_rows, group, positions)
            else:  # decoded now, by several threads
                for rows in group.batches(use_threads=True):
                    yield partial(iter, [self._file_rows(rows, positions)])

    def _part_rows(self, group: _RowGroups, positions: Sequence[int]) -> Iterator[FileRows]:
        for rows in self._shielded(group.batches(use_threads=False)):
            yield self._file_rows(rows, positions)

    def _is_plain(self, position: int) -> bool:
        """Whether a column is text, and not yet positions in a list."""
        kind = arrow_column_type(self.arrow_schema.types[position])
        return kind.kind == "string" and not kind.is_category

    def _file_rows(self, rows: Any, positions: Sequence[int]) -> FileRows:
        import pyarrow as pa

        n_columns = len(self.arrow_schema)
        columns = [
            self.folder_text(position, rows.num_rows)
            if self.is_text(position)
            else pa.chunked_array([rows.column(self.arrow_schema.names[position])])
            for position in positions
        ]
        n_values = np.broadcast_to(np.int32(n_columns), rows.num_rows)  # nothing is ragged
        return FileRows(columns, n_values, n_columns)

    def _row_groups(self) -> Iterator[tuple[Any, list[int]]]:
        """The metadata, and row groups, so many together that a part is worth a thread's while."""
        import pyarrow.parquet as pq

        with self.open() as handle:
            metadata = pq.read_metadata(handle)
        if not metadata.schema.to_arrow_schema().equals(self.stored_schema):
            raise SourceError(f"{self.path}: must not change while it is read.")
        groups: list[int] = []
        n_rows = 0
        for group in range(metadata.num_row_groups):
            groups.append(group)
            n_rows += metadata.row_group(group).num_rows
            if n_rows >= _PART_ROWS or group == metadata.num_row_groups - 1:
                yield metadata, groups
                groups, n_rows = [], 0

    def open(self) -> Any:
        """The file's bytes."""
        import pyarrow as pa

        return pa.OSFile(os.fsencode(self.path))

    def _shielded(self, items: Iterator[_Item]) -> Iterator[_Item]:
        """The same; what is wrong with the file is told without what Arrow says of it."""
        import pyarrow as pa

        return redact_errors(items, (pa.ArrowException, OSError), partial(_unreadable, self.path))


def _unreadable(path: Path) -> ParameterError:
    return ParameterError(f"{path}: not a Parquet file that can be read to its end.")


@dataclass(frozen=True)
class _RowGroups:
    """Some row groups of a file, whose metadata has been read, and which columns of them."""

    file: ParquetFile
    metadata: Any
    groups: list[int]
    names: list[str]
    as_dictionary: list[str]

    def batches(self, use_threads: bool) -> Iterator[Any]:
        """Some rows at a time, as Arrow batches."""
        import pyarrow as pa

        n_done = 0
        try:
            for rows in self._batches(_MAX_ROWS, self.as_dictionary, use_threads):
                yield rows
                n_done += rows.num_rows
        except pa.ArrowCapacityError:  # more text than a dictionary holds: the rest without one
            for rows in self._batches(_MIN_ROWS, [], use_threads):
                skipped = min(n_done, rows.num_rows)
                n_done -= skipped
                yield rows.slice(skipped)

    def _batches(self, most: int, as_dictionary: list[str], use_threads: bool) -> Iterator[Any]:
        import pyarrow.parquet as pq

        size = max(_BATCH_CELLS // max(1, len(self.names)), _MIN_ROWS)
        options = {"read_dictionary": as_dictionary, "buffer_size": _BUFFER}
        with (
            self.file.open() as handle,
            pq.ParquetFile(  # without pre_buffer, which holds a row group
                handle, metadata=self.metadata, pre_buffer=False, **options
            ) as opened,
        ):
            yield from opened.iter_batches(
                min(size, most), self.groups, self.names, use_threads=use_threads
            )


@contextmanager
def parquet_footer(path: Path) -> Iterator[Any]:
    """Open a Parquet file; whatever is wrong with it is a :class:`ParameterError`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open(path, "rb") as handle:
        try:
            with pq.ParquetFile(handle) as opened:
                yield opened
        except (pa.ArrowException, OSError):
            raise ParameterError(f"{path}: not a Parquet file that can be read.") from None


def open_parquet(path: Path) -> ParquetFile:
    """Open a Parquet file and read which columns it has.

    Raises
    ------
    ParameterError
        If it is none.
    OSError
        If it cannot be read.
    """
    with parquet_footer(path) as opened:
        found, metadata = opened.schema_arrow, opened.metadata
        stored = metadata.schema.to_arrow_schema()
        n_parts = min(metadata.num_row_groups, 1 + metadata.num_rows // _PART_ROWS)
    return ParquetFile(path, partition_values(path), found, stored, n_parts)
