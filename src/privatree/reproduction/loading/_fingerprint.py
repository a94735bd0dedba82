"""A short hash of records, the same on every machine."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pandas as pd
from numpy.typing import NDArray

_N_BYTES = 8


def fingerprint(frame: pd.DataFrame, labels: pd.Series[str]) -> str:
    """Return 16 hexadecimal digits that depend on all names, categories, values and labels.

    The order of columns, categories and rows counts. `frame` and `labels` must be cleaned.
    """
    digest = hashlib.blake2b(digest_size=_N_BYTES)
    for name, column in frame.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            codes = column.cat.codes.to_numpy().astype("<i4")
            _fingerprint_column(digest, str(name), column.cat.categories.tolist(), codes)
        else:
            kind = column.dtype.kind
            _fingerprint_column(digest, str(name), kind, column.to_numpy().astype(f"<{kind}8"))
    codes, classes = pd.factorize(labels, sort=True)
    _fingerprint_column(digest, "labels", classes.tolist(), codes.astype("<i4"))
    return digest.hexdigest()


def _fingerprint_column(
    digest: hashlib.blake2b, name: str, kind: str | list[str], values: NDArray[Any]
) -> None:
    # The heading tells how many bytes follow, so no two tables give the same stream of bytes.
    heading = json.dumps([name, kind, len(values)])
    digest.update(f"{len(heading)}:{heading}".encode())
    digest.update(values.tobytes())
