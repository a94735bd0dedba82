"""Colours and axes that all plots share. matplotlib is optional, so it is imported when needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privatree._support.extras import missing_extra
from privatree.errors import ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# From [Okabe08]: colour-blind readers can tell these colours apart.
BLUE, ORANGE, GREEN, PINK = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
SKY, VERMILION, YELLOW, GREY = "#56B4E9", "#D55E00", "#F0E442", "#8A8A8A"
PALE_GREY, TEXT_GREY = "#F2F2F2", "#6B6B6B"
CLASS_COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, YELLOW, GREY)
"""Colours of the classes, in the order of the schema. With more than 8 classes they repeat."""


def new_axes(width: float, height: float, *, whole: bool = False) -> Axes:
    """Return axes on a new pyplot figure, whose width and height are in inches.

    With `whole`, the axes fill the figure and leave no space for tick labels.
    """
    figure = _new_figure(width, height, whole=whole)
    return figure.add_axes((0, 0, 1, 1)) if whole else figure.subplots()


def new_panels(width: float, height: float) -> tuple[Axes, Axes]:
    """Return two axes side by side on a new pyplot figure, whose size is in inches."""
    left, right = _new_figure(width, height).subplots(1, 2)
    return left, right


def _new_figure(width: float, height: float, *, whole: bool = False) -> Figure:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise missing_matplotlib("plots") from error
    return pyplot.figure(figsize=(width, height), layout=None if whole else "constrained")


def missing_matplotlib(what: str) -> ParameterError:
    """Return the error that says how to install matplotlib; `what` needs it, such as "plots"."""
    return missing_extra(f"{what} need matplotlib", "plot")


def class_colour(place: int) -> str:
    """Return the colour of the class at a place of the schema."""
    return CLASS_COLOURS[place % len(CLASS_COLOURS)]


def tint(colour: str, strength: float) -> str:
    """Return a colour such as ``#0072B2`` mixed with white: strength 0 is white, 1 the colour."""
    parts = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(255 - strength * (255 - part)):02X}" for part in parts)
