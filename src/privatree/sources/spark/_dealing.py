"""A training and a held-out part on a cluster: which rows are equal, and which number each has.

Rows are told apart by their keyed hash, which executors compute. Spark numbers the rows of each
hash. Which of several equal rows gets which number can change from pass to pass; the set of numbers
does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from privatree.counting.dealing import CopyCounter, Dealing
from privatree.errors import PrivatreeError
from privatree.sources._file_sources import FileSource
from privatree.sources.spark._counting import (
    FIRST,
    NUMBER,
    SECOND,
    CopiesOfFiles,
    check_executor_version,
    join_batches_to_count,
    rows_to_batch,
)
from privatree.sources.spark._jobs import ignore_pandas_warning

_FILE, _BEFORE = "file", "before"
_COPY_COLUMNS = f"{FIRST} long, {SECOND} long, {_FILE} long, {_BEFORE} long"


@dataclass(frozen=True)
class FingerprintRows:
    """Function for executors that adds the fingerprint to each row."""

    version: tuple[str, str]
    dealing: Dealing

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Take Arrow batches of rows, and yield them with two more columns."""
        import pyarrow as pa

        check_executor_version(self.version)
        for table in join_batches_to_count(batches):
            first, second = self.dealing.fingerprint_rows(rows_to_batch(table)).view(np.int64)
            found = table.append_column(FIRST, pa.array(first))
            yield from found.append_column(SECOND, pa.array(second)).to_batches()


def number_rows_on_cluster(rows: Any, fingerprint: FingerprintRows) -> Any:
    """Return the rows with their fingerprint, and their number among equal rows."""
    from pyspark.sql import Window, functions
    from pyspark.sql.types import LongType, StructType

    wanted = StructType(list(rows.schema.fields)).add(FIRST, LongType()).add(SECOND, LongType())
    with ignore_pandas_warning():
        found = rows.mapInArrow(fingerprint, wanted)
    of_row = Window.partitionBy(FIRST, SECOND).orderBy(FIRST)
    return found.withColumn(NUMBER, functions.row_number().over(of_row).cast("long"))


@dataclass(frozen=True)
class CountCopies:
    """Function for executors that counts the rows of each fingerprint in their files."""

    version: tuple[str, str]
    files: FileSource
    dealing: Dealing

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Take Arrow batches with numbers of files, and yield fingerprints and their counts."""
        check_executor_version(self.version)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield self._count_file(number)

    def _count_file(self, number: int) -> Any:
        import pyarrow as pa

        copies = CopyCounter()
        try:
            for batch in self.files.file_batches(number):
                copies.number(self.dealing.fingerprint_rows(batch))
        except PrivatreeError:  # the next pass reads the file again, and reports the error
            copies = CopyCounter()
        (first, second), exact_counts = copies.exact_copies()
        return pa.record_batch(
            {
                FIRST: pa.array(first.view(np.int64)),
                SECOND: pa.array(second.view(np.int64)),
                _FILE: pa.array(np.full(len(first), number, dtype=np.int64)),
                _BEFORE: pa.array(exact_counts),
            }
        )


def copies_in_earlier_files(files: Any, count: CountCopies) -> CopiesOfFiles:
    """Return, for each file, the fingerprints that earlier files have, too, and how many there.

    `files` is a data frame with the numbers of the files.
    """
    from pyspark.sql import Window, functions

    with ignore_pandas_warning():
        counted = files.mapInArrow(count, _COPY_COLUMNS)
    earlier = (
        Window.partitionBy(FIRST, SECOND).orderBy(_FILE).rowsBetween(Window.unboundedPreceding, -1)
    )
    before = counted.withColumn(_BEFORE, functions.sum(_BEFORE).over(earlier))
    found = before.where(functions.col(_BEFORE) > 0).toArrow()
    first, second, file, exact_counts = (
        found.column(name).to_numpy() for name in (FIRST, SECOND, _FILE, _BEFORE)
    )
    fingerprints = np.stack([first, second]).view(np.uint64)
    return {
        int(number): (fingerprints[:, file == number], exact_counts[file == number])
        for number in np.unique(file)
    }
