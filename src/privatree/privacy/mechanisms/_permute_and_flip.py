"""Permute-and-flip [MS20]; proof: ``docs/proofs/permute-and-flip.md``."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privatree.privacy._exact_epsilon import positive_fraction
from privatree.privacy._randomness import Randomness
from privatree.privacy.samplers._selection import Scores, toss_coins_by_score


@dataclass(frozen=True)
class PermuteAndFlip:
    """Permute-and-flip mechanism: choose a candidate with a score near the best.

    The candidates are visited in random order. For each, a coin of bias
    exp(rate (score - best score)) is tossed. The first candidate with heads is chosen.

    Parameters
    ----------
    epsilon : Fraction
        Privacy cost of one choice.
    sensitivity : Fraction or int, default=1
        Largest change of any candidate's score between neighbours.
    monotone : bool, default=False
        Whether one record moves all scores in the same direction, as for counts. Then the rate is
        epsilon/sensitivity, otherwise half of that.

    Notes
    -----
    Neighbours: any relation under which ``sensitivity`` holds; with ``monotone``, add/remove.
    Sensitivity: ``sensitivity``.
    Guarantee: epsilon-DP. The coins are exact: see :mod:`privatree.privacy.samplers._selection`.
    Cost: epsilon.

    Examples
    --------
    >>> mechanism = PermuteAndFlip(Fraction(1), monotone=True)
    >>> mechanism.release(np.array([0, 100, 5]), Randomness(seed=0))
    1
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
        """Draw the index of a candidate.

        All coins are tossed at once. Order and coins are independent, so the first candidate with
        heads is a uniform choice among all candidates with heads.
        """
        heads = np.flatnonzero(toss_coins_by_score(exact_scores, self._rate, randomness))
        return int(heads[randomness.below(len(heads))])

    def log_probabilities(self, exact_scores: Scores) -> NDArray[np.float64]:
        """Return the log of the probability that each candidate is chosen.

        Each candidate tosses a coin, and one of the n that show heads is chosen uniformly. So
        candidate i has probability E[1/n; coin i shows heads].
        """
        biases = np.exp(float(self._rate) * (exact_scores - exact_scores.max()))
        logs = np.empty(len(biases))
        for index, bias in enumerate(biases):
            heads = np.ones(1)  # law of the number of heads among the other candidates
            for other in np.delete(biases, index):
                heads = np.convolve(heads, [1.0 - other, other])
            logs[index] = np.log(bias) + np.log(np.sum(heads / np.arange(1, len(heads) + 1)))
        return logs
