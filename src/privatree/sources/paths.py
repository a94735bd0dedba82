"""Which files hold the records: single ones, folders and patterns."""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Sequence
from pathlib import Path

from privatree.errors import ParameterError

_CSV, _PARQUET = (".csv", ".csv.gz"), (".parquet", ".pq")


def find_files(paths: Sequence[str | os.PathLike[str]]) -> list[Path]:
    """List the files that paths stand for.

    Parameters
    ----------
    paths : sequence of path
        Files, folders and patterns such as ``"data/part-*.csv"``. Of a folder the CSV and Parquet
        files right in it are taken, except those whose names start with ``.`` or ``_``.

    Returns
    -------
    list of Path
        In the order of `paths`; those of a folder or a pattern sorted by name. All are CSV files
        (``.csv``, ``.csv.gz``) or all are Parquet files (``.parquet``, ``.pq``).

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ParameterError
        If a file is of another kind, both kinds are mixed, or a file is named twice: its records
        would count twice.
    """
    files = [file for path in paths for file in _files_at(os.fspath(path))]
    seen: set[Path] = set()
    for file in files:
        if not is_csv(file) and not is_parquet(file):
            raise ParameterError(
                f"{file}: a data file must end in one of {', '.join(_CSV + _PARQUET)}."
            )
        if file.resolve() in seen:
            raise ParameterError(f"{file}: must be named once, or its records count twice.")
        seen.add(file.resolve())
    if len({is_csv(file) for file in files}) > 1:
        raise ParameterError("data must be all CSV files or all Parquet files, got both.")
    return files


def _files_at(path: str) -> list[Path]:
    place = Path(path)
    if place.is_dir():
        files = [
            file
            for file in sorted(place.iterdir())
            if file.is_file()
            and (is_csv(file) or is_parquet(file))
            and not file.name.startswith((".", "_"))
        ]
        if not files:
            raise ParameterError(f"{path}: no CSV or Parquet file is in this folder.")
        return files
    if place.exists():
        return [place]
    matches = sorted(glob.glob(path, recursive=True))
    if not matches:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    return [file for match in matches for file in _files_at(match)]


def is_csv(file: Path) -> bool:
    """Tell by its name whether a file is a CSV file."""
    return file.name.lower().endswith(_CSV)


def is_parquet(file: Path) -> bool:
    """Tell by its name whether a file is a Parquet file."""
    return file.name.lower().endswith(_PARQUET)
