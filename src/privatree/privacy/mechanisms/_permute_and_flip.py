"""Permute-and-flip [MS20]; proof: ``docs/proofs/permute-and-flip.md``."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privatree.privacy._exact_epsilon import positive_fraction
from privatree.privacy._randomness import Randomness
from privatree.privacy.samplers._selection import Scores, toss


@dataclass(frozen=True)
class PermuteAndFlip:
    """Choose a candidate of nearly the best score.

    Visit the candidates in random order, toss for each a coin of bias
    exp(rate (score - best score)), and take the first that shows heads.

    Parameters
    ----------
    epsilon : Fraction
        Privacy cost of one choice.
    sensitivity : Fraction or int, default=1
        Largest change of any candidate's score between neighbours.
    monotone : bool, default=False
        Whether one record moves all scores in the same direction (counts do). Then the rate is
        epsilon/sensitivity, else half of it.

    Notes
    -----
    Neighbours: any relation under which ``sensitivity`` holds; with ``monotone`` add/remove.
    Sensitivity: ``sensitivity``.
    Guarantee: epsilon-DP. The coins are exact: see :mod:`privatree.privacy.samplers._selection`.
    Cost: epsilon.
    """

    epsilon: Fraction
    sensitivity: Fraction = Fraction(1)
    monotone: bool = False
    name: ClassVar[str] = "permute-and-flip"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_fraction("epsilon", self.epsilon))
        object.__setattr__(self, "sensitivity", positive_fraction("sensitivity", self.sensitivity))

    @property
    def _rate(self) -> Fraction:
        return self.epsilon / self.sensitivity / (1 if self.monotone else 2)

    def release(self, exact_scores: Scores, randomness: Randomness) -> int:
        """The index of the chosen candidate.

        All coins are tossed at once. Order and coins are independent, so the first head in a
        random order is a uniformly chosen one among all heads.
        """
        heads = np.flatnonzero(toss(exact_scores, self._rate, randomness))
        return int(heads[randomness.below(len(heads))])

    def log_probabilities(self, exact_scores: Scores) -> NDArray[np.float64]:
        """Logarithm of the probability of each candidate: E[1/heads; i among the heads]."""
        biases = np.exp(float(self._rate) * (exact_scores - exact_scores.max()))
        logs = np.empty(len(biases))
        for index, bias in enumerate(biases):
            heads = np.ones(1)  # law of the number of heads among the other candidates
            for other in np.delete(biases, index):
                heads = np.convolve(heads, [1.0 - other, other])
            logs[index] = np.log(bias) + np.log(np.sum(heads / np.arange(1, len(heads) + 1)))
        return logs
