"""The best bound that the stages of a learner allow, computed on a grid (bound E).

Let P and Q be the laws of what a learner draws on two datasets. Let delta(s) be the largest value
of P(S) - e^s Q(S) over all events S. Each stage is a *choice*, whose log-ratio ln(P/Q) lies in some
interval of a known length, or a *count*, whose log-ratio lies in a known interval around 0. The
largest delta over all learners with these stages is computed backwards, from the last stage to the
first [DDR20]. Given the later stages, the worst law of a log-ratio has only two values, the ends of
its interval. The proof, and why a grid can only make the bound smaller, is in
``docs/proofs/poisoning.md``.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privatree._support.kernels.compiling import compiled
from privatree.privacy import Stage

CELLS = 4000
"""Number of grid cells in the largest sum of ranges. Twice as many take four times as long."""

ROUNDING = 1e-12
"""Upper bound on the sum of all rounding errors in a delta, for at most 250 stages."""


@dataclass(frozen=True)
class Interval:
    """The interval of a stage's log-ratio: its length, and whether its middle must be 0."""

    length: Fraction
    centred: bool

    @classmethod
    def of_stage(cls, stage: Stage, edits: int) -> Interval:
        """Return the interval of a stage after `edits` records were added or removed."""
        if stage.kind == "count":
            return cls(2 * edits * stage.epsilon, centred=True)
        return cls(edits * stage.epsilon, centred=False)


@dataclass(frozen=True)
class TradeOff:
    """A convex function from an event's probability under P to its least probability under Q.

    The function is the largest of the lines ``level - slope (1 - probability)``, steepest first.
    """

    levels: tuple[float, ...]
    slopes: tuple[float, ...]
    starts: tuple[float, ...]
    """The value of 1 - probability from which on each line is the largest."""

    def __call__(self, value: float) -> float:
        """Return the least probability under Q of an event, or the least mean of a score."""
        complement = 1.0 - value
        place = bisect_right(self.starts, complement) - 1
        return max(0.0, self.levels[place] - self.slopes[place] * complement)


def optimal_trade_off(sequences: Sequence[tuple[Interval, ...]], cells: int = CELLS) -> TradeOff:
    """Return the trade-off of a path that follows any of `sequences`.

    `sequences` lists all possible sequences of stages in time order. After each stage, the path may
    continue along any sequence that begins with the same stages. `cells` is the size of the grid.
    """
    most = max(sum((interval.length for interval in path), Fraction(0)) for path in sequences)
    step = Fraction(math.nextafter(float(most / cells), math.inf))
    paths = {tuple(_grid_cells(i, step) for i in path if i.length > 0) for path in sequences}
    return _trade_off_from_delta(_grid_delta_of_paths(frozenset(paths), float(step)), float(step))


# --- delta, backwards -----------------------------------------------------------------------------

_Cells = tuple[int, int, int]
"""Number of cells of an interval, and the least and largest number of cells above 0."""


def _grid_cells(interval: Interval, step: Fraction) -> _Cells:
    """Return an interval between grid points that covers `interval`, wherever `interval` lies."""
    if interval.centred:
        half = math.ceil(interval.length / 2 / step)
        return 2 * half, half, half
    n_cells = math.ceil(interval.length / step) + 1
    return n_cells, 0, n_cells


def _grid_delta_of_paths(paths: frozenset[tuple[_Cells, ...]], step: float) -> NDArray[np.float64]:
    """Return delta at 0, step, 2 step, ...; delta is 0 beyond the end of the array."""
    rest: dict[_Cells, set[tuple[_Cells, ...]]] = {}
    for path in paths:
        if path:
            rest.setdefault(path[0], set()).add(path[1:])
    deltas = [
        _grid_delta_before_stage(stage, _grid_delta_of_paths(frozenset(rest[stage]), step), step)
        for stage in rest
    ]
    largest = np.zeros(max(map(len, deltas), default=1))
    for delta in deltas:  # the next stage may depend on all that happened before
        np.maximum(largest[: len(delta)], delta, out=largest[: len(delta)])
    return largest


def _grid_delta_before_stage(
    stage: _Cells, later: NDArray[np.float64], step: float
) -> NDArray[np.float64]:
    """Return delta before a stage, from `later`, the delta after the stage."""
    n_cells, lowest, highest = stage
    above = np.arange(lowest, highest + 1)
    weights = np.expm1((above - n_cells) * step) / np.expm1(-n_cells * step)
    below_zero = -np.arange(n_cells, 0, -1) * step
    mirrored = np.zeros(n_cells)  # P and Q change places: delta(-s) = 1 - e^-s + e^-s delta(s)
    reached = min(n_cells, len(later) - 1)
    mirrored[:reached] = later[1 : reached + 1]
    negative = -np.expm1(below_zero) + np.exp(below_zero) * mirrored[::-1]
    everywhere = np.concatenate([negative, later, np.zeros(2 * n_cells)])
    return np.asarray(_worst_grid_mean(everywhere, weights, n_cells, lowest, len(later) + n_cells))


@compiled
def _worst_grid_mean(
    later: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_cells: int,
    lowest: int,
    n_points: int,
) -> NDArray[np.float64]:
    """Return the largest mean of `later`, whose first point lies n_cells below 0."""
    worst = np.zeros(n_points)
    for place in range(n_points):
        for number in range(len(weights)):
            start = place + n_cells - lowest - number
            weight = weights[number]
            mean = weight * later[start] + (1.0 - weight) * later[start + n_cells]
            worst[place] = max(worst[place], mean)
    return worst


# --- from delta to the trade-off ------------------------------------------------------------------

_MAX_EXPONENT = 690.0


def _trade_off_from_delta(delta: NDArray[np.float64], step: float) -> TradeOff:
    """Return the trade-off that delta implies, for an event S and for its complement."""
    shifts = np.arange(len(delta)) * step
    shifts = shifts[shifts < _MAX_EXPONENT]
    high = 1.0 - delta[: len(shifts)] - ROUNDING
    up, down = np.exp(shifts), np.exp(-shifts)
    steepest_first = [*zip(up[::-1], high[::-1], strict=True), *zip(down, down * high, strict=True)]
    return _envelope_of_trade_off([*steepest_first, (0.0, 0.0)])


def _envelope_of_trade_off(lines: Sequence[tuple[float, float]]) -> TradeOff:
    """Return the upper envelope of lines, each given as slope and level, the steepest first."""
    levels: list[float] = []
    slopes: list[float] = []
    starts: list[float] = []
    for slope, level in lines:
        start = -math.inf
        while slopes:
            steeper = slopes[-1] - slope
            start = (levels[-1] - level) / steeper if steeper > 0 else -math.inf
            if start > starts[-1]:
                break
            for line in (levels, slopes, starts):
                line.pop()
            start = -math.inf
        levels.append(float(level))
        slopes.append(float(slope))
        starts.append(start)
    return TradeOff(tuple(levels), tuple(slopes), tuple(starts))
