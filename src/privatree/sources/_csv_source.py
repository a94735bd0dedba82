"""CSV files, read some rows at a time, as often as there are passes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from privatree.schema import CsvDialect, Schema
from privatree.sources._file_source import FileSource
from privatree.sources._paths import is_csv
from privatree.sources.csv._files import CsvFile, open_csv, reading_assumptions


class CsvSource(FileSource):
    """Records in CSV or tab-separated files, or in the first sheets of Excel workbooks.

    Parameters
    ----------
    paths : path or sequence of path
        Files, folders and patterns such as ``"data/part-*.csv"``; compressed if their names end in
        ``.gz`` or ``.zst``; ``"-"`` is the standard input. Folders may be partitioned
        (``year=2024/part.csv``): what is in their names is text, read as that in the files.
    target : str
        The column of labels.
    delimiter, decimal, encoding, quote, escape, multiline : optional
        How the files are written, as in :class:`~privatree.CsvDialect`; what is not given is as the
        schema says. ``quote=""`` reads quotes as any other character.
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
    The schema decides what text is read as: what is not a number, or not a category, is missing. A
    row that has not as many values as the first, does not close its quotes, or is longer than
    64 MiB, is a record of which every value is missing, its label too. Bytes that are no text in
    the encoding spoil the value that they are in.

    A physical line is a row, so no record can change how another is read. With ``multiline=True``
    it can, and the privacy statement says so.

    Files may differ in the order of their columns. They must not change between the passes of one
    training.
    """

    another_kind = "must be a CSV file. ParquetSource reads Parquet files."

    def __init__(
        self,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        target: str,
        *,
        delimiter: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        quote: str | None = None,
        escape: str | None = None,
        multiline: bool | None = None,
        progress: bool | None = None,
        in_memory: bool = False,
    ) -> None:
        super().__init__(paths, target, progress=progress, in_memory=in_memory)
        self._options = {
            "delimiter": delimiter,
            "decimal": decimal,
            "encoding": encoding,
            "quote": quote,
            "escape": escape,
            "multiline": multiline,
        }
        CsvDialect().changed(**self._options)  # what is wrong with them shows now

    @staticmethod
    def _is_kind(path: Path) -> bool:
        return is_csv(path)

    def _open(self, schema: Schema) -> None:
        super()._open(schema)
        self.assumptions = reading_assumptions(self._paths, self._dialect(schema))

    def _opened(self, path: Path, schema: Schema) -> CsvFile:
        return open_csv(path, self._dialect(schema))

    def _dialect(self, schema: Schema) -> CsvDialect:
        return (schema.csv or CsvDialect()).changed(**self._options)
