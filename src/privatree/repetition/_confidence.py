"""Confidence bounds on a mean and on probabilities, from independent observations.

The bounds hold for every number of observations, not only in the limit. The only assumption on the
law is that its values are in [0, 1].
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privatree._support.validation import check_number
from privatree.errors import ParameterError

_BETS = np.concatenate([[1.0], 1.0 - np.logspace(-4.0, -0.1, 15)])
"""Values of c_j in :func:`lower_confidence_bound`."""
_WEIGHTS = np.concatenate([[0.5], np.full(15, 0.5 / 15)])
_ROUNDING = 1e-9
"""Tolerance above the rounding error of sums of logarithms. It makes the bound weaker."""
_HALVINGS = 60


def lower_confidence_bound(scores: ArrayLike, confidence: float) -> float:
    """Return a lower bound on the mean of a law on [0, 1], given independent draws from it.

    With probability at least ``confidence``, the mean is at least the bound.

    Notes
    -----
    The bound is the largest m with ``sum_j w_j prod_i (1 - c_j + c_j X_i / m) >= 1/(1 -
    confidence)``. If m is the true mean, every factor has mean 1, and so has the sum. By Markov's
    inequality the sum is then that large with probability at most ``1 - confidence``. The sum
    decreases in m. By the inequality of arithmetic and geometric means, it is at most 1 if m is the
    average of the scores.
    """
    observed = _check_bounded_scores(scores)
    threshold = -math.log1p(-check_confidence(confidence)) + _ROUNDING
    average = float(observed.mean())
    if average == 0.0:
        return 0.0
    with np.errstate(divide="ignore"):  # log(0) = -inf is meant
        log_scores = np.log(observed)
        log_kept, log_bets = np.log(1.0 - _BETS), np.log(_BETS)
    log_weights = np.log(_WEIGHTS)

    def log_wealth(log_mean: float) -> float:
        factors = np.logaddexp(log_kept[:, None], log_bets[:, None] + (log_scores - log_mean))
        return float(np.logaddexp.reduce(log_weights + factors.sum(axis=1)))

    high = math.log(average)
    step = 1.0
    while log_wealth(high - step) < threshold:
        step *= 2.0
    low = high - step
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if log_wealth(middle) >= threshold:
            low = middle
        else:
            high = middle
    return min(math.exp(low), average)


def upper_confidence_bound(scores: ArrayLike, confidence: float) -> float:
    """Return an upper bound on the mean of a law on [0, 1]; see :func:`lower_confidence_bound`."""
    return 1.0 - lower_confidence_bound(1.0 - _check_bounded_scores(scores), confidence)


def clopper_pearson_lower(
    successes: ArrayLike, trials: int, failure_probability: float
) -> NDArray[np.float64]:
    """Return lower bounds on probabilities, given numbers of successes in independent trials.

    Each bound is wrong with a probability of at most ``failure_probability``.
    """
    from scipy.stats import beta

    counts = np.asarray(successes, dtype=np.float64)
    if trials < 1 or np.any(counts < 0) or np.any(counts > trials):
        raise ParameterError(
            "trials must be at least 1, and successes must be between 0 and trials.", "successes"
        )
    if not 0.0 < failure_probability < 1.0:
        raise ParameterError(
            f"failure_probability must be between 0 and 1, got {failure_probability!r}.",
            "failure_probability",
        )
    happened = counts > 0  # the beta law does not exist for 0
    bounds = beta.ppf(failure_probability, np.where(happened, counts, 1.0), trials - counts + 1.0)
    return np.where(happened, np.minimum(bounds, counts / trials), 0.0)


def clopper_pearson_upper(
    successes: ArrayLike, trials: int, failure_probability: float
) -> NDArray[np.float64]:
    """Return upper bounds on probabilities; see :func:`clopper_pearson_lower`."""
    failures = trials - np.asarray(successes, dtype=np.float64)
    return 1.0 - clopper_pearson_lower(failures, trials, failure_probability)


def _check_bounded_scores(scores: ArrayLike) -> NDArray[np.float64]:
    observed = np.asarray(scores, dtype=np.float64)
    if observed.ndim != 1 or observed.size == 0:
        got = f"got the shape {observed.shape}"
        raise ParameterError(f"scores must be a list of one or more numbers, {got}.", "scores")
    if not np.all((observed >= 0.0) & (observed <= 1.0)):  # NaN fails this, too
        raise ParameterError("scores must be numbers between 0 and 1.", "scores")
    return observed


def check_confidence(confidence: Any) -> float:
    check_number("confidence", confidence, lambda c: 0.0 < c < 1.0, "be between 0 and 1")
    return float(confidence)
