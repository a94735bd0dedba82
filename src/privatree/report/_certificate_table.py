"""What poisoned records leave of an accuracy, for every accuracy that a reader may start from.

The page cannot compute bounds itself, so it carries a table of them. Every entry is such a
bound rounded down, and the page reads it at the next smaller accuracy and the next larger number of
records: what it shows is never more than what holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from privatree.privacy import Schedule, rounded_up
from privatree.robustness.poisoning_bounds import (
    Interval,
    Spending,
    TradeOff,
    any_learner_bound,
    logit_bound,
    max_tolerated_edits,
    optimal_trade_off,
    paper_bound,
    renyi_bound,
    stepwise_logit_bound,
)

UNITS = 10_000
"""Accuracies in the table are whole numbers of this part."""

_STARTS = (
    *range(0, UNITS // 2, UNITS // 50),
    *range(UNITS // 2, UNITS, UNITS // 200),
    UNITS - UNITS // 1000,
)
_MAX_COLUMNS = 55
_LAST_START, _NOTHING = 0.99, 0.01
"""The table ends where less than nothing is left of the last start."""
_MAX_EDITS = 10**12
_MAX_STEPS = 2000
"""Of a bound that goes edit by edit; from there on log-odds fall, which is true and less."""
_CELLS_AT_ONCE = 1500
"""Of the grid for many edits at once, of which there is one for each column."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class CertificateTable:
    """Guaranteed expected accuracies, in units.

    Parameters
    ----------
    starts : tuple of int
        Expected accuracies without poison, increasing.
    edits : tuple of int
        Numbers of records added or removed, increasing from 0.
    rows : tuple of tuple of int
        For each start what is left after each number of edits; zeros at the end are left out.
    paper_factors : tuple of float
        What the paper's bound multiplies a start with, for each number of edits.
    """

    starts: tuple[int, ...]
    edits: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    paper_factors: tuple[float, ...]

    def at(self, start: float, edits: int) -> float:
        """What the page shows: at the next smaller start and the next larger number of edits."""
        row = max(i for i, unit in enumerate(self.starts) if unit <= start * UNITS + _ROUNDING)
        column = next((i for i, number in enumerate(self.edits) if number >= edits), None)
        if column is None or column >= len(self.rows[row]):
            return 0.0
        return self.rows[row][column] / UNITS


class _OneSchedule(Schedule):
    """Told apart by identity: hashing its fractions for every figure would take longest."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


def in_units(accuracy: float) -> int:
    """An accuracy as whole units, rounded down by more than errors of arithmetic."""
    return max(0, math.floor((accuracy - _ROUNDING) * UNITS))


def certificate_table(spending: Spending, extra_start: int | None = None) -> CertificateTable:
    """Compute the table.

    Parameters
    ----------
    spending : Schedule or EpsilonDP
        What is known of the learner's privacy.
    extra_start : int, optional
        One more accuracy to start from, in units: that of a certificate file.

    Returns
    -------
    CertificateTable
        In some tenths of a second.
    """
    if isinstance(spending, Schedule):
        spending = _OneSchedule(
            spending.total, spending.choices, spending.counts, spending.sequences
        )
    epsilon = rounded_up(spending.total) if isinstance(spending, Schedule) else spending.epsilon
    step = _one_edit(spending)
    edits = _columns(spending, epsilon, step)
    at_once = _at_once(spending, edits)
    starts = sorted({*_STARTS, *([] if extra_start is None else [extra_start])})
    rows = []
    for start in starts:
        row = [start]
        chain = _edit_by_edit(spending, step, start / UNITS, edits)
        for number, chained, together in zip(edits[1:], chain, at_once, strict=True):
            found = max(
                chained, together(start / UNITS), _simple(spending, epsilon, start / UNITS, number)
            )
            if (units := in_units(min(found, start / UNITS))) == 0:
                break  # more edits never leave more
            row.append(units)
        rows.append(tuple(row))
    factors = tuple(
        math.floor(paper_bound(epsilon, 1.0, number) * (1 - _ROUNDING) * 1e6) / 1e6
        for number in edits
    )
    return CertificateTable(tuple(starts), tuple(edits), tuple(rows), factors)


# --- which numbers of edits -----------------------------------------------------------------------


def _columns(spending: Spending, epsilon: float, step: Callable[[float], float]) -> list[int]:
    """0 and round numbers, evenly spread to where nothing is left; more of them at the start."""

    def left(number: int) -> float:
        (chained,) = _edit_by_edit(spending, step, _LAST_START, [0, number])
        (together,) = _at_once(spending, [0, number])
        simple = _simple(spending, epsilon, _LAST_START, number)
        return max(chained, together(_LAST_START), simple)

    def by_formula(number: int) -> bool:
        value = _simple(spending, epsilon, _LAST_START, number)
        return number <= _MAX_EDITS and value >= _NOTHING

    last = max(2, (max_tolerated_edits(by_formula) or 0) + 1)
    while last <= _MAX_EDITS and left(last) >= _NOTHING:
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


def _simple(spending: Spending, epsilon: float, value: float, edits: int) -> float:
    """The bounds that are one formula; the others hold a schedule edit by edit to more."""
    if isinstance(spending, Schedule):
        return renyi_bound(spending, value, edits)
    return any_learner_bound(epsilon, value, edits)


def _one_edit(spending: Spending) -> Callable[[float], float]:
    """What one edit leaves, at least."""
    if not isinstance(spending, Schedule):
        return lambda value: any_learner_bound(spending.epsilon, value, 1)
    if not spending.sequences:
        return lambda value: stepwise_logit_bound(spending, value, 1)
    return optimal_trade_off(_intervals(spending, 1))


def _edit_by_edit(
    spending: Spending,
    step: Callable[[float], float],
    value: float,
    edits: Sequence[int],
) -> Iterator[float]:
    """What is left after each number of edits but the first, which is 0, taken one by one.

    A mean that is certain after some edits is what the next edit starts from.
    """
    taken = 0
    for number in edits[1:]:
        if not isinstance(spending, Schedule):  # for which a formula takes all edits
            yield 0.0
            continue
        while taken < min(number, _MAX_STEPS) and value > 0:
            value = min(value, step(value))
            taken += 1
        more = number - taken if value > 0 else 0
        yield logit_bound(spending, value, more) if more else value


def _at_once(spending: Spending, edits: Sequence[int]) -> list[Callable[[float], float]]:
    """What each number of edits but the first leaves if all are taken at once.

    That is possible where all nodes are at the same stage at a time: with a single sequence.
    """
    if not isinstance(spending, Schedule) or len(set(spending.sequences)) != 1:
        return [lambda _: 0.0 for _ in edits[1:]]
    return [_some_edits(spending, number) for number in edits[1:]]


def _some_edits(schedule: Schedule, edits: int) -> TradeOff:
    return optimal_trade_off(_intervals(schedule, edits), cells=_CELLS_AT_ONCE)


def _intervals(schedule: Schedule, edits: int) -> list[tuple[Interval, ...]]:
    return [tuple(Interval.of_stage(stage, edits) for stage in path) for path in schedule.sequences]
