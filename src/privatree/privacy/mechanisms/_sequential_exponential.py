"""An exponential mechanism drawn in several choices; ``docs/proofs/exponential.md``."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.errors import BudgetExceededError
from privatree.privacy._exact_epsilon import positive_fraction
from privatree.privacy._randomness import Randomness
from privatree.privacy.mechanisms._exponential import Exponential
from privatree.privacy.samplers._halving import PreciseWeights, select_by_halving
from privatree.privacy.samplers._refinement import UNIT_ROUNDOFF
from privatree.privacy.samplers._selection import select


class LogWeights(NamedTuple):
    """Approximate weights: factor * exp(rate * score).

    Parameters
    ----------
    exact_scores : array of int64
        Whole numbers.
    exact_factors : array of float64
        0 for what cannot be drawn, else between ``decay.MIN_FACTOR`` and 2.
    relative_error : float
        Bound on the relative error of each weight.
    precise : callable
        From a number of digits to the weights as decimals and a bound on their relative error.
    """

    exact_scores: NDArray[np.int64]
    exact_factors: NDArray[np.float64]
    relative_error: float
    precise: PreciseWeights


class Draw:
    """One outcome, drawn choice by choice, each given those before it.

    A ledger opens it, paid for. It gives one choice, and as many more as each choice calls for:
    :meth:`expect` says how many. With the last of them it is closed and refuses.

    Parameters
    ----------
    rate : Fraction
        Logarithm of the weight of one unit of score.
    randomness : Randomness
        Where the random bits come from.
    """

    def __init__(self, rate: Fraction, randomness: Randomness) -> None:
        self._rate, self._randomness = rate, randomness
        self._n_left = 1
        self._may_expect = False

    @property
    def is_closed(self) -> bool:
        """Whether every choice of the outcome was made."""
        return not self._n_left

    def draw(self, weights: LogWeights) -> int:
        """Index of a choice, with probability exactly proportional to its weight."""
        self._count()
        return select_by_halving(
            relative_weights(weights, self._rate),
            weights.relative_error + _CONVERSION_ERROR,
            weights.precise,
            self._randomness,
        )

    def draw_by_score(self, exact_scores: NDArray[np.int64]) -> int:
        """Index i with probability exactly proportional to exp(rate * score_i)."""
        self._count()
        return select(exact_scores, self._rate, self._randomness)

    def expect(self, n_choices: int) -> None:
        """Say, once after a choice, how many more it calls for; without a word it is none."""
        if not self._may_expect or n_choices < 0:
            raise BudgetExceededError(
                "A draw expects more choices only once after each, and never fewer."
            )
        self._may_expect = False
        self._n_left += n_choices

    def log_probabilities(self, weights: LogWeights) -> NDArray[np.float64]:
        """The law of :meth:`draw`."""
        logs = _relative_logs(weights, self._rate)
        return np.asarray(logs - np.log(np.exp(logs).sum()))

    def log_probabilities_by_score(self, exact_scores: NDArray[np.int64]) -> NDArray[np.float64]:
        """The law of :meth:`draw_by_score`."""
        return Exponential(self._rate, Fraction(1)).log_probabilities(exact_scores)

    def _count(self) -> None:
        if self.is_closed:
            raise BudgetExceededError(
                "The draw is closed: every choice that was paid for has been made. "
                "Nothing more was drawn. Open another draw."
            )
        self._n_left -= 1
        self._may_expect = True


_CONVERSION_ERROR = 50_000.0 * UNIT_ROUNDOFF
"""Of :func:`relative_weights`: a logarithm of a factor is at most 590 in size, and 64 roundoffs of
that off; exponents that matter are at most 350 + 590; a few roundings of each, 64 for the exp."""


def relative_weights(weights: LogWeights, rate: Fraction) -> NDArray[np.float64]:
    """The weights in units of the largest; what is below exp(-350) is negligible and becomes 0."""
    logs = _relative_logs(weights, rate)
    return np.where(logs < -350.0, 0.0, np.exp(np.maximum(logs, -350.0)))


def _relative_logs(weights: LogWeights, rate: Fraction) -> NDArray[np.float64]:
    """Logarithms in units of the largest; minus infinity for what cannot be drawn."""
    possible = weights.exact_factors > 0
    scores = weights.exact_scores[possible]
    logs = np.log(weights.exact_factors[possible]) - float(rate) * (scores.max() - scores)
    found = np.full(len(possible), -np.inf)
    found[possible] = logs - logs.max()
    return found


@dataclass(frozen=True)
class SequentialExponential:
    """Draw an outcome in several choices, by a measure times exp(epsilon score/score_range).

    Parameters
    ----------
    epsilon : Fraction
        Privacy cost of the whole outcome.
    score_range : int, default=1
        Length of an interval, fixed beforehand, that holds the change of every outcome's score
        between neighbours.

    Notes
    -----
    Neighbours: any relation under which ``score_range`` holds.
    Range: ``score_range``.
    Guarantee: epsilon-DP and epsilon-bounded-range for all choices together, provided that
    the weight of each is the sum of the weights of all outcomes that contain it and what was drawn
    before: then the choices together have the law of the exponential mechanism.
    Cost: epsilon, once.
    """

    epsilon: Fraction
    score_range: int = 1
    name: ClassVar[str] = "exponential"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_fraction("epsilon", self.epsilon))
        positive_fraction("score_range", self.score_range)

    @property
    def rate(self) -> Fraction:
        """Logarithm of the weight of one unit of score."""
        return self.epsilon / self.score_range

    def open(self, randomness: Randomness) -> Draw:
        """Begin a draw. Weights come later, from counts that depend on what was drawn before."""
        return Draw(self.rate, randomness)
