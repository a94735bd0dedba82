"""The task behind the budget maps: Algorithm 1 with epsilon divided in a given way."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.baselines.paper import PaperBudget, PaperPlan, UnbinnedColumns, grow_paper_tree
from privatree.privacy import Ledger, Randomness
from privatree.reproduction.running._task import Score
from privatree.reproduction.running._tasks import DatasetTask, load_task_once
from privatree.schema import Schema
from privatree.tables import open_frame, open_labels, read_features, read_labels

STEPS = 20
_TINY_EPSILON = Fraction(1, 10**9)  # for a share of zero: a mechanism needs some epsilon


@dataclass(frozen=True)
class BudgetShare(DatasetTask):
    """One training of Algorithm 1 on all records, scored on the same records.

    ``quantiles``, ``nodes`` and ``leaves`` are shares of epsilon in twentieths.
    """

    epsilon: float
    depth: int
    quantiles: int
    nodes: int
    leaves: int
    repeat: int

    fields: ClassVar[tuple[str, ...]] = (
        *("dataset", "epsilon", "depth", "quantiles", "nodes", "leaves", "repeat"),
    )

    def prepare(self) -> None:
        """Load the dataset, and convert it to the form that ``grow_paper_tree`` takes."""
        _read_budget_share_columns(self.dataset, self.data_dir, self.fingerprint)

    def run(self) -> Score:
        """Grow the tree; return its accuracy on the records that it was grown from."""
        data = _read_budget_share_columns(self.dataset, self.data_dir, self.fingerprint)
        plan = PaperPlan(data.schema, self._divide_budget(), self.depth, 10, True, True)
        total = plan.budget.for_a_record(*plan.kinds, self.depth)
        ledger = Ledger(total, Randomness.from_random_state(self.repeat))
        unbinned = UnbinnedColumns(data.columns, data.labels, len(data.schema.classes))
        start = time.perf_counter()
        tree = grow_paper_tree(unbinned, plan, ledger)
        seconds = time.perf_counter() - start
        predicted = tree.predict(data.matrix, range(len(data.columns)))
        return Score(float(np.mean(predicted == data.labels)), seconds)

    def _divide_budget(self) -> PaperBudget:
        epsilon = Fraction(self.epsilon)
        quantiles, nodes, leaf = (
            max(epsilon * share / STEPS, _TINY_EPSILON)
            for share in (self.quantiles, self.nodes, self.leaves)
        )
        return PaperBudget(leaf, quantiles, nodes / self.depth, nodes / self.depth)


class _TrainingColumns(NamedTuple):
    schema: Schema
    columns: list[NDArray[Any]]
    matrix: NDArray[np.float64]
    labels: NDArray[np.int32]


@lru_cache(maxsize=2)
def _read_budget_share_columns(
    dataset: str, data_dir: Path | None, fingerprint: str | None
) -> _TrainingColumns:
    records = load_task_once(dataset, data_dir, fingerprint)
    columns = read_features(open_frame(records.frame), records.schema)
    labels = read_labels(open_labels(records.labels), records.schema)
    matrix = np.column_stack([column.astype(np.float64) for column in columns])
    return _TrainingColumns(records.schema, columns, matrix, labels)
