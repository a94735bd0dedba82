"""A tree as a matplotlib plot. matplotlib is an extra, and is imported when it is used."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from privatree._support.plot_style import (
    GREY,
    PALE_GREY,
    TEXT_GREY,
    missing_matplotlib,
    new_axes,
)
from privatree.errors import ParameterError
from privatree.export._leaf_colours import TEXT_COLOUR, leaf_colours
from privatree.export._tree_layout import Box, TreeLayout, lay_out_tree
from privatree.export.text._tree_text import node_texts, outcome_text, support_text
from privatree.model import Tree, released_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_LINE_LENGTH = 22  # characters
_MAX_LINES = 6
_LINE_HEIGHT = 1.4  # in font sizes
_PADDING = 0.1  # inches between a box and its text
_MIN_BOX_WIDTH = 0.5  # inches
_MIN_FIGURE, _MAX_FIGURE = 1.0, 100.0  # inches
_HIDDEN = "…"


def plot_tree(model: Any, ax: Axes | None = None, *, max_depth: int | None = None) -> Axes:
    """Draw a tree with matplotlib.

    Parameters
    ----------
    model : Tree, model or fitted learner
        Model whose tree is drawn.
    ax : matplotlib axes, optional
        Axes to draw on. The font shrinks until the tree fits. By default a new figure is made that
        is as large as the tree, up to 100 inches.
    max_depth : int, optional
        Number of levels of splits to draw. Deeper levels are drawn as "…". By default all levels
        are drawn. More than about 50 leaves are hard to read on a screen; save them as SVG or PDF.

    Returns
    -------
    matplotlib axes
        The axes with the tree.

    Raises
    ------
    ParameterError
        If matplotlib is not installed, or `max_depth` is negative.

    Notes
    -----
    The questions are those of :func:`privatree.export_text`. The answer yes is on the left, no on
    the right. Long questions are wrapped, and very long ones are cut with "…" before the last word.
    A leaf has the colour of its class, and its probabilities and noisy number of records if the
    model has released them. A leaf that predicts a number is the darker, the larger the number. A
    leaf with few or no records is grey.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> X, y, schema = datasets.load("breast-w")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=1, schema=schema, random_state=0)
    >>> ax = plot_tree(model.fit(X, y))
    >>> ax.texts[3].get_text()
    'benign\\nbenign 94.9%\\nmalignant 5.1%\\nabout 453 (± 82)\\nrecords'
    """
    tree = released_tree(model)
    if max_depth is not None and max_depth < 0:
        raise ParameterError(f"max_depth must be >= 0, got {max_depth}.", "max_depth")
    try:
        from matplotlib import rcParams
    except ImportError as error:
        raise missing_matplotlib("plots") from error
    lines, children = _plot_box_lines_and_children(tree, max_depth)
    font_size = float(rcParams["font.size"])
    width_of = _plot_line_width(font_size)
    sizes = {
        node: (
            max(_MIN_BOX_WIDTH, max(map(width_of, texts)) + 2 * _PADDING),
            len(texts) * font_size * _LINE_HEIGHT / 72 + 2 * _PADDING,
        )
        for node, texts in lines.items()
    }
    placed = lay_out_tree(sizes, children)
    if ax is None:
        sides = (min(max(side, _MIN_FIGURE), _MAX_FIGURE) for side in (placed.width, placed.height))
        ax = new_axes(*sides, whole=True)
    scale = _fit_plot_axes(ax, placed)
    _draw_plot_edges(ax, children, placed, scale)
    for node, texts in lines.items():
        look = _plot_box_look(tree, node, texts)
        _draw_plot_box(ax, placed.boxes[node], "\n".join(texts), look, scale, scale * font_size)
    return ax


# --- texts of the boxes -------------------------------------------------------------------------


def _plot_box_lines_and_children(
    tree: Tree, max_depth: int | None
) -> tuple[dict[int, list[str]], dict[int, tuple[int, int]]]:
    """Return the lines of text in each box, and the children of each drawn split, by node."""
    texts = node_texts(tree)
    lines, children = dict[int, list[str]](), dict[int, tuple[int, int]]()
    depth, levels = tree.depths(), tree.depth if max_depth is None else max_depth
    for node in np.flatnonzero(depth <= levels).tolist():
        if tree.feature[node] < 0:
            lines[node] = _plot_leaf_lines(tree, node, texts[node])
        elif depth[node] == levels:
            lines[node] = [_HIDDEN]
        else:
            lines[node] = _wrap_plot_box_text(texts[node])
            children[node] = tree.children(node)
    return lines, children


def _plot_leaf_lines(tree: Tree, node: int, text: str) -> list[str]:
    """Return the lines of a leaf: its outcome, then the shares and support in `text`."""
    label, support = outcome_text(tree, node), support_text(tree, node)
    shares = text.removeprefix(f"predict {label}").removesuffix(f", {support}" if support else "")
    each = shares.removeprefix(" (").removesuffix(")").replace("%, ", "%\n").split("\n")
    parts = (label, *(each if shares else ()), *([support] if support else ()))
    return [line for part in parts for line in _wrap_plot_box_text(part)]


def _wrap_plot_box_text(text: str) -> list[str]:
    """Return lines that break at spaces, or inside a word that is longer than a line.

    A very long text keeps its beginning and its last word, which is a threshold or a category.
    """
    for together in ("<= ", "not in ", "is missing"):
        text = text.replace(together, together.replace(" ", "\0"))
    words = [
        word[start : start + _MAX_LINE_LENGTH]
        for word in text.split(" ")
        for start in range(0, max(1, len(word)), _MAX_LINE_LENGTH)
    ]
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) <= _MAX_LINE_LENGTH:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    if len(lines) > _MAX_LINES:
        lines[_MAX_LINES - 1 :] = [f"{_HIDDEN} {words[-1]}"]
    return [line.replace("\0", " ") for line in lines]


# --- drawing ------------------------------------------------------------------------------------


def _plot_line_width(font_size: float) -> Callable[[str], float]:
    """Return a function that gives the width of a line of text in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    text_path, font = TextToPath(), FontProperties(size=font_size)

    @cache
    def line_width(line: str) -> float:
        with warnings.catch_warnings():  # about missing glyphs: drawing the text warns again
            warnings.simplefilter("ignore")
            return text_path.get_text_width_height_descent(line, font, ismath=False)[0] / 72

    return line_width


def _fit_plot_axes(ax: Axes, placed: TreeLayout) -> float:
    """Set the limits of the axes to the layout, and return the scale at which the layout fits."""
    ax.set_axis_off()
    figure = ax.get_figure(root=True)
    if figure is None:
        raise ParameterError("ax must belong to a figure, got axes without a figure.", "ax")
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()  # computes the size of the axes
    width, height = ax.bbox.width / figure.dpi, ax.bbox.height / figure.dpi
    scale = min(1.0, width / placed.width, height / placed.height)
    for limits, place, side in (
        (ax.set_xlim, placed.width / 2, width),
        (ax.set_ylim, placed.height / 2, height),
    ):
        limits(place - side / scale / 2, place + side / scale / 2)
    ax.set_aspect("equal")
    return scale


def _draw_plot_edges(
    ax: Axes, children: dict[int, tuple[int, int]], placed: TreeLayout, scale: float
) -> None:
    from matplotlib import rcParams
    from matplotlib.collections import LineCollection

    edges = []
    for node, both in children.items():
        above = placed.boxes[node]
        for child, answer, side in zip(both, ("yes", "no"), ("right", "left"), strict=True):
            below = placed.boxes[child]
            edges.append([(above.x, above.bottom), (above.x, above.floor), (below.x, below.top)])
            # An answer beside the middle of a sloping line does not touch the line.
            ax.text(
                (above.x + below.x) / 2 + (-0.03 if side == "right" else 0.03),
                (above.floor + below.top) / 2,
                answer,
                ha=side,
                va="bottom",
                fontsize=0.85 * scale * float(rcParams["font.size"]),
                color=rcParams["text.color"],
            )
    ax.add_collection(LineCollection(edges, colors=GREY, linewidths=1.1 * scale, zorder=1))


class _BoxLook(NamedTuple):
    face: str
    edge: str
    text: str
    is_leaf: bool
    is_hidden: bool


def _plot_box_look(tree: Tree, node: int, texts: list[str]) -> _BoxLook:
    if tree.feature[node] >= 0:
        return _BoxLook(PALE_GREY, TEXT_GREY, TEXT_COLOUR, False, texts == [_HIDDEN])
    return _BoxLook(*leaf_colours(tree, node), True, False)


def _draw_plot_box(
    ax: Axes, box: Box, text: str, look: _BoxLook, scale: float, font_size: float
) -> None:
    from matplotlib.patches import FancyBboxPatch

    rounding = min(box.height, 0.3) / 2 if look.is_leaf else 0.05
    ax.add_artist(  # twice as fast as add_patch, which would update the limits of the axes
        FancyBboxPatch(
            (box.x - box.width / 2, box.bottom),
            box.width,
            box.height,
            boxstyle=f"round,pad=0,rounding_size={rounding}",
            facecolor=look.face,
            edgecolor=look.edge,
            linewidth=1.2 * scale,
            linestyle=":" if look.is_hidden else "-",
            zorder=2,
        )
    )
    ax.text(
        box.x,
        box.top - box.height / 2,
        text,
        ha="center",
        va="center",
        fontsize=font_size,
        color=look.text,
        linespacing=1.15,
        zorder=3,
        parse_math=False,  # a dollar sign is no formula
        usetex=False,
    )
