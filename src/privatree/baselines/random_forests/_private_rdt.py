"""Private-RDT [JPW12]: random trees whose leaves have noisy class counts."""

from __future__ import annotations

from dataclasses import dataclass

from privatree._support.validation import check_integer
from privatree.baselines.growing._method import Grown, Guarantee, Job, PublishedMethod
from privatree.baselines.growing._structures import (
    count_leaves,
    draw_random_splits,
    label_by_noisy_counts,
)
from privatree.model import Tree
from privatree.privacy import Ledger, Randomness


@dataclass(frozen=True)
class PrivateRDT(PublishedMethod):
    """Private random decision trees of Jagannathan, Pillaipakkamnatt and Wright (2012).

    A node splits on all categories of a random feature, or at a random threshold. Each of the
    trees spends its share of epsilon on the class counts of its leaves; the forest averages their
    class shares. The paper's depth depends on the number of records, which would leak: here it is
    a parameter.

    Parameters
    ----------
    n_trees : int, default=10
        Number of trees.

    Notes
    -----
    Guarantee: epsilon-DP.
    Cost: epsilon, divided evenly over the trees.

    Examples
    --------
    >>> PrivateRDT(n_trees=5).vote
    'average'
    """

    title = "Private-RDT"

    n_trees: int = 10

    def check(self) -> None:
        check_integer("n_trees", self.n_trees, 1, 1000)

    def guarantee(self, job: Job) -> Guarantee:
        return Guarantee(job.epsilon)

    def draw_splits(self, job: Job, randomness: Randomness) -> Tree:
        return draw_random_splits(job.schema, job.max_depth, randomness)

    def grow(self, job: Job) -> list[Grown]:
        for_splits, for_counts = job.randomness.spawn(2)
        share, grown = job.epsilon / self.n_trees, list[Grown]()
        for _ in range(self.n_trees):
            ledger, splits = Ledger(share, for_counts), self.draw_splits(job, for_splits)
            exact_counts = count_leaves(splits, job.columns, job.labels)
            tree = label_by_noisy_counts(splits, exact_counts, ledger, share)
            grown.append(Grown(tree, tuple(ledger.spends())))
        return grown
