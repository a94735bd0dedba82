"""Compares the size of a dataset with the paper's table of datasets."""

from __future__ import annotations

import pandas as pd

from privatree.reproduction.datasets._dataset import PaperDataset, Records


def describe_shape_mismatch(dataset: PaperDataset, records: Records) -> str:
    """Describe both sizes in words if they differ; return an empty text if they are the same."""
    is_category = [isinstance(kind, pd.CategoricalDtype) for kind in records.frame.dtypes]
    share = float(records.labels.value_counts(normalize=True).max())
    found = (len(records.frame), len(is_category), sum(is_category), round(share, 3))
    wanted = (dataset.n_records, dataset.n_features, dataset.n_categorical, dataset.majority_share)
    if found == wanted:
        return ""
    return f"it has {_shape_in_words(*found)}, but the paper's has {_shape_in_words(*wanted)}"


def _shape_in_words(n_records: int, n_features: int, n_categorical: int, share: float) -> str:
    return (
        f"{n_records} records, {n_features} features ({n_categorical} categorical) and a majority "
        f"of {share:.3f}"
    )
