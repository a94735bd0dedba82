"""What was fetched before, as Parquet files in the user's cache folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from privatree._support.cache_folder import cache_folder
from privatree.errors import ParameterError, PrivatreeError
from privatree.reproduction.datasets._dataset import PaperDataset, Records
from privatree.reproduction.loading import _parquet as parquet
from privatree.reproduction.loading._cleaning import TARGET
from privatree.reproduction.loading._folder import records_of
from privatree.reproduction.loading._shape import other_shape


def cached_file(dataset: PaperDataset) -> Path:
    """Return the file of a dataset, whether it is there or not.

    Parameters
    ----------
    dataset : PaperDataset
        Which.

    Returns
    -------
    Path
        In the folder of now.
    """
    return cache_folder() / f"{dataset.name}.parquet"


def load(dataset: PaperDataset) -> Records | None:
    """Load a dataset that was fetched before.

    Parameters
    ----------
    dataset : PaperDataset
        What to load.

    Returns
    -------
    Records, or None
        None if it was not fetched yet, or if its file does not hold what was stored: the
        fingerprint differs, or the shape is not the paper's.
    """
    path = cached_file(dataset)
    if not path.exists():
        return None
    try:
        table, stored = parquet.read(path)
        records = records_of(table, path, "cache")
    except PrivatreeError:
        return None
    is_what_was_stored = stored == records.fingerprint and not other_shape(dataset, records)
    return records if is_what_was_stored else None


def store(dataset: PaperDataset, records: Records) -> Records:
    """Keep a dataset; a file is there whole or not at all.

    Parameters
    ----------
    dataset : PaperDataset
        What it is.
    records : Records
        What was fetched.

    Returns
    -------
    Records
        The same.
    """
    table = records.frame.copy(deep=False)
    table.insert(table.shape[1], TARGET, records.labels)
    with scratch_folder() as scratch:
        unfinished = scratch / "unfinished.parquet"
        parquet.write(unfinished, table, records.fingerprint)
        os.replace(unfinished, cached_file(dataset))
    return records


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give an empty folder on the disk of the cache; it is removed afterwards.

    Raises
    ------
    ParameterError
        If the cache folder cannot be written to.
    """
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        scratch = TemporaryDirectory(dir=folder, prefix=".unfinished-")
    except OSError as error:
        raise ParameterError(
            f"{folder}: the cache folder must be writable, got: {error.strerror}. "
            "Name another in the environment variable PRIVATREE_CACHE."
        ) from None
    with scratch:
        yield Path(scratch.name)
