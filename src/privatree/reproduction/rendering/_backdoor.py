"""How well a backdoor works, and how well it can: means over splits, bounds, and their figure.

With ``ASR_0`` the success rate of the trigger on a learner of clean records, each lower bound F on
a score gives an upper bound ``1 - F(1 - ASR_0)`` on the success rate of a poisoned one. The mean
measured here stands for ASR_0, so these are plug-in estimates: nothing is said about how sure they
are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from privatree.baselines.methods import Method
from privatree.privacy import Schedule
from privatree.reproduction.rendering._figures import (
    Curve,
    Panel,
    Style,
    draw_panel,
    drawing,
    legend_below,
    style_of,
)
from privatree.reproduction.rendering._guarantees import spending_of
from privatree.reproduction.rendering._summaries import rows_of, summarise
from privatree.reproduction.rendering._wording import marked_title
from privatree.robustness import bounds
from privatree.robustness.poisoning_bounds import paper_bound

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from privatree.reproduction.running._study import Available

ACCURACY, SUCCESS = "accuracy", "asr"
"""What a row has; any other is the letter of a bound on the success rate."""

PAPER_BOUND = "A"
"""The letter of the paper's Corollary 3."""

COLUMNS = (
    *("dataset", "method", "epsilon", "poisoned", "share", "figure"),
    *("value", "standard_error", "n", "note"),
)


def attack_success(
    cells: pd.DataFrame,
    *,
    methods: Sequence[Method],
    found: Sequence[Available],
    depth: int,
    n_training: int,
) -> pd.DataFrame:
    """Mean accuracy and success rate of every setting, and every bound on the latter.

    Parameters
    ----------
    cells : DataFrame
        One split a row: dataset, method, epsilon (NaN without privacy), depth, poisoned, repeat,
        accuracy, asr and a note where there is no score.
    methods : sequence of Method
        Those of the cells.
    found : sequence of Available
        The datasets of the cells. They come in this order, and bounds from the schema of each.
    depth : int
        Of the trees.
    n_training : int
        Training records before they are poisoned.

    Returns
    -------
    DataFrame
        The columns are ``COLUMNS``; a bound has no standard error. Our learner has all bounds of
        its schedule; a method whose epsilon is a claim has the paper's at that epsilon, which is a
        claim too; others have none.
    """
    import pandas as pd

    rows = [
        row
        for dataset, method in product(found, methods)
        for _, group in cells[
            (cells["dataset"] == dataset.name) & (cells["method"] == method.id)
        ].groupby("epsilon", dropna=False)
        for row in _of_setting(group, method, dataset, depth, n_training)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _of_setting(
    cells: pd.DataFrame, method: Method, dataset: Available, depth: int, n_training: int
) -> Iterator[tuple[Any, ...]]:
    """The figures of one method at one epsilon, from the fewest poisoned records on."""
    accuracy, success = _means(cells, ACCURACY), _means(cells, SUCCESS)
    clean: Any = success.get(0)
    known = method.private and clean is not None and clean.n
    spending = spending_of(method, dataset.schema, clean.epsilon, depth) if known else None
    for poisoned, row in success.items():
        setting = (row.dataset, row.method, row.epsilon, poisoned, poisoned / n_training)
        for figure, found in ((ACCURACY, accuracy[poisoned]), (SUCCESS, row)):
            yield (*setting, figure, found.mean, found.standard_error, found.n, found.note)
        left: Mapping[str, float] = {}
        if isinstance(spending, Schedule):
            left = bounds(spending, 1 - clean.mean, poisoned)
        elif spending is not None and method.claimed:
            left = {PAPER_BOUND: paper_bound(spending.epsilon, 1 - clean.mean, poisoned)}
        for letter, value in left.items():
            yield (*setting, letter, 1 - value, math.nan, row.n, "")


def _means(cells: pd.DataFrame, figure: str) -> dict[int, Any]:
    """Mean and standard error over splits, by the number of poisoned records."""
    return {
        number: row
        for number in sorted({int(poisoned) for poisoned in cells["poisoned"]})
        for row in rows_of(summarise(cells[cells["poisoned"] == number], value=figure))
    }


# --- the figure ---------------------------------------------------------------------------------

_NO_PRIVACY = Style("#000000", "")
_DASHES = (3.0, 1.5)


def backdoor_figure(
    figures: pd.DataFrame,
    image: NDArray[Any],
    *,
    methods: Sequence[Method],
    epsilons: Sequence[float],
    schemas: Mapping[str, str],
) -> Figure:
    """Left the image, then a panel for each epsilon: measured solid, the best bound dashed.

    The panels of a dataset are a row.

    Parameters
    ----------
    figures : DataFrame
        What :func:`attack_success` returns.
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
            draw_panel(axes, panel, entries)
        legend_below(figure, entries, n_columns=min(4, max(1, len(entries))))
    return figure


def _curves(figures: pd.DataFrame, epsilon: float, methods: Sequence[Method]) -> tuple[Curve, ...]:
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
