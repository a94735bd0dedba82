"""Table of certificates: the accuracy that is guaranteed with a number of poisoned records.

The page cannot compute bounds itself, so it contains this table. Every entry is a bound that is
rounded down. The page reads the table at the next smaller accuracy and the next larger number of
records, so it never shows more than what is guaranteed.

A mean absolute error is read as an accuracy: 1 minus its share of the width of the target's range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from privatree.privacy import Schedule, epsilon_above
from privatree.robustness.poisoning_bounds import (
    EpsilonDP,
    Interval,
    Spending,
    any_learner_bound,
    logit_bound,
    max_tolerated_edits,
    optimal_trade_off,
    paper_bound,
    renyi_bound,
    stepwise_logit_bound,
)

ACCURACY_STEPS, ERROR_STEPS = 10_000, 1_000_000
"""Accuracies in the table are integers: so many steps are an accuracy of 1. An error can be a very
small share of a wide range, so its steps are finer."""

_ACCURACY_STARTS = (
    *range(0, ACCURACY_STEPS // 2, ACCURACY_STEPS // 50),
    *range(ACCURACY_STEPS // 2, ACCURACY_STEPS, ACCURACY_STEPS // 200),
    ACCURACY_STEPS - ACCURACY_STEPS // 1000,
)
_ERROR_STARTS = tuple(
    ERROR_STEPS - math.ceil(ERROR_STEPS * 10 ** (-place / 40) - 1e-6)
    for place in (*range(80), *range(80, 161, 2))
)
"""1 minus shares of the range from 1 to 1/10,000, each a twentieth or a tenth smaller."""
_STARTS = {ACCURACY_STEPS: _ACCURACY_STARTS, ERROR_STEPS: _ERROR_STARTS}
_MAX_COLUMNS = 55
_LAST_START, _MIN_REMAINING = 0.99, 0.01
"""The table ends where the first of these accuracies falls below the second."""
_MAX_EDITS = 10**12
_MAX_STEPS = 2000
"""Largest number of edits that are bounded one by one. Further edits use logit_bound."""
_CELLS_OF_JOINT_EDITS = 1500
"""Number of grid cells for the bound on many edits together. Each column has its own grid."""
_ROUNDING = 1e-9
_Bound = Callable[[float], float]
"""Function from an accuracy without poisoning to the accuracy guaranteed with poisoning."""


@dataclass(frozen=True)
class CertificateTable:
    """Guaranteed expected accuracies. An accuracy of 1 has `steps` steps.

    `starts` are the expected accuracies without poisoning. `edits` are the numbers of added or
    removed records, from 0. Both increase. `rows` has the guaranteed accuracies for each start and
    number of edits, without zeros at the end. `paper_factors` are, for each number of edits, the
    factors by which the paper's bound multiplies an accuracy.
    """

    steps: int
    starts: tuple[int, ...]
    edits: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    paper_factors: tuple[float, ...]


class _IdentitySchedule(Schedule):
    """A schedule that is compared by identity, because hashing its fractions is slow."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


def accuracy_in_steps(accuracy: float, steps: int = ACCURACY_STEPS) -> int:
    """Return an accuracy in steps, rounded down so that no rounding error raises it."""
    return max(0, math.floor((accuracy - _ROUNDING) * steps))


def certificate_table(
    spending: Spending, extra_start: int | None = None, steps: int = ACCURACY_STEPS
) -> CertificateTable:
    """Return the table for a learner's schedule or epsilon. This takes some tenths of a second.

    `extra_start` is one more accuracy without poisoning, in steps, from a certificate file. `steps`
    is ACCURACY_STEPS or ERROR_STEPS.
    """
    if isinstance(spending, Schedule):
        spending = _IdentitySchedule(
            spending.total,
            spending.choices,
            spending.counts,
            spending.sequences,
            spending.single_path,
        )
    alone = EpsilonDP(epsilon_above(spending.total)) if isinstance(spending, Schedule) else spending
    step = _one_edit_bound_of_table(spending)
    edits = _edits_of_certificate_table(spending, step)
    joint = _joint_bounds_of_table(spending, edits)
    starts = sorted({*_STARTS[steps], *([] if extra_start is None else [extra_start])})
    rows = []
    for start in starts:
        row = [start]
        for bound in _largest_bounds_of_table(spending, step, joint, start / steps, edits):
            if (left := accuracy_in_steps(min(bound, start / steps), steps)) == 0:
                break  # more edits never leave more
            row.append(left)
        rows.append(tuple(row))
    factors = tuple(
        math.floor(_paper_factor(alone, number) * (1 - _ROUNDING) * 1e6) / 1e6 for number in edits
    )
    return CertificateTable(steps, tuple(starts), tuple(edits), tuple(rows), factors)


def _paper_factor(alone: EpsilonDP, edits: int) -> float:
    """Return the factor of the paper's bound. With a delta, it holds from an accuracy of 1% on."""
    value = _MIN_REMAINING if alone.delta else 1.0
    return paper_bound(alone.epsilon, value, edits, alone.delta) / value


# --- which numbers of edits -----------------------------------------------------------------------


def _edits_of_certificate_table(spending: Spending, step: _Bound) -> list[int]:
    """Return 0 and round numbers of edits, denser at the start, until little accuracy is left."""

    def enough_by_formula(number: int) -> bool:
        value = _formula_bound_of_table(spending, _LAST_START, number)
        return number <= _MAX_EDITS and value >= _MIN_REMAINING

    def remaining(number: int) -> float:
        joint, edits = _joint_bounds_of_table(spending, [0, number]), [0, number]
        return next(_largest_bounds_of_table(spending, step, joint, _LAST_START, edits))

    last = max(2, (max_tolerated_edits(enough_by_formula) or 0) + 1)
    while last <= _MAX_EDITS and remaining(last) >= _MIN_REMAINING:
        last += math.ceil(last / 5)
    spacing = next(
        size
        for power in range(13)
        for size in (10**power, 2 * 10**power, 4 * 10**power, 5 * 10**power)
        if last / size <= _MAX_COLUMNS
    )
    few = [n * 10**power for power in range(12) for n in (1, 2, 5) if n * 10**power < spacing]
    return [0, *few, *range(spacing, last + spacing, spacing)]


# --- the bounds -----------------------------------------------------------------------------------


def _formula_bound_of_table(spending: Spending, value: float, edits: int) -> float:
    """Return the bound in closed form. For a schedule, other bounds can be larger."""
    if isinstance(spending, Schedule):
        return renyi_bound(spending, value, edits)
    return any_learner_bound(spending.epsilon, value, edits, spending.delta)


def _one_edit_bound_of_table(spending: Spending) -> _Bound:
    """Return the function from an accuracy to its bound after one edit."""
    if isinstance(spending, Schedule) and spending.sequences_of_one:
        return optimal_trade_off(_intervals_of_table(spending, 1))
    if isinstance(spending, Schedule):
        return lambda value: stepwise_logit_bound(spending, value, 1)
    return lambda value: any_learner_bound(spending.epsilon, value, 1, spending.delta)


def _largest_bounds_of_table(
    spending: Spending, step: _Bound, joint: list[_Bound], start: float, edits: Sequence[int]
) -> Iterator[float]:
    """Yield the largest bound for each number of edits above 0.

    For a schedule, one of the bounds is computed edit by edit: the mean that is guaranteed after
    some edits is the start for the next edit.
    """
    value, taken = start, 0
    for number, joint_bound in zip(edits[1:], joint, strict=True):
        bound = _formula_bound_of_table(spending, start, number)
        if isinstance(spending, Schedule):
            while taken < min(number, _MAX_STEPS) and value > 0:
                value = min(value, step(value))
                taken += 1
            more = number - taken if value > 0 else 0
            chained = logit_bound(spending, value, more) if more else value
            bound = max(bound, chained, joint_bound(start))
        yield bound


def _joint_bounds_of_table(spending: Spending, edits: Sequence[int]) -> list[_Bound]:
    """Return the bound on all edits together, for each number of edits above 0.

    Such a bound is known only if all paths of the schedule have the same stages; otherwise it is 0.
    """
    if not isinstance(spending, Schedule) or len(set(spending.sequences)) != 1:
        return [lambda _: 0.0 for _ in edits[1:]]
    return [
        optimal_trade_off(_intervals_of_table(spending, number), cells=_CELLS_OF_JOINT_EDITS)
        for number in edits[1:]
    ]


def _intervals_of_table(schedule: Schedule, edits: int) -> list[tuple[Interval, ...]]:
    return [tuple(Interval.of_stage(stage, edits) for stage in path) for path in schedule.sequences]
