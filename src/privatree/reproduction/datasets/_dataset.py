"""What a dataset of the paper is, and what loading one gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

    from privatree.schema import Schema

Suite = Literal["numerical", "mixed", "uci"]
"""The paper's three groups. The first two are suites 337 and 334 of [Grinsztajn22]."""


@dataclass(frozen=True)
class PaperDataset:
    """One row of the paper's table of datasets ([Vos23], "Dataset properties").

    Parameters
    ----------
    name : str
        Our id; also the name of its file in a data folder, ``NAME.parquet``.
    title : str
        As the paper's tables print it. The numerical and the mixed version share a title.
    suite : {"numerical", "mixed", "uci"}
        Its group.
    openml_id : int
        OpenML's id of the dataset (not of a task).
    n_records, n_features, n_categorical : int
        Its shape, after rows with missing values were dropped.
    majority_share : float
        The share of the larger class, to three digits.
    """

    name: str
    title: str
    suite: Suite
    openml_id: int
    n_records: int
    n_features: int
    n_categorical: int
    majority_share: float


class Records(NamedTuple):
    """What the experiments train on.

    Attributes
    ----------
    frame : pandas.DataFrame
        The features. Categories are strings; numbers are int64 where all are whole, else float64.
        Nothing is missing.
    labels : pandas.Series
        The class of each row as a string; the series is named ``target``.
    schema : Schema
        The ranges of these very rows, and the categories that came with them. The paper declares
        them public; outside of the experiments they would leak.
    fingerprint : str
        Short hash of frame and labels: the same for the same content on every machine, wherever
        it was found.
    origin : {"data folder", "bundled", "cache", "OpenML"}
        Where it was found.
    """

    frame: pd.DataFrame
    labels: pd.Series[str]
    schema: Schema
    fingerprint: str
    origin: str
