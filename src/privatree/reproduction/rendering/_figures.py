"""Figures of curves with error bands, and writing any figure as PNG and SVG.

Figures are drawn without matplotlib's global state, and the same input gives the same bytes.
matplotlib is an optional dependency, so it is imported only when a figure is drawn.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privatree._support.atomic_files import replace_file
from privatree._support.plot_style import missing_matplotlib
from privatree.reproduction.rendering._summaries import frame_rows
from privatree.reproduction.rendering._wording import method_wording

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from privatree.baselines.methods import Method
    from privatree.reproduction.datasets._dataset import PaperDataset

_PANEL_WIDTH = 3.3  # inches: one column of a paper
_LEGEND_COLUMNS = 2.5  # legend entries below each panel, if they are short
_LEGEND_LINES = 2  # lines of the legend that fit into a figure's height
_LEGEND_LINE = 0.17  # inches that each further line adds to the height
_MARKERS = 10  # approximate number of markers on a curve; all points if fewer than 20
_LOOK: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "mathtext.default": "regular",
    "svg.fonttype": "none",  # text stays text, which can be searched and edited
    "svg.hashsalt": "privatree",
}


@dataclass(frozen=True)
class Style:
    """Colour, marker and dashes of a curve, which can be told apart in colour and in grey."""

    colour: str
    marker: str
    dashes: tuple[float, ...] = ()


# Seven of these colours are those of [Okabe08], which colour-blind readers can tell apart.
_STYLES: Mapping[str, Style] = {
    "privatree": Style("#D55E00", "o"),
    "privatree-paper": Style("#0072B2", "s", (5, 1.5)),
    "privatree-star": Style("#56B4E9", "D", (1, 1)),
    "bdpt": Style("#009E73", "^", (5, 1.5, 1, 1.5)),
    "dpgdf": Style("#CC79A7", "v", (3, 1, 1, 1, 1, 1)),
    "diffprivlib-tree": Style("#E69F00", "P", (3, 1.5)),
    "random-tree": Style("#E69F00", "P", (3, 1.5)),  # stands in for diffprivlib-tree
    "diffprivlib-logistic": Style("#8C6D00", "X", (2, 2)),
    "dp-ebm": Style("#666666", "h", (7, 2)),
    "privatree-robust": Style("#882255", "p", (8, 1.5, 2, 1.5)),
    "dpa": Style("#117733", "<", (6, 1, 1, 1)),
}
_OTHER = Style("#444444", "d")
_REFERENCE = Style("#000000", "", (4, 3))
_EMPHASISED = "privatree"


@dataclass(frozen=True)
class Curve:
    """The line of a method, with a band of one standard error on each side if errors are given.

    Without ``style``, the curve has the method's own style, which is the same in every figure.
    """

    method: str
    label: str
    x: Sequence[float]
    y: Sequence[float]
    standard_error: Sequence[float] = ()
    style: Style | None = None


@dataclass(frozen=True)
class Reference:
    """A horizontal line to compare curves with."""

    label: str
    y: float


@dataclass(frozen=True)
class Panel:
    """One plot of a figure."""

    title: str
    curves: tuple[Curve, ...]
    references: tuple[Reference, ...] = ()


def line_figure(
    panels: Sequence[Panel],
    *,
    x_label: str,
    y_label: str,
    x_scale: str = "log",
    n_columns: int | None = None,
) -> Figure:
    """Return a figure of panels, `n_columns` in a row (by default all), with one legend below."""
    width = n_columns or len(panels)
    n_rows = math.ceil(len(panels) / width)
    with new_figure(width, height=2.75 * n_rows) as figure:
        entries: dict[str, Any] = {}
        for place, panel in enumerate(panels):
            axes = figure.add_subplot(n_rows, width, place + 1)
            axes.set_xscale(x_scale)
            axes.set_xlabel(x_label if place >= len(panels) - width else "")
            axes.set_ylabel(y_label if place % width == 0 else "")
            draw_figure_panel(axes, panel, entries)
        add_legend_below_figure(figure, entries, n_columns=math.ceil(_LEGEND_COLUMNS * width))
    return figure


def draw_figure_panel(axes: Axes, panel: Panel, entries: dict[str, Any]) -> None:
    """Draw a panel on `axes`, and add its lines to the legend's `entries`, by label."""
    axes.set_title(panel.title)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axes.grid(axis="y", color="#E4E4E4", linewidth=0.6)
    axes.set_axisbelow(True)
    for reference in panel.references:
        line = axes.axhline(reference.y, lw=1.0, color=_REFERENCE.colour, zorder=1.5)
        line.set_dashes(_REFERENCE.dashes)
        entries.setdefault(reference.label, line)
    for curve in panel.curves:
        entries.setdefault(curve.label, _draw_figure_curve(axes, curve))


def figure_style_of_method(method: str) -> Style:
    """Return the style of a method, the same in every figure."""
    return _STYLES.get(method, _OTHER)


def _draw_figure_curve(axes: Axes, curve: Curve) -> Any:
    style = curve.style or figure_style_of_method(curve.method)
    emphasised = curve.method == _EMPHASISED
    (line,) = axes.plot(
        curve.x,
        curve.y,
        color=style.colour,
        marker=style.marker,
        markevery=max(1, len(curve.x) // _MARKERS),
        markersize=4.2 if emphasised else 3.4,
        markeredgecolor="white",
        markeredgewidth=0.4,
        linewidth=1.8 if emphasised else 1.1,
        zorder=4 if emphasised else 3,
    )
    if style.dashes:
        line.set_dashes(style.dashes)
    if curve.standard_error:
        low = [y - error for y, error in zip(curve.y, curve.standard_error, strict=True)]
        high = [y + error for y, error in zip(curve.y, curve.standard_error, strict=True)]
        axes.fill_between(curve.x, low, high, color=style.colour, alpha=0.18, linewidth=0)
    return line


def accuracy_figure(
    summary: pd.DataFrame, *, methods: Sequence[Method], datasets: Sequence[PaperDataset]
) -> Figure:
    """Draw mean accuracy against epsilon, with a panel for each dataset.

    `summary` is what ``summarise_scores`` returns. A method without privacy becomes a horizontal
    line. A method whose epsilon is a claim has a dagger in the legend, and the horizontal axis
    explains the dagger.
    """
    panels = [
        _figure_panel(summary[summary["dataset"] == d.name], d.title, methods) for d in datasets
    ]
    drawn = {curve.method for panel in panels for curve in panel.curves}
    claimed = any(method.claimed for method in methods if method.id in drawn)
    x_label = "privacy budget ε" + (" († as claimed; it does not hold)" if claimed else "")
    return line_figure(panels, x_label=x_label, y_label="test accuracy ± std. error")


def _figure_panel(summary: pd.DataFrame, title: str, methods: Sequence[Method]) -> Panel:
    curves, references = [], []
    for method in methods:
        rows = [row for row in frame_rows(summary[summary["method"] == method.id]) if row.n]
        private = sorted((row for row in rows if row.epsilon > 0), key=lambda row: row.epsilon)
        references += [Reference(method.title, row.mean) for row in rows if math.isnan(row.epsilon)]
        if private:
            x, y = [row.epsilon for row in private], [row.mean for row in private]
            errors = [row.standard_error for row in private]
            curves.append(Curve(method.id, method_wording(method), x, y, errors))
    return Panel(title, tuple(curves), tuple(references))


# --- one figure, drawn and written --------------------------------------------------------------


def add_legend_below_figure(figure: Figure, entries: Mapping[str, Any], *, n_columns: int) -> None:
    """Add a legend below all panels, with at most `n_columns` columns.

    The legend has fewer columns if the labels are too long for the width of the figure. The figure
    becomes taller for a legend of many lines. It needs a canvas, on which the labels are measured.
    """
    for at_most in range(min(n_columns, len(entries)), 0, -1):
        n_lines = math.ceil(len(entries) / at_most)
        legend = figure.legend(
            list(entries.values()),
            list(entries),
            loc="outside lower center",
            ncols=math.ceil(len(entries) / n_lines),
            handlelength=3.2,
            columnspacing=1.4,
        )
        if at_most == 1 or legend.get_window_extent().width <= figure.bbox.width:
            more = max(0, n_lines - _LEGEND_LINES) * _LEGEND_LINE
            figure.set_figheight(figure.get_figheight() + more)
            return
        legend.remove()


@contextmanager
def new_figure(n_panels: float, height: float) -> Iterator[Figure]:
    """Return a new figure in our style. Raise ParameterError if matplotlib is not installed."""
    try:
        from matplotlib import style
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise missing_matplotlib("figures") from error
    with style.context(["default", _LOOK]):  # not with the user's own settings
        figure = Figure(figsize=(_PANEL_WIDTH * n_panels, height), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure


def write_figure(folder: Path, name: str, figure: Figure) -> tuple[Path, Path]:
    """Write NAME.png and NAME.svg, and return their paths."""
    from matplotlib import style

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for form, metadata in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": None})):
        content = io.BytesIO()
        with style.context(["default", _LOOK]):
            figure.savefig(content, format=form, dpi=300, metadata=metadata)
        written.append(replace_file(folder / f"{name}.{form}", content.getvalue()))
    return written[0], written[1]
