"""Sources of records. ``classifier.fit(source)`` takes a source in place of a frame and labels.

The same seed gives the same tree from every source.

- :class:`ParquetSource`, :class:`CsvSource`: files and folders of any size, read in bounded memory
- :class:`ArrowSource`: tables of pandas, polars, DuckDB and Arrow, also lazy ones
- :class:`SparkSource`: a data frame of a Spark cluster, counted on the cluster

::

    _source.py            records in memory, and sources that are read in passes
    _pass_progress.py     a bar that shows a pass
    _beside.py            records in memory with ids of units and weights beside them
    _arrow_source.py      tables as sources
    _file_sources.py      CSV and Parquet files as sources
    _data_file.py         a file of either kind: its columns and its rows
    _parquet_file.py      the content of Parquet files
    _read_files.py        files as Arrow tables, with or without a schema
    _paths.py             the files that paths, folders and patterns stand for
    _memory_estimate.py   whether all records fit in memory
    csv/                  the content of CSV files and workbooks
    spark/                data frames and files on a cluster
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
