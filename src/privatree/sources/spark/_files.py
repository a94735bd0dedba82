"""Files that the executors of a Spark cluster read by our own rules, one file a task.

Spark's own reader guesses: types of columns from the first file, columns from folders. A single
record can change both. So Spark only deals out numbers of files, and what is in them is read as it
is without Spark: the same errors, the same tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from privatree.counting import Query
from privatree.schema import Schema
from privatree.sources._file_source import FileSource
from privatree.sources.spark._source import SparkSource
from privatree.tables import Batch


class SparkFileSource(SparkSource):
    """Files that every executor sees under the same names, counted there.

    Parameters
    ----------
    files : FileSource
        Which files, and the target.
    spark : pyspark.sql.SparkSession
        As :func:`~privatree.sources.spark.spark_session` starts it.
    progress : bool, optional
        Whether passes are shown on stderr; None: if it is a terminal.
    """

    def __init__(self, files: FileSource, spark: Any, *, progress: bool | None = None) -> None:
        numbers = spark.range(0, files.n_files, 1, files.n_files)
        super().__init__(numbers, target=files.target, progress=progress)
        self._files = files

    def _open(self, schema: Schema) -> None:
        self._files.open(schema)
        self._selected, self.ignored = self._dataframe, self._files.ignored
        self.assumptions = self._files.assumptions

    def _shipment(self, query: Query[Any]) -> FileShipment:
        return FileShipment(query, self._files)


@dataclass(frozen=True)
class FileShipment:
    """What executors need to know to count the rows of files."""

    query: Query[Any]
    files: FileSource

    def batches(self, table: Any) -> Iterator[Batch]:
        """The rows of the files with these numbers."""
        for number in table.column(0).to_pylist():
            yield from self.files.file_batches(number)
