"""The strongest terms of an ensemble as small multiples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privatree._support.plot_style import TEXT_GREY, missing_matplotlib
from privatree._support.validation import check_integer
from privatree.export.terms._dots import shown_name
from privatree.export.terms._number_scale import bent_axes_note
from privatree.export.terms._reading import class_place, effects_by_class, score_text, terms_of
from privatree.export.terms._term_plot import draw_term, has_categories, strongest_class
from privatree.model.terms import Term, Terms

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privatree.schema import Label

_N_COLUMNS = 3
_MAX_CHARTS = 60
_MAX_ROWS = 8
"""Number of categories of a chart."""
_MAX_NAME, _MAX_TITLE = 20, 28  # characters
_CHART_WIDTH, _CHART_HEIGHT = 3.7, 2.5  # inches


def plot_terms(
    model: Any,
    *,
    max_terms: int = 12,
    max_pairs: int | None = None,
    label: Label | None = None,
) -> Figure:
    """Draw the strongest terms of an ensemble as small charts.

    Parameters
    ----------
    model : EnsembleModel, fitted classifier, Ensemble or Terms
        Model whose terms are drawn, or its terms.
    max_terms : int, default=12
        Largest number of charts, 1 to 60.
    max_pairs : int, optional
        Largest number of terms of several features among them. By default, terms of one and of two
        features are drawn in the order of their strength.
    label : label, optional
        With more than two classes, the class whose score is drawn; see
        :func:`privatree.plot_term`.

    Returns
    -------
    matplotlib figure
        A new figure.

    Raises
    ------
    ParameterError
        If matplotlib is not installed, or a parameter is out of its range.

    Notes
    -----
    The strongest term comes first, and its strength is in its title: the mean effect on the score,
    up to the sign, if all values of the declared ranges are equally likely (those in a released
    interval are likelier). All charts of one feature have the same scale, so that a flat curve is a
    weak one, and so have all heat maps. Of many categories, those with the largest effects are
    shown. What the grey band means is in the notes of :func:`privatree.plot_term`. Terms of three
    features have no chart.

    Examples
    --------
    >>> from privatree import PrivaBoostClassifier, datasets
    >>> frame, labels, schema = datasets.load("breast-w")
    >>> model = PrivaBoostClassifier(1.0, schema=schema, random_state=0).fit(frame, labels)
    >>> figure = plot_terms(model, max_terms=4)
    >>> len(figure.axes)
    6
    """
    check_integer("max_terms", max_terms, 1, _MAX_CHARTS)
    terms = terms_of(model, max_pairs)
    place = class_place(terms, label)
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise missing_matplotlib("plots") from error
    drawn = [term for term in terms if term.order <= 2][:max_terms]
    n_columns = min(_N_COLUMNS, max(1, len(drawn)))
    n_rows = max(1, -(-len(drawn) // n_columns))
    figure = pyplot.figure(
        figsize=(_CHART_WIDTH * max(2, n_columns), _CHART_HEIGHT * n_rows + 0.7),
        layout="constrained",
    )
    grid = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    _draw_charts(figure, grid, terms, drawn, place)
    _write_overview_title(figure, terms, drawn, place)
    return figure


def _draw_charts(
    figure: Figure, grid: Any, terms: Terms, drawn: list[Term], place: int | None
) -> None:
    limits = {
        order: max((_largest(term, place) for term in drawn if term.order == order), default=1.0)
        for order in (1, 2)
    }
    mesh, legend = None, None
    for ax, term in zip(grid, drawn, strict=False):
        limit = limits[term.order]
        found = draw_term(
            ax, terms, term, place, limit=limit, max_rows=_MAX_ROWS, max_name=_MAX_NAME
        )
        mesh = found if found is not None else mesh
        if term.order == 1:
            set_limits = ax.set_xlim if has_categories(term.axes[0]) else ax.set_ylim
            set_limits(-1.06 * limit, 1.06 * limit)
            legend = legend or ax.get_legend_handles_labels()
        longest = _MAX_TITLE // term.order
        name = " × ".join(shown_name(name, longest) for name in term.names)
        ax.set_title(
            name, loc="left", fontsize="medium", fontweight="bold", parse_math=False, usetex=False
        )
        ax.set_title(f"{term.strength:.2g}", loc="right", fontsize="medium", color=TEXT_GREY)
        ax.tick_params(labelsize="small")
        for side in (ax.xaxis, ax.yaxis):
            side.label.set_fontsize("small")
    for ax in grid[len(drawn) :]:
        ax.set_axis_off()
    if mesh is not None:
        bar = figure.colorbar(mesh, ax=grid.tolist(), location="bottom", aspect=60, shrink=0.6)
        bar.outline.set_visible(False)
        bar.set_label("two features: added together", fontsize="small")
        bar.ax.tick_params(labelsize="small")
    if legend is not None and legend[0]:
        figure.legend(*legend, loc="outside lower center", ncols=8, frameon=False)


def _largest(term: Term, place: int | None) -> float:
    """Return the largest effect that is drawn, up to the sign."""
    effects = np.abs(effects_by_class(term))
    if place is None and term.order == 2:
        place = strongest_class(term)
    return float((effects if place is None else effects[..., place]).max())


def _write_overview_title(
    figure: Figure, terms: Terms, drawn: list[Term], place: int | None
) -> None:
    figure.suptitle(
        f"What {_drawn_terms_text(terms, drawn)} to the {score_text(terms, place)}.\n"
        "Grey areas and hatches: what chance alone explains. Grey figures: the strength."
        f"{bent_axes_note(terms, drawn)}",
        fontsize="medium", ha="left", x=0.01, parse_math=False, usetex=False,
    )  # fmt: skip


def _drawn_terms_text(terms: Terms, drawn: list[Term]) -> str:
    """Return which terms are drawn: "the 12 strongest of 76 terms add"."""
    others = [term for term in (*terms, *terms.left_out) if term not in drawn]
    n_all = len(drawn) + len(others)
    if n_all < 2:
        return "the only term adds" if drawn else "no term adds"
    if not others:
        return f"all {n_all:,} terms add"
    n = len(drawn)
    strongest = max(term.strength for term in others)
    if all(term.strength >= strongest for term in drawn):
        shown = f"the {n} strongest" if n > 1 else "the strongest"
    else:
        shown = f"{n}"
    return f"{shown} of {n_all:,} terms add{'s' * (n == 1)}"
