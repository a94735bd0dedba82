"""Records in a Spark data frame: they are counted on its executors, and only counts come here."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from privatree.counting import AnyPartial, Query, SerializablePartial
from privatree.errors import ParameterError, SourceError
from privatree.schema import Categorical, Schema
from privatree.sources._files import check_column_type, matched_columns
from privatree.sources._source import Source
from privatree.sources.spark._counting import (
    ERROR,
    PIECES,
    Counting,
    Merging,
    Shipment,
    this_version,
)
from privatree.sources.spark._jobs import context_of, public_error, quiet_spark, run_job
from privatree.tables import ColumnType, Kind

_DATA = Path("dataframe")  # what messages call it
_N_GROUPS = (64, 1)
"""Pieces of the same part are merged in two rounds, down to so many, each by a task of its own. So
no task merges more than one piece in 64, or 64, whatever the number of partitions, which nobody
knows before the job runs, and this process gets every count once."""


class SparkSource(Source):
    """Records in a data frame of Spark, to train on where they are.

    Parameters
    ----------
    dataframe : pyspark.sql.DataFrame
        The records. Each pass computes it anew, so it must give the same rows each time: cache or
        write what is costly or random.
    target : str
        The column of labels.
    progress : bool, optional
        Whether passes are shown on stderr; None: if it is a terminal.

    Raises
    ------
    ParameterError
        If `dataframe` is not a data frame of Spark, or Spark is not installed.

    Notes
    -----
    privatree must be installed on every executor, in the version of the driver. Only the columns
    of the schema and the target are read. A pass is one job: executors count their rows, counts are
    merged in two rounds, and the sums come to the driver.
    """

    def __init__(self, dataframe: Any, target: str, *, progress: bool | None = None) -> None:
        super().__init__(target, progress)
        if not isinstance(dataframe, _data_frame_class()):
            raise ParameterError(
                f"dataframe must be a pyspark.sql.DataFrame, got {type(dataframe).__name__}."
            )
        self._dataframe = dataframe
        self._selected: Any = None

    def _open(self, schema: Schema) -> None:
        wanted = {**schema.features, self.target: Categorical(schema.classes)}
        fields = _fields(self._dataframe)
        positions, unused = matched_columns(_DATA, [name for name, _ in fields], wanted)
        for name, position in positions.items():
            found = spark_type(fields[position][1])
            check_column_type(_DATA, name, found, wanted[name], name == self.target)
        # By position: Spark takes names that differ in case for the same, and dots in them apart.
        called = [f"column{position}" for position in range(len(fields))]
        self._selected = self._dataframe.toDF(*called).select(
            *(called[position] for position in positions.values())
        )
        self.ignored = tuple(unused)

    def _shipment(self, query: Query[Any]) -> Any:
        """What executors need to know."""
        return Shipment(query)

    def _answer(self, query: Query[AnyPartial], advance: Callable[[int], None]) -> AnyPartial:
        answer = query.new_partial()
        if not isinstance(answer, SerializablePartial):
            raise TypeError(f"a {type(answer).__name__} cannot be sent to this process.")
        spark = self._selected.sparkSession
        context = context_of(spark)
        shown = _TasksDone(context, self._exact_rows or 0, advance)

        def job() -> Any:
            with _shipped(context, pickle.dumps(self._shipment(query))) as shipped:
                return self._pieces(Counting(this_version(), shipped), type(answer)).toArrow()

        exact_rows = 0
        for pieces in run_job(spark, job, shown.look).to_batches():
            for part, rows, content in zip(
                pieces.column("part").to_pylist(),
                pieces.column("n_rows").to_pylist(),
                pieces.column("content"),
                strict=True,
            ):
                if part == ERROR:
                    raise SourceError(content.as_py().decode())
                answer.add_serialized(part, content.as_py())
                exact_rows += rows
        advance(exact_rows - shown.n_rows)
        return answer

    def _pieces(self, counting: Counting, answer: type[SerializablePartial]) -> Any:
        """A data frame of the pieces of the answer, each part once."""
        from pyspark.sql.functions import col

        with quiet_spark():
            pieces = self._selected.mapInArrow(counting, PIECES)
            for n_groups in _N_GROUPS:
                pieces = pieces.repartition(col("part"), col("sender") % n_groups)
                pieces = pieces.mapInArrow(Merging(answer, n_groups), PIECES)
        return pieces


class _TasksDone:
    """Tells from the tasks that are done how many rows are, if a pass before has found out.

    Parameters
    ----------
    context : pyspark.SparkContext or None
        None: nobody can tell.
    total : int
        How many rows there are, 0 if nobody knows.
    advance : callable
        Takes how many more rows are done.
    """

    def __init__(self, context: Any, total: int, advance: Callable[[int], None]) -> None:
        self._tracker = None if context is None or not total else context.statusTracker()
        self._total, self._advance = total, advance
        self.n_rows = 0

    def look(self) -> None:
        """Look now."""
        if self._tracker is None:
            return
        stages = map(self._tracker.getStageInfo, self._tracker.getActiveStageIds())
        found = [(stage.numCompletedTasks, stage.numTasks) for stage in stages if stage]
        done, of = (sum(numbers) for numbers in zip(*found, strict=True)) if found else (0, 1)
        n_rows = self._total * done // max(1, of)
        if n_rows > self.n_rows:
            self._advance(n_rows - self.n_rows)
            self.n_rows = n_rows


def spark_type(found: Any) -> ColumnType:
    """Return what a type of Spark declares.

    Parameters
    ----------
    found : pyspark.sql.types.DataType
        Of a column.
    """
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


def _fields(dataframe: Any) -> list[tuple[str, Any]]:
    """Names and types of the columns."""
    try:
        return [(field.name, field.dataType) for field in dataframe.schema.fields]
    except Exception as failure:  # only now does Spark look at what it was told
        error = public_error(failure)
    raise error


def _data_frame_class() -> Any:
    try:
        from pyspark.sql import DataFrame
    except ImportError:
        raise ParameterError(
            "Spark is not installed. Run: pip install 'privatree[spark]'"
        ) from None
    return DataFrame


@contextmanager
def _shipped(context: Any, content: bytes) -> Iterator[Any]:
    """Bring bytes to every executor once; they are gone afterwards."""
    if context is None:
        yield content
        return
    broadcast = context.broadcast(content)
    try:
        yield broadcast
    finally:
        with suppress(Exception):  # what it was for has failed before, and was said
            broadcast.destroy()
