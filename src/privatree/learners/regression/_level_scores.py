"""Scores of the levels of a target: the closer a level is to that of a record, the more it adds.

With L levels, a record of level k adds L - 1 - abs(k - v) to the score of level v. So a subtree has
the largest score if its leaves have the medians of their records. Records have the classes 1 to L.
Class 0 stays empty, so the pair counts of ``ClassCounts``, which are differences to class 0, are
the counts of the levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privatree._support.kernels.compiling import compiled
from privatree.learners.tree import Counts


@dataclass(frozen=True)
class LevelScores:
    """Scores of the levels of a target.

    Parameters
    ----------
    n_levels : int
        Number of levels, at least 2.
    """

    n_levels: int
    any_labels: ClassVar[bool] = True

    @property
    def score_range(self) -> int:
        return self.n_levels - 1

    @property
    def _table(self) -> NDArray[np.int64]:
        """What a record adds to each score, an array (label, level)."""
        levels = np.arange(self.n_levels)
        table: NDArray[np.int64] = self.score_range - np.abs(levels[:, np.newaxis] - levels)
        return table

    def of_classes(self, exact_counts: NDArray[np.int64]) -> NDArray[np.int64]:
        exact_scores: NDArray[np.int64] = self._table @ exact_counts[1:]
        return exact_scores

    def of_tables(self, counts: tuple[NDArray[Any], NDArray[np.int64]]) -> Counts:
        exact_counts, exact_totals = counts
        most = int(exact_totals.sum(axis=1).max(initial=0)) * 2 * self.score_range
        kind = exact_counts.dtype if most < np.iinfo(exact_counts.dtype).max else np.int64
        n_rows, _, n_codes = exact_counts.shape
        differences = np.empty((n_rows, self.n_levels - 1, n_codes), dtype=kind)
        _score_differences(exact_counts, differences)
        return Counts(differences, exact_totals[:, 1:] @ self._table)


@compiled
def _score_differences(exact_counts: Any, differences: Any) -> None:
    """Fill in the scores of each level but the first, minus the score of the first.

    From the score of a level to that of the next, a record adds 1 if its level is above, and else
    takes 1 away.
    """
    n_rows, n_levels, n_codes = exact_counts.shape
    for row in range(n_rows):
        for code in range(n_codes):
            above = exact_counts[row, 0, code]
            for level in range(1, n_levels):
                above += exact_counts[row, level, code]
            difference = above - above
            steps = above  # above minus not above
            for level in range(n_levels - 1):
                steps -= 2 * exact_counts[row, level, code]
                difference += steps
                differences[row, level, code] = difference
