"""A short name for content, the same on every machine."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pandas as pd
from numpy.typing import NDArray

_BYTES = 8


def fingerprint(frame: pd.DataFrame, labels: pd.Series[str]) -> str:
    """Hash cleaned records: names, categories in their order, values in theirs, and labels.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns of categories, int64 or float64.
    labels : pandas.Series
        Strings.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    digest = hashlib.blake2b(digest_size=_BYTES)
    for name, column in frame.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            codes = column.cat.codes.to_numpy().astype("<i4")
            _add(digest, str(name), column.cat.categories.tolist(), codes)
        else:
            kind = column.dtype.kind
            _add(digest, str(name), kind, column.to_numpy().astype(f"<{kind}8"))
    codes, classes = pd.factorize(labels, sort=True)
    _add(digest, "labels", classes.tolist(), codes.astype("<i4"))
    return digest.hexdigest()


def _add(digest: hashlib.blake2b, name: str, kind: str | list[str], values: NDArray[Any]) -> None:
    # A heading says what and how much follows: no two tables give the same stream of bytes.
    heading = json.dumps([name, kind, len(values)])
    digest.update(f"{len(heading)}:{heading}".encode())
    digest.update(values.tobytes())
