"""The data files that paths, folders and patterns stand for."""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote_to_bytes

from privatree.errors import ParameterError
from privatree.sources.csv._in_memory_files import (
    STANDARD_INPUT,
    ExcelFile,
    InMemoryFile,
    StandardInput,
)

_TSV = (".tsv", ".tsv.gz", ".tsv.zst")
_CSV = (".csv", ".csv.gz", ".csv.zst", *_TSV, ".xlsx")
_PARQUET = (".parquet", ".pq")
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_HIDDEN = ("_", "~$")  # Excel writes "~$" before the name of a workbook that is open


class FoundFiles(tuple[Path, ...]):
    """Files that :func:`find_files` has found and checked.

    This is a tuple, so that no file can be added without a check. The sum of two is a plain tuple.
    """


def find_files(paths: Sequence[str | os.PathLike[str]]) -> FoundFiles:
    """List the data files that paths stand for.

    Parameters
    ----------
    paths : sequence of path
        Files, folders and patterns such as ``"data/part-*.csv"``; ``"-"`` is CSV text on the
        standard input. A folder stands for the CSV and Parquet files in it, except those whose
        names start with ``.`` or ``_``. Its subfolders are searched only if they are partitions of
        a table, called ``NAME=VALUE``, at any depth.

    Returns
    -------
    FoundFiles
        Files in the order of `paths`; files of a folder or pattern are sorted by name. Either all
        are Parquet files (``.parquet``, ``.pq``), or all are text: CSV and tab-separated files
        (``.csv``, ``.tsv``, also compressed: ``.gz``, ``.zst``) and Excel workbooks (``.xlsx``).

    Raises
    ------
    FileNotFoundError
        If a file does not exist.
    ParameterError
        If a file is of another kind, if both kinds are mixed, or if a file is listed twice.
    """
    files = FoundFiles(_as_data_path(file) for path in paths for file in _list_files_of_path(path))
    seen: set[Path] = set()
    for file in files:
        if not is_csv_path(file) and not is_parquet_path(file):
            raise ParameterError(
                f"{file}: the name of a data file must end in .csv or .tsv (also .gz or .zst), "
                ".xlsx, .parquet or .pq. Rename or convert the file."
            )
        if file.resolve() in seen:
            raise ParameterError(
                f"{file}: is listed twice; its records would be counted twice. List it once."
            )
        seen.add(file.resolve())
    if len({is_csv_path(file) for file in files}) > 1:
        raise ParameterError(
            "data must be all CSV files or all Parquet files, got both. Convert the "
            "files of one kind."
        )
    return files


def _as_data_path(file: Path) -> Path:
    is_workbook = file.suffix.lower() == ".xlsx" and not isinstance(file, InMemoryFile)
    return ExcelFile(file) if is_workbook else file


def _list_files_of_path(given: str | os.PathLike[str]) -> list[Path]:
    if isinstance(given, InMemoryFile):
        return [given]
    path = os.fspath(given)
    if path == STANDARD_INPUT:
        return [StandardInput(path)]
    place = Path(path)
    if place.is_dir():
        if (place / "_delta_log").exists() or any(place.glob("metadata/*.metadata.json")):
            raise ParameterError(
                f"{path}: must not be a Delta or Iceberg table, because the files of such a table "
                "also contain old versions of records. Read the table with Spark, DuckDB or "
                "polars, and train on the result."
            )
        files = list(_list_files_in_folder(place))
        if not files:
            raise ParameterError(
                f"{path}: the folder must contain a CSV or Parquet file, got none."
            )
        return files
    if place.exists():
        return [place]
    matches = sorted(glob.glob(path, recursive=True))
    if not matches:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    return [file for match in matches for file in _list_files_of_path(match)]


def _list_files_in_folder(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            if _parse_partition_folder(entry.name) is not None:
                yield from _list_files_in_folder(entry)
        elif (is_csv_path(entry) or is_parquet_path(entry)) and not entry.name.startswith(_HIDDEN):
            yield entry


def partitions_of_path(file: Path) -> dict[str, str | None]:
    """Return the names and values of the columns that the folders above a file add.

    The folders are those called ``NAME=VALUE`` directly above the file, with no other folder
    between. For ``sales/year=2024/city=S%C3%A3o%20Paulo/part-0.csv`` the columns are ``{"year":
    "2024", "city": "São Paulo"}``. Values are always text; None is a missing value.
    """
    values: dict[str, str | None] = {}
    for folder in file.parents:
        found = _parse_partition_folder(folder.name)
        if found is None:
            break
        name, value = found
        if name in values:
            raise ParameterError(
                f"{file}: the path must contain only one folder named {name}=..., got two. Rename "
                "one of the two folders."
            )
        values[name] = value
    return dict(reversed(values.items()))


def _parse_partition_folder(folder: str) -> tuple[str, str | None] | None:
    """Return the name and the value in the name of a partition's folder; None for other folders."""
    name, mark, value = folder.partition("=")
    if not name or not mark:
        return None
    column = _unquote_folder_name(name).decode("utf-8", errors="replace")
    if value == _NO_VALUE:
        return column, None
    try:
        return column, _unquote_folder_name(value).decode("utf-8")
    except UnicodeDecodeError:  # not text, so the value is missing
        return column, None


def _unquote_folder_name(part: str) -> bytes:
    """Return the bytes of a folder's name on disk, with escapes such as %2C replaced."""
    return unquote_to_bytes(os.fsencode(part))


def is_csv_path(file: Path) -> bool:
    """Tell from its name whether a file is CSV text, or a workbook that is read like CSV text."""
    return isinstance(file, InMemoryFile) or file.name.lower().endswith(_CSV)


def is_tab_separated_path(file: Path) -> bool:
    """Tell from its name whether a file has tabs between its values."""
    return file.name.lower().endswith(_TSV)


def is_parquet_path(file: Path) -> bool:
    """Tell from its name whether a file is a Parquet file."""
    return file.name.lower().endswith(_PARQUET)
