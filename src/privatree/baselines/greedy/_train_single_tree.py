"""TrainSingleTree, the tree of DPBoost [LWWH20]: gains of gradients, and noisy values of leaves."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from privatree._support.validation import check_number
from privatree.baselines.growing._coding import CUT, GRID, ONE, Coding
from privatree.baselines.growing._labellers import NoisyValue
from privatree.baselines.growing._method import Grown, Guarantee, Job, PublishedMethod
from privatree.baselines.growing._rules import Choice, Recipe
from privatree.baselines.growing._scores import gradient_score
from privatree.privacy import Ledger


@dataclass(frozen=True)
class TrainSingleTree(PublishedMethod):
    """The tree that DPBoost of Li, Wu, Wen and He (2020) trains first.

    For two classes the gradients are 1 and -1, and a leaf predicts the sign of its noisy value.
    With more classes there is one tree for each class against the rest, as in the authors' code,
    and epsilon is divided. Not as in the code, thresholds are those of a public grid, every node is
    split, and no gain is treated apart: the code decides all of these by exact values. Categories
    are split one against the rest.

    Parameters
    ----------
    regularisation : float, default=0.1
        Number that is added to the size of a node.

    Notes
    -----
    Range: 4 for the gain, where the paper counts 6. Sensitivity: 1/(1 + regularisation) for the
    value of a leaf.
    Guarantee: 5/6 epsilon.
    Cost: epsilon/2 for leaves, and epsilon/3 for d draws.

    Examples
    --------
    >>> TrainSingleTree(regularisation=0.5).title
    'TrainSingleTree'
    """

    title = "TrainSingleTree"

    regularisation: float = 0.1

    def check(self) -> None:
        must = "be a number from 0 to 1000000"
        check_number("regularisation", self.regularisation, lambda r: 0 <= r <= 1e6, must)

    def guarantee(self, job: Job) -> Guarantee:
        return Guarantee(5 * job.epsilon / 6)

    def grow(self, job: Job) -> list[Grown]:
        coding, n_classes = Coding.public(job.schema, GRID), len(job.schema.classes)
        positives = [1] if n_classes == 2 else list(range(n_classes))
        half, score = job.epsilon / len(positives) / 2, gradient_score(self.regularisation)
        draw = score.draw(half / job.max_depth)
        chooser = partial(Choice.draw, mechanism=draw, score=score)
        candidates, grown = coding.candidates(ONE, of_numbers=CUT), list[Grown]()
        for positive in positives:
            labeller = NoisyValue(half, Fraction(self.regularisation), n_classes, positive)
            rules = Recipe(job.max_depth, candidates, chooser, labeller, reuse=True)
            own = job._replace(labels=(job.labels == positive).astype(np.int32))
            grown.append(own.grow(coding, rules, Ledger(5 * half / 3, job.randomness)))
        return grown
