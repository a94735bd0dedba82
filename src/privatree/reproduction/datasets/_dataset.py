"""The paper's description of a dataset, and a loaded dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

    from privatree.schema import Schema

Suite = Literal["numerical", "mixed", "uci"]
"""The paper's three groups of datasets. The first two are suites 337 and 334 of [Grinsztajn22]."""


@dataclass(frozen=True)
class PaperDataset:
    """One row of the paper's table of datasets ([Vos23], "Dataset properties").

    Sizes do not count rows with missing values.
    """

    name: str  # our id; in a data folder, the dataset's file is NAME.parquet
    title: str  # name in the paper's tables; the numerical and the mixed version share a title
    suite: Suite
    openml_id: int  # OpenML's id of the dataset (not of a task)
    n_records: int
    n_features: int
    n_categorical: int
    majority_share: float  # share of the larger class, to three digits


class Records(NamedTuple):
    """A loaded dataset.

    Attributes
    ----------
    frame : pandas.DataFrame
        The features, without missing values. Categories are strings. Numbers are int64 if all
        numbers of the column are whole, and float64 otherwise.
    labels : pandas.Series
        The class of each row as a string; the series is named ``target``.
    schema : Schema
        The ranges of these rows, and the categories of the columns. The paper declares them
        public. With sensitive records, such a schema would leak.
    fingerprint : str
        Short hash of frame and labels. The same content has the same hash on every machine.
    origin : {"data folder", "bundled", "cache", "OpenML"}
        The place where the dataset was found.
    """

    frame: pd.DataFrame
    labels: pd.Series[str]
    schema: Schema
    fingerprint: str
    origin: str
