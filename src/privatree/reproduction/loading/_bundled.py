"""The UCI datasets that come with the package."""

from __future__ import annotations

from privatree import datasets
from privatree.reproduction.datasets._dataset import PaperDataset, Records
from privatree.reproduction.loading._cleaning import clean_records


def load_bundled(dataset: PaperDataset) -> Records | None:
    """Load a bundled dataset with the ranges and categories of its rows, as in the paper.

    Return None if the dataset is not bundled. The schema that the package has for the dataset is
    not used: it comes from documentation, with wider ranges and categories that never occur. The
    same rows in a data folder would then give other results.
    """
    if dataset.name not in datasets.names():
        return None
    found = datasets.load(dataset.name)
    categorical = found.frame.select_dtypes("category").columns
    features = found.frame.astype(dict.fromkeys(categorical, "str"))
    return clean_records(features, found.labels, origin="bundled", where=f"bundled {dataset.name}")
