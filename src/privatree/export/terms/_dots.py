"""A term of one feature with categories: a dot for each, sorted, with the band as a grey bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privatree._support.plot_style import GREY
from privatree.export.terms._curve import BAND_COLOUR, shown_classes
from privatree.export.terms._reading import bands_by_class, effects_by_class
from privatree.export.text._cell_texts import cell_texts
from privatree.model.terms import Term, Terms

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_NAME_LENGTH = 28  # characters


def draw_dots(
    ax: Axes,
    terms: Terms,
    term: Term,
    place: int | None,
    max_rows: int | None = None,
    max_name: int = MAX_NAME_LENGTH,
) -> None:
    """Draw the effect of each category, the largest on top.

    With `max_rows`, the categories with the largest effects are drawn, and the others are counted.
    """
    effects, bands = effects_by_class(term), bands_by_class(term)
    by_size = np.argsort(-np.abs(effects).max(axis=-1), kind="stable")
    if max_rows is not None and len(by_size) > max_rows:
        by_size = by_size[: max_rows - 1]  # leaves a row for the number of others
    shown = shown_classes(terms, term, place)
    if place is None:
        place = int(np.abs(effects).max(axis=0).argmax())
    rows = by_size[np.argsort(-effects[by_size, place], kind="stable")]
    heights = np.arange(len(rows))
    names = [shown_name(text, max_name) for text in cell_texts(term.axes[0])]
    labels = [names[cell] for cell in rows]
    ax.axvline(0, color=GREY, linewidth=0.8, zorder=1.2)
    if bands is not None:
        named = [number for number, label, _ in shown if label is not None]
        sizes = bands[rows][:, named].max(axis=-1)
        ax.barh(heights, 2 * sizes, left=-sizes, height=0.62, color=BAND_COLOUR, zorder=1)
    for number, label, colour in shown:
        ax.plot(
            effects[rows, number], heights, "o", color=colour, markersize=6,
            label=label if len(shown) > 1 else None, zorder=2,
        )  # fmt: skip
    if (n_more := len(names) - len(rows)) > 0:
        labels.append(f"… {n_more:,} more")
    ax.set_yticks(range(len(labels)), labels, parse_math=False, usetex=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(labels) - 0.4, -0.6)


def shown_name(text: str, longest: int = MAX_NAME_LENGTH) -> str:
    """Return a name that is short enough for an axis."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
