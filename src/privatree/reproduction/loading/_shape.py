"""Whether records have the shape in the paper's table of datasets."""

from __future__ import annotations

import pandas as pd

from privatree.reproduction.datasets._dataset import PaperDataset, Records


def other_shape(dataset: PaperDataset, records: Records) -> str:
    """Say how the shape of records differs from the paper's; nothing if it does not.

    Parameters
    ----------
    dataset : PaperDataset
        With the paper's numbers of records and features, and the share of the larger class.
    records : Records
        What was found.

    Returns
    -------
    str
        Both shapes in words, or empty.
    """
    is_category = [isinstance(kind, pd.CategoricalDtype) for kind in records.frame.dtypes]
    share = float(records.labels.value_counts(normalize=True).max())
    found = (len(records.frame), len(is_category), sum(is_category), round(share, 3))
    wanted = (dataset.n_records, dataset.n_features, dataset.n_categorical, dataset.majority_share)
    if found == wanted:
        return ""
    return f"it has {_in_words(*found)}, but the paper's has {_in_words(*wanted)}"


def _in_words(n_records: int, n_features: int, n_categorical: int, share: float) -> str:
    return (
        f"{n_records} records, {n_features} features ({n_categorical} categorical) and a majority "
        f"of {share:.3f}"
    )
