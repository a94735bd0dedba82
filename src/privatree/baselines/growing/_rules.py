"""Rules put together from parts: which splits there are, how one is chosen, when to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.baselines.growing._coding import Candidates, Split
from privatree.baselines.growing._growth import Leaf, OpenNode
from privatree.baselines.growing._scores import Score
from privatree.privacy import Mechanism
from privatree.privacy.mechanisms import Laplace


class Choice(NamedTuple):
    """A node that may be split, and all that a chooser needs to know."""

    node: OpenNode
    candidates: Candidates
    allowed: NDArray[np.intp]
    """Candidates to choose from. They are public: they follow from the schema and the splits
    above."""
    exact_counts: NDArray[np.int64]
    exact_totals: NDArray[np.int64]

    @property
    def n_children(self) -> NDArray[np.int64]:
        """Number of children of each allowed candidate."""
        return self.candidates.n_children[self.allowed]

    def exact_scores(self, score: Score) -> NDArray[np.float64]:
        return self.candidates.scores(score, self.exact_counts, self.exact_totals)[self.allowed]

    def draw(self, mechanism: Mechanism, score: Score) -> int:
        """Draw one of the allowed candidates by its score. Return its place among them."""
        return int(self.node.release(mechanism, self.exact_scores(score), "split"))


@dataclass(frozen=True)
class Recipe:
    """The rules of a method as a list of parts."""

    max_depth: int
    candidates: Candidates
    chooser: Callable[[Choice], int]
    """Draws one of the allowed candidates, and returns its place among them."""
    labeller: Callable[[OpenNode, NDArray[np.int64]], Leaf]
    stop: Callable[[Choice], bool] | None = None
    """Looks at released numbers, which it may draw, and says whether the node becomes a leaf."""
    reuse: bool = False
    """Whether a candidate may be chosen twice on a path."""
    not_at_root: frozenset[int] = frozenset()
    """Candidates that the root must not choose, such as the roots of earlier trees."""

    def split(
        self, node: OpenNode, exact_counts: NDArray[np.int64], exact_totals: NDArray[np.int64]
    ) -> Split | None:
        allowed = np.arange(len(self.candidates))
        if not self.reuse:
            not_here = node.used if node.depth else node.used | self.not_at_root
            allowed = np.setdiff1d(allowed, sorted(not_here))
        if not len(allowed):
            return None
        choice = Choice(node, self.candidates, allowed, exact_counts, exact_totals)
        if self.stop is not None and self.stop(choice):
            return None
        return self.candidates.split(int(allowed[self.chooser(choice)]))

    def label(self, node: OpenNode, exact_totals: NDArray[np.int64]) -> Leaf:
        return self.labeller(node, exact_totals)


@dataclass(frozen=True)
class ByNoisyCounts:
    """The candidate with the largest entropy score of noisy counts.

    Notes
    -----
    Neighbours: one record more or less at the node.
    Sensitivity: 1 for the counts of one candidate.
    Cost: ``epsilon``, divided evenly over the candidates and, with ``sizes``, once more over the
    counts of each child and class and the numbers of records of each child.
    """

    epsilon: Fraction
    sizes: bool = True

    def __call__(self, choice: Choice) -> int:
        tables = choice.candidates.tables(choice.allowed, choice.exact_counts)
        exact, times = np.concatenate(tables, axis=1), len(tables)
        share = Laplace(self.epsilon / times / (2 if self.sizes else 1))
        noisy_counts = choice.node.release(share, exact, "counts of children", times)
        noisy_sizes = np.maximum(noisy_counts, 0.0).sum(axis=0)
        if self.sizes:
            noisy_sizes = choice.node.release(share, exact.sum(axis=0), "sizes of children", times)
        ends = np.cumsum([table.shape[1] for table in tables])[:-1]
        return best_by_noisy_counts(noisy_counts, noisy_sizes, ends)


def best_by_noisy_counts(
    noisy_counts: NDArray[np.float64], noisy_sizes: NDArray[np.float64], ends: NDArray[np.int64]
) -> int:
    """Return the candidate with the largest sum of n_jc log(n_jc / n_j) over its children.

    Numbers that are not positive count as 0, and shares above 1 as 1.
    """
    counts, sizes = np.maximum(noisy_counts, 0.0), np.maximum(noisy_sizes, 0.0)
    shares = np.divide(counts, sizes, out=np.ones_like(counts), where=(counts > 0) & (sizes > 0))
    values = (counts * np.log2(np.minimum(shares, 1.0))).sum(axis=0)
    return int(np.argmax([part.sum() for part in np.split(values, ends)]))


def draw_size(node: OpenNode, exact_totals: NDArray[np.int64], epsilon: Fraction) -> float:
    """Release the number of records of a node, and keep it."""
    (size,) = node.release(Laplace(epsilon), np.array([exact_totals.sum()]), "size of a node")
    node.noisy_size = float(size)
    return node.noisy_size


@dataclass(frozen=True)
class FewRecords:
    """The stop rule of [FS10]: the average class count is below the noise of a count."""

    epsilon: Fraction

    def __call__(self, choice: Choice) -> bool:
        noisy_size = draw_size(choice.node, choice.exact_totals, self.epsilon)
        n_cells = int(choice.n_children.max()) * len(choice.exact_totals)
        return noisy_size / n_cells < sqrt(2) / float(self.epsilon)
