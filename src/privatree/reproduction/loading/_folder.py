"""Datasets in a folder of the user's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from privatree.errors import ParameterError
from privatree.reproduction.datasets._dataset import PaperDataset, Records
from privatree.reproduction.loading import _parquet as parquet
from privatree.reproduction.loading._cleaning import TARGET, clean


def load(dataset: PaperDataset, data_dir: Path) -> Records | None:
    """Load ``NAME.parquet``, with the help of ``NAME.json`` if there is one.

    Parameters
    ----------
    dataset : PaperDataset
        Whose name counts; its shape is not compared.
    data_dir : path
        The folder.

    Returns
    -------
    Records, or None
        None if the folder has no such file.

    Raises
    ------
    ParameterError
        If there is no such folder, or the files are not as described.
    """
    if not data_dir.is_dir():
        raise ParameterError(f"{data_dir}: a data folder must be an existing folder.")
    path = data_dir / f"{dataset.name}.parquet"
    if not path.exists():
        return None
    table, _ = parquet.read(path)
    listed = _listed_categories(path.with_suffix(".json"))
    return records_of(table, path, "data folder", listed)


def records_of(
    table: pd.DataFrame, path: Path, origin: str, categorical: frozenset[str] = frozenset()
) -> Records:
    """Clean a table with the labels in ``target``.

    Parameters
    ----------
    table : pandas.DataFrame
        As it was read.
    path : path
        The file that it was read from, for errors.
    origin : str
        What the result says about where it was found.
    categorical : frozenset of str
        Columns to take as categories whatever their type.

    Raises
    ------
    ParameterError
        If the table is not as described.
    """
    if list(table.columns).count(TARGET) != 1:
        raise ParameterError(
            f"{path}: must have one column {TARGET!r} with the labels. Rename the column that has "
            "them."
        )
    features = table.drop(columns=TARGET)
    if unknown := sorted(categorical - set(features.columns)):
        raise ParameterError(
            f"{path.with_suffix('.json')}: 'categorical' must list columns of {path.name}, got "
            f"{unknown[0]!r}. Correct the name."
        )
    return clean(features, table[TARGET], origin=origin, where=str(path), categorical=categorical)


def _listed_categories(path: Path) -> frozenset[str]:
    if not path.exists():
        return frozenset()
    try:
        note: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise ParameterError(f"{path}: must be a JSON file. Correct it, or remove it.") from None
    listed = note.get("categorical", []) if isinstance(note, dict) else None
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise ParameterError(
            f"{path}: must be an object in which 'categorical' is a list of column names. "
            "Correct it, or remove it."
        )
    return frozenset(listed)
