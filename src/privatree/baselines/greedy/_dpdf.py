"""DPDF [FI15]: splits by the Gini score, with a sensitivity at noisy counts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privatree._support.validation import check_integer, check_one_of
from privatree.baselines.greedy._bdpt import NOISY_SENSITIVITY, gini_sensitivity
from privatree.baselines.growing._coding import MULTIWAY, Coding
from privatree.baselines.growing._growth import Leaf, OpenNode
from privatree.baselines.growing._labellers import leaf_of_counts
from privatree.baselines.growing._method import Grown, Guarantee, Job, PublishedMethod
from privatree.baselines.growing._pruning import prune_by_gini
from privatree.baselines.growing._rules import Choice, Recipe
from privatree.baselines.growing._scores import NORMALISED_GINI
from privatree.privacy import Ledger
from privatree.privacy.mechanisms import Exponential, Laplace


@dataclass(frozen=True)
class DPDF(PublishedMethod):
    """The differentially private decision forest of Fletcher and Islam (2015).

    Every node releases noisy class counts, and splits on all categories of a feature drawn by the
    Gini score. The sensitivity of the draw is computed from the noisy size, so that **its epsilon
    does not hold**. As in the authors' code, trees have different roots, and vote with the share of
    their leaf's class. Not as in the code, exact counts decide nothing: classes and categories are
    those of the schema, and nodes of one class are split, too. Numbers need declared cuts.

    Parameters
    ----------
    n_trees : int, default=4
        Number of trees.
    sensitivity : {"published", "global"}, default="published"
        "global" takes the largest sensitivity, 1/2, with which epsilon holds.
    min_support : int, default=0
        A node with fewer noisy records is a leaf.
    prune : bool, default=False
        Whether splits that do not lower the noisy impurity are removed.

    Notes
    -----
    Guarantee: none with "published", epsilon with "global".
    Cost: epsilon/(2d + 1), divided by the number of trees, for the counts of a node and for a draw.

    Examples
    --------
    >>> DPDF(n_trees=1).vote
    'confidence'
    """

    title = "DPDF"
    vote = "confidence"

    n_trees: int = 4
    sensitivity: str = "published"
    min_support: int = 0
    prune: bool = False

    def check(self) -> None:
        check_integer("n_trees", self.n_trees, 1, 1000)
        check_one_of("sensitivity", self.sensitivity, ("published", "global"))
        check_integer("min_support", self.min_support, 0, 2**40)

    def guarantee(self, job: Job) -> Guarantee:
        if self.sensitivity == "global":
            return Guarantee(job.epsilon)
        return Guarantee(None, leaks=(NOISY_SENSITIVITY,))

    def grow(self, job: Job) -> list[Grown]:
        coding, share = Coding.public(job.schema), job.epsilon / self.n_trees
        query, grown = CountsOfNode(share / (2 * job.max_depth + 1), self), list[Grown]()
        parts = coding.candidates(MULTIWAY), query.choose, query.label, query.is_too_small
        roots = frozenset[int]()
        for _ in range(self.n_trees):
            roots = roots if len(roots) < len(coding.features) else frozenset()
            rules = Recipe(job.max_depth, *parts, not_at_root=roots)
            one = job.grow(coding, rules, Ledger(share, job.randomness))
            roots |= one.root_splits
            grown.append(one._replace(tree=prune_by_gini(one)) if self.prune else one)
        return grown


@dataclass(frozen=True)
class CountsOfNode:
    """Noisy class counts of every node, as whole numbers from 0 on, and what follows from them."""

    epsilon: Fraction
    method: DPDF

    def _draw(self, node: OpenNode, exact_totals: NDArray[np.int64]) -> NDArray[np.float64]:
        noisy = node.release(Laplace(self.epsilon), exact_totals, "class counts of a node")
        node.noisy_counts = np.maximum(np.trunc(noisy), 0.0)
        return node.noisy_counts

    def is_too_small(self, choice: Choice) -> bool:
        node = choice.node
        node.noisy_size = float(self._draw(node, choice.exact_totals).sum())
        return node.noisy_size < max(self.method.min_support, 1)

    def choose(self, choice: Choice) -> int:
        """Draw by the Gini score, with the largest sensitivity or that at the noisy size."""
        draw, noisy_size = NORMALISED_GINI.draw(self.epsilon), choice.node.noisy_size
        if self.method.sensitivity == "published" and noisy_size is not None:
            draw = Exponential(self.epsilon, 2 * gini_sensitivity(noisy_size))
        return choice.draw(draw, NORMALISED_GINI)

    def label(self, node: OpenNode, exact_totals: NDArray[np.int64]) -> Leaf:
        """Return the noisy majority; if no record is counted, that of the parent."""
        counts = node.noisy_counts
        counts = self._draw(node, exact_totals) if counts is None else counts
        above = None if node.parent is None else node.parent.noisy_counts
        return leaf_of_counts(counts if counts.any() or above is None else above)
