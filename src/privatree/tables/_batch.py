"""A batch of records: typed columns and labels that are not read yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.tables._columns import LazyColumn


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
