"""Passes over rows on a Spark cluster: executors count, and only counts come to this process."""

from __future__ import annotations

import pickle
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from privatree.counting import AnyPartial, Query, SerializablePartial
from privatree.errors import SourceError
from privatree.sources._source import Source
from privatree.sources.spark._counting import (
    ERROR_PART,
    PART_COLUMNS,
    CountPartition,
    MergeParts,
    versions_for_counting,
)
from privatree.sources.spark._jobs import (
    ignore_pandas_warning,
    run_spark_job,
    spark_job_context,
)

_N_GROUPS = (64, 1)
"""Number of groups of partitions in each of the two rounds of merging. A task merges the parts with
one number from one group. In the first round, a task gets one part in 64; in the second, at
most 64 parts, however many partitions there are. This process gets every count once."""


class ClusterSource(Source):
    """Source whose records executors count."""

    _selected: Any
    """Data frame from which a pass counts."""

    @abstractmethod
    def _task(self, query: Query[Any]) -> Any:
        """Return the object that tells executors which rows to count."""

    def _make_pass(self, query: Query[AnyPartial], advance: Callable[[int], None]) -> AnyPartial:
        answer = query.new_partial()
        if not isinstance(answer, SerializablePartial):
            raise TypeError(
                f"the answer of a query must be a SerializablePartial, got {type(answer).__name__}."
            )
        spark = self._selected.sparkSession
        context = spark_job_context(spark)
        progress = _TaskProgress(context, self._exact_rows or 0, advance)

        def count_on_cluster() -> Any:
            with _broadcast_to_executors(context, pickle.dumps(self._task(query))) as task:
                count = CountPartition(versions_for_counting(), task)
                return self._merged_parts(count, type(answer)).toArrow()

        exact_rows = 0
        for parts in run_spark_job(spark, count_on_cluster, progress.show_progress).to_batches():
            for part, rows, content in zip(
                parts.column("part").to_pylist(),
                parts.column("n_rows").to_pylist(),
                parts.column("content"),
                strict=True,
            ):
                if part == ERROR_PART:
                    raise SourceError(content.as_py().decode())
                answer.add_serialized(part, content.as_py())
                exact_rows += rows
        advance(exact_rows - progress.n_rows)
        return answer

    def _merged_parts(self, count: CountPartition, answer: type[SerializablePartial]) -> Any:
        """Return a data frame with the merged parts of the counts."""
        from pyspark.sql.functions import col

        with ignore_pandas_warning():
            parts = self._selected.mapInArrow(count, PART_COLUMNS)
            for n_groups in _N_GROUPS:
                parts = parts.repartition(col("part"), col("sender") % n_groups)
                parts = parts.mapInArrow(MergeParts(answer, n_groups), PART_COLUMNS)
        return parts


class _TaskProgress:
    """Progress of a pass, estimated from finished tasks and the rows of an earlier pass."""

    def __init__(self, context: Any, total: int, advance: Callable[[int], None]) -> None:
        self._tracker = None if context is None or not total else context.statusTracker()
        self._total, self._advance = total, advance
        self.n_rows = 0

    def show_progress(self) -> None:
        if self._tracker is None:
            return
        stages = map(self._tracker.getStageInfo, self._tracker.getActiveStageIds())
        found = [(stage.numCompletedTasks, stage.numTasks) for stage in stages if stage]
        done, of = (sum(numbers) for numbers in zip(*found, strict=True)) if found else (0, 1)
        n_rows = self._total * done // max(1, of)
        if n_rows > self.n_rows:
            self._advance(n_rows - self.n_rows)
            self.n_rows = n_rows


@contextmanager
def _broadcast_to_executors(context: Any, content: bytes) -> Iterator[Any]:
    """Send bytes to every executor once, and delete them afterwards."""
    if context is None:
        yield content
        return
    broadcast = context.broadcast(content)
    try:
        yield broadcast
    finally:
        with suppress(Exception):  # if this fails, the job has failed before with its own error
            broadcast.destroy()
