"""Some rows of a table, their columns found but not yet coded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from privatree.tables._columns import LazyColumn


@dataclass(frozen=True)
class Batch:
    """Rows with their labels.

    Parameters
    ----------
    n_rows : int
        How many. It is private.
    features : sequence of LazyColumn
        The columns of the schema's features, in its order.
    labels : LazyColumn
        The column of labels.
    array : ndarray, optional
        The features as one two-dimensional array of numbers without a mask, if they are one.
    """

    n_rows: int
    features: Sequence[LazyColumn]
    labels: LazyColumn
    array: NDArray[Any] | None = None
