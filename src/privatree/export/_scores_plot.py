"""Private scores as plots. matplotlib is an extra, and is imported when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privatree._support.plot_style import BLUE, GREY, PALE_GREY, class_colour, new_axes
from privatree.errors import ParameterError
from privatree.evaluation import PrivateScores, Score

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_IN_TARGET_UNITS = ("mean absolute error", "root mean squared error")
_MAX_ROWS = 60


def plot_scores(scores: PrivateScores, ax: Axes | None = None) -> Axes:
    """Draw the metrics of a model with their 95% intervals.

    Parameters
    ----------
    scores : PrivateScores
        Scores from :func:`privatree.evaluation.private_scores`.
    ax : matplotlib axes, optional
        Axes to draw on. By default a new figure is made.

    Returns
    -------
    matplotlib axes
        The axes: a row for each metric. Of a model that predicts a number, they have the errors in
        the unit of the target, and R² is in the title.

    Raises
    ------
    ParameterError
        If matplotlib is not installed.

    Notes
    -----
    The plot shows released values only. A row without a dot is a metric whose estimate the noise
    hides.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> from privatree.evaluation import private_scores
    >>> X, y, schema = datasets.load("adult")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=2, schema=schema, random_state=0)
    >>> scores = private_scores(model.fit(X[::2], y[::2]), X[1::2], y[1::2], epsilon=1)
    >>> [label.get_text() for label in plot_scores(scores).get_yticklabels()][:2]
    ['accuracy', 'balanced accuracy']
    """
    is_number = not scores.classes
    rows = [score for score in scores if (score.name in _IN_TARGET_UNITS) == is_number][:_MAX_ROWS]
    if ax is None:
        ax = new_axes(7.5, 1.2 + 0.34 * len(rows))
    for place, score in enumerate(rows):
        if place % 2 == 0:
            ax.axhspan(place - 0.5, place + 0.5, color=PALE_GREY, zorder=0)
        ax.hlines(place, score.low, score.high, color=BLUE, linewidth=6, alpha=0.35)
        if score.value is not None:
            ax.plot([score.value], [place], "o", color=BLUE, markersize=6)
        value, interval = score.shown
        ax.annotate(
            f"{value}  ({interval})", (1.02, place), xycoords=("axes fraction", "data"),
            va="center", fontsize=9,
        )  # fmt: skip
    ax.set_yticks(range(len(rows)), [_plain_text(scores.title_of(score)) for score in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(0.0, None if is_number else max(1.0, *(score.high for score in rows)))
    ax.set_xlabel("error, in the unit of the target" if is_number else "estimate and 95% interval")
    ax.set_title(_scores_title(scores), loc="left", fontsize=10)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def plot_calibration(scores: PrivateScores, ax: Axes | None = None) -> Axes:
    """Draw how often a class occurs where the model predicts a probability, with 95% intervals.

    Parameters
    ----------
    scores : PrivateScores
        Scores of a model with probabilities, from :func:`privatree.evaluation.private_scores`.
    ax : matplotlib axes, optional
        Axes to draw on. By default a new figure is made.

    Returns
    -------
    matplotlib axes
        The axes: a curve for the second of two classes, or for each of several classes. On the
        dashed line, probabilities are right.

    Raises
    ------
    ParameterError
        If the scores have no calibration, or matplotlib is not installed.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> from privatree.evaluation import private_scores
    >>> X, y, schema = datasets.load("adult")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=2, schema=schema, random_state=0)
    >>> scores = private_scores(model.fit(X[::2], y[::2]), X[1::2], y[1::2], epsilon=1)
    >>> plot_calibration(scores).get_ylabel()
    'true share'
    """
    curves = [(label, points) for label, points in scores.calibration if points]
    if not curves:
        raise ParameterError(
            "scores must have a calibration curve, but have none: the model has no probabilities, "
            "or the noise hides all points. plot_scores draws the metrics.",
            "scores",
        )
    if ax is None:
        ax = new_axes(5.2, 5.2)
    ax.plot([0, 1], [0, 1], "--", color=GREY, linewidth=1)
    for label, points in curves:
        colour = class_colour(list(scores.classes).index(label))
        for point in points:
            ends = [point.share.low, point.share.high]
            ax.plot([point.predicted] * 2, ends, color=colour, linewidth=1.6, alpha=0.6)
        places = [point.predicted for point in points]
        shares = [_middle(point.share) for point in points]
        ax.plot(places, shares, "o", color=colour, markersize=5, label=_plain_text(str(label)))
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="predicted probability")
    ax.set_ylabel("true share")
    ax.set_aspect("equal")
    ax.set_title(_scores_title(scores), loc="left", fontsize=10)
    ax.legend(frameon=False, loc="upper left")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _middle(share: Score) -> float:
    return (share.low + share.high) / 2 if share.value is None else share.value


def _scores_title(scores: PrivateScores) -> str:
    title = f"{scores.size_text}, epsilon {scores.epsilon:.4g} for the scores"
    if scores.classes:
        return title
    value, interval = scores["R²"].shown
    return f"R² {value} ({interval})\n{title}"


def _plain_text(text: str) -> str:
    """Return a text in which matplotlib sees no formula."""
    return text.replace("$", r"\$")
