"""What all plots share: colours, and axes to draw on.

matplotlib is an extra: it is loaded when something is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privatree._support.extras import missing_extra
from privatree.errors import ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Of [Okabe08]: colour-blind readers can tell them apart.
BLUE, ORANGE, GREEN, PINK = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
SKY, VERMILION, YELLOW, GREY = "#56B4E9", "#D55E00", "#F0E442", "#8A8A8A"
CLASS_COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, YELLOW, GREY)
"""Of the classes in the order of the schema; where there are more, they come again."""


def new_axes(width: float, height: float, *, whole: bool = False) -> Axes:
    """Axes on a new figure of pyplot, which shows it and closes it.

    Parameters
    ----------
    width, height : float
        Of the figure, in inches.
    whole : bool
        Whether the axes fill the figure, without room for labels around them.

    Raises
    ------
    ParameterError
        If matplotlib is not installed.
    """
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise missing_matplotlib("plots") from error
    figure = pyplot.figure(figsize=(width, height), layout=None if whole else "constrained")
    return figure.add_axes((0, 0, 1, 1)) if whole else figure.subplots()


def missing_matplotlib(what: str) -> ParameterError:
    """The error that names the extra."""
    return missing_extra(f"{what} need matplotlib", "plot")


def tint(colour: str, strength: float) -> str:
    """A colour mixed with white.

    Parameters
    ----------
    colour : str
        Like ``#0072B2``.
    strength : float
        From 0, white, to 1, the colour itself.
    """
    parts = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(255 - strength * (255 - part)):02X}" for part in parts)
