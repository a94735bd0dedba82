"""What poisoned records cannot do to a private learner: lower bounds on an expected score.

A score lies in [0, 1] and is fixed before training: accuracy on a test set, the share of triggered
records that are *not* misclassified, whether one prediction is a certain class. Let ``value`` be
its mean over the learner's noise on one table. Each bound is a lower bound on its mean on every
table that ``edits`` records added or removed can make of it. (A replaced record or a flipped label
is two edits.) All are symmetric: from the mean on poisoned records they bound that on clean ones.

====  ==================================================  ===========================
A     the paper's Corollary 2 [Vos23, MZH19]              any epsilon-DP learner
B     the same for the score's complement                 any epsilon-DP learner
AB*   the better of both for each edit                    any epsilon-DP learner
C     log-odds fall by the ranges of all stages           with a schedule
C*    with choices and counts apart, for each edit        with a schedule
D     Renyi divergence                                    with a schedule
E     the best that the stages allow, on a grid           with a schedule
====  ==================================================  ===========================

A schedule is what a learner could spend along *any* path on *any* data, so a certificate never
claims more than its ledger supports. Proofs are in ``docs/proofs/poisoning.md``. Results err by
roundings of double precision only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from privatree._support.validation import is_integer
from privatree.errors import ParameterError
from privatree.privacy import Schedule, Stage, rounded_up
from privatree.robustness.poisoning_bounds._optimal_bound import Interval, TradeOff, trade_off

MAX_STEPS = 20_000
"""Of a bound that goes edit by edit; from there on it is bound C."""

_FAR = 600
"""A sum of ranges beyond which no bound but that for a mean of 1 differs from 0."""


@dataclass(frozen=True)
class EpsilonDP:
    """All that is known: one record changes no probability by more than a factor e^epsilon.

    Parameters
    ----------
    epsilon : float
        For one record added or removed.
    """

    epsilon: float

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < math.inf:
            raise ParameterError(f"epsilon must be > 0 and finite, got {self.epsilon}.", "epsilon")


LETTERS = ("A", "B", "AB*", "C", "C*", "D", "E")

Spending = Schedule | EpsilonDP
"""What is known of a learner's privacy."""


class Certified(NamedTuple):
    """A guaranteed mean score, and by which bound."""

    value: float
    bound: str


def best(spending: Spending, value: float, edits: int) -> Certified:
    """The largest of all bounds that apply.

    Parameters
    ----------
    spending : Schedule or EpsilonDP
        The learner's schedule (``model.privacy_.schedule``), or all that is known.
    value : float
        Mean of the score, 0 to 1.
    edits : int
        Records added or removed.

    Returns
    -------
    Certified
        The mean score that is left at least, and the letter of the bound.
    """
    found = _worth_comparing(spending, *checked(value, edits))
    letter = max(found, key=lambda name: found[name])  # the simplest of equals
    return Certified(found[letter], letter)


def bounds(spending: Spending, value: float, edits: int) -> dict[str, float]:
    """Every bound that applies, by its letter; E only if the schedule lists its sequences."""
    value, edits = checked(value, edits)
    found = _worth_comparing(spending, value, edits)
    if isinstance(spending, Schedule):
        found["C*"] = stepwise_logit_bound(spending, value, edits)
    return {letter: found[letter] for letter in LETTERS if letter in found}


def _worth_comparing(spending: Spending, value: float, edits: int) -> dict[str, float]:
    """All but C*, which is slow and, where there is E, above it by no more than the grid."""
    epsilon = rounded_up(spending.total) if isinstance(spending, Schedule) else spending.epsilon
    found = {
        "A": paper_bound(epsilon, value, edits),
        "B": complement_bound(epsilon, value, edits),
        "AB*": any_learner_bound(epsilon, value, edits),
    }
    if isinstance(spending, Schedule):
        found["C"] = logit_bound(spending, value, edits)
        found["D"] = renyi_bound(spending, value, edits)
        if spending.sequences:
            found["E"] = optimal_bound(spending, value, edits)
        else:
            found["C*"] = stepwise_logit_bound(spending, value, edits)
    return found


def checked(value: Any, edits: Any) -> tuple[float, int]:
    """The same as plain numbers, or an error."""
    number = float(value)
    if not 0 <= number <= 1:
        raise ParameterError(f"value must be a mean score from 0 to 1, got {value}.", "value")
    if not is_integer(edits) or edits < 0:
        raise ParameterError(f"edits must be a number of records >= 0, got {edits!r}.", "edits")
    return number, int(edits)


# --- for any epsilon-DP learner -------------------------------------------------------------------


def paper_bound(epsilon: float, value: float, edits: int) -> float:
    """Bound A, the paper's Corollary 2: each edit takes off a factor e^epsilon."""
    return value * math.exp(-_times(edits, epsilon))


def complement_bound(epsilon: float, value: float, edits: int) -> float:
    """Bound B: one minus the score grows by at most that factor."""
    if value == 1:
        return 1.0
    exponent = _times(edits, epsilon) + math.log1p(-value)
    return 0.0 if exponent >= 0 else min(value, -math.expm1(exponent))


def any_learner_bound(epsilon: float, value: float, edits: int) -> float:
    """Bound AB*: for each edit the better of A and B, which is B first and A from some edit on."""
    if value == 1:
        return 1.0
    turn = -(math.log1p(-value) + float(np.logaddexp(0.0, epsilon))) / epsilon
    latest = edits if turn >= edits else math.ceil(turn) if turn > 0 else 0
    return max(
        paper_bound(epsilon, complement_bound(epsilon, value, first), edits - first)
        for first in {latest, max(0, latest - 1)}
    )


# --- for a learner with a schedule ----------------------------------------------------------------


def logit_bound(schedule: Schedule, value: float, edits: int) -> float:
    """Bound C: ln(value/(1 - value)) falls by the sum of the stages' ranges for each edit."""
    return lower_logit(value, _times(edits, rounded_up(_most_range(schedule))))


def stepwise_logit_bound(schedule: Schedule, value: float, edits: int) -> float:
    """Bound C*: for each edit all choices as in C, and all counts as in AB*."""
    odds, factor = _exp(rounded_up(schedule.choices)), _exp(rounded_up(schedule.counts))

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
    """Bound D: the divergence of order alpha is at most alpha rho, both ways."""
    root = _times(edits, math.sqrt(rounded_up(_most_divergence(schedule))))
    if value in (0.0, 1.0):
        return value
    high, low = math.sqrt(-math.log1p(-value)), math.sqrt(-math.log(value))
    from_above = -math.expm1(-((high - root) ** 2)) if high > root else 0.0
    return min(value, max(from_above, math.exp(-((low + root) ** 2))))


def optimal_bound(schedule: Schedule, value: float, edits: int) -> float:
    """Bound E: the best that holds for every learner with these stages, less the error of a grid.

    Edits are taken one by one: each goes along one path. With a single sequence all nodes at a time
    are at the same stage, so that all edits can also be taken at once; the better is taken.
    """
    if edits == 0 or value in (0.0, 1.0):
        return value
    if edits * _most_range(schedule) > _FAR:
        return logit_bound(schedule, value, edits)
    first, *others = set(schedule.sequences)
    at_once = 0.0 if others else _all_at_once(first, edits)(value)
    return max(min(value, at_once), _one_by_one(schedule, value, edits))


def _one_by_one(schedule: Schedule, value: float, edits: int) -> float:
    trade = _one_edit(schedule)
    for _ in range(min(edits, MAX_STEPS)):
        value = min(value, trade(value))
        if value == 0:
            return 0.0
    return logit_bound(schedule, value, max(0, edits - MAX_STEPS))


def lower_logit(value: float, amount: float) -> float:
    """A probability whose log-odds are lower by this amount."""
    if value in (0.0, 1.0) or amount == 0:
        return value
    return min(value, float(expit(math.log(value) - math.log1p(-value) - amount)))


@lru_cache(maxsize=512)
def _all_at_once(sequence: tuple[Stage, ...], edits: int) -> TradeOff:
    return trade_off([tuple(Interval.of(stage, edits) for stage in sequence)])


@lru_cache(maxsize=64)
def _one_edit(schedule: Schedule) -> TradeOff:
    paths = [tuple(Interval.of(stage, 1) for stage in path) for path in schedule.sequences]
    return trade_off(paths)


@lru_cache(maxsize=64)
def _most_range(schedule: Schedule) -> Fraction:
    """Most that the ranges add up to along a path: a count's is twice its epsilon."""
    if not schedule.sequences:
        return schedule.total + schedule.counts
    weight = {"choice": 1, "count": 2}
    return max(
        sum((weight[stage.kind] * stage.epsilon for stage in path), Fraction(0))
        for path in schedule.sequences
    )


@lru_cache(maxsize=64)
def _most_divergence(schedule: Schedule) -> Fraction:
    """Most that the divergences of order alpha, over alpha, add up to along a path."""
    weight = {"choice": Fraction(1, 8), "count": Fraction(1, 2)}
    if not schedule.sequences:  # all in one stage, with as much for counts as there can be, or none
        whole, counts = schedule.total, schedule.counts
        return max(whole**2 / 8, max(Fraction(0), whole - counts) ** 2 / 8 + counts**2 / 2)
    return max(
        sum((weight[stage.kind] * stage.epsilon**2 for stage in path), Fraction(0))
        for path in schedule.sequences
    )


# --- numbers --------------------------------------------------------------------------------------

_HUGE = Fraction(10) ** 150
"""Its square is a float still, and e to the minus it is 0 in double precision."""


def _exp(exponent: float) -> float:
    return math.exp(exponent) if exponent < 709 else math.inf


def _times(edits: int, amount: float) -> float:
    """Their product, as far as it matters."""
    return float(min(_HUGE, edits * Fraction(amount)))
