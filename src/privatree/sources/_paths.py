"""Which files hold the records: single ones, folders and patterns."""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote_to_bytes

from privatree.errors import ParameterError
from privatree.sources.csv._held_files import STANDARD_INPUT, ExcelFile, HeldFile, StandardInput

_TSV = (".tsv", ".tsv.gz", ".tsv.zst")
_CSV = (".csv", ".csv.gz", ".csv.zst", *_TSV, ".xlsx")
_PARQUET = (".parquet", ".pq")
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_HIDDEN = ("_", "~$")  # the latter is a workbook that is open in Excel


def find_files(paths: Sequence[str | os.PathLike[str]]) -> list[Path]:
    """List the files that paths stand for.

    Parameters
    ----------
    paths : sequence of path
        Files, folders and patterns such as ``"data/part-*.csv"``; ``"-"`` is CSV text on the
        standard input. Of a folder the CSV and Parquet files right in it are taken, except those
        whose names start with ``.`` or ``_``, and so are those of the folders in it that are called
        ``NAME=VALUE``, however deep these lie in each other: that is how partitioned tables are
        written. No other folders in it are looked into.

    Returns
    -------
    list of Path
        In the order of `paths`; those of a folder or a pattern sorted by name. All are Parquet
        files (``.parquet``, ``.pq``), or all are text: CSV and tab-separated files (``.csv``,
        ``.tsv``, also compressed: ``.gz``, ``.zst``) and Excel workbooks (``.xlsx``).

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ParameterError
        If a file is of another kind, both kinds are mixed, or a file is named twice: its records
        would count twice.
    """
    files = [_held(file) for path in paths for file in _files_at(path)]
    seen: set[Path] = set()
    for file in files:
        if not is_csv(file) and not is_parquet(file):
            raise ParameterError(
                f"{file}: a data file must end in .csv or .tsv (also .gz or .zst), .xlsx, .parquet "
                "or .pq."
            )
        if file.resolve() in seen:
            raise ParameterError(
                f"{file}: is listed twice; its records would be counted twice. Name it once."
            )
        seen.add(file.resolve())
    if len({is_csv(file) for file in files}) > 1:
        raise ParameterError("data must be all CSV files or all Parquet files, got both.")
    return files


def _held(file: Path) -> Path:
    is_workbook = file.suffix.lower() == ".xlsx" and not isinstance(file, HeldFile)
    return ExcelFile(file) if is_workbook else file


def _files_at(given: str | os.PathLike[str]) -> list[Path]:
    if isinstance(given, HeldFile):
        return [given]
    path = os.fspath(given)
    if path == STANDARD_INPUT:
        return [StandardInput(path)]
    place = Path(path)
    if place.is_dir():
        if (place / "_delta_log").exists() or any(place.glob("metadata/*.metadata.json")):
            raise ParameterError(
                f"{path}: is a table with a log (Delta, Iceberg), whose files hold old versions of "
                "records too. Read it with Spark, DuckDB or polars, and train on that."
            )
        files = list(_files_in(place))
        if not files:
            raise ParameterError(f"{path}: no CSV or Parquet file is in this folder.")
        return files
    if place.exists():
        return [place]
    matches = sorted(glob.glob(path, recursive=True))
    if not matches:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    return [file for match in matches for file in _files_at(match)]


def _files_in(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            if _partition(entry.name) is not None:
                yield from _files_in(entry)
        elif (is_csv(entry) or is_parquet(entry)) and not entry.name.startswith(_HIDDEN):
            yield entry


def partition_values(file: Path) -> dict[str, str | None]:
    """Read the columns that a partitioned table has in the names of its folders.

    Parameters
    ----------
    file : Path
        As :func:`find_files` lists it: ``sales/year=2024/city=S%C3%A3o%20Paulo/part-0.csv``.

    Returns
    -------
    dict
        Names and values of the folders called ``NAME=VALUE`` right above the file, without any
        other between them, from the outermost on: ``{"year": "2024", "city": "São Paulo"}``. Values
        are text, whatever they look like; None stands for a missing one.

    Raises
    ------
    ParameterError
        If two folders give values of the same name.
    """
    values: dict[str, str | None] = {}
    for folder in file.parents:
        found = _partition(folder.name)
        if found is None:
            break
        name, value = found
        if name in values:
            raise ParameterError(f"{file}: must be in one folder called {name}=..., got two.")
        values[name] = value
    return dict(reversed(values.items()))


def _partition(folder: str) -> tuple[str, str | None] | None:
    """The name and the value that a folder's name gives, if it is of such a kind."""
    name, mark, value = folder.partition("=")
    if not name or not mark:
        return None
    column = _unquoted(name).decode("utf-8", errors="replace")
    if value == _NO_VALUE:
        return column, None
    try:
        return column, _unquoted(value).decode("utf-8")
    except UnicodeDecodeError:  # it is text of no kind that we could name, so it is missing
        return column, None


def _unquoted(part: str) -> bytes:
    """A part of a folder's name as it is on the disk, %2C and the like replaced."""
    return unquote_to_bytes(os.fsencode(part))


def is_csv(file: Path) -> bool:
    """Tell by its name whether a file holds CSV text, or a sheet that is read as such."""
    return isinstance(file, HeldFile) or file.name.lower().endswith(_CSV)


def is_tab_separated(file: Path) -> bool:
    """Tell by its name whether a file has tabs between its values."""
    return file.name.lower().endswith(_TSV)


def is_parquet(file: Path) -> bool:
    """Tell by its name whether a file is a Parquet file."""
    return file.name.lower().endswith(_PARQUET)
