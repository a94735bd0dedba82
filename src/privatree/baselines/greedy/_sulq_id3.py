"""SuLQ ID3 [BDMN05]: the split with the best counts under Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from privatree._support.validation import check_number
from privatree.baselines.growing._coding import MULTIWAY, Coding
from privatree.baselines.growing._growth import Leaf, OpenNode
from privatree.baselines.growing._labellers import leaf_of_counts
from privatree.baselines.growing._method import Guarantee, Job, PublishedMethod
from privatree.baselines.growing._rules import Choice, Recipe, best_by_noisy_counts
from privatree.privacy.mechanisms import Gaussian


@dataclass(frozen=True)
class SuLQID3(PublishedMethod):
    """ID3 with the noisy sums of Blum, Dwork, McSherry and Nissim (2005).

    The paper is older than differential privacy, and its ID3 is a sketch. We took the form that
    Friedman and Schuster (2010) give it, with Gaussian noise, and chose the budget: each level
    releases its size and all counts at once. Numbers need declared cuts.

    Parameters
    ----------
    delta : float, default=1e-6
        Delta of the guarantee.

    Notes
    -----
    Sensitivity: with k features left, sqrt(2k + 1) for the counts of a node; 1 for those of a leaf.
    Guarantee: (epsilon, delta)-DP.
    Cost: epsilon/(d + 1) and delta/(d + 1) a level.

    Examples
    --------
    >>> SuLQID3(delta=1e-9).title
    'SuLQ ID3'
    """

    title = "SuLQ ID3"

    delta: float = 1e-6

    def check(self) -> None:
        check_number("delta", self.delta, lambda d: 0 < d < 1, "be a number between 0 and 1")

    def guarantee(self, job: Job) -> Guarantee:
        return Guarantee(job.epsilon, delta=Fraction(self.delta))

    def rules(self, job: Job) -> tuple[Coding, Recipe]:
        coding, levels = Coding.public(job.schema), job.max_depth + 1
        level = CountsOfLevel(job.epsilon / levels, Fraction(self.delta) / levels, {})
        parts = coding.candidates(MULTIWAY), level.choose, level.label, level.is_too_small
        return coding, Recipe(job.max_depth, *parts)


@dataclass(frozen=True)
class CountsOfLevel:
    """One release for a node: its size, and the counts of all children that it could have."""

    epsilon: Fraction
    delta: Fraction
    best: dict[tuple[int, ...], int]
    """Place of the best candidate of each node, by the node's numbers."""

    def is_too_small(self, choice: Choice) -> bool:
        """Release all counts of the node. Return whether its size is too small for the noise."""
        node, tables = choice.node, choice.candidates.tables(choice.allowed, choice.exact_counts)
        exact = np.concatenate(tables, axis=1)
        size = [int(choice.exact_totals.sum())]
        vector = np.concatenate([size, exact.sum(axis=0), exact.ravel()]).astype(np.float64)
        mechanism = _gaussian(self.epsilon, self.delta, 2 * len(tables) + 1)
        noisy = node.release(mechanism, vector, "size and counts of a node")
        noisy_size, noisy_sizes, noisy_counts = np.split(noisy, [1, 1 + exact.shape[1]])
        noisy_counts = noisy_counts.reshape(exact.shape)
        node.noisy_counts = noisy_counts.sum(axis=1) / len(tables)
        ends = np.cumsum(choice.n_children)[:-1]
        self.best[node.numbers] = best_by_noisy_counts(noisy_counts, noisy_sizes, ends)
        deviation = math.sqrt(mechanism.variance(len(vector))) * mechanism.step
        n_cells = int(choice.n_children.max()) * len(exact)
        return float(noisy_size[0]) / n_cells < deviation

    def choose(self, choice: Choice) -> int:
        return self.best[choice.node.numbers]

    def label(self, node: OpenNode, exact_totals: NDArray[np.int64]) -> Leaf:
        """Return the class with the largest noisy count, which the stop rule may have released."""
        if node.noisy_counts is None:
            mechanism, exact = _gaussian(self.epsilon, self.delta, 1), exact_totals.astype(float)
            node.noisy_counts = node.release(mechanism, exact, "class counts of a leaf")
        return leaf_of_counts(node.noisy_counts)


@lru_cache(maxsize=1000)
def _gaussian(epsilon: Fraction, delta: Fraction, n_changed: int) -> Gaussian:
    """Return noise for a vector of which one record changes `n_changed` numbers by 1."""
    length = Fraction(math.nextafter(math.sqrt(n_changed), math.inf))
    return Gaussian(epsilon, delta, length if n_changed > 1 else Fraction(1))
