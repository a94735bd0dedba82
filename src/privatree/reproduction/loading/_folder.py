"""Datasets in the user's own folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from privatree.errors import ParameterError
from privatree.reproduction.datasets._dataset import PaperDataset, Records
from privatree.reproduction.loading._cleaning import TARGET, clean_records
from privatree.reproduction.loading._parquet import read_parquet_file


def load_from_folder(dataset: PaperDataset, data_dir: Path) -> Records | None:
    """Load ``NAME.parquet``; an optional ``NAME.json`` lists its categorical columns.

    Return None if the folder has no such file. The size is not compared with the paper's.
    """
    if not data_dir.is_dir():
        raise ParameterError(f"{data_dir}: the data folder must exist. Correct the path.")
    path = data_dir / f"{dataset.name}.parquet"
    if not path.exists():
        return None
    table, _ = read_parquet_file(path)
    listed = _read_categorical_columns(path.with_suffix(".json"))
    return clean_table(table, path, "data folder", listed)


def clean_table(
    table: pd.DataFrame, path: Path, origin: str, categorical: frozenset[str] = frozenset()
) -> Records:
    """Return the records of a table, cleaned. Its column ``target`` has the labels."""
    if list(table.columns).count(TARGET) != 1:
        raise ParameterError(
            f"{path}: must have one column {TARGET!r} with the labels, got "
            f"{list(table.columns).count(TARGET)}. Give this name to the column of the labels only."
        )
    features = table.drop(columns=TARGET)
    if unknown := sorted(categorical - set(features.columns)):
        raise ParameterError(
            f"{path.with_suffix('.json')}: 'categorical' must list columns of {path.name}, got "
            f"{unknown[0]!r}. Correct the name."
        )
    return clean_records(
        features, table[TARGET], origin=origin, where=str(path), categorical=categorical
    )


def _read_categorical_columns(path: Path) -> frozenset[str]:
    if not path.exists():
        return frozenset()
    try:
        note: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ParameterError(
            f"{path}: must be a readable JSON file, but reading it failed with "
            f"{type(error).__name__}. Fix or remove it."
        ) from None
    listed = note.get("categorical", []) if isinstance(note, dict) else None
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise ParameterError(
            f"{path}: must be a JSON object in which 'categorical' is a list of column names, got "
            "something else. Fix or remove the file."
        )
    return frozenset(listed)
