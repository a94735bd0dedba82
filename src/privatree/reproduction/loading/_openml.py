"""Datasets fetched from OpenML."""

from __future__ import annotations

import gzip
import socket
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import pandas as pd

from privatree.errors import DatasetMissingError
from privatree.reproduction.datasets._dataset import PaperDataset, Records
from privatree.reproduction.loading._cached import scratch_folder
from privatree.reproduction.loading._cleaning import clean
from privatree.reproduction.loading._shape import other_shape

_SECONDS_TO_CONNECT = 10.0
_SECONDS_OF_SILENCE = 20.0
_RETRIES, _SECONDS_BETWEEN = 2, 2.0
_DESCRIPTION = "https://www.openml.org/api/v1/json/data/{}"

_FAILURES = (URLError, HTTPException, ConnectionError, TimeoutError, ValueError,
             EOFError, gzip.BadGzipFile, zlib.error)  # fmt: skip


def load(dataset: PaperDataset) -> Records:
    """Fetch a dataset and check that it has the shape in the paper's table.

    Parameters
    ----------
    dataset : PaperDataset
        What to fetch.

    Returns
    -------
    Records
        Categories are those that occur in OpenML's file, in scikit-learn's order.

    Raises
    ------
    DatasetMissingError
        If OpenML cannot be reached or the download fails, or what came has another shape.
    ParameterError
        If the cache folder, where the download is unpacked, cannot be written to.
    """
    features, labels = fetch(dataset.openml_id, lambda cause: _how_to_get(dataset, cause))
    where = f"OpenML's dataset {dataset.openml_id}"
    records = clean(features, labels, origin="OpenML", where=where)
    if cause := other_shape(dataset, records):
        raise DatasetMissingError(_how_to_get(dataset, cause))
    return records


def fetch(openml_id: int, how_to_get: Callable[[str], str]) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Fetch a table as it is.

    Parameters
    ----------
    openml_id : int
        OpenML's id of the dataset.
    how_to_get : callable
        From the cause of a failure, a few words, to a message that says what to do.

    Returns
    -------
    features, labels
        All rows of all columns.

    Raises
    ------
    DatasetMissingError
        If OpenML cannot be reached or the download fails.
    ParameterError
        If the cache folder, where the download is unpacked, cannot be written to.
    """
    with _explained(how_to_get):
        _ask_once(openml_id)
    with scratch_folder() as scratch, _explained(how_to_get):
        return _download(openml_id, scratch)


def _ask_once(openml_id: int) -> None:
    """Fail at once without a network: scikit-learn would try again, once for every dataset."""
    try:
        urlopen(_DESCRIPTION.format(openml_id), timeout=_SECONDS_TO_CONNECT).close()
    except HTTPError as error:  # it answers; whether to try again is for scikit-learn to say
        error.close()


def _download(openml_id: int, scratch: Path) -> tuple[pd.DataFrame, pd.Series[Any]]:
    from sklearn.datasets import fetch_openml

    with _timeout(_SECONDS_OF_SILENCE), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about retries and versions; the shape check judges
        bunch = fetch_openml(
            data_id=openml_id,
            as_frame=True,
            parser="auto",
            data_home=scratch,
            n_retries=_RETRIES,
            delay=_SECONDS_BETWEEN,
        )
    if not isinstance(bunch.target, pd.Series):
        raise ValueError("not one column of labels")
    return bunch.data, bunch.target


@contextmanager
def _explained(how_to_get: Callable[[str], str]) -> Iterator[None]:
    """Turn every way in which fetching fails into one error that says what to do."""
    try:
        yield
    except _FAILURES as error:
        if isinstance(error, HTTPError):
            error.close()
        raise DatasetMissingError(how_to_get(_in_short(error))) from error


@contextmanager
def _timeout(seconds: float) -> Iterator[None]:
    """Let no socket opened meanwhile be silent for longer; scikit-learn sets no limit."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def _how_to_get(dataset: PaperDataset, cause: str) -> str:
    return (
        f"dataset {dataset.name!r} is not here. Put {dataset.name}.parquet, labels in column "
        "'target', into a folder and pass it as --data-dir, or go online: it is fetched from "
        f"OpenML (id {dataset.openml_id}), which failed: {cause}."
    )


def _in_short(error: BaseException) -> str:
    if isinstance(error, HTTPError):
        return f"OpenML answered with status {error.code}"
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(reason, TimeoutError):
        return "no answer in time"
    if isinstance(error, (URLError, ConnectionError, HTTPException)):
        return "no connection"
    return "what came could not be read"
