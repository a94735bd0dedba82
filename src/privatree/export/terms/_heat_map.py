"""A term of two features: a heat map, hatched where chance alone explains the effect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.plot_style import BLUE, GREY, VERMILION, tint
from privatree.export.terms._dots import MAX_NAME_LENGTH, shown_name
from privatree.export.terms._number_scale import NumberScale
from privatree.export.terms._reading import effects_by_class
from privatree.export.text._cell_texts import cell_texts
from privatree.model.terms import Axis, Term, Terms
from privatree.schema import Categorical

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HATCH_COLOUR = tint(GREY, 0.45)
_MAX_NUMBERS = 40
"""Largest number of cells in which their value is written."""
_MAX_LEVEL_TEXT = 30
"""Largest number of characters below a heat map; more of them are written on a slope."""
_MAX_TICKS = 40
"""Largest number of cells of categories that are named."""


def draw_heat_map(
    ax: Axes,
    terms: Terms,
    term: Term,
    place: int,
    limit: float | None = None,
    max_name: int = MAX_NAME_LENGTH,
) -> Any:
    """Draw the effect of two features on the score of a class; return what a colour bar needs.

    `limit` is the largest effect of the colour scale, and `max_name` the length of the longest
    name of a category.
    """
    values = effects_by_class(term)[..., place]
    inside = None if term.is_outside is None else ~term.is_outside
    if inside is not None and inside.ndim > term.order:
        inside = inside[..., place]
    sides = [_Side(terms, axis, max_name) for axis in term.axes]
    if sides[0].text_length > sides[1].text_length:  # long names are on the vertical axis
        sides.reverse()
        values, inside = values.T, None if inside is None else inside.T
    limit = float(np.abs(values).max()) if limit is None else limit
    x, y = (side.edges for side in sides)
    columns, rows = (side.columns for side in sides)
    grid = np.full((len(y) - 1, len(x) - 1), np.nan)
    grid[np.ix_(rows, columns)] = values.T
    mesh = ax.pcolormesh(
        x, y, np.ma.masked_invalid(grid), cmap=diverging_colours(), vmin=-limit, vmax=limit,
        linewidth=0, zorder=1,
    )  # fmt: skip
    if inside is not None:
        hatched = np.zeros(grid.shape, dtype=np.bool_)
        hatched[np.ix_(rows, columns)] = inside.T
        _hatch(ax, x, y, hatched)
    for side, which in zip(sides, "xy", strict=True):
        side.set_up(ax, which)
        set_label = getattr(ax, f"set_{which}label")
        set_label(shown_name(side.name), parse_math=False, usetex=False)
    if all(side.text_length for side in sides):
        _write_values(ax, values, limit)
    return mesh


def diverging_colours() -> Any:
    """Return colours from blue to vermilion, which colour-blind readers can tell apart."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("privatree", [BLUE, "#FFFFFF", VERMILION])


class _Side:
    """One axis of a heat map: where its cells begin and end."""

    def __init__(self, terms: Terms, axis: Axis, max_name: int) -> None:
        self.name, self._n_cells = axis.name, axis.n_cells
        self._texts: list[str] = []
        self._scale = None
        if isinstance(axis.feature, Categorical):
            self._texts = [shown_name(text, max_name) for text in cell_texts(axis, 2)]
        else:
            self._scale = NumberScale.of(terms, axis)
        self.text_length = sum(map(len, self._texts))
        """Number of characters of the names of categories; 0 for a number."""
        self.columns: Sequence[int] = range(axis.n_cells)
        """The column of the grid in which each cell is drawn."""
        if self._scale is None:
            self.edges: NDArray[np.float64] = np.arange(axis.n_cells + 1.0)
        elif self._scale.missing_edges is None:
            self.edges = self._scale.edges
        else:  # an empty column between missing values and numbers
            self.edges = np.array([*self._scale.missing_edges, *self._scale.edges])
            self.columns = [0, *range(2, axis.n_cells + 1)]

    def set_up(self, ax: Axes, which: str) -> None:
        if self._scale is not None:
            self._scale.set_up(ax, which)
            return
        texts = self._texts if self._n_cells <= _MAX_TICKS else []
        set_ticks = ax.set_xticks if which == "x" else ax.set_yticks
        set_ticks(np.arange(len(texts)) + 0.5, texts, parse_math=False, usetex=False)
        ax.tick_params(axis=which, length=0)  # type: ignore[arg-type]
        if which == "y":
            ax.set_ylim(self._n_cells, 0)  # the first category on top
            return
        ax.set_xlim(0, self._n_cells)
        if max(map(len, texts), default=0) * len(texts) > _MAX_LEVEL_TEXT:
            for label in ax.get_xticklabels():
                label.set(rotation=25, ha="right", rotation_mode="anchor")


def _hatch(
    ax: Axes, x: NDArray[np.float64], y: NDArray[np.float64], inside: NDArray[np.bool_]
) -> None:
    """Hatch the cells that are within the band of chance."""
    from matplotlib import rc_context
    from matplotlib.collections import PolyCollection

    cells = [
        [(x[k], y[n]), (x[k + 1], y[n]), (x[k + 1], y[n + 1]), (x[k], y[n + 1])]
        for n, k in np.argwhere(inside).tolist()
    ]
    with rc_context({"hatch.linewidth": 0.6, "hatch.color": _HATCH_COLOUR}):
        ax.add_collection(
            PolyCollection(
                cells, facecolor="none", edgecolor=_HATCH_COLOUR, hatch="////", linewidth=0,
                zorder=1.3,
            ),
            autolim=False,
        )  # fmt: skip


def _write_values(ax: Axes, values: NDArray[np.float64], limit: float) -> None:
    if values.size > _MAX_NUMBERS:
        return
    exponent = math.floor(math.log10(limit)) if limit > 0 else 0
    digits = max(0, 2 - exponent) if exponent > 0 else max(2, 1 - exponent)
    for (column, row), value in np.ndenumerate(values):
        colour = "white" if abs(value) > 0.75 * limit else "0.15"
        text = f"{value:+.{digits}f}".replace("-", "\N{MINUS SIGN}")
        text = text if abs(value) >= 0.5 * 10**-digits else "0"
        ax.text(
            column + 0.5, row + 0.5, text, ha="center", va="center", color=colour,
            fontsize="small", zorder=3,
        )  # fmt: skip
