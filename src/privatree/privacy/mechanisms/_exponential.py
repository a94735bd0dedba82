"""Exponential mechanism [MT07] for scores of bounded range; see ``docs/proofs/exponential.md``."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privatree.privacy._exact_epsilon import positive_fraction
from privatree.privacy._randomness import Randomness
from privatree.privacy.samplers._selection import Scores, select_by_score


@dataclass(frozen=True)
class Exponential:
    """Exponential mechanism, with the weights measure * exp(epsilon * score / score_range).

    Parameters
    ----------
    epsilon : Fraction
        Privacy cost of one choice.
    score_range : Fraction or int, default=2
        Length of a fixed interval that contains the change of every candidate's score between
        neighbours. In general it is twice the sensitivity. It is the sensitivity itself if adding a
        record never moves two scores in opposite directions, as for counts.

    Notes
    -----
    Neighbours: any relation under which ``score_range`` holds.
    Range: ``score_range``.
    Guarantee: epsilon-DP, and epsilon-bounded-range. The draw is exact: see
    :mod:`privatree.privacy.samplers._selection`.
    Cost: epsilon.

    Examples
    --------
    >>> mechanism = Exponential(Fraction(1), score_range=Fraction(1))
    >>> mechanism.release(np.array([0, 100, 5]), Randomness(seed=0))
    1
    >>> np.exp(mechanism.log_probabilities(np.array([0, 1]))).round(3)
    array([0.269, 0.731])
    """

    epsilon: Fraction
    score_range: Fraction = Fraction(2)
    name: ClassVar[str] = "exponential"
    is_bounded_range: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_fraction("epsilon", self.epsilon))
        object.__setattr__(self, "score_range", positive_fraction("score_range", self.score_range))

    def release(
        self,
        exact_scores: Scores,
        randomness: Randomness,
        measure: NDArray[np.float64] | None = None,
    ) -> int:
        """Draw the index of a candidate. ``measure`` must be public and positive."""
        return select_by_score(exact_scores, self.epsilon / self.score_range, randomness, measure)

    def log_probabilities(
        self, exact_scores: Scores, measure: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each candidate."""
        logs = float(self.epsilon / self.score_range) * (exact_scores - exact_scores.max())
        logs = logs if measure is None else logs + np.log(measure)
        return np.asarray(logs - np.logaddexp.reduce(logs))
