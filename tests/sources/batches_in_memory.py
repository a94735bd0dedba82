"""A source of frames in memory, cut into batches, for tests."""

from collections.abc import Iterator
from typing import Any

from privatree.schema import Schema
from privatree.sources._source import BatchSource
from privatree.tables import Batch, frame_batch


class FrameBatches(BatchSource):
    """A pandas frame with its labels, some rows at a time; changes between passes if told."""

    def __init__(self, frame: Any, labels: Any, size: int, *, in_memory: bool = False) -> None:
        super().__init__("target", None, in_memory)
        self.frame, self.labels, self.size = frame, labels, size

    def _find_columns(self, schema: Schema) -> None:
        self.schema = schema

    def _list_parts(self) -> Iterator[slice]:
        for start in range(0, len(self.frame), self.size):
            yield slice(start, start + self.size)

    def _read_part(self, part: slice) -> Iterator[Batch]:
        yield frame_batch(self.frame.iloc[part], self.labels.iloc[part], self.schema)
