"""Where records live, and how they become counts.

A source is trained on in place of a frame and its labels: ``classifier.fit(source)``. The same
seed gives the same tree from each of them.

- :class:`ParquetSource`, :class:`CsvSource`: files and folders of any size, read in bounded memory
- :class:`ArrowSource`: pandas, polars (lazy ones too), DuckDB, Arrow tables and readers
- :class:`SparkSource`: a data frame of a Spark cluster, counted where its partitions are

What is here, from the caller's table to counts::

    opening.py           which container is it? (containers.py: numpy, pandas, polars, Arrow;
                         table_streams.py: what is read some rows at a time)
    columns.py           one column, whatever it came from (arrow_columns.py, values.py: how it is
                         read)
    frames.py            a frame by a schema; batch.py: some of its rows
    inference.py         a schema from records, which leaks (column_facts.py: for a draft;
                         label_rules.py: which columns tell the label alone)
    misfits.py           what in records does not fit a schema, which leaks (column_misfits.py: in
                         a column; schema_check.py: the result and its text)

    paths.py             which files; room.py: would they fit in memory?
    files.py             files by a schema, as a table (file_records.py)
    csv_files.py         CSV, in chunks of whole rows (csv_header.py, csv_rows.py), their values
                         (csv_values.py) and what the text stands for (csv_text.py);
                         csv_detection.py: how a file seems to be written, which leaks
    raw_files.py         the content of a file, decompressed and decoded (held_files.py: standard
                         input and workbooks; excel_sheet.py: cells)

    coding.py            a batch to codes (cut_search.py: compiled)
    questions.py         what one pass answers: counts (tallies.py: of values; held_codes.py: the
                         records themselves)
    source.py            what a source is; passes.py: a learner's counts from passes over it
                         (table_parts.py: where they do not fit in memory at once;
                         pass_progress.py: their bar; shielded.py: errors of other libraries)
    frame_records.py     records in memory, which need no passes
    parquet_source.py, csv_source.py (file_source.py: what they share), arrow_source.py
    spark_source.py      counted on executors (spark_counting.py), by jobs (spark_jobs.py) of a
                         session (spark_session.py); spark_files.py: files read there

Sources are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privatree.sources.arrow_source import ArrowSource
    from privatree.sources.csv_source import CsvSource
    from privatree.sources.parquet_source import ParquetSource
    from privatree.sources.spark_source import SparkSource

__all__ = ["ArrowSource", "CsvSource", "ParquetSource", "SparkSource"]

_HOME = {
    "ArrowSource": "privatree.sources.arrow_source",
    "CsvSource": "privatree.sources.csv_source",
    "ParquetSource": "privatree.sources.parquet_source",
    "SparkSource": "privatree.sources.spark_source",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'privatree.sources' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
