"""The exponential mechanism [MT07], by the range of its score; ``docs/proofs/exponential.md``."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privatree.privacy._exact_epsilon import positive_fraction
from privatree.privacy._randomness import Randomness
from privatree.privacy.samplers._selection import Scores, select


@dataclass(frozen=True)
class Exponential:
    """Choose a candidate with probability proportional to measure exp(epsilon score/score_range).

    Parameters
    ----------
    epsilon : Fraction
        Privacy cost of one choice.
    score_range : Fraction or int, default=2
        Length of an interval, fixed beforehand, that holds the change of every candidate's score
        between neighbours: twice the sensitivity in general; the sensitivity itself if adding a
        record moves no two scores in opposite directions (counts, for example).

    Notes
    -----
    Neighbours: any relation under which ``score_range`` holds.
    Range: ``score_range``.
    Guarantee: epsilon-DP, and epsilon-bounded-range. The draw is exact: see
    :mod:`privatree.privacy.samplers._selection`.
    Cost: epsilon.
    """

    epsilon: Fraction
    score_range: Fraction = Fraction(2)
    name: ClassVar[str] = "exponential"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_fraction("epsilon", self.epsilon))
        object.__setattr__(self, "score_range", positive_fraction("score_range", self.score_range))

    def release(
        self,
        exact_scores: Scores,
        randomness: Randomness,
        measure: NDArray[np.float64] | None = None,
    ) -> int:
        """The index of the chosen candidate. ``measure`` is public and positive."""
        return select(exact_scores, self.epsilon / self.score_range, randomness, measure)

    def log_probabilities(
        self, exact_scores: Scores, measure: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Logarithm of the probability of each candidate."""
        logs = float(self.epsilon / self.score_range) * (exact_scores - exact_scores.max())
        logs = logs if measure is None else logs + np.log(measure)
        return np.asarray(logs - np.logaddexp.reduce(logs))
