"""The partition to which a record belongs: a hash of its own values and of nothing else.

The hash is the same on every machine and in every version of the libraries. It does not depend on
other records, on the position of the row, on the width of a column's type or on the label.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

_PERSON = b"privatree-dpa"  # makes these hashes differ from those of other programs
_DIGEST_BYTES = 8


def rows_to_hash(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a copy in which equal records have equal bytes, also with -0.0 and NaN."""
    copied = np.array(rows, dtype=np.float64, order="C")
    copied[copied == 0] = 0.0  # replaces -0.0 too
    copied[np.isnan(copied)] = np.nan
    return copied


def partition_numbers(rows: NDArray[np.float64], n_partitions: int) -> NDArray[np.int64]:
    """Return the number of the partition of each row that :func:`rows_to_hash` returned.

    The number is a BLAKE2b hash of 8 bytes, modulo `n_partitions`. The hashed bytes are the number
    of columns (8 bytes) and the values (IEEE 754 doubles). All numbers are big-endian.
    """
    width = rows.shape[1].to_bytes(8, "big")
    start = blake2b(width, digest_size=_DIGEST_BYTES, person=_PERSON)
    numbers = np.empty(len(rows), dtype=np.int64)
    for place, row in enumerate(rows.astype(">f8").view(np.uint8)):
        record = start.copy()
        record.update(row)
        numbers[place] = int.from_bytes(record.digest(), "big") % n_partitions
    return numbers
