"""Where records live. ``classifier.fit(source)`` takes a source in place of a frame and labels.

The same seed gives the same tree from each of them.

- :class:`ParquetSource`, :class:`CsvSource`: files and folders of any size, read in bounded memory
- :class:`ArrowSource`: pandas, polars (lazy ones too), DuckDB, Arrow tables and readers
- :class:`SparkSource`: a data frame of a Spark cluster, counted where its partitions are

::

    _source.py            what a source is
    _frame_records.py     records in memory
    _arrow_source.py, _csv_source.py, _parquet_source.py
    _file_source.py       what the sources of files share
    _files.py             a file of either kind: its columns, and its rows
    _parquet_file.py      the content of Parquet files
    _reading.py           files as Arrow tables, by a schema or without
    _paths.py             which files are meant
    _memory_estimate.py   would they fit in memory?
    _pass_progress.py     a progress bar for passes
    csv/                  the content of CSV files and workbooks
    spark/                data frames and files on a cluster
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
