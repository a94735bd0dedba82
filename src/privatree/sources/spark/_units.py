"""Units on a cluster: what the records of each unit weigh together, and which rows are its.

Spark groups and joins rows by the id as it is written, byte by byte. Whether two spellings are the
same id is decided by :func:`privatree.tables.read_unit_ids` alone, on the executors. No id comes to
the driver.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from privatree.counting import Weigher
from privatree.counting.dealing import Dealing
from privatree.schema import Schema
from privatree.sources.spark._counting import (
    HELD_OUT,
    TARGET,
    TOTAL,
    WEIGHT,
    check_executor_version,
    join_batches_to_count,
    rows_to_batch,
)
from privatree.sources.spark._jobs import ignore_pandas_warning
from privatree.tables import label_codes, read_arrow_column, read_unit_ids

WRITTEN = "written"
"""Column of bytes: the id of the row's unit as it is written."""
_ID = "id"
_ROWS = "n_rows"
_SUM_COLUMNS = f"{WRITTEN} binary, {_ID} binary, {HELD_OUT} boolean, {TOTAL} long, {_ROWS} long"


def written_unit_ids(column: Any) -> Any:
    """Return the column of ids as bytes: text with a collation would be compared by its rules."""
    return column.cast("string").cast("binary").alias(WRITTEN)


@dataclass(frozen=True)
class SumUnitWeights:
    """Function for executors that adds up the sample weights of each unit's rows."""

    version: tuple[str, str]
    schema: Schema
    max_weight: float
    dealing: Dealing | None = None

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Take Arrow batches of rows; yield sums for each written id, with the id that it is."""
        check_executor_version(self.version)
        for table in join_batches_to_count(batches):
            yield self._sum_table(table)

    def _sum_table(self, table: Any) -> Any:
        import pyarrow as pa

        written = table.column(WRITTEN).combine_chunks().dictionary_encode()
        batch = rows_to_batch(table.drop_columns([WRITTEN]))
        labels = label_codes(batch.labels.read(), self.schema)
        exact_sums = np.zeros(len(written.dictionary) + 1, dtype=np.int64)  # the last for nulls
        codes = written.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        np.add.at(exact_sums, codes, Weigher(self.max_weight).weigh(batch, labels))
        # Bytes that are not valid text stay as they are here. They are no id.
        text = written.dictionary.cast(pa.string(), safe=False)
        found = read_unit_ids(read_arrow_column(text))
        is_id = found.places >= 0
        held_out = np.zeros(len(found.ids), dtype=np.bool_)
        if self.dealing is not None:
            held_out = self.dealing.unit_parts(found)
        ids = pa.array(found.ids, pa.string()).cast(pa.binary())
        return pa.record_batch(
            {
                WRITTEN: written.dictionary.filter(pa.array(is_id)),
                _ID: ids.take(pa.array(found.places[is_id])),
                HELD_OUT: pa.array(held_out[found.places[is_id]]),
                TOTAL: pa.array(exact_sums[:-1][is_id]),
                _ROWS: pa.array(np.bincount(codes[codes >= 0], minlength=len(is_id))[is_id]),
            }
        )


def sum_units_on_cluster(rows: Any, sum_weights: SumUnitWeights) -> Any:
    """Return a data frame with the total weight of the unit of each written id."""
    from pyspark.sql import Window, functions

    needed = [name for name in rows.columns if name in (TARGET, WEIGHT, WRITTEN)]
    with ignore_pandas_warning():
        sums = rows.select(*needed).mapInArrow(sum_weights, _SUM_COLUMNS)
    total = functions.sum(TOTAL)
    n_rows = functions.sum(_ROWS).alias(_ROWS)
    by_spelling = sums.groupBy(WRITTEN, _ID, HELD_OUT).agg(total.alias(TOTAL), n_rows)
    of_unit = total.over(Window.partitionBy(_ID))
    return by_spelling.select(WRITTEN, _ID, HELD_OUT, of_unit.alias(TOTAL), _ROWS)


def count_ids_and_rows(totals: Any) -> tuple[int, int]:
    """Return the number of distinct ids, with or without a known label, and of rows with an id."""
    from pyspark.sql import functions

    found = totals.agg(functions.count_distinct(_ID), functions.sum(_ROWS)).collect()[0]
    return int(found[0]), int(found[1] or 0)


def join_unit_totals(rows: Any, totals: Any) -> Any:
    """Return the rows that have an id, each with the total of its unit and whether it is held out.

    The hint forbids a broadcast, for which all ids would come to the driver.
    """
    totals = totals.select(WRITTEN, TOTAL, HELD_OUT).hint("merge")
    return rows.join(totals, WRITTEN).drop(WRITTEN)
