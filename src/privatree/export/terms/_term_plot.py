"""One term of an ensemble as a matplotlib plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privatree._support.plot_style import new_axes
from privatree.errors import ParameterError
from privatree.export.terms._curve import draw_curve
from privatree.export.terms._dots import MAX_NAME_LENGTH, draw_dots, shown_name
from privatree.export.terms._heat_map import draw_heat_map
from privatree.export.terms._number_scale import bent_axes_note
from privatree.export.terms._reading import (
    class_place,
    effects_by_class,
    score_text,
    terms_of,
)
from privatree.model.terms import Axis, Term, Terms
from privatree.schema import Categorical

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privatree.schema import Label

_ROW_HEIGHT = 0.24  # inches
_MAX_HEIGHT = 30.0  # inches


def plot_term(model: Any, *names: str, label: Label | None = None, ax: Axes | None = None) -> Axes:
    """Draw one term of an ensemble: what one feature, or two features together, add to the score.

    Parameters
    ----------
    model : EnsembleModel, fitted classifier, Ensemble or Terms
        Model whose term is drawn, or its terms.
    *names : str
        Name of the feature, or names of the two features.
    label : label, optional
        With more than two classes, the class whose score is drawn. By default, a term of one
        feature shows all classes, and a term of two features the one on which it has most effect.
    ax : matplotlib axes, optional
        Axes to draw on. By default a new figure is made.

    Returns
    -------
    matplotlib axes
        The axes with the term.

    Raises
    ------
    ParameterError
        If matplotlib is not installed, the model has no such term, or the term has three features:
        no picture shows those. ``export_terms`` writes their values.

    Notes
    -----
    A number is a step function, and categories are dots, the largest effect on top. Two features
    are a heat map. **The grey band, and the hatched cells, are what chance alone explains**: about
    one value of twenty is outside it if the records say nothing about the feature. Missing values
    that are separate are beside the numbers.

    The learner draws an interval that probably has most of the records. If it is a small part of
    the declared range, it takes half of the axis: it is between the dotted lines, and the distance
    from it is logarithmic.

    Examples
    --------
    >>> from privatree import PrivaBoostClassifier, datasets
    >>> frame, labels, schema = datasets.load("breast-w")
    >>> model = PrivaBoostClassifier(1.0, schema=schema, random_state=0).fit(frame, labels)
    >>> ax = plot_term(model, "Bare_Nuclei")
    >>> ax.get_ylabel()
    'adds to the log-odds of malignant'
    """
    terms = terms_of(model)
    term = _find_term(terms, names)
    if term.order > 2:
        raise ParameterError(
            f"the term must have one or two features, got {term.order}: a picture cannot show "
            "more. privatree.export.export_terms writes its values.",
            "names",
        )
    place = class_place(terms, label)
    if ax is None:
        ax = new_axes(*_figure_size(term))
    if ax.get_figure(root=True) is None:
        raise ParameterError("ax must belong to a figure, got axes without a figure.", "ax")
    mesh = draw_term(ax, terms, term, place)
    _label_term_axes(ax, terms, term, place, mesh)
    return ax


def draw_term(
    ax: Axes,
    terms: Terms,
    term: Term,
    place: int | None,
    *,
    limit: float | None = None,
    max_rows: int | None = None,
    max_name: int = MAX_NAME_LENGTH,
) -> Any:
    """Draw a term without title, legend and colour bar; return the heat map if it is one."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.use_sticky_edges = False  # leaves space beside the band
    if term.order == 2:
        place = strongest_class(term) if place is None else place
        return draw_heat_map(ax, terms, term, place, limit, max_name)
    if has_categories(term.axes[0]):
        draw_dots(ax, terms, term, place, max_rows, max_name)
    else:
        draw_curve(ax, terms, term, place)
    return None


def strongest_class(term: Term) -> int:
    """Return the place of the class on whose score a term has most effect."""
    sizes = np.tensordot(term.measure, np.abs(effects_by_class(term)), term.order)
    return int(sizes.argmax())


def has_categories(axis: Axis) -> bool:
    return isinstance(axis.feature, Categorical)


def _find_term(terms: Terms, names: tuple[str, ...]) -> Term:
    if not names:
        raise ParameterError("names must be one feature or two, got none.", "names")
    try:
        found: Term = terms[names]
    except KeyError as error:
        raise ParameterError(f"names must be those of a term: {error.args[0]}", "names") from None
    return found


def _figure_size(term: Term) -> tuple[float, float]:
    if term.order == 2:
        rows = max(axis.n_cells if has_categories(axis) else 0 for axis in term.axes)
        return 6.4, min(max(4.4, 1.4 + _ROW_HEIGHT * rows), _MAX_HEIGHT)
    if has_categories(term.axes[0]):
        return 6.4, min(1.2 + _ROW_HEIGHT * max(3, term.axes[0].n_cells), _MAX_HEIGHT)
    return 6.4, 3.8


def _label_term_axes(ax: Axes, terms: Terms, term: Term, place: int | None, mesh: Any) -> None:
    title = " and ".join(map(shown_name, term.names))
    if term.order == 2:
        place = strongest_class(term) if place is None else place
        bar = ax.figure.colorbar(mesh, ax=ax)
        bar.outline.set_visible(False)
        bar.set_label(f"adds to the {score_text(terms, place)}", parse_math=False)
    else:
        across = has_categories(term.axes[0])
        text = f"adds to the {score_text(terms, place)}"
        set_label = ax.set_xlabel if across else ax.set_ylabel
        set_label(text, parse_math=False, usetex=False)
        if not across:
            ax.set_xlabel(shown_name(term.names[0]), parse_math=False, usetex=False)
    ax.set_title(
        f"{title}: strength {term.strength:.2g}{bent_axes_note(terms, [term])}",
        fontsize="medium", parse_math=False, usetex=False,
    )  # fmt: skip
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
