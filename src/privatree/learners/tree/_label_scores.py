"""What a record adds to the score of each label of a subtree, depending on its class.

Trees of classes count the records that they classify correctly: a record of a class adds 1 to the
score of this class, and 0 to all others. Regression trees have ordered classes, and a record adds
more to the score of a label that is closer (``learners/regression/_level_scores.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from privatree.learners.tree._subtree_kernels import Counts


class LabelScores(Protocol):
    """Scores of labels as sums over records."""

    @property
    def score_range(self) -> int:
        """Largest score of one record, which is never below 0."""

    @property
    def any_labels(self) -> bool:
        """Whether both sides of a split may have the same label."""

    def of_classes(self, exact_counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the scores (label, code) of some records, from their counts (class, code)."""

    def of_tables(self, counts: tuple[NDArray[Any], NDArray[np.int64]]) -> Counts:
        """Return a table of scores, from pair counts (``ClassCounts.pair_counts``)."""


@dataclass(frozen=True)
class ClassScores:
    """Scores of classes: the labels are the classes, and their scores are counts."""

    score_range: ClassVar[int] = 1
    any_labels: ClassVar[bool] = False

    def of_classes(self, exact_counts: NDArray[np.int64]) -> NDArray[np.int64]:
        return exact_counts

    def of_tables(self, counts: tuple[NDArray[Any], NDArray[np.int64]]) -> Counts:
        return Counts(*counts)
