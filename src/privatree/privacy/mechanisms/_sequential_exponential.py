"""An exponential mechanism drawn in several choices; proof: ``docs/proofs/exponential.md``."""

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
from privatree.privacy.samplers._linked_coins import (
    LinkedCoins,
    log_probabilities_of_linked_coins,
    toss_linked_coins,
)
from privatree.privacy.samplers._refinement import UNIT_ROUNDOFF
from privatree.privacy.samplers._selection import select_by_score


class LogWeights(NamedTuple):
    """Approximate weights of the candidates of one choice: factor * exp(rate * score).

    Parameters
    ----------
    exact_scores : array of int64
        Scores.
    exact_factors : array of float64
        Factors: 0 for a candidate that cannot be drawn, or from ``decay.MIN_FACTOR`` to
        ``1 / decay.MIN_FACTOR``.
    relative_error : float
        Bound on the relative error of each weight.
    precise : callable
        Takes a number of digits; returns the weights as decimals and a bound on their relative
        error.

    Examples
    --------
    >>> from decimal import Decimal
    >>> precise = lambda digits: ([Decimal(1), Decimal(0)], Decimal(0))
    >>> weights = LogWeights(np.array([5, 9]), np.array([1.0, 0.0]), 0.0, precise)
    >>> Draw(Fraction(1), Randomness(seed=0)).draw(weights)
    0
    """

    exact_scores: NDArray[np.int64]
    exact_factors: NDArray[np.float64]
    relative_error: float
    precise: PreciseWeights


class Draw:
    """One outcome of a mechanism that is drawn in several choices.

    A ledger charges for the outcome and opens the draw. The draw allows one choice. After
    each choice, :meth:`expect` can announce further ones. When all are made, the draw is closed.

    Parameters
    ----------
    rate : Fraction
        Change of the log-weight for one unit of score.
    randomness : Randomness
        Source of random bits.

    Examples
    --------
    >>> draw = SequentialExponential(Fraction(1)).open(Randomness(seed=0))
    >>> draw.draw_by_score(np.array([0, 100, 5]))
    1
    >>> draw.is_closed
    True
    """

    def __init__(self, rate: Fraction, randomness: Randomness) -> None:
        self._rate, self._randomness = rate, randomness
        self._n_left = 1
        self._may_expect = False

    @property
    def is_closed(self) -> bool:
        """Whether all choices of the outcome were made."""
        return not self._n_left

    def draw(self, weights: LogWeights) -> int:
        """Draw an index with probability exactly proportional to its weight."""
        self._use_one_choice()
        return select_by_halving(
            sequential_weights(weights, self._rate),
            weights.relative_error + _CONVERSION_ERROR,
            weights.precise,
            self._randomness,
        )

    def draw_by_score(self, exact_scores: NDArray[np.int64]) -> int:
        """Draw index i with probability exactly proportional to exp(rate * score_i)."""
        self._use_one_choice()
        return select_by_score(exact_scores, self._rate, self._randomness)

    def draw_signs(self, coins: LinkedCoins) -> NDArray[np.bool_]:
        """Draw a row of signs, each given the sign before it. This is one choice."""
        self._use_one_choice()
        return toss_linked_coins(coins, self._randomness)

    def expect(self, n_choices: int) -> None:
        """Announce, once after a choice, how many further choices it requires."""
        if not self._may_expect or n_choices < 0:
            raise BudgetExceededError(
                "expect must be called at most once after each choice, with n_choices >= 0."
            )
        self._may_expect = False
        self._n_left += n_choices

    def log_probabilities(self, weights: LogWeights) -> NDArray[np.float64]:
        """Return the log-probabilities of :meth:`draw`."""
        logs = _sequential_log_weights(weights, self._rate)
        return np.asarray(logs - np.log(np.exp(logs).sum()))

    def log_probabilities_by_score(self, exact_scores: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the log-probabilities of :meth:`draw_by_score`."""
        return Exponential(self._rate, Fraction(1)).log_probabilities(exact_scores)

    def log_probabilities_of_signs(self, coins: LinkedCoins) -> NDArray[np.float64]:
        """Return the log-probabilities of :meth:`draw_signs`: an array (sign before, place, sign).

        A sign is 0 for False and 1 for True. The first sign has no sign before it, and the same
        probabilities in both rows.
        """
        return log_probabilities_of_linked_coins(coins)

    def _use_one_choice(self) -> None:
        if self.is_closed:
            raise BudgetExceededError(
                "the draw is closed: all choices that were charged for have been made. "
                "Nothing more was drawn. Open another draw."
            )
        self._n_left -= 1
        self._may_expect = True


_CONVERSION_ERROR = 50_000.0 * UNIT_ROUNDOFF
"""Error bound of :func:`sequential_weights`. Logarithms of factors are at most 590 in size, with
a relative error of 64 roundoffs. Exponents that matter are at most 350 + 590, with a few roundings
each, and exp adds 64 roundoffs."""


def sequential_weights(weights: LogWeights, rate: Fraction) -> NDArray[np.float64]:
    """Return the weights divided by the largest; results below exp(-350) become 0."""
    logs = _sequential_log_weights(weights, rate)
    return np.where(logs < -350.0, 0.0, np.exp(np.maximum(logs, -350.0)))


def _sequential_log_weights(weights: LogWeights, rate: Fraction) -> NDArray[np.float64]:
    """Return log-weights relative to the largest; minus infinity if the factor is 0."""
    possible = weights.exact_factors > 0
    scores = weights.exact_scores[possible]
    logs = np.log(weights.exact_factors[possible]) - float(rate) * (scores.max() - scores)
    found = np.full(len(possible), -np.inf)
    found[possible] = logs - logs.max()
    return found


@dataclass(frozen=True)
class SequentialExponential:
    """Exponential mechanism whose outcome is drawn in several choices.

    An outcome has the weight measure * exp(epsilon * score / score_range).

    Parameters
    ----------
    epsilon : Fraction
        Privacy cost of the whole outcome.
    score_range : int, default=1
        Length of a fixed interval that contains the change of every outcome's score between
        neighbours.

    Notes
    -----
    Neighbours: any relation under which ``score_range`` holds.
    Range: ``score_range``.
    Guarantee: epsilon-DP and epsilon-bounded-range for all choices together, provided that the
    weight of each choice is the sum of the weights of all outcomes that contain this choice and all
    choices before it. Then the choices together have the law of the exponential mechanism.
    Cost: epsilon, once.

    Examples
    --------
    >>> from privatree.privacy import Ledger
    >>> ledger = Ledger(Fraction(1), Randomness(seed=0))
    >>> draw = ledger.open_draw(SequentialExponential(Fraction(1)), purpose="a split")
    >>> draw.draw_by_score(np.array([0, 100, 5]))
    1
    """

    epsilon: Fraction
    score_range: int = 1
    name: ClassVar[str] = "exponential"
    is_bounded_range: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_fraction("epsilon", self.epsilon))
        positive_fraction("score_range", self.score_range)

    @property
    def rate(self) -> Fraction:
        """Change of the log-weight for one unit of score."""
        return self.epsilon / self.score_range

    def open(self, randomness: Randomness) -> Draw:
        """Begin a draw. Its weights are given later, choice by choice."""
        return Draw(self.rate, randomness)
