"""The figure of the backdoor: a poisoned image, and how often the trigger works."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from privatree.reproduction.rendering._attack_success import ACCURACY, SUCCESS
from privatree.reproduction.rendering._figures import (
    Curve,
    Panel,
    Style,
    draw_panel,
    drawing,
    legend_below,
    style_of,
)
from privatree.reproduction.rendering._summaries import rows_of
from privatree.reproduction.rendering._titles import marked_title

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from privatree.reproduction.rendering._titles import MethodTitle

_NO_PRIVACY = Style("#000000", "")
_DASHES = (3.0, 1.5)


def backdoor_figure(
    figures: pd.DataFrame,
    image: NDArray[Any],
    *,
    methods: Sequence[MethodTitle],
    epsilons: Sequence[float],
    schemas: Mapping[str, str],
) -> Figure:
    """Left the image, then a panel for each epsilon: measured solid, the best bound dashed.

    The panels of a dataset are a row.

    Parameters
    ----------
    figures : DataFrame
        What :func:`privatree.reproduction.rendering._attack_success.attack_success` returns.
    image : array of shape (height, width)
        A poisoned record.
    methods : sequence
        What is shown, in this order; a method without privacy in every panel, whichever dataset
        it was run on, as it reads no schema.
    epsilons : sequence of float
        The panels, from left to right.
    schemas : mapping of str to str
        The datasets from top to bottom, and what their ranges are.
    """
    with drawing(len(epsilons) + 0.6, height=0.6 + 2.5 * len(schemas)) as figure:
        shares = [0.6, *(1.0 for _ in epsilons)]
        grid = figure.add_gridspec(len(schemas), len(shares), width_ratios=shares)
        picture = figure.add_subplot(grid[:, 0])
        picture.imshow(image, cmap="gray", interpolation="nearest")
        picture.set_title("a zero with the trigger,\nlabelled as a one")
        picture.set_xticks([])
        picture.set_yticks([])
        entries: dict[str, Any] = {}
        for row, column in product(range(len(schemas)), range(len(epsilons))):
            axes = figure.add_subplot(grid[row, column + 1])
            axes.set_xlabel("poisoned training records" if row == len(schemas) - 1 else "")
            axes.set_ylabel("attack success rate ± std. error" if column == 0 else "")
            axes.set_ylim(-0.03, 1.03)
            dataset = list(schemas)[row]
            of_row = figures[(figures["dataset"] == dataset) | figures["epsilon"].isna()]
            title = f"{schemas[dataset]}, ε = {epsilons[column]:g}"
            panel = Panel(title, _curves(of_row, epsilons[column], methods))
            for label, drawn in draw_panel(axes, panel).items():
                entries.setdefault(label, drawn)
        legend_below(figure, entries, n_columns=min(4, max(1, len(entries))))
    return figure


def _curves(
    figures: pd.DataFrame, epsilon: float, methods: Sequence[MethodTitle]
) -> tuple[Curve, ...]:
    curves = []
    for method in methods:
        of_method = figures[(figures["method"] == method.id) & (figures["n"] > 0)]
        at = of_method[(of_method["epsilon"] == epsilon) | of_method["epsilon"].isna()]
        measured = list(rows_of(at[at["figure"] == SUCCESS]))
        if not measured:
            continue
        private = not math.isnan(measured[0].epsilon)
        own = style_of(method.id) if private else _NO_PRIVACY
        x, y = [row.poisoned for row in measured], [row.value for row in measured]
        errors = [row.standard_error for row in measured]
        style = Style(own.colour, own.marker)
        curves.append(Curve(method.id, marked_title(method), x, y, errors, style))
        limits = at[~at["figure"].isin([ACCURACY, SUCCESS])].groupby("poisoned")["value"].min()
        if len(limits):
            label = f"{marked_title(method)}: {'claimed' if method.claimed else 'best'} bound"
            style = Style(own.colour, "", _DASHES)
            curves.append(Curve(method.id, label, list(limits.index), list(limits), (), style))
    return tuple(curves)
