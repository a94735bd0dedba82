"""What sources of files share: which files they are, and their rows as batches."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from privatree.errors import ParameterError
from privatree.schema import Categorical, Schema
from privatree.sources._files import DataFile, FoundColumns, Part, find_columns
from privatree.sources._paths import find_files
from privatree.sources._source import BatchSource
from privatree.tables import Batch

_ENOUGH_PARTS = 8
"""So many are decoded by the threads that count them, each its own; fewer one after another."""


class FileSource(BatchSource):
    """Files of one kind.

    Parameters
    ----------
    paths, target, progress, in_memory
        See :class:`~privatree.sources.ParquetSource`.
    """

    another_kind: ClassVar[str]
    """What is said of a file of another kind."""
    _files: list[FoundColumns]

    def __init__(
        self,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        target: str,
        *,
        progress: bool | None = None,
        in_memory: bool = False,
    ) -> None:
        super().__init__(target, progress, in_memory)
        listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
        self._paths = find_files(listed)
        if not self._paths:
            raise ParameterError("paths must name a file at least, got none.")
        if other := next((path for path in self._paths if not self._is_kind(path)), None):
            raise ParameterError(f"{other}: {self.another_kind}")

    @property
    def n_files(self) -> int:
        """How many files there are."""
        return len(self._paths)

    @staticmethod
    @abstractmethod
    def _is_kind(path: Path) -> bool:
        """Whether a file is of this kind, by its name."""

    @abstractmethod
    def _opened(self, path: Path, schema: Schema) -> DataFile:
        """Open a file."""

    def _open(self, schema: Schema) -> None:
        wanted = {**schema.features, self.target: Categorical(schema.classes)}
        self._files = [
            find_columns(self._opened(path, schema), wanted, self.target) for path in self._paths
        ]
        self.ignored = tuple(dict.fromkeys(name for file in self._files for name in file.ignored))

    def _parts(self) -> Iterator[tuple[FoundColumns, Part]]:
        apart = sum(found.file.n_parts for found in self._files) >= _ENOUGH_PARTS
        for found in self._files:
            for part in found.parts(apart=apart):
                yield found, part

    def _batches(self, part: tuple[FoundColumns, Part]) -> Iterator[Batch]:
        found, read = part
        for rows in read():
            *features, labels = found.columns(rows)
            yield Batch(rows.n_rows, features, labels)

    def file_batches(self, place: int) -> Iterator[Batch]:
        """The rows of one file, read by this thread alone."""
        found = self._files[place]
        for part in found.parts(apart=True):
            yield from self._batches((found, part))
