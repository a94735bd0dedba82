"""Where records live, and how they become counts.

A source is trained on in place of a frame and its labels: ``classifier.fit(source)``. The same
seed gives the same tree from each of them.

- :class:`ParquetSource`, :class:`CsvSource`: files and folders of any size, read in bounded memory
- :class:`ArrowSource`: pandas, polars (lazy ones too), DuckDB, Arrow tables and readers
- :class:`SparkSource`: a data frame of a Spark cluster, counted where its partitions are

Their classes are loaded when they are first used.
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
