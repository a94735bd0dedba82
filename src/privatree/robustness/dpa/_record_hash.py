"""Which partition a record belongs to: a hash of its own values and of nothing else.

The number is the same on every machine and in every version of the libraries, whatever else is in
the data: the place of the row, the width of its column's type and the label do not matter.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

_PERSON = b"privatree-dpa"  # these hashes are nobody else's
_DIGEST_BYTES = 8


def canonical(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Copy rows so that equal records have equal bytes: one zero, one NaN, stored by rows."""
    written = np.array(rows, dtype=np.float64, order="C")
    written[written == 0] = 0.0  # -0.0 too
    written[np.isnan(written)] = np.nan
    return written


def partition_numbers(rows: NDArray[np.float64], n_partitions: int) -> NDArray[np.int64]:
    """Find the partition of each record.

    Parameters
    ----------
    rows : ndarray of float64 of shape (n_records, n_features)
        What :func:`canonical` returned.
    n_partitions : int
        How many there are.

    Returns
    -------
    ndarray of int64
        BLAKE2b, as a big-endian number of 8 bytes modulo `n_partitions`, of the number of columns
        (8 bytes) and the values (IEEE 754 doubles), all with the highest byte first.
    """
    width = rows.shape[1].to_bytes(8, "big")
    start = blake2b(width, digest_size=_DIGEST_BYTES, person=_PERSON)
    numbers = np.empty(len(rows), dtype=np.int64)
    for place, row in enumerate(rows.astype(">f8").view(np.uint8)):
        record = start.copy()
        record.update(row)
        numbers[place] = int.from_bytes(record.digest(), "big") % n_partitions
    return numbers
