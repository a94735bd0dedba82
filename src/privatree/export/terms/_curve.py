"""A term of one number: a step function, with the band of pure chance in grey."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privatree._support.plot_style import BLUE, GREY, class_colour, tint
from privatree.export.terms._number_scale import NumberScale
from privatree.export.terms._reading import bands_by_class, effects_by_class, score_names
from privatree.model.terms import Term, Terms

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAND_COLOUR = tint(GREY, 0.3)
_PALE_LINE = tint(GREY, 0.55)
MAX_LINES = 6
"""Number of classes with a colour and a name. Those on which the term has less effect are grey."""


def draw_curve(ax: Axes, terms: Terms, term: Term, place: int | None) -> None:
    """Draw the effect of a feature on one score, or on those of all classes."""
    scale = NumberScale.of(terms, term.axes[0])
    effects, bands = effects_by_class(term), bands_by_class(term)
    shown = shown_classes(terms, term, place)
    ax.axhline(0, color=GREY, linewidth=0.8, zorder=1.2)
    if bands is not None:  # one for all classes that have a colour: the widest
        named = [number for number, label, _ in shown if label is not None]
        _draw_band(ax, scale, bands[:, named].max(axis=-1))
    for number, label, colour in shown:
        _draw_steps(ax, scale, effects[:, number], colour, label if len(shown) > 1 else None)
    scale.set_up(ax)


def shown_classes(terms: Terms, term: Term, place: int | None) -> list[tuple[int, str | None, str]]:
    """Return place, name and colour of each class that is drawn: one, or all.

    Of more than `MAX_LINES` classes, those on which the term has least effect have no name.
    """
    labels = score_names(terms)
    if place is not None or len(labels) == 1:
        return [(place or 0, labels[place or 0], BLUE)]
    sizes = np.tensordot(term.measure, np.abs(effects_by_class(term)), term.order)
    named = set(np.argsort(-sizes, kind="stable")[:MAX_LINES].tolist())
    classes = [
        (number, label, class_colour(number)) if number in named else (number, None, _PALE_LINE)
        for number, label in enumerate(labels)
    ]
    return sorted(classes, key=lambda one: one[1] is not None)  # grey ones lie below


def _parts(
    scale: NumberScale, values: NDArray[np.float64]
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return edges and values of the missing cell, if there is one, and of the numbers."""
    if scale.missing_edges is None:
        return [(scale.edges, values)]
    return [(np.array(scale.missing_edges), values[:1]), (scale.edges, values[1:])]


def _draw_band(ax: Axes, scale: NumberScale, band: NDArray[np.float64]) -> None:
    for edges, sizes in _parts(scale, band):
        ax.stairs(
            sizes, edges, baseline=-sizes, fill=True, color=BAND_COLOUR, linewidth=0, zorder=1
        )


def _draw_steps(
    ax: Axes, scale: NumberScale, values: NDArray[np.float64], colour: str, label: str | None
) -> None:
    for edges, heights in _parts(scale, values):
        ax.stairs(heights, edges, baseline=None, color=colour, linewidth=1.8, label=label, zorder=2)
        label = None  # named once
