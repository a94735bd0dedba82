"""What sources of files share: which files they are."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from privatree.errors import ParameterError
from privatree.sources._paths import find_files
from privatree.sources._source import BatchSource
from privatree.tables import Batch


class FileSource(BatchSource):
    """Files of one kind.

    Parameters
    ----------
    paths, target, progress, in_memory
        See :class:`~privatree.sources.ParquetSource`.
    """

    another_kind: ClassVar[str]
    """What is said of a file of another kind."""

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
    def file_batches(self, place: int) -> Iterator[Batch]:
        """The rows of one file, read by this thread alone."""
