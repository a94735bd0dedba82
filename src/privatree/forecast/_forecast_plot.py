"""A forecast as a picture. matplotlib is an extra: it is loaded when a picture is drawn."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, cast

from privatree._support.atomic_files import replace_file
from privatree._support.plot_style import BLUE, GREY, ORANGE, new_panels
from privatree.errors import ParameterError
from privatree.forecast._forecast_text import LEARNER_NAMES, setting_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from privatree.forecast._result import Forecast, Loss


PICTURES = (".png", ".svg")


def save_plot(made: Forecast, path: Path) -> None:
    """Write the picture as PNG or SVG: the same bytes for the same forecast."""
    check_picture_name(path)
    left, _ = plot_forecast(made)
    from matplotlib import pyplot, style

    figure = cast("Figure", left.figure)
    form = path.suffix.lower()[1:]
    metadata = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}[form]
    content = io.BytesIO()
    with style.context({"svg.fonttype": "none", "svg.hashsalt": "privatree"}):
        figure.savefig(content, format=form, dpi=150, metadata=metadata)
    pyplot.close(figure)
    replace_file(path, content.getvalue())


def check_picture_name(path: Path) -> None:
    """Raise a ParameterError unless a picture can have this name."""
    if path.suffix.lower() not in PICTURES:
        raise ParameterError(f"path must end in .png or .svg, got {str(path)!r}.", "path")


def plot_forecast(made: Forecast) -> tuple[Axes, Axes]:
    """Draw two panels: the accuracy and the AUC that privacy costs, against epsilon."""
    left, right = new_panels(9.0, 4.2)
    expected = made.expected
    _draw_panel(left, made, "accuracy", [each.accuracy for each in expected])
    _draw_panel(right, made, "AUC", [each.auc for each in expected])
    left.figure.suptitle(
        f"What privacy will probably cost: {setting_text(made.setting)}\n"
        f"{LEARNER_NAMES[made.setting.model]}, a guide from other data",
        fontsize="medium",
    )
    left.legend(loc="best", fontsize="small", frameon=False)
    return left, right


def _draw_panel(ax: Axes, made: Forecast, score: str, losses: list[Loss]) -> None:
    epsilons = list(made.setting.epsilons)
    ax.axhline(0.0, color=GREY, linewidth=1.0)
    lowest, highest = [loss.lowest for loss in losses], [loss.highest for loss in losses]
    if len(epsilons) > 1:
        ax.fill_between(epsilons, lowest, highest, color=BLUE, alpha=0.12, linewidth=0)
    for bundled, colour, label in (
        (False, GREY, "a made-up table"),
        (True, ORANGE, "a bundled dataset"),
    ):
        shown = [row for row in made.tables if row.counts and row.bundled == bundled]
        if shown:
            ax.plot(
                [row.epsilon for row in shown],
                [row.accuracy_lost if score == "accuracy" else row.auc_lost for row in shown],
                "o",
                color=colour,
                markersize=5 if bundled else 3.5,
                label=label,
                zorder=3 if bundled else 2,
            )
    means = [loss.mean for loss in losses]
    ax.plot(epsilons, means, "-o", color=BLUE, linewidth=2.2, label="forecast: mean", zorder=4)
    ax.set_xscale("log")
    ax.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    ax.minorticks_off()
    ax.set_xlabel("epsilon")
    ax.set_ylabel(f"{score} lost")
    ax.grid(axis="y", color="#E4E4E4", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
