"""Records on a Spark cluster, in a data frame or in files that executors read."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from privatree.counting import Query, Weigher
from privatree.errors import ParameterError
from privatree.schema import Schema
from privatree.sources._data_file import match_columns
from privatree.sources._file_sources import FileSource
from privatree.sources._pass_progress import show_pass_progress
from privatree.sources._source import Weighing
from privatree.sources.spark._counting import (
    TARGET,
    WEIGHT,
    CopiesOfFiles,
    FilesTask,
    RowsTask,
    versions_for_counting,
)
from privatree.sources.spark._dealing import (
    CountCopies,
    FingerprintRows,
    copies_in_earlier_files,
    number_rows_on_cluster,
)
from privatree.sources.spark._jobs import redact_spark_job_error, run_spark_job
from privatree.sources.spark._passes import ClusterSource
from privatree.sources.spark._units import (
    SumUnitWeights,
    count_ids_and_rows,
    join_unit_totals,
    sum_units_on_cluster,
    written_unit_ids,
)
from privatree.tables import ColumnType, Kind

_DATA = Path("dataframe")  # name of the data frame in messages


class SparkSource(ClusterSource):
    """Records in a Spark DataFrame, counted on the cluster.

    Parameters
    ----------
    dataframe : pyspark.sql.DataFrame
        Records. Each pass computes the data frame again, and must get the same rows each time:
        cache a data frame that is slow to compute or random, or write it to files.
    target : str
        Name of the label column.
    unit : str, optional
        Name of the column that says who a row is about, such as ``"patient_id"``: whole numbers
        or text. Epsilon then holds for all records of a unit together. By default, it is the unit
        of the schema, if the schema has one.
    weight : str, optional
        Name of the column of sample weights.
    progress : bool, optional
        Whether to show each pass on stderr. By default, it is shown if stderr is a terminal.

    Raises
    ------
    ParameterError
        If `dataframe` is not a Spark DataFrame, or Spark is not installed.

    Notes
    -----
    Every executor must have the same version of privatree as the driver. Only the columns of the
    schema, the target, the unit and the weight are read. A pass is one job: executors count their
    rows, counts are merged in two rounds, and the sums come to the driver.

    With units, the first pass adds up what the records of each unit weigh. Spark groups them by the
    exact id and keeps the totals on the executors until the training ends. Each other pass joins
    them to the rows, so the rows go through a shuffle. No id comes to the driver.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier
    >>> source = SparkSource(spark.table("visits"), target="readmitted")  # doctest: +SKIP
    >>> model = PrivaTreeClassifier(0.1, schema=schema).fit(source)  # doctest: +SKIP
    >>> SparkSource([[70, "yes"]], target="readmitted")
    Traceback (most recent call last):
    privatree.errors.ParameterError: dataframe must be a pyspark.sql.DataFrame, got list.
    """

    def __init__(
        self,
        dataframe: Any,
        target: str,
        *,
        unit: str | None = None,
        weight: str | None = None,
        progress: bool | None = None,
    ) -> None:
        super().__init__(target, progress, unit, weight)
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
        self._rows: Any = None  # rows of the needed columns
        self._totals: Any = None  # of the units; kept on the executors

    def _find_columns(self, schema: Schema) -> None:
        self.close()
        fields = _spark_names_and_types(self._dataframe)
        wanted = [*self._wanted, *self._side_names]
        positions, unused = match_columns(_DATA, [name for name, _ in fields], wanted)
        for name, position in positions.items():
            self._check_type(_DATA, name, spark_column_type(fields[position][1]))
        # By position: Spark does not distinguish case in names, and splits names at dots.
        called = [f"column{position}" for position in range(len(fields))]
        rows = self._dataframe.toDF(*called)
        columns = {name: rows[called[position]] for name, position in positions.items()}
        columns[self.target] = columns[self.target].alias(TARGET)
        if self._unit_column is not None:
            columns[self._unit_column] = written_unit_ids(columns[self._unit_column])
        if self.weight is not None:
            columns[self.weight] = columns[self.weight].alias(WEIGHT)
        self._rows = self._selected = rows.select(*columns.values())
        self.ignored = tuple(unused)

    def close(self) -> None:
        """Let the executors forget the totals of the units, and how rows were dealt."""
        totals, self._totals = self._totals, None
        self._selected = self._rows
        if totals is not None:
            with suppress(Exception):  # a session that was stopped has forgotten them
                totals.unpersist()

    def _make_weigher(self, schema: Schema) -> Weighing:
        if self._unit_column is None:
            if self.dealing is not None:
                fingerprint = FingerprintRows(versions_for_counting(), self.dealing)
                self._selected = number_rows_on_cluster(self._rows, fingerprint)
            return super()._make_weigher(schema)
        self.n_passes += 1
        versions = versions_for_counting()
        sum_weights = SumUnitWeights(versions, schema, self._max_weight, self.dealing)

        def sum_and_count() -> tuple[int, int]:
            self._totals = sum_units_on_cluster(self._rows, sum_weights).persist()
            return count_ids_and_rows(self._totals)

        with show_pass_progress(self.n_passes, None, self.progress):
            counted = run_spark_job(self._rows.sparkSession, sum_and_count, lambda: None)
        self._selected = join_unit_totals(self._rows, self._totals)
        return Weighing(Weigher(self._max_weight), *counted)

    def _task(self, query: Query[Any]) -> RowsTask:
        return RowsTask(query, self._unit_column is not None, self._part)


class SparkFileSource(ClusterSource):
    """Files that executors read by the rules of privatree, one file for each task.

    Every executor must see the files under the same paths. Spark's own reader guesses the types of
    columns from the first file, and more columns from folder names. A single record can change both
    guesses, so Spark gets only the numbers of the files. Errors and trees are the same as without
    Spark.

    With units, what the records of each unit weigh comes to this process, and is sent to every
    executor in each pass: a task knows the ids of its file only when it has read the file. So all
    ids must fit in memory, here and there, as without Spark. ``SparkSource`` has no such limit.
    """

    def __init__(self, files: FileSource, spark: Any, *, progress: bool | None = None) -> None:
        super().__init__(files.target, progress, files.unit, files.weight)
        self._selected = spark.range(0, files.n_files, 1, files.n_files)
        self._files = files
        self._copies: CopiesOfFiles | None = None

    def _find_columns(self, schema: Schema) -> None:
        self._files.open(schema)
        self.ignored, self.assumptions = self._files.ignored, self._files.assumptions
        self._copies = None

    def close(self) -> None:
        """Forget which rows several files have."""
        self._copies = None

    def _make_weigher(self, schema: Schema) -> Weighing:
        if self.dealing is not None and self._unit_column is None:
            count = CountCopies(versions_for_counting(), self._files, self.dealing)
            files = self._selected

            def count_copies() -> CopiesOfFiles:
                return copies_in_earlier_files(files, count)

            self.n_passes += 1
            with show_pass_progress(self.n_passes, None, self.progress):
                self._copies = run_spark_job(files.sparkSession, count_copies, lambda: None)
        return super()._make_weigher(schema)

    def _task(self, query: Query[Any]) -> FilesTask:
        return FilesTask(query, self._files, self._part, self._copies)


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
