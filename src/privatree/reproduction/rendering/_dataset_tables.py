"""The table of the datasets: their sizes beside those that the paper published."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

from privatree.reproduction.rendering._number_texts import share
from privatree.reproduction.rendering._table_formats import Cell, Column, Row, Section, Table
from privatree.reproduction.rendering._tables import NONE_MISSING
from privatree.reproduction.rendering._titles import DatasetTitle, suite_heading

if TYPE_CHECKING:
    import pandas as pd


class DatasetSize(Protocol):
    """The shape of a dataset without rows that have missing values."""

    @property
    def n_records(self) -> int:
        """Rows."""

    @property
    def n_features(self) -> int:
        """Columns besides the label."""

    @property
    def n_categorical(self) -> int:
        """Columns with categories."""

    @property
    def majority_share(self) -> float:
        """The share of the most frequent class."""


class PublishedDataset(DatasetTitle, DatasetSize, Protocol):
    """A dataset as the paper describes it."""


_PROPERTIES = ("n_records", "n_features", "n_categorical", "majority_share")


def dataset_table(
    measured: Mapping[str, DatasetSize],
    *,
    datasets: Sequence[PublishedDataset],
    missing: Mapping[str, str] = NONE_MISSING,
) -> Table:
    """The sizes of the datasets; bold where the paper has another figure.

    Parameters
    ----------
    measured : mapping of str to DatasetSize
        What was found, by the dataset's name.
    datasets : sequence of PublishedDataset
        What is shown, in this order, and the paper's figures; a suite stands together.
    missing : mapping of str to str
        Why a dataset was not found, by its name.
    """

    def cells(dataset: PublishedDataset) -> tuple[Cell, ...]:
        ours, theirs = _texts(measured.get(dataset.name)), _texts(dataset)
        return tuple(
            Cell(one, published=other, bold=bool(one) and one != other)
            for one, other in zip(ours, theirs, strict=True)
        )

    sections = [
        Section(
            suite_heading(suite),
            tuple(Row((d.title,), cells(d), missing.get(d.name, "")) for d in members),
        )
        for suite, members in groupby(datasets, key=lambda dataset: dataset.suite)
    ]
    headings = ("samples", "features", "categorical features", "majority class share")
    return Table(
        "Datasets",
        ("dataset",),
        tuple(map(Column, headings)),
        tuple(sections),
        ("Rows with missing values are left out. Bold: not what the paper has.",),
    )


def _texts(size: DatasetSize | None) -> list[str]:
    if size is None:
        return [""] * len(_PROPERTIES)
    counts = (size.n_records, size.n_features, size.n_categorical)
    return [*(f"{count:,}" for count in counts), share(size.majority_share)]


def dataset_comparison(
    measured: Mapping[str, DatasetSize],
    *,
    datasets: Sequence[PublishedDataset],
    missing: Mapping[str, str] = NONE_MISSING,
) -> pd.DataFrame:
    """The sizes of the datasets, one property a row, for a CSV file."""
    import pandas as pd

    rows = [
        (dataset.name, name, one, other, one - other, missing.get(dataset.name, ""))
        for dataset in datasets
        for name in _PROPERTIES
        for one in [float(getattr(measured.get(dataset.name), name, math.nan))]
        for other in [float(getattr(dataset, name))]
    ]
    columns = ["dataset", "property", "measured", "published", "difference", "note"]
    return pd.DataFrame(rows, columns=columns)
