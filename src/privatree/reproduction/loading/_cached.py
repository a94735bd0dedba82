"""Datasets that were downloaded before, as Parquet files in the user's cache folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from privatree._support.cache_folder import cache_folder
from privatree.errors import ParameterError, PrivatreeError
from privatree.reproduction.datasets._dataset import PaperDataset, Records
from privatree.reproduction.loading._cleaning import TARGET
from privatree.reproduction.loading._folder import clean_table
from privatree.reproduction.loading._parquet import read_parquet_file, write_parquet_file
from privatree.reproduction.loading._shape import describe_shape_mismatch


def cached_file(dataset: PaperDataset) -> Path:
    """Return the path of a dataset in the cache; the file need not exist."""
    return cache_folder() / f"{dataset.name}.parquet"


def load_cached(dataset: PaperDataset) -> Records | None:
    """Load a dataset from the cache.

    Return None if its file is missing or damaged: if the fingerprint in the file is not that of
    the records, or the size is not the paper's.
    """
    path = cached_file(dataset)
    if not path.exists():
        return None
    try:
        table, stored = read_parquet_file(path)
        records = clean_table(table, path, "cache")
    except PrivatreeError:
        return None
    is_intact = stored == records.fingerprint and not describe_shape_mismatch(dataset, records)
    return records if is_intact else None


def store_in_cache(dataset: PaperDataset, records: Records) -> Records:
    """Store a downloaded dataset in the cache, completely or not at all, and return it."""
    table = records.frame.copy(deep=False)
    table.insert(table.shape[1], TARGET, records.labels)
    with scratch_folder_in_cache() as scratch:
        unfinished = scratch / "unfinished.parquet"
        write_parquet_file(unfinished, table, records.fingerprint)
        os.replace(unfinished, cached_file(dataset))
    return records


@contextmanager
def scratch_folder_in_cache() -> Iterator[Path]:
    """Yield an empty folder inside the cache folder, and remove it afterwards."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        scratch = TemporaryDirectory(dir=folder, prefix=".unfinished-")
    except OSError as error:
        raise ParameterError(
            f"{folder}: the cache folder must be writable, got the error {error.strerror!r}. "
            "Set the environment variable PRIVATREE_CACHE to another folder."
        ) from None
    with scratch:
        yield Path(scratch.name)
