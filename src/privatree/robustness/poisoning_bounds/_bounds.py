"""Lower bounds on the expected score of a private learner whose training records are poisoned.

A score lies in [0, 1] and is fixed before training: accuracy on a test set, the share of triggered
records that are *not* misclassified, or whether one prediction is a certain class. ``value`` is the
mean of the score over the learner's noise on one dataset. Each bound is a lower bound on the mean
on every dataset that differs by ``edits`` records added or removed. (A replaced record or a flipped
label is two edits.) The bounds are symmetric: the mean on poisoned records bounds the mean on clean
records in the same way.
If the learner protects units of several records, an edit is a whole unit added or removed.

====  ==================================================  ===========================
A     the paper's Corollary 2 [Vos23, MZH19]              any (epsilon, delta) learner
B     the same for one minus the score                    any (epsilon, delta) learner
AB*   the better of A and B for each edit                 any (epsilon, delta) learner
C     log-odds, lowered by the ranges of all stages       with a schedule
C*    choices bounded as in C, counts as in AB*           with a schedule
D     Renyi divergence                                    with a schedule
E     the best bound for these stages, on a grid          with a schedule
====  ==================================================  ===========================

A schedule lists the stages of spending along *any* path on *any* data, so a certificate never
claims more than the ledger enforces. Its bounds follow from the stages alone, so they have no
delta, also for a learner that has one. Proofs are in ``docs/proofs/poisoning.md``. The only
numerical error is the rounding of double precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from scipy.special import expit

from privatree._support.validation import is_integer
from privatree.errors import ParameterError
from privatree.privacy import Schedule, Stage, epsilon_above
from privatree.robustness.poisoning_bounds._optimal_bound import (
    Interval,
    TradeOff,
    optimal_trade_off,
)

MAX_STEPS = 20_000
"""Largest number of edits that C* and E take one by one. Further edits use bound C."""

_NEGLIGIBLE_RANGE = 600
"""A sum of ranges beyond which every bound is 0, unless the mean is 1."""

MAX_EDITS = 2**60
"""Number of edits at which the search stops. No dataset has as many records."""

_MAX_EXPONENT = 700.0
"""An exponent whose exponential is still finite in double precision."""

LETTERS = ("A", "B", "AB*", "C", "C*", "D", "E")


@dataclass(frozen=True)
class EpsilonDP:
    """A privacy guarantee of which only epsilon and delta are known.

    Parameters
    ----------
    epsilon : float
        Privacy loss for one record added or removed, > 0 and finite.
    delta : float, default=0.0
        Probability with which epsilon may not hold, >= 0 and < 1.

    Examples
    --------
    >>> from privatree.robustness import EpsilonDP, best
    >>> round(best(EpsilonDP(0.5), value=0.9, edits=1).value, 3)
    0.835
    >>> round(best(EpsilonDP(0.5, delta=0.01), value=0.9, edits=1).value, 3)
    0.825
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < math.inf:
            raise ParameterError(f"epsilon must be > 0 and finite, got {self.epsilon}.", "epsilon")
        if not 0 <= self.delta < 1:
            raise ParameterError(f"delta must be >= 0 and < 1, got {self.delta}.", "delta")


Spending = Schedule | EpsilonDP
"""What is known about the privacy of a learner."""


class Certified(NamedTuple):
    """A guaranteed mean score, and the letter of the bound that guarantees it."""

    value: float
    bound: str


def best(spending: Spending, value: float, edits: int) -> Certified:
    """Return the largest lower bound on the mean score after poisoning.

    Parameters
    ----------
    spending : Schedule or EpsilonDP
        Schedule of the learner (``model.privacy_.schedule``), or its epsilon and delta alone.
    value : float
        Mean score without the edits, from 0 to 1.
    edits : int
        Number of records added or removed.

    Returns
    -------
    Certified
        The bound, and its letter. Among equal bounds the simplest is named.

    Examples
    --------
    >>> from privatree.robustness import EpsilonDP, best
    >>> certified = best(EpsilonDP(0.1), value=0.9, edits=10)
    >>> round(certified.value, 3), certified.bound
    (0.728, 'B')
    """
    found = _bounds_to_compare(spending, *_check_value_and_edits(value, edits))
    letter = max(found, key=lambda name: found[name])
    return Certified(found[letter], letter)


def bounds(spending: Spending, value: float, edits: int) -> dict[str, float]:
    """Return every lower bound on the mean score that applies, by its letter.

    The parameters are those of :func:`best`. Bounds C to E need a schedule, and E also needs the
    schedule to list the sequences of stages, of which each edit goes through exactly one.

    Examples
    --------
    >>> from privatree.robustness import EpsilonDP, bounds
    >>> found = bounds(EpsilonDP(0.1), value=0.9, edits=10)
    >>> {letter: round(value, 3) for letter, value in found.items()}
    {'A': 0.331, 'B': 0.728, 'AB*': 0.728}
    """
    value, edits = _check_value_and_edits(value, edits)
    found = _bounds_to_compare(spending, value, edits)
    if isinstance(spending, Schedule):
        found["C*"] = stepwise_logit_bound(spending, value, edits)
    return {letter: found[letter] for letter in LETTERS if letter in found}


def _bounds_to_compare(spending: Spending, value: float, edits: int) -> dict[str, float]:
    """Return all bounds; C* only without E, because C* is slow and exceeds E by a grid error."""
    alone = EpsilonDP(epsilon_above(spending.total)) if isinstance(spending, Schedule) else spending
    known = (alone.epsilon, value, edits, alone.delta)
    found = {
        "A": paper_bound(*known),
        "B": complement_bound(*known),
        "AB*": any_learner_bound(*known),
    }
    if isinstance(spending, Schedule):
        found["C"] = logit_bound(spending, value, edits)
        found["D"] = renyi_bound(spending, value, edits)
        if spending.sequences_of_one:
            found["E"] = optimal_bound(spending, value, edits)
        else:
            found["C*"] = stepwise_logit_bound(spending, value, edits)
    return found


def max_tolerated_edits(holds: Callable[[int], bool]) -> int | None:
    """Return the largest number of edits for which `holds` is true, or None if it never is.

    `holds` must be monotone: if it is false for a number of edits, it is false for all larger ones.
    """
    if not holds(0):
        return None
    good, bad = 0, 1
    while bad <= MAX_EDITS and holds(bad):
        good, bad = bad, 2 * bad
    if bad > MAX_EDITS:
        return MAX_EDITS
    while bad - good > 1:
        middle = (good + bad) // 2
        if holds(middle):
            good = middle
        else:
            bad = middle
    return good


def _check_value_and_edits(value: Any, edits: Any) -> tuple[float, int]:
    number = float(value)
    if not 0 <= number <= 1:
        raise ParameterError(f"value must be a mean score from 0 to 1, got {value}.", "value")
    if not is_integer(edits) or edits < 0:
        raise ParameterError(f"edits must be a number of records >= 0, got {edits!r}.", "edits")
    return number, int(edits)


# --- for any (epsilon, delta)-DP learner ----------------------------------------------------------


def paper_bound(epsilon: float, value: float, edits: int, delta: float = 0.0) -> float:
    """Return bound A, the paper's Corollary 2: each edit divides the mean by e^epsilon.

    With a delta, each edit first subtracts delta.
    """
    left = value * math.exp(-_capped_product(edits, epsilon))
    if not delta or epsilon > _MAX_EXPONENT:
        return left
    lost = -math.expm1(-_capped_product(edits, epsilon)) / math.expm1(epsilon)
    return max(0.0, left - delta * lost)


def complement_bound(epsilon: float, value: float, edits: int, delta: float = 0.0) -> float:
    """Return bound B: each edit multiplies one minus the mean by at most e^epsilon.

    With a delta, each edit then adds delta to one minus the mean.
    """
    if delta and edits:
        product = _capped_product(edits, epsilon)
        if product > _MAX_EXPONENT:
            return 0.0
        gained = delta * math.expm1(product) / math.expm1(epsilon)
        return min(value, max(0.0, 1.0 - (math.exp(product) * (1.0 - value) + gained)))
    if value == 1:
        return 1.0
    exponent = _capped_product(edits, epsilon) + math.log1p(-value)
    return 0.0 if exponent >= 0 else min(value, -math.expm1(exponent))


def any_learner_bound(epsilon: float, value: float, edits: int, delta: float = 0.0) -> float:
    """Return bound AB*: the better of A and B for each edit, which is B at first and A later."""
    if value == 1 and not delta:
        return 1.0
    if epsilon > _MAX_EXPONENT:
        return paper_bound(epsilon, value, edits, delta)
    # B is the better while one minus the mean is at most (1 - delta)/(1 + e^epsilon).
    share = delta / math.expm1(epsilon) if delta else 0.0
    last = (1.0 - delta) * float(expit(-epsilon))
    turn = (math.log(last + share) - math.log(max(1.0 - value + share, 1e-320))) / epsilon
    latest = edits if turn >= edits else math.ceil(turn) if turn > 0 else 0
    return max(
        paper_bound(epsilon, complement_bound(epsilon, value, first, delta), edits - first, delta)
        for first in {latest, max(0, latest - 1)}
    )


# --- for a learner with a schedule ----------------------------------------------------------------


def logit_bound(schedule: Schedule, value: float, edits: int) -> float:
    """Return bound C: each edit lowers the log-odds by the sum of all ranges on a path."""
    return lower_logit(value, _capped_product(edits, epsilon_above(_range_for_bound(schedule))))


def stepwise_logit_bound(schedule: Schedule, value: float, edits: int) -> float:
    """Return bound C*: for each edit, bound all choices as C does and all counts as AB* does."""
    choices, counts = epsilon_above(schedule.choices), epsilon_above(schedule.counts)
    odds, factor = (math.exp(x) if x < 709 else math.inf for x in (choices, counts))

    def after_choices(mean: float) -> float:
        return mean / (mean + odds * (1 - mean))

    def after_counts(mean: float) -> float:
        return max(mean / factor, 1 - factor * (1 - mean))

    for _ in range(min(edits, MAX_STEPS)):
        if value in (0.0, 1.0):
            return value
        value = max(after_choices(after_counts(value)), after_counts(after_choices(value)))
    return logit_bound(schedule, value, max(0, edits - MAX_STEPS))


def renyi_bound(schedule: Schedule, value: float, edits: int) -> float:
    """Return bound D, from Renyi divergences of at most alpha rho in both directions."""
    root = _capped_product(edits, math.sqrt(epsilon_above(_divergence_for_bound(schedule))))
    if value in (0.0, 1.0):
        return value
    high, low = math.sqrt(-math.log1p(-value)), math.sqrt(-math.log(value))
    from_above = -math.expm1(-((high - root) ** 2)) if high > root else 0.0
    return min(value, max(from_above, math.exp(-((low + root) ** 2))))


def optimal_bound(schedule: Schedule, value: float, edits: int) -> float:
    """Return bound E: the best bound for learners with these stages, minus a grid error.

    Edits are bounded one by one, because each edit affects one path. If the schedule has a single
    sequence, all nodes are at the same stage at any time. Then all edits can also be bounded
    together, and the larger bound is returned. The schedule must have ``sequences_of_one``.
    """
    if edits == 0 or value in (0.0, 1.0):
        return value
    if edits * _range_for_bound(schedule) > _NEGLIGIBLE_RANGE:
        return logit_bound(schedule, value, edits)
    first, *others = set(schedule.sequences_of_one)
    at_once = 0.0 if others else min(value, _trade_off_of_edits((first,), edits)(value))
    trade_off = _trade_off_of_edits(schedule.sequences_of_one, 1)
    for _ in range(min(edits, MAX_STEPS)):
        value = min(value, trade_off(value))
        if value == 0:
            return at_once
    return max(at_once, logit_bound(schedule, value, max(0, edits - MAX_STEPS)))


def lower_logit(value: float, amount: float) -> float:
    """Return the probability whose log-odds are lower by `amount` than those of `value`."""
    if value in (0.0, 1.0) or amount == 0:
        return value
    return min(value, float(expit(math.log(value) - math.log1p(-value) - amount)))


@lru_cache(maxsize=512)
def _trade_off_of_edits(sequences: tuple[tuple[Stage, ...], ...], edits: int) -> TradeOff:
    return optimal_trade_off(
        [tuple(Interval.of_stage(stage, edits) for stage in path) for path in sequences]
    )


@lru_cache(maxsize=64)
def _range_for_bound(schedule: Schedule) -> Fraction:
    """Return the largest sum of ranges on a path: epsilon for a choice, 2 epsilon for a count."""
    if not schedule.sequences:
        return schedule.total + schedule.counts
    weight = {"choice": 1, "count": 2}
    return max(
        sum((weight[stage.kind] * stage.epsilon for stage in path), Fraction(0))
        for path in schedule.sequences
    )


@lru_cache(maxsize=64)
def _divergence_for_bound(schedule: Schedule) -> Fraction:
    """Return the largest sum, along a path, of divergences of order alpha divided by alpha."""
    weight = {"choice": Fraction(1, 8), "count": Fraction(1, 2)}
    if not schedule.sequences:  # the worst is one stage, with the largest share for counts or none
        whole, counts = schedule.total, schedule.counts
        return max(whole**2 / 8, max(Fraction(0), whole - counts) ** 2 / 8 + counts**2 / 2)
    return max(
        sum((weight[stage.kind] * stage.epsilon**2 for stage in path), Fraction(0))
        for path in schedule.sequences
    )


_HUGE = Fraction(10) ** 150
"""A number x so large that exp(-x) is 0 in double precision, while x^2 is still finite."""


def _capped_product(edits: int, amount: float) -> float:
    """Return edits * amount as a float, or `_HUGE` if the product is larger."""
    return float(min(_HUGE, edits * Fraction(amount)))
