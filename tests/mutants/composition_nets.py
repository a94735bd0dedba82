"""A net of compositions: an adversary asks the ledger for as much as it gives.

- *composition*: ranges are those that the search finds, or larger ones if the ledger takes them;
  then draws are made as long as the ledger makes any, each of the largest range that it takes. The
  figure is the delta that an adversary reaches with draws of these ranges, chosen one after the
  other, over the delta that was charged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import NamedTuple

import numpy as np
from reports import Report, worst

from privatree.errors import BudgetExceededError
from privatree.privacy import ComposedLedger, Ledger, Randomness, RangeGroup, largest_range
from privatree.privacy.mechanisms import Exponential

_FINE = 60
_MULTIPLES = (4, Fraction(11, 10), 1)


class Composed(NamedTuple):
    """An epsilon and a delta for draws of some pattern of ranges."""

    epsilon: Fraction
    delta: Fraction
    pattern: Sequence[tuple[Fraction, int]]
    factor: int = 1
    """2 if a record is replaced."""


_ONE = Fraction(1)
_SMALL = Fraction(10, 413)  # on no grid that is used

COMPOSITIONS: dict[str, Composed] = {
    "one draw": Composed(_ONE, Fraction(1, 100), [(_ONE, 1)]),
    "rounds": Composed(_ONE, Fraction(1, 10**5), [(_ONE, 16)]),
    "intervals first": Composed(_ONE, Fraction(1, 10**5), [(_SMALL, 200), (_ONE, 2)]),
    "replaced": Composed(Fraction(6), Fraction(1, 10**5), [(_ONE, 12)], 2),
}


def composition(*cases: str) -> Report:
    return worst([_cast(case) for case in cases or COMPOSITIONS])


def _cast(name: str) -> Report:
    case = COMPOSITIONS[name]
    found = largest_range(case.factor * case.epsilon, case.delta, case.pattern) / case.factor
    for multiple in _MULTIPLES:
        groups = [RangeGroup(ratio * found * multiple, times) for ratio, times in case.pattern]
        ledger = Ledger(case.epsilon, Randomness(0), delta=case.delta)
        try:
            draws = ledger.compose(case.epsilon, case.delta, groups, factor=case.factor)
        except BudgetExceededError:
            continue
        made = _greedy_draws(draws)
        reached = _adversary_delta(
            float(case.factor * case.epsilon), [case.factor * size for size in made]
        )
        figure = reached / float(case.delta)
        reason = (
            "more draws than were charged for" if len(made) > sum(n for _, n in case.pattern)
            else "draws of larger range than was declared" if sum(made) > _whole(groups)
            else "draws that were certified lose more than delta"
        )  # fmt: skip
        return Report("composition", figure > 1, figure, name, reason)
    return Report("composition", True, math.inf, name, "the ledger refuses what the search found")


def _whole(groups: list[RangeGroup]) -> Fraction:
    return sum((group.epsilon * group.times for group in groups), Fraction(0))


def _greedy_draws(draws: ComposedLedger) -> list[Fraction]:
    """The ranges of the draws that the ledger makes, twice as many as were declared at most."""
    sizes = sorted({group.epsilon for group in draws.composition.groups}, reverse=True)
    made: list[Fraction] = []
    while len(made) < 2 * draws.composition.n_draws:
        for size in (2 * sizes[0], *sizes):
            try:
                draws.release(Exponential(size), np.array([0, 1]), purpose="a draw")
            except BudgetExceededError:
                continue
            made.append(size)
            break
        else:
            break
    return made


def _adversary_delta(epsilon: float, ranges: list[Fraction]) -> float:
    """The best of all strategies with losses on a grid that has all ranges: it can be played."""
    common = reduce(_common_step, ranges)
    common /= math.ceil(_FINE * common / max(ranges))
    step = float(common)
    cells = [int(size / common) for size in ranges]
    reach = sum(cells)
    thresholds = epsilon + step * np.arange(-reach, reach + 1)
    later = -np.expm1(np.minimum(0.0, thresholds))
    for n_cells in reversed(cells):
        best = np.zeros(len(later) - 2 * n_cells)
        for below in range(n_cells + 1):
            lower = math.expm1((below - n_cells) * step) / math.expm1(-n_cells * step)
            start = n_cells - below
            means = lower * later[start : start + len(best)]
            means += (1 - lower) * later[start + n_cells : start + n_cells + len(best)]
            np.maximum(best, means, out=best)
        later = best
    return float(later[0])


def _common_step(one: Fraction, other: Fraction) -> Fraction:
    """The largest number of which both are multiples."""
    below = math.lcm(one.denominator, other.denominator)
    return Fraction(math.gcd(int(one * below), int(other * below)), below)
