"""Smooth Random Trees [FI17]: random trees of disjoint records, labels by smooth sensitivity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privatree._support.validation import check_integer
from privatree.baselines.growing._labellers import SMOOTH_SENSITIVITY, SmoothLabel
from privatree.baselines.growing._method import Grown, Guarantee, Job, PublishedMethod
from privatree.baselines.growing._structures import (
    count_leaves,
    deal_records,
    draw_random_splits,
    label_one_by_one,
)
from privatree.privacy import Ledger

CAP = Fraction(50)
_MAX_LEADS = 10**6


@dataclass(frozen=True)
class SmoothRandomTrees(PublishedMethod):
    """The random forest of Fletcher and Islam (2017), with labels by smooth sensitivity.

    The splits are those of Private-RDT, as in the authors' code. Each tree gets a part of the
    records and all of epsilon for its labels; the labels vote. **Its epsilon does not hold.** Two
    things differ from the code: every record draws its part by itself (parts of fixed sizes would
    leak), and the depth is a parameter.

    Parameters
    ----------
    n_trees : int, default=10
        Number of trees.
    capped : bool, default=True
        Whether exponents are at most 50, as in the code. The paper has no cap, and without one no
        finite epsilon holds.

    Notes
    -----
    Guarantee: :func:`capped_smooth_loss`, which is far above epsilon; without a cap none.
    Cost: epsilon, as the method counts it.

    Examples
    --------
    >>> round(float(capped_smooth_loss(Fraction(1), n_classes=2)), 1)
    22.7
    """

    title = "Smooth Random Trees"
    vote = "majority"

    n_trees: int = 10
    capped: bool = True

    def check(self) -> None:
        check_integer("n_trees", self.n_trees, 1, 1000)

    def guarantee(self, job: Job) -> Guarantee:
        if not self.capped:
            return Guarantee(None, leaks=(SMOOTH_SENSITIVITY,))
        note = f"What is proved follows from the cap alone: {SMOOTH_SENSITIVITY.explanation}"
        return Guarantee(capped_smooth_loss(job.epsilon, len(job.schema.classes)), (note,))

    def grow(self, job: Job) -> list[Grown]:
        for_splits, for_parts, for_labels = job.randomness.spawn(3)
        cap, cost = CAP if self.capped else None, self.guarantee(job).epsilon
        labeller, grown = SmoothLabel(job.epsilon, cap, cost), list[Grown]()
        for columns, labels in deal_records(job.columns, job.labels, self.n_trees, for_parts):
            ledger = Ledger(cost or job.epsilon, for_labels)
            splits = draw_random_splits(job.schema, job.max_depth, for_splits)
            exact_counts = count_leaves(splits, columns, labels)
            tree = label_one_by_one(splits, exact_counts, ledger, labeller)
            grown.append(Grown(tree, tuple(ledger.spends())))
        return grown


def capped_smooth_loss(epsilon: Fraction, n_classes: int) -> Fraction:
    """Return what a record can change the log-probability of a leaf's label by, with the cap.

    A record changes the lead g of the largest class by at most 1. At g = 0 it changes how many
    classes are the largest, by 1, or makes one of them the only one.
    """
    e, cap, others = float(epsilon), float(CAP), n_classes - 1
    n_leads = 3 + math.ceil(max(math.log(2 * cap / e), 0) / e)
    if n_leads > _MAX_LEADS:
        return CAP
    x = np.minimum(e / 2 * np.exp(np.minimum(np.arange(n_leads) * e, 2 * cap)), cap)
    alone = np.logaddexp(x, math.log(others))  # log of the sum of weights, with one largest class
    tied = np.arange(2, n_classes + 1)
    equal = np.log(tied * math.exp(x[0]) + n_classes - tied)
    changes = [
        np.diff((x - alone)[1:]),  # the largest class
        np.diff(alone[1:]),  # any other class
        (x[1] - alone[1]) - (x[0] - equal),  # of several largest classes, the one that leads
        alone[1] + x[0] - equal,  # and another one
        (alone[1] - equal)[:-1],  # and a class that is not among them
        np.diff(equal),  # a class that becomes one of the largest, or does not
        x[0] - np.diff(equal),
    ]
    largest = max(float(np.abs(change).max(initial=0.0)) for change in changes)
    return Fraction(largest * (1 + 1e-12))
