"""Where epsilon went, as a plot. matplotlib is an extra: it is loaded when something is drawn."""

from __future__ import annotations

import math
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from privatree._support.plot_style import BLUE, GREEN, GREY, ORANGE, VERMILION, new_axes
from privatree.errors import ParameterError
from privatree.export._budget_path import PathSpend, dearest_path
from privatree.model import released_model
from privatree.privacy import PrivacyStatement, shown_amount

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_ROWS = 30
_MAX_NAME_LENGTH = 60  # letters
_REST = 1e-9  # of epsilon: less than this is rounding
_COLOURS = {
    **dict.fromkeys(("geometric", "truncated geometric", "laplace", "gaussian"), ORANGE),
    **dict.fromkeys(("exponential", "permute-and-flip"), BLUE),
    "joint exponential quantiles": GREEN,
}


def plot_budget(model: Any, ax: Axes | None = None) -> Axes:
    """Draw where epsilon went: what the records that paid most paid for, one below the other.

    Parameters
    ----------
    model : Model or trained classifier
        Whose privacy statement to draw.
    ax : matplotlib axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib axes
        With the drawing.

    Raises
    ------
    ParameterError
        If matplotlib is not installed.

    Notes
    -----
    A record is on one path of the tree only, so what counts is the path whose spends add up to
    most. Each bar begins where the one above it ends; the last one ends at the epsilon of the
    statement. Noisy counts are orange, choices (of splits and labels) blue, quantiles green, what
    was not spent hatched. Where a publication claims another epsilon, it is drawn as a
    line of its own. Where the statement has leaks, epsilon is infinite, and the title says that
    the bars bound nothing. Only the released statement is read.
    """
    released = released_model(model)
    privacy = released.privacy_
    rows = _rows(dearest_path(released.tree_, privacy), privacy)
    total = sum(row.epsilon for row in rows)
    if not math.isfinite(total):
        raise ParameterError("the spends of a statement must have a finite sum to be drawn.")
    if ax is None:
        ax = new_axes(8.0, 1.4 + 0.36 * max(1, len(rows)))
    _draw_bars(ax, rows, total)
    _draw_limits(ax, privacy, total)
    _set_labels(ax, rows, privacy)
    return ax


def _rows(spends: tuple[PathSpend, ...], privacy: PrivacyStatement) -> list[PathSpend]:
    """What is drawn: not too many spends, and what was left of epsilon."""
    rows, more = list(spends[:_MAX_ROWS]), spends[_MAX_ROWS:]
    if more:
        rest = sum(spend.epsilon for spend in more)
        rows.append(PathSpend(f"{len(more)} more spends", "", None, rest, len(more)))
    left = privacy.epsilon - sum(row.epsilon for row in rows)
    if math.isfinite(left) and left > _REST * privacy.epsilon:
        rows.append(PathSpend("not spent", "", None, left, 0))
    return rows


def _draw_bars(ax: Axes, rows: list[PathSpend], total: float) -> None:
    begin = 0.0
    for place, row in enumerate(rows):
        colour = _COLOURS.get(row.mechanism, GREY)
        ax.barh(
            place,
            row.epsilon,
            left=begin,
            height=0.62,
            color=colour if row.releases else "none",
            edgecolor=colour,
            hatch=None if row.releases else "////",
            zorder=2,
        )
        end = begin + row.epsilon
        if place + 1 < len(rows):
            ax.plot([end, end], [place, place + 1], color=GREY, linewidth=0.8, zorder=1)
        ax.text(
            1.02,
            place,
            f"{row.epsilon:.3g}  ({row.epsilon / total:.1%})",
            transform=ax.get_yaxis_transform(),
            va="center",
        )
        begin = end


def _draw_limits(ax: Axes, privacy: PrivacyStatement, total: float) -> None:
    limits = [("epsilon", privacy.epsilon, "-", "black")]
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


def _set_labels(ax: Axes, rows: list[PathSpend], privacy: PrivacyStatement) -> None:
    names = []
    for row in rows:
        many = f" × {row.releases}" if row.releases > 1 and row.mechanism else ""
        where = "" if row.depth is None else f"level {row.depth + 1}: "
        names.append(where + shorten(row.purpose, _MAX_NAME_LENGTH, placeholder=" …") + many)
    ax.set_yticks(range(len(rows)), names, parse_math=False, usetex=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(max(1, len(rows)) - 0.45, -0.55)  # the first on top
    ax.spines[["top", "right", "left"]].set_visible(False)
    twice = ", a replaced record paying twice" if privacy.neighbours == "replace" else ""
    ax.set_xlabel(f"epsilon, added up along the path that paid most{twice}")
    pad = 20 if privacy.claimed_epsilon is None else 32  # above the names of the lines
    ax.set_title(_title(privacy), pad=pad, fontsize="medium", parse_math=False, usetex=False)


def _title(privacy: PrivacyStatement) -> str:
    learner = shorten(privacy.learner, _MAX_NAME_LENGTH, placeholder=" …")
    if not math.isinf(privacy.epsilon):
        return f"{learner}: where epsilon {shown_amount(privacy.epsilon)} went"
    leaks = shorten(
        ", ".join(leak.name for leak in privacy.leaks), _MAX_NAME_LENGTH, placeholder=" …"
    )
    reason = f" ({leaks})" if leaks else ""
    return f"{learner}: epsilon is infinite{reason},\nno guarantee; what was spent bounds nothing"
