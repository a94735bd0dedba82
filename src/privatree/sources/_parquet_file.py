"""The content of Parquet files, a batch of rows at a time."""

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
from privatree.sources._data_file import DataFile, FileRows, Part
from privatree.sources._paths import partitions_of_path
from privatree.tables import arrow_column_type

_BATCH_CELLS, _MAX_ROWS, _MIN_ROWS = 2**22, 2**17, 2**10  # limits of a batch
_PART_ROWS = 2**18  # smallest number of rows that is worth a thread
_BUFFER = 2**17  # bytes of each column that are read ahead

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class ParquetFile(DataFile):
    """Parquet file whose footer has been read."""

    path: Path
    folders: dict[str, str | None]
    arrow_schema: Any
    """Names of the columns, and their types after reading."""
    stored_schema: Any
    """Names of the columns, and their types in the file."""
    n_parts: int

    @property
    def own_names(self) -> list[str]:
        return list(self.arrow_schema.names)

    def is_text(self, position: int) -> bool:
        """Tell whether a column comes from a folder's name; only these are parsed as text."""
        return position >= len(self.arrow_schema)

    def arrow_type(self, position: int) -> Any:
        import pyarrow as pa

        return pa.string() if self.is_text(position) else self.arrow_schema.types[position]

    def read_parts(
        self, positions: Sequence[int], *, coded: Collection[int] = (), apart: bool = False
    ) -> Iterator[Part]:
        return self._redact_arrow_errors(self._read_parts(positions, coded, apart))

    def _read_parts(
        self, positions: Sequence[int], coded: Collection[int], apart: bool
    ) -> Iterator[Part]:
        own = [position for position in positions if not self.is_text(position)]
        names = [self.arrow_schema.names[position] for position in own]
        as_dictionary = [
            name
            for name, at in zip(names, own, strict=True)
            if at in coded and self._is_plain_text(at)
        ]
        for metadata, groups in self._join_row_groups():
            group = _RowGroups(self, metadata, groups, names, as_dictionary)
            if apart:  # decoded where it is read
                yield partial(self._decode_part, group, positions)
            else:  # decoded now, by several threads
                for rows in group.read_batches(use_threads=True):
                    yield partial(iter, [self._file_rows(rows, positions)])

    def _decode_part(self, group: _RowGroups, positions: Sequence[int]) -> Iterator[FileRows]:
        for rows in self._redact_arrow_errors(group.read_batches(use_threads=False)):
            yield self._file_rows(rows, positions)

    def _is_plain_text(self, position: int) -> bool:
        """Tell whether a column is text that is not dictionary-encoded."""
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

    def _join_row_groups(self) -> Iterator[tuple[Any, list[int]]]:
        """Yield, for each part of the file, the file's metadata and the part's row groups."""
        import pyarrow.parquet as pq

        with self.open_bytes() as handle:
            metadata = pq.read_metadata(handle)
        if not metadata.schema.to_arrow_schema().equals(self.stored_schema):
            raise SourceError(
                f"{self.path}: the file must not change while it is read, but has changed. Read a "
                "copy."
            )
        groups: list[int] = []
        n_rows = 0
        for group in range(metadata.num_row_groups):
            groups.append(group)
            n_rows += metadata.row_group(group).num_rows
            if n_rows >= _PART_ROWS or group == metadata.num_row_groups - 1:
                yield metadata, groups
                groups, n_rows = [], 0

    def open_bytes(self) -> Any:
        import pyarrow as pa

        return pa.OSFile(os.fsencode(self.path))

    def _redact_arrow_errors(self, items: Iterator[_Item]) -> Iterator[_Item]:
        """Yield the items, and replace errors of Arrow: their messages can show record values."""
        import pyarrow as pa

        return redact_errors(
            items, (pa.ArrowException, OSError), partial(_damaged_parquet_error, self.path)
        )


def _damaged_parquet_error(path: Path) -> ParameterError:
    return ParameterError(
        f"{path}: must be a complete Parquet file, but cannot be read to its end. Write it again."
    )


@dataclass(frozen=True)
class _RowGroups:
    """Some row groups and columns of a file."""

    file: ParquetFile
    metadata: Any
    groups: list[int]
    names: list[str]
    as_dictionary: list[str]

    def read_batches(self, use_threads: bool) -> Iterator[Any]:
        import pyarrow as pa

        n_done = 0
        try:
            for rows in self._iterate_batches(_MAX_ROWS, self.as_dictionary, use_threads):
                yield rows
                n_done += rows.num_rows
        except pa.ArrowCapacityError:  # more text than a dictionary can hold: read the rest as text
            for rows in self._iterate_batches(_MIN_ROWS, [], use_threads):
                skipped = min(n_done, rows.num_rows)
                n_done -= skipped
                yield rows.slice(skipped)

    def _iterate_batches(
        self, max_rows: int, as_dictionary: list[str], use_threads: bool
    ) -> Iterator[Any]:
        import pyarrow.parquet as pq

        size = max(_BATCH_CELLS // max(1, len(self.names)), _MIN_ROWS)
        options = {"read_dictionary": as_dictionary, "buffer_size": _BUFFER}
        with (
            self.file.open_bytes() as handle,
            pq.ParquetFile(  # pre_buffer would keep a whole row group in memory
                handle, metadata=self.metadata, pre_buffer=False, **options
            ) as opened,
        ):
            yield from opened.iter_batches(
                min(size, max_rows), self.groups, self.names, use_threads=use_threads
            )


@contextmanager
def open_parquet_footer(path: Path) -> Iterator[Any]:
    """Open a Parquet file with pyarrow. Raise a ParameterError if it cannot be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open(path, "rb") as handle:
        try:
            with pq.ParquetFile(handle) as opened:
                yield opened
        except (pa.ArrowException, OSError):
            raise ParameterError(
                f"{path}: must be a Parquet file, but cannot be read as one. Write it again."
            ) from None


def open_parquet(path: Path) -> ParquetFile:
    """Open a Parquet file, and read the names and types of its columns."""
    with open_parquet_footer(path) as opened:
        found, metadata = opened.schema_arrow, opened.metadata
        stored = metadata.schema.to_arrow_schema()
        n_parts = min(metadata.num_row_groups, 1 + metadata.num_rows // _PART_ROWS)
    return ParquetFile(path, partitions_of_path(path), found, stored, n_parts)
