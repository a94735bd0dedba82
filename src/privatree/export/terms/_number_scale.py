"""The axis of a number: linear, or wide around a released interval if the range is much wider.

The learner draws an interval that probably has most of the records. If it is a small part of the
declared range, a linear axis shows nothing. Then the interval takes half of the axis, and the
distance from it is logarithmic.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.model.terms import Axis, Term, Terms
from privatree.schema import Categorical

_SMALL_INTERVAL = 0.25
"""Share of the range below which an interval is widened."""
_MISSING_GAP, _MISSING_WIDTH = 0.03, 0.06
"""Free space beside the cell of missing values, and its width, as shares of the axis."""
_MIN_TICK_DISTANCE = 0.09
"""Share of the axis between two ticks."""


@dataclass(frozen=True)
class NumberScale:
    """What a plot needs to know about the axis of a number."""

    axis: Axis
    low: float
    high: float
    interval: tuple[float, float] | None
    """The released interval if it is widened; None if the axis is linear."""

    @classmethod
    def of(cls, terms: Terms, axis: Axis) -> NumberScale:
        if isinstance(axis.feature, Categorical):
            raise TypeError(f"{axis.name} has categories and no numbers.")
        low, high = float(axis.feature.low), float(axis.feature.high)
        place = list(terms.schema.features).index(axis.name)
        interval = terms.ensemble.intervals.get(place)
        is_small = interval is not None and (
            0 < interval[1] - interval[0] < _SMALL_INTERVAL * (high - low)
        )
        return cls(axis, low, high, interval if is_small else None)

    # --- places on the axis -----------------------------------------------------------------------

    def place(self, values: Any) -> NDArray[np.float64]:
        """Return where values are on the axis, up to a linear function; it increases."""
        numbers = np.asarray(values, dtype=np.float64)
        if self.interval is None:
            return numbers
        start, end = self.interval
        inside = (np.clip(numbers, start, end) - start) / (end - start)
        above = np.log1p(np.maximum(numbers - end, 0.0) / (end - start))
        below = np.log1p(np.maximum(start - numbers, 0.0) / (end - start))
        return np.asarray(inside + (above - below) / self._outside)

    def value(self, places: Any) -> NDArray[np.float64]:
        """Return the values at places on the axis: the inverse of :meth:`place`."""
        there = np.asarray(places, dtype=np.float64)
        if self.interval is None:
            return there
        start, end = self.interval
        inside = start + np.clip(there, 0.0, 1.0) * (end - start)
        above = np.expm1(np.maximum(there - 1.0, 0.0) * self._outside)
        below = np.expm1(np.maximum(-there, 0.0) * self._outside)
        return np.asarray(inside + (above - below) * (end - start))

    @cached_property
    def _outside(self) -> float:
        """Length of both parts outside the interval, as logarithms."""
        start, end = self.interval or (self.low, self.high)
        below, above = (start - self.low) / (end - start), (self.high - end) / (end - start)
        return math.log1p(max(below, 0.0)) + math.log1p(max(above, 0.0)) or 1.0

    @cached_property
    def edges(self) -> NDArray[np.float64]:
        """Ends of the cells of numbers."""
        return self.axis.edges

    @cached_property
    def missing_edges(self) -> tuple[float, float] | None:
        """Ends of the cell of missing values, on the left of all numbers; None without one."""
        if not self.axis.has_missing_cell:
            return None
        first, last = self.place([self.low, self.high])
        gap, width = _MISSING_GAP * (last - first), _MISSING_WIDTH * (last - first)
        start, end = self.value([first - gap - width, first - gap]).tolist()
        return start, end

    # --- matplotlib -------------------------------------------------------------------------------

    def set_up(self, ax: Any, which: str = "x") -> None:
        """Set scale, limits and ticks of the x or the y axis."""
        from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

        matplotlib_axis = getattr(ax, f"{which}axis")
        if self.interval is None:
            ticks = np.asarray(MaxNLocator(5).tick_values(self.low, self.high))
            ticks = ticks[(ticks >= self.low) & (ticks <= self.high)]
        else:
            getattr(ax, f"set_{which}scale")("function", functions=(self.place, self.value))
            ticks = self._widened_ticks()
            for end in self.interval:
                draw = ax.axvline if which == "x" else ax.axhline
                draw(end, color="0.5", linewidth=0.8, linestyle=":", zorder=1.5)
        labels = {tick: short_number(tick) for tick in ticks.tolist()}
        if self.missing_edges is not None:
            middle = float(self.value(self.place(self.missing_edges).mean()))
            if which == "y":
                first, last = self.place([self.low, self.high])
                apart = _MIN_TICK_DISTANCE * (last - first)
                labels = {
                    tick: text for tick, text in labels.items()
                    if self.place(tick) - self.place(middle) >= apart
                }  # fmt: skip
            labels = {middle: "\nmissing" if which == "x" else "missing"} | labels
        matplotlib_axis.set_major_locator(FixedLocator(list(labels)))
        matplotlib_axis.set_minor_locator(NullLocator())
        names = list(labels.values())
        matplotlib_axis.set_major_formatter(
            FuncFormatter(lambda _, place: names[place] if place is not None else "")
        )
        first = self.low if self.missing_edges is None else self.missing_edges[0]
        getattr(ax, f"set_{which}lim")(first, self.high)

    def _widened_ticks(self) -> NDArray[np.float64]:
        """Return round numbers that are not too close to each other, the roundest first."""
        from matplotlib.ticker import MaxNLocator

        start, end = self.interval or (self.low, self.high)
        inside = [tick for tick in MaxNLocator(4).tick_values(start, end) if start <= tick <= end]
        largest = math.floor(math.log10(max(abs(self.low), abs(self.high))))
        smallest = math.floor(math.log10((end - start) or 1.0)) - 1
        powers = [10.0**power for power in range(largest, smallest, -1)]
        outside = [
            sign * digit * power
            for digit in (1.0, 5.0, 2.0)
            for power in powers
            for sign in (1.0, -1.0)
            if not start <= sign * digit * power <= end
        ]
        first, last = self.place([self.low, self.high]).tolist()
        kept: list[float] = []
        for tick in [*inside, self.high, self.low, *outside]:
            if not self.low <= tick <= self.high:
                continue
            places = self.place([*kept, tick]) / (last - first)
            if (np.abs(places[:-1] - places[-1]) >= _MIN_TICK_DISTANCE).all():
                kept.append(float(tick))
        return np.array(sorted(kept))


def bent_axes_note(terms: Terms, drawn: Iterable[Term]) -> str:
    """Return a line for a title if the axis of a number is not linear in one of some terms."""
    axes = [axis for term in drawn for axis in term.axes if axis.cuts is not None]
    is_bent = any(NumberScale.of(terms, axis).interval is not None for axis in axes)
    return "\nOutside the dotted lines, an axis is logarithmic." if is_bent else ""


def short_number(value: float) -> str:
    """Return a number for a tick: "0.25", "1,500", "20k", "3M"."""
    units = ((1e13, 1.0, ""), (1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k"))
    for least, unit, letter in units:
        if abs(value) >= least:
            text = f"{value / unit:.4g}{letter}"
            break
    else:
        text = f"{value:,.5g}" if value else "0"
    return text.replace("-", "\N{MINUS SIGN}")
