"""CSV and Parquet files as sources: read a batch of rows at a time, once in each pass."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from privatree.errors import ParameterError
from privatree.schema import CsvDialect, Schema
from privatree.sources._data_file import (
    DataFile,
    FoundColumns,
    Part,
    check_file_unit_type,
    find_file_columns,
)
from privatree.sources._parquet_file import open_parquet
from privatree.sources._paths import FoundFiles, find_files, is_csv_path
from privatree.sources._source import BatchSource
from privatree.sources.csv._csv_file import csv_reading_assumptions, open_csv
from privatree.tables import Batch, arrow_column_type

_ENOUGH_PARTS = 8
"""With at least this many parts, each thread decodes its own. Fewer are decoded in order."""


class FileSource(BatchSource):
    """A source that reads CSV or Parquet files. Its subclasses describe the parameters."""

    _reads_csv: ClassVar[bool]
    another_kind: ClassVar[str]
    """Error message about a file of the other kind."""
    _files: list[FoundColumns]

    def __init__(
        self,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        target: str,
        *,
        unit: str | None = None,
        weight: str | None = None,
        progress: bool | None = None,
        in_memory: bool = False,
    ) -> None:
        super().__init__(target, progress, in_memory, unit, weight)
        listed = [paths] if isinstance(paths, (str, os.PathLike)) else paths
        self._paths = listed if isinstance(listed, FoundFiles) else find_files(list(listed))
        if not self._paths:
            raise ParameterError("paths must name at least one file, got none.")
        if other := next(
            (path for path in self._paths if is_csv_path(path) != self._reads_csv), None
        ):
            raise ParameterError(f"{other}: {self.another_kind}")

    @property
    def n_files(self) -> int:
        """Number of files."""
        return len(self._paths)

    @abstractmethod
    def _open_file(self, path: Path, schema: Schema) -> DataFile:
        """Open one file, and read the names of its columns."""

    def _find_columns(self, schema: Schema) -> None:
        self._files = [
            find_file_columns(
                self._open_file(path, schema), self._wanted, self.target, self._side_names
            )
            for path in self._paths
        ]
        for found in self._files:
            self._check_side_types(found)
        ignored = dict.fromkeys(name for file in self._files for name in file.ignored)
        self.ignored = tuple(name for name in ignored if name not in self._side_names)

    def _check_side_types(self, found: FoundColumns) -> None:
        """Raise a SchemaError if the types of units or weights are wrong. CSV files have none."""
        file = found.file
        for name, position in zip(self._side_names, found.kept, strict=True):
            if name == self._unit_column:
                check_file_unit_type(file, name, position)
            elif not file.is_text(position):
                self._check_type(file.path, name, arrow_column_type(file.arrow_type(position)))

    def _list_parts(self) -> Iterator[tuple[FoundColumns, Part]]:
        apart = sum(found.file.n_parts for found in self._files) >= _ENOUGH_PARTS
        for found in self._files:
            for part in found.read_parts(apart=apart):
                yield found, part

    def _read_part(self, part: tuple[FoundColumns, Part]) -> Iterator[Batch]:
        found, read = part
        for rows in read():
            *features, labels = found.lazy_columns(rows)
            are_numbers = [name != self._unit_column for name in self._side_names]
            kept = found.kept_lazy_columns(rows, are_numbers=are_numbers)
            side_columns = dict(zip(self._side_names, kept, strict=True))
            yield self._make_batch(rows.n_rows, features, labels, side_columns)

    def file_batches(self, place: int) -> Iterator[Batch]:
        """Yield batches of the rows of one file, read in the calling thread."""
        found = self._files[place]
        for part in found.read_parts(apart=True):
            yield from self._read_part((found, part))


class CsvSource(FileSource):
    """Records in CSV or tab-separated files, or in the first sheets of Excel workbooks.

    Parameters
    ----------
    paths : path or sequence of path
        Files, folders and patterns such as ``"data/part-*.csv"``. Files whose names end in ``.gz``
        or ``.zst`` are decompressed. ``"-"`` is the standard input. Folders may be partitioned
        (``year=2024/part.csv``): the values in folder names are read like text in the files.
    target : str
        Name of the label column.
    delimiter, decimal, encoding, quote, escape, multiline : optional
        Format of the files, as in :class:`~privatree.CsvDialect`. An option that is not given here
        is taken from the schema. With ``quote=""`` a quote is an ordinary character.
    unit : str, optional
        Name of the column that says who a row is about, such as ``"patient_id"``: whole numbers
        or text. Epsilon then holds for all records of a unit together. By default, it is the unit
        of the schema, if the schema has one.
    weight : str, optional
        Name of the column of sample weights.
    progress : bool, optional
        Whether to show each pass on stderr. By default, it is shown if stderr is a terminal.
    in_memory : bool, default=False
        Whether to read the records once and keep them as codes, usually a byte for each value. If
        False, the files are read again in each pass.

    Attributes
    ----------
    ignored : tuple of str
        Columns that are neither features nor the target, known once the source is open. Their names
        are public.

    Raises
    ------
    FileNotFoundError
        If a file does not exist.
    ParameterError
        If a file is not a CSV file, or is listed twice.

    Notes
    -----
    The schema decides how text is read: text that is not a number, or not a category, is a missing
    value. All values of a row, and its label, are missing if the row has more or fewer values than
    the first row, has quotes that are not closed, or is longer than 64 MiB. Bytes that are not text
    in the encoding affect only the value that contains them.

    One physical line is one row, so no record can change how another is read. With
    ``multiline=True`` a record can change how others are read, and the privacy statement says so.

    Files may have their columns in different orders. They must not change between the passes of one
    training.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> frame, labels, schema = datasets.load("adult")
    >>> with TemporaryDirectory() as folder:
    ...     frame.assign(income=labels).to_csv(Path(folder, "adult.csv"), index=False)
    ...     source = CsvSource(folder, target="income")
    ...     model = PrivaTreeClassifier(epsilon=1.0, schema=schema, random_state=0).fit(source)
    >>> model.predict(frame[:4]).tolist()
    ['<=50K', '>50K', '<=50K', '<=50K']
    """

    _reads_csv = True
    another_kind = "must be a CSV file, got a Parquet file. Use ParquetSource."

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
        unit: str | None = None,
        weight: str | None = None,
        progress: bool | None = None,
        in_memory: bool = False,
    ) -> None:
        super().__init__(
            paths, target, unit=unit, weight=weight, progress=progress, in_memory=in_memory
        )
        self._options = {
            "delimiter": delimiter,
            "decimal": decimal,
            "encoding": encoding,
            "quote": quote,
            "escape": escape,
            "multiline": multiline,
        }
        CsvDialect().changed(**self._options)  # raises an error now if an option is wrong

    def _find_columns(self, schema: Schema) -> None:
        super()._find_columns(schema)
        self.assumptions = csv_reading_assumptions(self._paths, self._dialect(schema))

    def _open_file(self, path: Path, schema: Schema) -> DataFile:
        return open_csv(path, self._dialect(schema))

    def _dialect(self, schema: Schema) -> CsvDialect:
        return (schema.csv or CsvDialect()).changed(**self._options)


class ParquetSource(FileSource):
    """Records in Parquet files.

    Parameters
    ----------
    paths : path or sequence of path
        Files, folders and patterns such as ``"data/part-*.parquet"``. Folders may be partitioned
        (``year=2024/part.parquet``): the values in folder names are text, read as in a CSV file.
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
    in_memory : bool, default=False
        Whether to read the records once and keep them as codes, usually a byte for each value. If
        False, the files are read again in each pass.

    Attributes
    ----------
    ignored : tuple of str
        Columns that are neither features nor the target, known once the source is open. Their names
        are public.

    Raises
    ------
    FileNotFoundError
        If a file does not exist.
    ParameterError
        If a file is not a Parquet file, or is listed twice.

    Notes
    -----
    Only the needed columns are read. A few batches of rows are decoded at a time, however large the
    files and their row groups are. (The dataset scanner of pyarrow decodes whole row groups.)

    Files may have their columns in different orders, and with different types that fit the schema.
    They must not change between the passes of one training.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> frame, labels, schema = datasets.load("adult")
    >>> with TemporaryDirectory() as folder:
    ...     frame.assign(income=labels).to_parquet(Path(folder, "adult.parquet"))
    ...     source = ParquetSource(folder, target="income")
    ...     model = PrivaTreeClassifier(epsilon=1.0, schema=schema, random_state=0).fit(source)
    >>> source.n_passes
    3
    """

    _reads_csv = False
    another_kind = "must be a Parquet file, got a CSV file. Use CsvSource."

    def _open_file(self, path: Path, schema: Schema) -> DataFile:
        return open_parquet(path)
