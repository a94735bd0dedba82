"""The learner of trees of classes that is epsilon-DP for whole records.

The proof is in ``docs/proofs/record-tree.md``. The learner sees counts, never records.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privatree.counting import Candidates, ClassCounts, FineCells
from privatree.learners.first_steps import count_error, release_counts, weigh_classes
from privatree.learners.tree._growth import NO_CHILD, Growth, Node, OpenNode
from privatree.learners.tree._label_scores import ClassScores
from privatree.learners.tree._plan import CountClasses, RecordPlan
from privatree.learners.tree._simplify import with_probability
from privatree.learners.tree._split import SplitScore, split_score
from privatree.model import NodeDraft, Tree, TreeBuilder
from privatree.privacy import Ledger
from privatree.schema import Schema


def grow_tree(
    records: ClassCounts,
    candidates: Candidates | FineCells,
    plan: RecordPlan,
    schema: Schema,
    ledger: Ledger,
    after_size: Callable[[int | None], None] = lambda noisy_size: None,
    counted: str = "records",
) -> Tree:
    """Grow the tree level by level, with one pass over the records for each level.

    The codes of `records` are those of `candidates`. With fine cells, the learner zooms in first.
    `after_size` gets the noisy number of records, if the plan pays for one. It may raise an error,
    which ends the training before anything else is drawn. `counted` is what one weight stands for,
    in the words of spends and errors: "records" or "units".

    Raises
    ------
    TooFewRecordsError
        If the noisy number of records is below the plan's min_records.

    Notes
    -----
    Neighbours: one record, or all records of one unit, added or removed.
    Guarantee: epsilon-DP with the plan's epsilon, which the ledger enforces on every path.
    Cost: at most the plan's epsilon; the plan's size_epsilon if there are too few records or
    `after_size` raises.
    """
    growth = ClassGrowth(records, candidates, plan, TreeBuilder(schema), counted)
    growth.grow(ledger, after_size)
    return growth.builder.build()


class ClassGrowth(Growth):
    """One run of the learner of trees of classes."""

    _last_levels: ClassVar[tuple[str, str]] = (
        "last level with labels",
        "last {} levels with their labels",
    )
    _labels = ClassScores()

    def begin(self, ledger: Ledger, noisy_size: int | None) -> OpenNode:
        """Zoom in, if the records have fine codes; weigh the classes; and return the root."""
        plan = self._plan
        size = plan.planning_size(noisy_size)
        self._zoom_in(size, ledger)
        weigh_classes(
            self._records, plan.class_factors, plan.balance_epsilon, ledger, plan.largest_count
        )
        return self._root(size, ledger)

    def _count_before_split(
        self, node: OpenNode, stage: CountClasses
    ) -> tuple[list[int], SplitScore]:
        purpose = "class counts before a split"
        noisy = release_counts(
            self._records, node.exact_totals, stage.epsilon, node.ledger, purpose, node.number
        )
        noisy_counts = self._clamp_counts(noisy)
        return noisy_counts, split_score(noisy_counts)

    def _make_leaf(self, node: Node, label: int, exact_totals: NDArray[np.int64]) -> int:
        epsilon, noisy_counts_above = node.leaves
        if not epsilon:
            shares = np.array(noisy_counts_above) + 1.0
            shares /= shares.sum()
            shares[label] += 1.0  # half of the probability follows the label
            self.builder.leaf(node.number, label, (shares / 2.0).tolist())
            return NO_CHILD
        purpose = "class counts of a leaf"
        noisy = release_counts(
            self._records, exact_totals, epsilon, node.ledger, purpose, node.number
        )
        most = self._plan.largest_count
        leaf = NodeDraft(label=label, noisy_counts=np.clip(noisy, -most, most).tolist())
        error = count_error(epsilon, self._records.full_weight, len(noisy))
        self.builder.leaf(
            node.number, label, with_probability(leaf).probability, leaf.noisy_counts, error
        )
        return NO_CHILD
