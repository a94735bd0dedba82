"""A batch of records: typed columns and labels that are not read yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.schema import Schema
from privatree.tables._columns import LazyColumn, label_codes


@dataclass(frozen=True)
class Batch:
    """Some records with their labels.

    `features` are in the order of the schema. `n_rows` is private. `array` holds all features as
    one two-dimensional array of numbers without a mask, or is None if they are stored otherwise.
    """

    n_rows: int
    features: Sequence[LazyColumn]
    labels: LazyColumn
    array: NDArray[Any] | None = None
    unit: LazyColumn | None = None
    """Ids of the units, such as persons, to which the records belong."""
    weight: LazyColumn | None = None
    """Sample weights of the records."""
    exact_unit_totals: NDArray[np.int64] | None = None
    """What the records of each row's unit weigh together, if it is known already, as on Spark."""
    in_part: NDArray[np.bool_] | None = None
    """Which rows belong to the part of the records that is counted; None if all do."""


def batch_label_codes(batch: Batch, schema: Schema) -> NDArray[np.signedinteger[Any]]:
    """Read the labels as :func:`label_codes` does; -1 for a row of another part, too."""
    labels = label_codes(batch.labels.read(), schema)
    if batch.in_part is None:
        return labels
    return np.where(batch.in_part, labels, np.array(-1, dtype=labels.dtype))
