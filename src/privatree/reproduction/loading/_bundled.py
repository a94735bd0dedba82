"""The UCI datasets that come with the package."""

from __future__ import annotations

from privatree import datasets
from privatree.reproduction.datasets._dataset import PaperDataset, Records
from privatree.reproduction.loading._cleaning import clean


def load(dataset: PaperDataset) -> Records | None:
    """Load a bundled dataset with the ranges and categories of its rows, as the paper took them.

    Its own schema is from documentation: wider, and with categories that never occur. With it,
    results would not be those of the same rows in a data folder.

    Parameters
    ----------
    dataset : PaperDataset
        What to load.

    Returns
    -------
    Records, or None
        None if it is not bundled.
    """
    if dataset.name not in datasets.names():
        return None
    found = datasets.load(dataset.name)
    categorical = found.frame.select_dtypes("category").columns
    features = found.frame.astype(dict.fromkeys(categorical, "str"))
    return clean(features, found.labels, origin="bundled", where=f"bundled {dataset.name}")
