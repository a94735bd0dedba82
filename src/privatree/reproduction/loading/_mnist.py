"""The zeros and ones of MNIST [LeCun98]: what the paper's backdoor is tried on.

They are no dataset of the paper's tables, so its suites do not have them. There are two names for
the same records, as there are two schemas: one with the ranges that the pixels have in them, one
with all that a pixel can be. Under the first, a value that no clean record has is void.
"""

from __future__ import annotations

import io
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
from privatree.reproduction.loading import _openml as openml
from privatree.reproduction.loading._cached import scratch_folder
from privatree.reproduction.loading._cleaning import TARGET
from privatree.reproduction.loading._fingerprint import fingerprint
from privatree.schema import Numeric, Schema

NAME = "mnist01"
FULL_RANGE_NAME = "mnist01-full-range"
SHAPE = (28, 28)
WHITE = 255
SIZES = {"0": 6_903, "1": 7_877}
"""How many there are among the 70,000 of MNIST."""

_FILE = f"{NAME}.npz"
_OPENML_ID = 554
_LEAST = 10  # of each digit: an 80/20 split needs some on either side
_N_PIXELS = SHAPE[0] * SHAPE[1]
_NAMES = [f"pixel_{row}_{column}" for row in range(SHAPE[0]) for column in range(SHAPE[1])]


def load(data_dir: Path | None = None) -> Records:
    """Load the images, one a row, a pixel a column, row by row.

    They are looked for in this order: ``mnist01.npz`` in `data_dir`, with the arrays ``X`` (uint8,
    n x 784) and ``y`` (0 or 1), whose size is not compared; the cache; OpenML, where what has not
    the size of MNIST is refused, and the rest goes to the cache.

    Parameters
    ----------
    data_dir : path, optional
        The folder to look in first.

    Returns
    -------
    Records
        Pixels are uint8; by the schema whole numbers in the range that each pixel has in these
        very records, as for every dataset of the paper. Many are black in all: a range of one
        number.

    Raises
    ------
    ParameterError
        If there is no such folder, or its file is not as described.
    DatasetMissingError
        If they are nowhere and cannot be fetched.
    """
    if data_dir is not None and not data_dir.is_dir():
        raise ParameterError(f"{data_dir}: a data folder must be an existing folder.")
    if data_dir is not None and (path := data_dir / _FILE).exists():
        return _records(*_read(path), "data folder")
    return _cached() or _fetched()


def load_full_range(data_dir: Path | None = None) -> Records:
    """Load the same as :func:`load`; by the schema, every pixel is from 0 to 255."""
    records = load(data_dir)
    features = {name: Numeric(0, WHITE, integer=True) for name in _NAMES}
    return records._replace(schema=Schema(features, records.schema.classes))


LOADERS: Mapping[str, Callable[[Path | None], Records]] = {
    NAME: load,
    FULL_RANGE_NAME: load_full_range,
}
"""How to load either, by its name."""


def _records(pixels: NDArray[np.uint8], digits: NDArray[Any], origin: str) -> Records:
    frame = pd.DataFrame(pixels, columns=_NAMES)
    labels = pd.Series(np.where(digits == 1, "1", "0"), dtype="str", name=TARGET)
    ranges = zip(_NAMES, pixels.min(axis=0).tolist(), pixels.max(axis=0).tolist(), strict=True)
    features = {name: Numeric(low, high, integer=True) for name, low, high in ranges}
    # Taken for public, as for every dataset of the paper: see ``clean`` in _cleaning.py.
    schema = Schema(features, sorted(SIZES))
    return Records(frame, labels, schema, fingerprint(frame, labels), origin)


# --- files --------------------------------------------------------------------------------------


def _read(path: Path) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    try:
        # Never pickles: they could run any code.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            pixels, digits = arrays["X"], arrays["y"]
    except Exception as error:  # of a damaged file, NumPy raises nearly anything
        raise ParameterError(
            f"{path}: must be a NumPy file of the arrays X and y that can be read, got "
            f"{type(error).__name__}. Write it again with numpy.savez, or remove it."
        ) from None
    if pixels.dtype != np.uint8 or pixels.ndim != 2 or pixels.shape[1] != _N_PIXELS:
        raise ParameterError(
            f"{path}: X must be n x {_N_PIXELS} of uint8, one image a row, got "
            f"{_in_words(pixels)}. Write it again."
        )
    if digits.shape != (len(pixels),) or digits.dtype.kind not in "iu":
        raise ParameterError(
            f"{path}: y must be {len(pixels)} whole numbers, one for each image, got "
            f"{_in_words(digits)}. Write it again."
        )
    if not np.isin(digits, (0, 1)).all():
        raise ParameterError(f"{path}: y must be 0 or 1. Leave out the other digits.")
    fewest = min(int(np.sum(digits == digit)) for digit in (0, 1))
    if fewest < _LEAST:
        raise ParameterError(
            f"{path}: must have at least {_LEAST} images of either digit, got {fewest}. Add some."
        )
    return pixels, digits


def _in_words(array: NDArray[Any]) -> str:
    return f"{' x '.join(map(str, array.shape)) or 'a number'} of {array.dtype}"


def _cached() -> Records | None:
    """What was fetched before; None if there is no such file, or none that can be used."""
    path = cache_folder() / _FILE
    if not path.exists():
        return None
    try:
        found = _records(*_read(path), "cache")
    except ParameterError:
        return None
    return found if _is_all(found) else None


def _store(pixels: NDArray[np.uint8], digits: NDArray[Any]) -> None:
    content = io.BytesIO()
    np.savez_compressed(content, X=pixels, y=digits)
    with scratch_folder() as scratch:
        unfinished = scratch / "unfinished.npz"
        unfinished.write_bytes(content.getvalue())
        os.replace(unfinished, cache_folder() / _FILE)


# --- OpenML -------------------------------------------------------------------------------------


def _fetched() -> Records:
    features, labels = openml.fetch(_OPENML_ID, _how_to_get)
    texts = labels.astype(str)
    chosen = texts.isin(list(SIZES)).to_numpy()
    try:
        values = features[chosen].to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty((0, 0))
    pixels = np.nan_to_num(values).clip(0, WHITE).astype(np.uint8)
    if values.shape[1] != _N_PIXELS or not np.array_equal(pixels, values):
        raise DatasetMissingError(_how_to_get(f"it has not {_N_PIXELS} columns of 0 to {WHITE}"))
    digits = texts[chosen].to_numpy(dtype=np.uint8)
    records = _records(pixels, digits, "OpenML")
    if not _is_all(records):
        raise DatasetMissingError(_how_to_get("it has another number of zeros or ones"))
    _store(pixels, digits)
    return records


def _is_all(records: Records) -> bool:
    return dict(records.labels.value_counts()) == SIZES


def _how_to_get(cause: str) -> str:
    return (
        f"the zeros and ones of MNIST are not here. Put {_FILE} (X: uint8, n x {_N_PIXELS}; y: 0 "
        "or 1) into a folder and pass it as --data-dir, or go online: they are fetched from OpenML "
        f"(id {_OPENML_ID}), which failed: {cause}."
    )
