"""The forest of Rana, Gupta and Venkatesh [RGV15]: every tree spends all of epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privatree._support.validation import check_integer
from privatree.baselines.growing._coding import CUT, GRID, MULTIWAY, Coding
from privatree.baselines.growing._labellers import NoisyCounts
from privatree.baselines.growing._method import Grown, Guarantee, Job, PublishedMethod
from privatree.baselines.growing._rules import ByNoisyCounts, Choice, Recipe
from privatree.privacy import Ledger, Randomness


@dataclass(frozen=True)
class RanaForest(PublishedMethod):
    """The random forest of Rana, Gupta and Venkatesh (2015), after its abstract.

    We could not read the paper; the trees are our reading. A node looks at sqrt(m) random features,
    at all categories or at one random threshold of a public grid, and splits on the one whose noisy
    counts have the least entropy. The forest averages the class shares of its leaves. Every tree
    sees all records and spends all of epsilon, because the paper protects a statistic and not the
    forest: **the claim does not hold** for more than one tree.

    Parameters
    ----------
    n_trees : int, default=10
        Number of trees.

    Notes
    -----
    Guarantee: n_trees * epsilon.
    Cost: in each tree, epsilon/2 for the levels and epsilon/2 for leaves.

    Examples
    --------
    >>> RanaForest(n_trees=5).vote
    'average'
    """

    title = "the forest of Rana and others"

    n_trees: int = 10

    def check(self) -> None:
        check_integer("n_trees", self.n_trees, 1, 1000)

    def guarantee(self, job: Job) -> Guarantee:
        note = f"Each of the {self.n_trees} trees spends all of the claimed epsilon."
        return Guarantee(self.n_trees * job.epsilon, (note,) if self.n_trees > 1 else ())

    def grow(self, job: Job) -> list[Grown]:
        for_features, for_counts = job.randomness.spawn(2)
        coding, half = Coding.public(job.schema, GRID), job.epsilon / 2
        some = SomeFeatures(half / job.max_depth, for_features)
        candidates = coding.candidates(MULTIWAY, of_numbers=CUT)
        rules = Recipe(job.max_depth, candidates, some, NoisyCounts(half))
        ledgers = [Ledger(job.epsilon, for_counts) for _ in range(self.n_trees)]
        return [job.grow(coding, rules, ledger) for ledger in ledgers]


@dataclass(frozen=True)
class SomeFeatures:
    """The best of sqrt(m) random features by noisy counts, at a random threshold of a number."""

    epsilon: Fraction
    randomness: Randomness
    """Randomness of the features and thresholds, which do not depend on the records."""

    def __call__(self, choice: Choice) -> int:
        positions = choice.candidates.positions[choice.allowed]
        waiting, drawn = np.unique(positions).tolist(), list[int]()
        for _ in range(min(len(waiting), math.ceil(math.sqrt(len(choice.candidates.kinds))))):
            position = waiting.pop(self.randomness.below(len(waiting)))
            places = np.flatnonzero(positions == position)
            left = choice.node.codes.get(position)
            if left is not None:  # thresholds that divide what is left of the range, if any
                cuts = choice.candidates.codes[choice.allowed[places]]
                inside = (cuts >= left.start) & (cuts < left.stop - 1)
                places = places[inside] if inside.any() else places
            drawn.append(int(places[self.randomness.below(len(places))]))
        some = choice._replace(allowed=choice.allowed[drawn])
        return drawn[ByNoisyCounts(self.epsilon, sizes=False)(some)]
