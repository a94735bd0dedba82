"""A tree as a drawing. matplotlib is an extra: it is loaded when a tree is drawn."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from privatree._support.plot_style import CLASS_COLOURS, GREY, missing_matplotlib, new_axes, tint
from privatree.errors import ParameterError
from privatree.export._text import name_text, node_texts
from privatree.export._tree_layout import Box, Layout, layout
from privatree.model import Tree, released_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_LINE_LENGTH = 22  # letters
_MAX_LINES = 6
_LINE_HEIGHT = 1.4  # of the size of the letters
_PADDING = 0.1  # inches, between a box and its text
_NARROWEST = 0.5  # inches
_MIN_FIGURE, _MAX_FIGURE = 1.0, 100.0  # inches
_INK = "#1A1A1A"  # on a box, whatever the colour around it
_HIDDEN = "…"


def plot_tree(model: Any, ax: Axes | None = None, *, max_depth: int | None = None) -> Axes:
    """Draw a tree with matplotlib.

    Parameters
    ----------
    model : Tree, Model or trained classifier
        Whose tree to draw.
    ax : matplotlib axes, optional
        Where to draw; letters are made smaller until the tree fits. By default on a new figure
        that is as large as the tree needs, up to 100 inches.
    max_depth : int, optional
        How many levels of splits to draw; what is below is shown as "…". All levels by default:
        beyond some 50 leaves this is hard to read on a screen, though a saved SVG or PDF can be
        enlarged.

    Returns
    -------
    matplotlib axes
        With the drawing.

    Raises
    ------
    ParameterError
        If matplotlib is not installed, or `max_depth` is negative.

    Notes
    -----
    The questions are those of :func:`privatree.export_text`: to the left if the answer is yes, to
    the right if it is no. Long ones are wrapped; very long ones have "…" before their last word.
    A leaf has the colour of the class that it predicts, and its probabilities if they were
    released. Nothing is read but the released tree.
    """
    tree = released_tree(model)
    if max_depth is not None and max_depth < 0:
        raise ParameterError(f"max_depth must be >= 0, got {max_depth}.", "max_depth")
    try:
        from matplotlib import rcParams
    except ImportError as error:
        raise missing_matplotlib("plots") from error
    drawn = _drawn_nodes(tree, max_depth)
    font_size = float(rcParams["font.size"])
    width_of = _measure(font_size)
    sizes = {
        node: (
            max(_NARROWEST, max(map(width_of, lines)) + 2 * _PADDING),
            len(lines) * font_size * _LINE_HEIGHT / 72 + 2 * _PADDING,
        )
        for node, lines in drawn.lines.items()
    }
    placed = layout(sizes, drawn.children)
    if ax is None:
        sides = (min(max(side, _MIN_FIGURE), _MAX_FIGURE) for side in (placed.width, placed.height))
        ax = new_axes(*sides, whole=True)
    scale = _fit(ax, placed)
    _draw_edges(ax, drawn, placed, 0.85 * scale * font_size, scale)
    for node, lines in drawn.lines.items():
        hidden = tree.feature[node] >= 0 and node not in drawn.children
        _draw_box(ax, tree, node, placed.boxes[node], scale, hidden=hidden)
        _write(ax, placed.boxes[node], "\n".join(lines), scale * font_size)
    return ax


# --- what is drawn ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Drawn:
    lines: dict[int, list[str]]
    """What is written in each box, by its node."""
    children: dict[int, tuple[int, int]]


def _drawn_nodes(tree: Tree, max_depth: int | None) -> _Drawn:
    texts = node_texts(tree)
    lines, children = dict[int, list[str]](), dict[int, tuple[int, int]]()
    depth, levels = tree.depths(), tree.depth if max_depth is None else max_depth
    for node in np.flatnonzero(depth <= levels).tolist():
        if tree.feature[node] < 0:
            lines[node] = _leaf_lines(tree, node, texts[node])
        elif depth[node] == levels:
            lines[node] = [_HIDDEN]
        else:
            lines[node] = _wrapped(texts[node])
            children[node] = tree.children(node)
    return _Drawn(lines, children)


def _leaf_lines(tree: Tree, node: int, text: str) -> list[str]:
    """The label, and below it the probabilities, as in the text of the whole tree."""
    label = name_text(tree.schema.classes[tree.label[node]])
    shares = text.removeprefix(f"predict {label}").removeprefix(" (").removesuffix(")")
    each = shares.replace("%, ", "%\n").split("\n") if shares else []
    return [line for part in (label, *each) for line in _wrapped(part)]


def _wrapped(text: str) -> list[str]:
    """Lines of a text, broken at single spaces; within a word only if it is longer than a line.

    A very long text keeps its beginning and its last word: a threshold, or the last category.
    """
    words = [
        word[start : start + _MAX_LINE_LENGTH]
        for word in text.replace("<= ", "<=\0").replace("not in ", "not\0in ").split(" ")
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


def _measure(font_size: float) -> Callable[[str], float]:
    """A function for the width of a line, in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    known = dict[str, float]()
    letters, font = TextToPath(), FontProperties(size=font_size)

    def width(line: str) -> float:
        if line not in known:
            with warnings.catch_warnings():  # of missing letters: drawing them warns as well
                warnings.simplefilter("ignore")
                known[line] = (
                    letters.get_text_width_height_descent(line, font, ismath=False)[0] / 72
                )
        return known[line]

    return width


def _fit(ax: Axes, placed: Layout) -> float:
    """Make an inch of the layout a unit of the axes; how much smaller it has to become to fit."""
    ax.set_axis_off()
    figure = ax.get_figure(root=True)
    if figure is None:
        raise ParameterError("ax must be on a figure.", "ax")
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()  # only then the size of the axes is known
    width, height = ax.bbox.width / figure.dpi, ax.bbox.height / figure.dpi
    scale = min(1.0, width / placed.width, height / placed.height)
    for limits, place, side in (
        (ax.set_xlim, placed.width / 2, width),
        (ax.set_ylim, placed.height / 2, height),
    ):
        limits(place - side / scale / 2, place + side / scale / 2)
    ax.set_aspect("equal")
    return scale


def _draw_edges(ax: Axes, drawn: _Drawn, placed: Layout, font_size: float, scale: float) -> None:
    from matplotlib import rcParams
    from matplotlib.collections import LineCollection

    edges = []
    for node, both in drawn.children.items():
        above = placed.boxes[node]
        for child, answer, side in zip(both, ("yes", "no"), ("right", "left"), strict=True):
            below = placed.boxes[child]
            edges.append([(above.x, above.bottom), (above.x, above.floor), (below.x, below.top)])
            # The line falls away from its middle: an answer that ends there does not touch it.
            ax.text(
                (above.x + below.x) / 2 + (-0.03 if side == "right" else 0.03),
                (above.floor + below.top) / 2,
                answer,
                ha=side,
                va="bottom",
                fontsize=font_size,
                color=rcParams["text.color"],
            )
    ax.add_collection(LineCollection(edges, colors=GREY, linewidths=1.1 * scale, zorder=1))


def _draw_box(ax: Axes, tree: Tree, node: int, box: Box, scale: float, *, hidden: bool) -> None:
    from matplotlib.patches import FancyBboxPatch

    fill, line, rounding = "#F2F2F2", "#6B6B6B", 0.05
    if tree.feature[node] < 0:
        line = CLASS_COLOURS[tree.label[node] % len(CLASS_COLOURS)]
        fill, rounding = tint(line, 0.28), min(box.height, 0.3) / 2
    ax.add_artist(  # add_patch would look for the limits of the axes, which are set: half the time
        FancyBboxPatch(
            (box.x - box.width / 2, box.bottom),
            box.width,
            box.height,
            boxstyle=f"round,pad=0,rounding_size={rounding}",
            facecolor=fill,
            edgecolor=line,
            linewidth=1.2 * scale,
            linestyle=":" if hidden else "-",
            zorder=2,
        )
    )


def _write(ax: Axes, box: Box, text: str, font_size: float) -> None:
    ax.text(
        box.x,
        box.top - box.height / 2,
        text,
        ha="center",
        va="center",
        fontsize=font_size,
        color=_INK,
        linespacing=1.15,
        zorder=3,
        parse_math=False,  # a dollar is a dollar
        usetex=False,
    )
