"""Exact counts of how a model predicts, from one pass over labelled records. They are secret."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privatree.counting import TablePartial, TableQuery, Weigher, full_weight_of
from privatree.evaluation._plan import ScorePlan
from privatree.tables import Batch, batch_label_codes


@dataclass(frozen=True)
class ScoreQuery(TableQuery["ScorePartial"]):
    """Tables of a plan, counted over all records.

    The answer has the tables as ``tables``; it adds up over batches, threads, files and machines.
    A record whose label is no class, or whose target is missing, is left out. So is a record to
    which the weigher gives the weight 0.

    Parameters
    ----------
    plan : ScorePlan
        What is counted.
    weigher : Weigher, optional
        Weights of the records, if they have units or sample weights. By default, each weighs 1.
    """

    plan: ScorePlan
    weigher: Weigher | None = None

    def new_partial(self) -> ScorePartial:
        return ScorePartial(self)

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return self.plan.shapes

    @property
    def full_weight(self) -> int:
        """What a record, or all records of a unit together, weigh at most."""
        return full_weight_of(self.weigher)


class ScorePartial(TablePartial["ScoreQuery"]):
    """Tables of the batches that were added so far."""

    def add_batch(self, batch: Batch) -> None:
        query = self._query
        labels = batch_label_codes(batch, query.plan.schema)
        if query.weigher is None:
            weights = (labels >= 0).astype(np.int32)
        else:
            weights = query.weigher.weigh(batch, labels)
        with np.errstate(all="ignore"):  # no warning may depend on what records hold
            query.plan.add_records(batch, labels, weights, self.tables)
        self.count_rows(batch.n_rows)
