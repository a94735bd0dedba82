"""A dataset of the paper, from wherever it is."""

from __future__ import annotations

from pathlib import Path

from privatree.errors import DatasetMissingError
from privatree.reproduction.datasets._catalogue import describe
from privatree.reproduction.datasets._dataset import PaperDataset, Records


def load(name: str, data_dir: Path | None = None) -> Records:
    """Load a dataset as the paper used it: without the rows that have missing values.

    It is looked for in this order:

    1. ``NAME.parquet`` in `data_dir`: the label in column ``target``, categories as dictionary
       type, or as columns that the list "categorical" in ``NAME.json`` names. Its shape is not
       compared with the paper's, so that a version of one's own can be tried;
    2. the five UCI datasets that come with the package: they need no network;
    3. the cache: the folder that the environment variable ``PRIVATREE_CACHE`` names, else
       ``privatree`` in the user's cache folder. A file there that does not hold what was stored is
       not used, and replaced once it was fetched again;
    4. OpenML. What has not the shape in the paper's table is refused, the rest goes to the cache.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    data_dir : path, optional
        The folder to look in first.

    Returns
    -------
    Records
        Categories are those that the file in `data_dir` lists, in that order; of text without a
        list, and of the bundled datasets, whose lists are documentation, those that occur,
        sorted; from OpenML, those that occur in its file, in scikit-learn's order. Ranges are
        those of the rows.

    Raises
    ------
    ParameterError
        If there is no such dataset or folder, or a file is not as described.
    DatasetMissingError
        If it is nowhere and cannot be fetched.
    """
    dataset = describe(name)
    # Listing names must not take the second that pandas needs.
    from privatree.reproduction.loading import _bundled as bundled
    from privatree.reproduction.loading import _cached as cached
    from privatree.reproduction.loading import _folder as folder

    if data_dir is not None and (found := folder.load(dataset, Path(data_dir))) is not None:
        return found
    return bundled.load(dataset) or cached.load(dataset) or _fetch(dataset)


def _fetch(dataset: PaperDataset) -> Records:
    """Fetch and keep what the cache has not, or has only in a file that cannot be used."""
    from privatree.reproduction.loading import _cached as cached
    from privatree.reproduction.loading import _openml as openml

    try:
        fetched = openml.load(dataset)
    except DatasetMissingError as error:
        if not (path := cached.cached_file(dataset)).exists():
            raise
        raise DatasetMissingError(
            f"{error} The cached file {path} was not used: it is damaged."
        ) from error
    return cached.store(dataset, fetched)
