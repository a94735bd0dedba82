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

from privatree.baselines.paper import PaperBudget, PaperPlan, UnbinnedColumns, grow
from privatree.privacy import Ledger, Randomness
from privatree.reproduction.running._task import Score
from privatree.reproduction.running._tasks import load_once, shown_epsilon, weight_of
from privatree.schema import Schema
from privatree.tables import open_frame, open_labels, read_features, read_labels

STEPS = 20
_NEXT_TO_NOTHING = Fraction(1, 10**9)  # for a share of zero: a mechanism needs some epsilon


class _Coded(NamedTuple):
    schema: Schema
    columns: list[NDArray[Any]]
    matrix: NDArray[np.float64]
    labels: NDArray[np.int32]


@dataclass(frozen=True)
class BudgetShare:
    """Train on all records with shares of epsilon, in twentieths; score on the same records."""

    dataset: str
    epsilon: float
    depth: int
    quantiles: int
    nodes: int
    leaves: int
    repeat: int
    data_dir: Path | None = None
    fingerprint: str | None = None

    fields: ClassVar[tuple[str, ...]] = (
        "dataset",
        "epsilon",
        "depth",
        "quantiles",
        "nodes",
        "leaves",
        "repeat",
    )
    measures: ClassVar[tuple[str, ...]] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """Identify the task: by every field but the folder of the data."""
        shares = (str(self.quantiles), str(self.nodes), str(self.leaves))
        epsilon, depth = shown_epsilon(self.epsilon), str(self.depth)
        return (self.dataset, epsilon, depth, *shares, str(self.repeat))

    @property
    def weight(self) -> float:
        """More for larger data."""
        return weight_of(self.dataset)

    def prepare(self) -> None:
        """Load and code the data."""
        _coded(self.dataset, self.data_dir, self.fingerprint)

    def run(self) -> Score:
        """Grow the tree; its accuracy on the records it was grown from."""
        data = _coded(self.dataset, self.data_dir, self.fingerprint)
        plan = PaperPlan(data.schema, self._budget(), self.depth, 10, True, True)
        total = plan.budget.for_a_record(*plan.kinds, self.depth)
        ledger = Ledger(total, Randomness.from_random_state(self.repeat))
        unbinned = UnbinnedColumns(data.columns, data.labels, len(data.schema.classes))
        start = time.perf_counter()
        tree = grow(unbinned, plan, ledger)
        seconds = time.perf_counter() - start
        predicted = tree.predict(data.matrix, range(len(data.columns)))
        return Score(float(np.mean(predicted == data.labels)), seconds)

    def _budget(self) -> PaperBudget:
        epsilon = Fraction(self.epsilon)
        quantiles, nodes, leaf = (
            max(epsilon * share / STEPS, _NEXT_TO_NOTHING)
            for share in (self.quantiles, self.nodes, self.leaves)
        )
        return PaperBudget(leaf, quantiles, nodes / self.depth, nodes / self.depth)


@lru_cache(maxsize=2)
def _coded(dataset: str, data_dir: Path | None, fingerprint: str | None) -> _Coded:
    records = load_once(dataset, data_dir, fingerprint)
    columns = read_features(open_frame(records.frame), records.schema)
    labels = read_labels(open_labels(records.labels), records.schema)
    matrix = np.column_stack([column.astype(np.float64) for column in columns])
    return _Coded(records.schema, columns, matrix, labels)
