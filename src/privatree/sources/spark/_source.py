"""Records on a Spark cluster: executors count them, and only counts come to this process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from privatree.counting import AnyPartial, Query, SerializablePartial
from privatree.errors import ParameterError, SourceError
from privatree.schema import Schema
from privatree.sources._data_file import check_column_type, match_columns
from privatree.sources._file_sources import FileSource
from privatree.sources._source import Source
from privatree.sources.spark._counting import (
    ERROR_PART,
    PART_COLUMNS,
    CountPartition,
    FilesTask,
    MergeParts,
    RowsTask,
    versions_for_counting,
)
from privatree.sources.spark._jobs import (
    ignore_pandas_warning,
    redact_spark_job_error,
    run_spark_job,
    spark_job_context,
)
from privatree.tables import ColumnType, Kind

_DATA = Path("dataframe")  # name of the data frame in messages
_N_GROUPS = (64, 1)
"""Number of groups of partitions in each of the two rounds of merging. A task merges the parts with
one number from one group. In the first round, a task gets one part in 64; in the second, at
most 64 parts, however many partitions there are. This process gets every count once."""


class SparkSource(Source):
    """Records in a Spark DataFrame, counted on the cluster.

    Parameters
    ----------
    dataframe : pyspark.sql.DataFrame
        Records. Each pass computes the data frame again, and must get the same rows each time:
        cache a data frame that is slow to compute or random, or write it to files.
    target : str
        Name of the label column.
    progress : bool, optional
        Whether to show each pass on stderr. By default, it is shown if stderr is a terminal.

    Raises
    ------
    ParameterError
        If `dataframe` is not a Spark DataFrame, or Spark is not installed.

    Notes
    -----
    Every executor must have the same version of privatree as the driver. Only the columns of the
    schema and the target are read. A pass is one job: executors count their rows, counts are merged
    in two rounds, and the sums come to the driver.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier
    >>> source = SparkSource(spark.table("visits"), target="readmitted")  # doctest: +SKIP
    >>> model = PrivaTreeClassifier(0.1, schema=schema).fit(source)  # doctest: +SKIP
    >>> SparkSource([[70, "yes"]], target="readmitted")
    Traceback (most recent call last):
    privatree.errors.ParameterError: dataframe must be a pyspark.sql.DataFrame, got list.
    """

    def __init__(self, dataframe: Any, target: str, *, progress: bool | None = None) -> None:
        super().__init__(target, progress)
        try:
            from pyspark.sql import DataFrame
        except ImportError:
            raise ParameterError(
                "Spark is not installed. Run: pip install 'privatree[spark]'"
            ) from None
        if not isinstance(dataframe, DataFrame):
            raise ParameterError(
                f"dataframe must be a pyspark.sql.DataFrame, got {type(dataframe).__name__}."
            )
        self._dataframe = dataframe
        self._selected: Any = None

    def _find_columns(self, schema: Schema) -> None:
        fields = _spark_names_and_types(self._dataframe)
        positions, unused = match_columns(_DATA, [name for name, _ in fields], self._wanted)
        for name, position in positions.items():
            found = spark_column_type(fields[position][1])
            check_column_type(_DATA, name, found, self._wanted[name], name == self.target)
        # By position: Spark does not distinguish case in names, and splits names at dots.
        called = [f"column{position}" for position in range(len(fields))]
        self._selected = self._dataframe.toDF(*called).select(
            *(called[position] for position in positions.values())
        )
        self.ignored = tuple(unused)

    def _task(self, query: Query[Any]) -> Any:
        """Return the object that tells executors which rows to count."""
        return RowsTask(query)

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


class SparkFileSource(SparkSource):
    """Files that executors read by the rules of privatree, one file for each task.

    Every executor must see the files under the same paths. Spark's own reader guesses the types of
    columns from the first file, and more columns from folder names. A single record can change both
    guesses, so Spark gets only the numbers of the files. Errors and trees are the same as without
    Spark.
    """

    def __init__(self, files: FileSource, spark: Any, *, progress: bool | None = None) -> None:
        numbers = spark.range(0, files.n_files, 1, files.n_files)
        super().__init__(numbers, target=files.target, progress=progress)
        self._files = files

    def _find_columns(self, schema: Schema) -> None:
        self._files.open(schema)
        self._selected, self.ignored = self._dataframe, self._files.ignored
        self.assumptions = self._files.assumptions

    def _task(self, query: Query[Any]) -> FilesTask:
        return FilesTask(query, self._files)


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


def spark_column_type(found: Any) -> ColumnType:
    """Return the column type for a type of Spark."""
    from pyspark.sql import types

    kind: Kind = "other"
    if isinstance(found, types.BooleanType):
        kind = "bool"
    elif isinstance(found, types.NumericType):
        kind = "number"
    elif isinstance(found, types.StringType | types.CharType | types.VarcharType):
        kind = "string"
    elif isinstance(found, types.NullType):  # declares only that every value is missing
        kind = "object"
    return ColumnType(kind, found.typeName(), isinstance(found, types.IntegralType))


def _spark_names_and_types(dataframe: Any) -> list[tuple[str, Any]]:
    try:
        return [(field.name, field.dataType) for field in dataframe.schema.fields]
    except Exception as failure:  # Spark looks for files and tables only now
        error = redact_spark_job_error(failure)
    raise error


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
