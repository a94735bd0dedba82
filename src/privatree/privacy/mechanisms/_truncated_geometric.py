"""Two-sided geometric noise, clamped to public bounds; proof: ``docs/proofs/geometric.md``."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.privacy._randomness import Randomness
from privatree.privacy.mechanisms._geometric import Geometric


@dataclass(frozen=True)
class TruncatedGeometric:
    """Two-sided geometric noise on counts, clamped to [lower, upper].

    Parameters
    ----------
    epsilon, sensitivity
        See :class:`Geometric`.
    lower, upper : int or None
        Public bounds; None means no bound.

    Notes
    -----
    Neighbours, Sensitivity, Cost: as for :class:`Geometric`.
    Guarantee: epsilon-DP, since clamping uses nothing but the released value.

    Examples
    --------
    >>> mechanism = TruncatedGeometric(Fraction(1), lower=0, upper=10)
    >>> mechanism.release(np.array([100, -100]), Randomness(seed=0))
    array([10,  0])
    """

    epsilon: Fraction
    sensitivity: int = 1
    lower: int | None = 0
    upper: int | None = None
    name: ClassVar[str] = "truncated geometric"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", self._untruncated.epsilon)
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise ParameterError(
                f"lower must be <= upper, got lower={self.lower} and upper={self.upper}.", "lower"
            )

    @property
    def _untruncated(self) -> Geometric:
        return Geometric(self.epsilon, self.sensitivity)

    def release(self, exact_counts: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
        """Return the counts with independent noise, clamped, in the same shape."""
        noisy = self._untruncated.release(exact_counts, randomness)
        if self.lower is not None:
            noisy = np.maximum(noisy, self.lower)
        if self.upper is not None:
            noisy = np.minimum(noisy, self.upper)
        return noisy

    def log_probability(
        self, noisy_counts: NDArray[np.int64], exact_count: int
    ) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each value, given one exact count."""
        rate = float(self._untruncated.rate)
        logs = self._untruncated.log_probability(noisy_counts, exact_count)
        if self.lower is not None:
            at_lower = _log_geometric_tail(exact_count - self.lower, rate)
            logs = np.where(noisy_counts == self.lower, at_lower, logs)
            logs = np.where(noisy_counts < self.lower, -np.inf, logs)
        if self.upper is not None:
            at_upper = _log_geometric_tail(self.upper - exact_count, rate)
            logs = np.where(noisy_counts == self.upper, at_upper, logs)
            logs = np.where(noisy_counts > self.upper, -np.inf, logs)
        if self.lower is not None and self.lower == self.upper:
            logs = np.where(noisy_counts == self.lower, 0.0, logs)
        return np.asarray(logs)


def _log_geometric_tail(distance: int, rate: float) -> float:
    """Return log P(noise >= distance) in closed form: 1 - cdf would lose digits."""
    log_upper = -rate * max(distance, 1 - distance) - np.log1p(np.exp(-rate))
    return float(log_upper if distance >= 1 else np.log1p(-np.exp(log_upper)))
