"""Parquet files, read some rows at a time, as often as there are passes."""

from __future__ import annotations

from pathlib import Path

from privatree.schema import Schema
from privatree.sources._file_source import FileSource
from privatree.sources._parquet_file import ParquetFile, open_parquet
from privatree.sources._paths import is_parquet


class ParquetSource(FileSource):
    """Records in Parquet files.

    Parameters
    ----------
    paths : path or sequence of path
        Files, folders and patterns such as ``"data/part-*.parquet"``. Folders may be partitioned
        (``year=2024/part.parquet``): what is in their names is text, read as in a CSV file.
    target : str
        The column of labels.
    progress : bool, optional
        Whether passes are shown on stderr. By default, if it is a terminal.
    in_memory : bool, default=False
        Whether records are read once and kept as codes, a byte for most values, rather than read
        again in each pass.

    Attributes
    ----------
    ignored : tuple of str
        The columns that are neither features nor the target, once columns were looked for. Their
        names are public.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ParameterError
        If a file is of another kind or named twice.

    Notes
    -----
    Only the columns that are needed are read. What is decoded at any time is a few batches of rows,
    however large the files and their row groups are. (pyarrow's scanner of datasets decodes whole
    row groups.)

    Files may differ in the order and the types of their columns, as long as each fits the schema.
    They must not change between the passes of one training.
    """

    another_kind = "must be a Parquet file. CsvSource reads CSV files."

    @staticmethod
    def _is_kind(path: Path) -> bool:
        return is_parquet(path)

    def _opened(self, path: Path, schema: Schema) -> ParquetFile:
        return open_parquet(path)
