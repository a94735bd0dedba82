"""The zeros and ones of MNIST [LeCun98], on which the paper tries its backdoor attack.

MNIST is in none of the paper's tables of datasets, so the suites do not include it. The same
records have two names, one for each schema: ``mnist01`` with the ranges that the pixels have in the
records, ``mnist01-full-range`` with the range 0 to 255. With the first schema, learners clip values
outside the range that a pixel has in clean records.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privatree._support.cache_folder import cache_folder
from privatree.errors import DatasetMissingError, ParameterError
from privatree.reproduction.datasets._dataset import Records
from privatree.reproduction.loading._cached import scratch_folder_in_cache
from privatree.reproduction.loading._cleaning import TARGET
from privatree.reproduction.loading._fingerprint import fingerprint
from privatree.reproduction.loading._openml import fetch_openml_table
from privatree.schema import Numeric, Schema

NAME = "mnist01"
FULL_RANGE_NAME = "mnist01-full-range"
SHAPE = (28, 28)
WHITE = 255
SIZES = {"0": 6_903, "1": 7_877}
"""Number of images of each digit among the 70,000 of MNIST."""

_FILE = f"{NAME}.npz"
_OPENML_ID = 554
_MIN_IMAGES = 10  # of each digit: both parts of an 80/20 split need some
_N_PIXELS = SHAPE[0] * SHAPE[1]
_NAMES = [f"pixel_{row}_{column}" for row in range(SHAPE[0]) for column in range(SHAPE[1])]


def load_mnist(data_dir: Path | None = None) -> Records:
    """Load the images: one row for each image, one column for each pixel, in uint8.

    The images are looked for in this order: ``mnist01.npz`` in `data_dir`, with the arrays ``X``
    (uint8, n x 784) and ``y`` (0 or 1) and any number of images; the cache; OpenML. A download must
    have the size of MNIST, and is kept in the cache.

    The schema has the range that each pixel has in the records, as for every dataset of the paper.
    A pixel that is black in all images has a range of one number.
    """
    if data_dir is not None and not data_dir.is_dir():
        raise ParameterError(f"{data_dir}: the data folder must exist. Correct the path.")
    if data_dir is not None and (path := data_dir / _FILE).exists():
        return _mnist_records(*_read_mnist(path), "data folder")
    return _load_cached_mnist() or _fetch_mnist()


def load_mnist_full_range(data_dir: Path | None = None) -> Records:
    """Load the images with a schema in which every pixel has the range 0 to 255."""
    records = load_mnist(data_dir)
    features = {name: Numeric(0, WHITE, integer=True) for name in _NAMES}
    return records._replace(schema=Schema(features, records.schema.classes))


LOADERS: Mapping[str, Callable[[Path | None], Records]] = {
    NAME: load_mnist,
    FULL_RANGE_NAME: load_mnist_full_range,
}
"""The function that loads each version, by its name."""


def _mnist_records(pixels: NDArray[np.uint8], digits: NDArray[Any], origin: str) -> Records:
    frame = pd.DataFrame(pixels, columns=_NAMES)
    labels = pd.Series(np.where(digits == 1, "1", "0"), dtype="str", name=TARGET)
    ranges = zip(_NAMES, pixels.min(axis=0).tolist(), pixels.max(axis=0).tolist(), strict=True)
    features = {name: Numeric(low, high, integer=True) for name, low, high in ranges}
    # Declared public, as for every dataset of the paper: see ``clean_records`` in _cleaning.py.
    schema = Schema(features, sorted(SIZES))
    return Records(frame, labels, schema, fingerprint(frame, labels), origin)


# --- files --------------------------------------------------------------------------------------


def _read_mnist(path: Path) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    try:
        # No pickles, because they could run any code.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            pixels, digits = arrays["X"], arrays["y"]
    except Exception as error:  # a damaged file can make NumPy raise anything
        raise ParameterError(
            f"{path}: must be a readable NumPy file with the arrays X and y, but reading "
            f"it failed with {type(error).__name__}. Write the file again with numpy.savez, or "
            "remove the file."
        ) from None
    if pixels.dtype != np.uint8 or pixels.ndim != 2 or pixels.shape[1] != _N_PIXELS:
        raise ParameterError(
            f"{path}: X must be n x {_N_PIXELS} of uint8, with one image in each row, got "
            f"{_mnist_array_in_words(pixels)}. Write the file again."
        )
    if digits.shape != (len(pixels),) or digits.dtype.kind not in "iu":
        raise ParameterError(
            f"{path}: y must be {len(pixels)} whole numbers, one for each image, got "
            f"{_mnist_array_in_words(digits)}. Write the file again."
        )
    if not np.isin(digits, (0, 1)).all():
        raise ParameterError(
            f"{path}: y must hold only the digits 0 and 1, got others. Remove their images."
        )
    fewest, rarer = min((int(np.sum(digits == digit)), digit) for digit in (0, 1))
    if fewest < _MIN_IMAGES:
        raise ParameterError(
            f"{path}: must have at least {_MIN_IMAGES} images of each digit, got {fewest} of "
            f"digit {rarer}. Add images of digit {rarer}."
        )
    return pixels, digits


def _mnist_array_in_words(array: NDArray[Any]) -> str:
    return f"{' x '.join(map(str, array.shape)) or 'a number'} of {array.dtype}"


def _load_cached_mnist() -> Records | None:
    """Load MNIST from the cache; return None if the file is missing or damaged."""
    path = cache_folder() / _FILE
    if not path.exists():
        return None
    try:
        found = _mnist_records(*_read_mnist(path), "cache")
    except ParameterError:
        return None
    return found if _has_all_of_mnist(found) else None


def _store_mnist(pixels: NDArray[np.uint8], digits: NDArray[Any]) -> None:
    with scratch_folder_in_cache() as scratch:
        unfinished = scratch / "unfinished.npz"
        np.savez_compressed(unfinished, X=pixels, y=digits)
        os.replace(unfinished, cache_folder() / _FILE)


# --- OpenML -------------------------------------------------------------------------------------


def _fetch_mnist() -> Records:
    features, labels = fetch_openml_table(_OPENML_ID, _how_to_get_mnist)
    texts = labels.astype(str)
    chosen = texts.isin(list(SIZES)).to_numpy()
    try:
        values = features[chosen].to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty((0, 0))
    pixels = np.nan_to_num(values).clip(0, WHITE).astype(np.uint8)
    if values.shape[1] != _N_PIXELS or not np.array_equal(pixels, values):
        raise DatasetMissingError(
            _how_to_get_mnist(f"the download must have {_N_PIXELS} columns of 0 to {WHITE}")
        )
    digits = texts[chosen].to_numpy(dtype=np.uint8)
    records = _mnist_records(pixels, digits, "OpenML")
    if not _has_all_of_mnist(records):
        raise DatasetMissingError(
            _how_to_get_mnist("the download has another number of zeros or ones")
        )
    _store_mnist(pixels, digits)
    return records


def _has_all_of_mnist(records: Records) -> bool:
    return dict(records.labels.value_counts()) == SIZES


def _how_to_get_mnist(cause: str) -> str:
    return (
        f"the zeros and ones of MNIST were not found. Put {_FILE} (X: uint8, n x {_N_PIXELS}; y: 0 "
        "or 1) into a folder and pass that folder as --data-dir, or go online for the download "
        f"from OpenML (id {_OPENML_ID}), which failed: {cause}."
    )
