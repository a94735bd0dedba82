"""The privacy budget as a bar chart. matplotlib is an extra, and is imported when it is used."""

from __future__ import annotations

import math
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from privatree._support.plot_style import BLUE, GREEN, GREY, ORANGE, VERMILION, new_axes
from privatree.errors import ParameterError
from privatree.export._budget_path import PathSpend, budget_path_bars
from privatree.model import released_model
from privatree.privacy import PrivacyStatement, shown_amount

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_BARS = 30
_MAX_NAME_LENGTH = 60  # characters
_MECHANISM_COLOURS = {
    **dict.fromkeys(("geometric", "truncated geometric", "laplace", "gaussian"), ORANGE),
    **dict.fromkeys(("exponential", "permute-and-flip"), BLUE),
    "joint exponential quantiles": GREEN,
}


def plot_budget(model: Any, ax: Axes | None = None) -> Axes:
    """Draw which steps of a training spent how much of epsilon.

    Parameters
    ----------
    model : Model or fitted classifier
        Model whose privacy statement is drawn.
    ax : matplotlib axes, optional
        Axes to draw on. By default a new figure is made.

    Returns
    -------
    matplotlib axes
        The axes with the bars.

    Raises
    ------
    ParameterError
        If matplotlib is not installed.

    Notes
    -----
    A record is on one path of the tree only, so the bars show the path with the largest total. (The
    records of a unit can be on several paths, but weigh as much as one record together.) Each
    bar begins where the bar above it ends, and the last bar ends at the epsilon of the statement.
    Noisy counts are orange, choices of splits and labels blue, and quantiles green. Unspent epsilon
    is hatched. A dashed line shows the epsilon that a publication claims, if there is such a claim.
    If the statement has leaks, epsilon is infinite, and the title says that the bars bound nothing.
    A delta above 0 has no bars, but a second line in the title.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> X, y, schema = datasets.load("breast-w")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=1, schema=schema, random_state=0)
    >>> ax = plot_budget(model.fit(X, y))
    >>> [label.get_text() for label in ax.get_yticklabels()][:2]
    ['number of records', 'level 1: last level with labels']
    """
    released = released_model(model)
    privacy = released.privacy_
    bars = budget_path_bars(released.tree_, privacy, _MAX_BARS)
    total = sum(bar.epsilon for bar in bars)
    if not math.isfinite(total):
        raise ParameterError(
            "the epsilons spent in the privacy statement must have a finite sum, got infinity. "
            "This statement cannot be drawn."
        )
    if ax is None:
        ax = new_axes(8.0, 1.4 + 0.36 * max(1, len(bars)))
    _draw_budget_plot_bars(ax, bars, total)
    _draw_budget_plot_lines(ax, privacy, total)
    _label_budget_plot_axes(ax, bars, privacy)
    return ax


def _draw_budget_plot_bars(ax: Axes, bars: list[PathSpend], total: float) -> None:
    begin = 0.0
    for place, bar in enumerate(bars):
        colour = _MECHANISM_COLOURS.get(bar.mechanism, GREY)
        ax.barh(
            place,
            bar.epsilon,
            left=begin,
            height=0.62,
            color=colour if bar.releases else "none",
            edgecolor=colour,
            hatch=None if bar.releases else "////",
            zorder=2,
        )
        end = begin + bar.epsilon
        if place + 1 < len(bars):
            ax.plot([end, end], [place, place + 1], color=GREY, linewidth=0.8, zorder=1)
        ax.text(
            1.02,
            place,
            f"{bar.epsilon:.3g}  ({bar.epsilon / total:.1%})",
            transform=ax.get_yaxis_transform(),
            va="center",
        )
        begin = end


def _draw_budget_plot_lines(ax: Axes, privacy: PrivacyStatement, total: float) -> None:
    limits = [("epsilon", privacy.model_epsilon, "-", "black")]
    if privacy.claimed_epsilon is not None:
        limits.append(("claimed", privacy.claimed_epsilon, "--", VERMILION))
    drawn = [limit for limit in limits if math.isfinite(limit[1])]
    farthest = max([total, *(amount for _, amount, *_ in drawn)]) or 1.0
    ax.set_xlim(0, 1.01 * farthest)
    for line, (name, amount, style, colour) in enumerate(drawn):
        ax.axvline(amount, color=colour, linestyle=style, linewidth=1.2, zorder=3)
        ax.annotate(
            f"{name} {shown_amount(amount)}",
            (amount, 1.0),
            xycoords=ax.get_xaxis_transform(),
            xytext=(0, 3 + 12 * line),
            textcoords="offset points",
            ha="right" if amount > farthest / 2 else "left",
            va="bottom",
            color=colour,
        )


def _label_budget_plot_axes(ax: Axes, bars: list[PathSpend], privacy: PrivacyStatement) -> None:
    names = []
    for bar in bars:
        many = f" × {bar.releases}" if bar.releases > 1 and bar.mechanism else ""
        where = "" if bar.depth is None else f"level {bar.depth + 1}: "
        names.append(where + shorten(bar.purpose, _MAX_NAME_LENGTH, placeholder=" …") + many)
    ax.set_yticks(range(len(bars)), names, parse_math=False, usetex=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(max(1, len(bars)) - 0.45, -0.55)  # the first bar on top
    ax.spines[["top", "right", "left"]].set_visible(False)
    is_replaced = privacy.neighbours == "replace"
    twice = f" (a replaced {privacy.words.noun} pays twice)" if is_replaced else ""
    ax.set_xlabel(f"epsilon, added up along the path that paid most{twice}")
    pad = 20 if privacy.claimed_epsilon is None else 32  # leaves room for the names of the lines
    ax.set_title(
        _budget_plot_title(privacy), pad=pad, fontsize="medium", parse_math=False, usetex=False
    )


def _budget_plot_title(privacy: PrivacyStatement) -> str:
    learner = shorten(privacy.learner, _MAX_NAME_LENGTH, placeholder=" …")
    if not math.isinf(privacy.epsilon):
        besides = f"\nbesides it, delta is {shown_amount(privacy.delta)}" if privacy.delta else ""
        return f"{learner}: where epsilon {shown_amount(privacy.model_epsilon)} went{besides}"
    leaks = shorten(
        ", ".join(leak.name for leak in privacy.leaks), _MAX_NAME_LENGTH, placeholder=" …"
    )
    reason = f" ({leaks})" if leaks else ""
    return f"{learner}: epsilon is infinite{reason},\nno guarantee; what was spent bounds nothing"
