"""Datasets downloaded from OpenML."""

from __future__ import annotations

import gzip
import socket
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import pandas as pd

from privatree.errors import DatasetMissingError
from privatree.reproduction.datasets._dataset import PaperDataset, Records
from privatree.reproduction.loading._cached import scratch_folder_in_cache
from privatree.reproduction.loading._cleaning import clean_records
from privatree.reproduction.loading._shape import describe_shape_mismatch

_SECONDS_TO_CONNECT = 10.0
_SECONDS_OF_SILENCE = 20.0
_RETRIES, _SECONDS_BETWEEN = 2, 2.0
_DESCRIPTION = "https://www.openml.org/api/v1/json/data/{}"

_FAILURES = (URLError, HTTPException, ConnectionError, TimeoutError, ValueError,
             EOFError, gzip.BadGzipFile, zlib.error)  # fmt: skip


def load_from_openml(dataset: PaperDataset) -> Records:
    """Download a dataset and check that it has the size in the paper's table.

    Categories are those that occur in OpenML's file, in scikit-learn's order.
    """
    openml_id, explain = dataset.openml_id, partial(_explain_openml_failure, dataset)
    features, labels = fetch_openml_table(openml_id, explain)
    where = f"OpenML's dataset {openml_id}"
    records = clean_records(features, labels, origin="OpenML", where=where)
    if cause := describe_shape_mismatch(dataset, records):
        raise DatasetMissingError(explain(cause))
    return records


def fetch_openml_table(
    openml_id: int, explain: Callable[[str], str]
) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Download all rows of all features, and the labels, of OpenML's dataset with this id.

    If OpenML cannot be reached or the download fails, raise DatasetMissingError with the message
    that `explain` makes of the cause. The download is unpacked in the cache folder.
    """
    with _openml_failures_explained(explain):
        _check_openml_connection(openml_id)
    with scratch_folder_in_cache() as scratch, _openml_failures_explained(explain):
        return _download_openml_table(openml_id, scratch)


def _check_openml_connection(openml_id: int) -> None:
    """Raise OSError at once if there is no network, while scikit-learn would retry for long."""
    try:
        urlopen(_DESCRIPTION.format(openml_id), timeout=_SECONDS_TO_CONNECT).close()
    except HTTPError as error:  # OpenML answers; scikit-learn decides whether to retry
        error.close()


def _download_openml_table(openml_id: int, scratch: Path) -> tuple[pd.DataFrame, pd.Series[Any]]:
    from sklearn.datasets import fetch_openml

    with _openml_socket_timeout(_SECONDS_OF_SILENCE), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about retries and versions; the size is checked later
        bunch = fetch_openml(
            data_id=openml_id,
            as_frame=True,
            parser="auto",
            data_home=scratch,
            n_retries=_RETRIES,
            delay=_SECONDS_BETWEEN,
        )
    if not isinstance(bunch.target, pd.Series):
        raise ValueError("must have one column of labels")
    return bunch.data, bunch.target


@contextmanager
def _openml_failures_explained(explain: Callable[[str], str]) -> Iterator[None]:
    """Raise DatasetMissingError, which says what to do, if a download fails for any reason."""
    try:
        yield
    except _FAILURES as error:
        if isinstance(error, HTTPError):
            error.close()
        raise DatasetMissingError(explain(_openml_cause_in_words(error))) from error


@contextmanager
def _openml_socket_timeout(seconds: float) -> Iterator[None]:
    """Set a timeout for sockets that are opened in this context; scikit-learn sets none."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def _explain_openml_failure(dataset: PaperDataset, cause: str) -> str:
    return (
        f"dataset {dataset.name!r} was not found. Put {dataset.name}.parquet, with the labels in "
        "the column 'target', into a folder and pass that folder as --data-dir, or go online for "
        f"the download from OpenML (id {dataset.openml_id}), which failed: {cause}."
    )


def _openml_cause_in_words(error: BaseException) -> str:
    if isinstance(error, HTTPError):
        return f"OpenML answered with status {error.code}"
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(reason, TimeoutError):
        return "no answer in time"
    if isinstance(error, (URLError, ConnectionError, HTTPException)):
        return "no connection"
    return "the download could not be read"
