"""The figure of the published methods: accuracy against the epsilon that is proved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from privatree.reproduction.rendering._figures import add_legend_below_figure, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privatree.baselines.methods import Method

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666", "#882255")
_MARKERS = "os^DvPX<"
_OURS = "privatree"


class Point(NamedTuple):
    """A method at one claimed epsilon."""

    proved: float
    """Epsilon that is proved; infinite if none is."""
    accuracy: float


def survey_figure(points: Mapping[str, Sequence[Point]], methods: Sequence[Method]) -> Figure:
    """Draw the accuracy of each method against its true epsilon; without one, at the right edge.

    A line connects the points of a method. Hollow points have no finite epsilon.
    """
    finite = [p.proved for own in points.values() for p in own if math.isfinite(p.proved)]
    edge = 4 * max(finite, default=1.0)
    with new_figure(2.2, height=4.2) as figure:
        axes = figure.add_subplot()
        axes.set_xscale("log")
        entries: dict[str, Any] = {}
        for place, method in enumerate(methods):
            own = [point for point in points.get(method.id, ()) if not math.isnan(point.proved)]
            if not own:
                continue
            ours = method.id == _OURS
            colour = "#000000" if ours else _COLOURS[place % len(_COLOURS)]
            marker = _MARKERS[(place // len(_COLOURS) + place) % len(_MARKERS)]
            x = [point.proved if math.isfinite(point.proved) else edge for point in own]
            hollow = not math.isfinite(own[0].proved)
            (line,) = axes.plot(
                x,
                [point.accuracy for point in own],
                color=colour,
                marker=marker,
                markersize=4.5,
                markerfacecolor="white" if hollow else colour,
                linewidth=0.0 if hollow else 1.8 if ours else 0.8,
            )
            entries[method.title] = line
        axes.axvline(edge / 2, color="#999999", linewidth=0.6)
        axes.set_xlabel("proved ε for a whole record (none: no finite ε is proved)")
        axes.set_ylabel("mean test accuracy")
        axes.grid(axis="y", color="#E4E4E4", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}" if x < edge / 2 else "")
        axes.text(edge, 1.0, "none", transform=axes.get_xaxis_transform(), ha="center", va="bottom")
        axes.set_xlim(right=2 * edge)
        add_legend_below_figure(figure, entries, n_columns=5)
    return figure
