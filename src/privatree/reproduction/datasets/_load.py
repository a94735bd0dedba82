"""Loads a dataset of the paper from a folder, the package, the cache or OpenML."""

from __future__ import annotations

from pathlib import Path

from privatree.errors import DatasetMissingError
from privatree.reproduction.datasets._catalogue import describe
from privatree.reproduction.datasets._dataset import PaperDataset, Records


def load(name: str, data_dir: Path | None = None) -> Records:
    """Load a dataset as the paper used it: without the rows that have missing values.

    The dataset is looked for in this order:

    1. ``NAME.parquet`` in `data_dir`. The labels are in the column ``target``. Categorical columns
       have a dictionary type, or are in the list "categorical" of ``NAME.json``. Any number of
       records and features is accepted, so that you can try your own version;
    2. the five UCI datasets that come with the package, which need no network;
    3. the cache: the folder in the environment variable ``PRIVATREE_CACHE``, or by default
       ``privatree`` in the user's cache folder. A damaged file is ignored, and replaced after the
       next download;
    4. OpenML. A download must have the size in the paper's table. It is kept in the cache.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    data_dir : path, optional
        Folder to look in first.

    Returns
    -------
    Records
        The schema has the ranges of the rows. A column with a dictionary type in `data_dir` keeps
        its categories in their order. Text columns and bundled datasets have the categories that
        occur, sorted. Datasets from OpenML have the categories that occur, in scikit-learn's order.

    Raises
    ------
    ParameterError
        If there is no such dataset or folder, or a file is not as described above.
    DatasetMissingError
        If the dataset is in none of these places and cannot be downloaded.

    Examples
    --------
    >>> from privatree.reproduction import datasets
    >>> vote = datasets.load("vote")
    >>> vote.frame.shape, vote.schema.classes, vote.origin
    ((232, 16), ('democrat', 'republican'), 'bundled')
    """
    dataset = describe(name)
    # Imported here, because ``names`` must not take the second that pandas needs to load.
    from privatree.reproduction.loading._bundled import load_bundled
    from privatree.reproduction.loading._cached import load_cached
    from privatree.reproduction.loading._folder import load_from_folder

    if data_dir is not None and (found := load_from_folder(dataset, Path(data_dir))) is not None:
        return found
    return load_bundled(dataset) or load_cached(dataset) or _load_from_openml_and_cache(dataset)


def _load_from_openml_and_cache(dataset: PaperDataset) -> Records:
    """Download a dataset that is missing or damaged in the cache, and store it in the cache."""
    from privatree.reproduction.loading._cached import cached_file, store_in_cache
    from privatree.reproduction.loading._openml import load_from_openml

    try:
        fetched = load_from_openml(dataset)
    except DatasetMissingError as error:
        if not (path := cached_file(dataset)).exists():
            raise
        raise DatasetMissingError(
            f"{error} The cached file {path} is damaged and was not used."
        ) from error
    return store_in_cache(dataset, fetched)
