"""What one pass over a source can answer about numeric targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privatree.counting._binner import Binner
from privatree.counting._count_kernels import add_target_sums, find_record_nodes
from privatree.counting._counts import Router
from privatree.counting._queries import TablePartial, TableQuery
from privatree.counting._weights import Weigher
from privatree.tables import Batch


@dataclass(frozen=True)
class TargetQuery(TableQuery["TargetPartial"]):
    """Counts of all records by the code of the target. Features are not read."""

    binner: Binner
    weigher: Weigher | None = None

    def new_partial(self) -> TargetPartial:
        return TargetPartial(self)

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return [(self.binner.n_classes,)]


class TargetPartial(TablePartial["TargetQuery"]):
    """Counts by the code of the target."""

    def add_batch(self, batch: Batch) -> None:
        labels, weights, counted = self._query.binner.read_labels_and_weights(
            batch, self._query.weigher
        )
        (table,) = self.tables
        np.add.at(table, labels[counted], 1 if weights is None else weights[counted])
        self.count_rows(batch.n_rows)


@dataclass(frozen=True)
class LeafQuery(TableQuery["LeafPartial"]):
    """Sums over the records of the leaves that `router` reaches.

    Each record adds the row of `table` of its target code, times its weight.
    """

    binner: Binner
    router: Router
    table: NDArray[np.int64]
    n_leaves: int
    weigher: Weigher | None = None

    def new_partial(self) -> LeafPartial:
        return LeafPartial(self)

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return [(self.n_leaves, self.table.shape[1])]


class LeafPartial(TablePartial["LeafQuery"]):
    """Sums of the leaves, an array (leaf, column)."""

    def add_batch(self, batch: Batch) -> None:
        query = self._query
        codes, targets, weights = query.binner.bin_and_weigh(batch, query.weigher)
        leaves = np.empty(len(targets), dtype=np.int32)
        find_record_nodes(codes, *query.router, leaves)
        here = leaves >= 0
        weights = None if weights is None else weights[here]
        add_target_sums(leaves[here], targets[here], weights, query.table, *self.tables)
        self.count_rows(batch.n_rows)
