"""Triangular maps of a budget divided in three, with corners quantiles, nodes and leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from privatree.reproduction.rendering._figures import add_legend_below_figure, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT = math.sqrt(3) / 2  # of a triangle with sides of length 1
_TICKS = (20, 40, 60, 80)  # percent


class TernaryShares(NamedTuple):
    """A division of the budget in three shares that add up to 1."""

    quantiles: float
    nodes: float
    leaves: float

    @property
    def place(self) -> tuple[float, float]:
        """Coordinates in the triangle: quantiles on the left, nodes on the right, leaves on top."""
        return self.nodes + self.leaves / 2, self.leaves * _HEIGHT


_CORNERS = (TernaryShares(1, 0, 0), TernaryShares(0, 1, 0), TernaryShares(0, 0, 1))
_TRIANGLE = [corner.place for corner in _CORNERS]


@dataclass(frozen=True)
class TernaryPanel:
    """One map: a value for each division that was tried, and the division of the paper's rule."""

    title: str
    shares: tuple[TernaryShares, ...]
    values: tuple[float, ...]
    chosen: TernaryShares

    @property
    def best(self) -> TernaryShares:
        """The division with the largest value; in a tie, the first."""
        return self.shares[max(range(len(self.values)), key=self.values.__getitem__)]


def ternary_map(panels: Sequence[TernaryPanel], *, value_label: str) -> Figure:
    """Draw triangles side by side, each with its own colour scale, labelled `value_label`.

    Every point has the colour of the nearest division that was tried.
    """
    entries: dict[str, Any] = {}
    with new_figure(len(panels), height=2.85) as figure:
        for place, panel in enumerate(panels):
            axes = figure.add_subplot(1, len(panels), place + 1)
            axes.set_title(panel.title, pad=2)
            axes.set_aspect("equal")
            axes.set_axis_off()
            axes.set_xlim(-0.03, 1.03)
            axes.set_ylim(-0.17, _HEIGHT + 0.03)
            cells = _draw_ternary_cells(axes, panel)
            bar = figure.colorbar(cells, ax=axes, shrink=0.8, aspect=20, pad=0.01)
            bar.set_label(value_label if place == len(panels) - 1 else "")
            bar.outline.set_linewidth(0.5)
            _draw_ternary_sides(axes)
            entries |= _draw_ternary_marks(axes, panel)
        add_legend_below_figure(figure, entries, n_columns=len(entries))
    return figure


def _draw_ternary_cells(axes: Axes, panel: TernaryPanel) -> Any:
    from matplotlib.collections import PolyCollection

    places = [shares.place for shares in panel.shares]
    cells = PolyCollection(
        [nearest_ternary_region(place, places) for place in places],
        array=list(panel.values),
        cmap="cividis",
        edgecolors="face",  # without it, seams between cells would be visible
        linewidths=0.3,
    )
    axes.add_collection(cells)
    return cells


def _draw_ternary_sides(axes: Axes) -> None:
    from matplotlib.patches import Polygon

    outline = Polygon(
        _TRIANGLE, closed=True, fill=False, linewidth=0.8, edgecolor="black", zorder=3
    )
    axes.add_patch(outline)
    for percent in _TICKS:
        share = percent / 100
        # A tick points in the direction in which its share stays the same.
        ticks: tuple[tuple[TernaryShares, tuple[float, float], Any, Any], ...] = (
            (TernaryShares(1 - share, share, 0), (-0.5, -_HEIGHT), "right", "top"),
            (TernaryShares(0, 1 - share, share), (1, 0), "left", "center"),
            (TernaryShares(share, 0, 1 - share), (-0.5, _HEIGHT), "right", "bottom"),
        )
        for shares, (right, up), horizontal, vertical in ticks:
            x, y = shares.place
            axes.plot([x, x + 0.02 * right], [y, y + 0.02 * up], color="black", linewidth=0.6)
            label = (x + 0.03 * right, y + 0.03 * up)
            axes.text(*label, str(percent), ha=horizontal, va=vertical, fontsize=6.5)
    axes.text(0.5, -0.13, "nodes (%) →", ha="center", va="top")
    axes.text(0.88, 0.52, "← leaves (%)", ha="center", va="center", rotation=-60)
    axes.text(0.12, 0.52, "← quantiles (%)", ha="center", va="center", rotation=60)


def _draw_ternary_marks(axes: Axes, panel: TernaryPanel) -> dict[str, Any]:
    marks = {"best": (panel.best, "*", 11.0), "the paper's rule": (panel.chosen, "o", 6.0)}
    return {
        label: axes.plot(
            *([coordinate] for coordinate in shares.place),
            marker=marker,
            markersize=size,
            markerfacecolor="white",
            markeredgecolor="black",
            markeredgewidth=0.9,
            linestyle="none",
            clip_on=False,
            zorder=5,
        )[0]
        for label, (shares, marker, size) in marks.items()
    }


def nearest_ternary_region(
    place: tuple[float, float], places: Sequence[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Return the polygon of all points in the triangle that are nearest to `place`."""
    others = [other for other in places if other != place]
    distances = [math.dist(place, other) for other in others]
    near = 2.5 * min(distances, default=0.0)  # on a grid, no place farther away matters
    region = _TRIANGLE
    for other, distance in zip(others, distances, strict=True):
        if distance <= near:
            region = _nearer_ternary_part(region, place, other)
    return region


def _nearer_ternary_part(
    polygon: list[tuple[float, float]], place: tuple[float, float], other: tuple[float, float]
) -> list[tuple[float, float]]:
    """Cut a convex polygon halfway between two places, and return the side of the first place."""
    toward = (other[0] - place[0], other[1] - place[1])
    middle = ((other[0] + place[0]) / 2, (other[1] + place[1]) / 2)

    def beyond(point: tuple[float, float]) -> float:
        return (point[0] - middle[0]) * toward[0] + (point[1] - middle[1]) * toward[1]

    kept = []
    for start, end in zip(polygon, [*polygon[1:], *polygon[:1]], strict=True):
        here, there = beyond(start), beyond(end)
        if here <= 0:
            kept.append(start)
        if here * there < 0:
            part = here / (here - there)
            kept.append(
                (start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1]))
            )
    return kept
