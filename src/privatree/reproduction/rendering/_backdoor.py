"""The success rate of a backdoor attack: means over splits, upper bounds, and their figure.

Let ``ASR_0`` be the success rate of the trigger if the training records are clean. Each lower bound
F on a score gives the upper bound ``1 - F(1 - ASR_0)`` on the success rate if records are poisoned.
The measured mean is used for ``ASR_0``, so the bounds are plug-in estimates without a confidence
claim.
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
    add_legend_below_figure,
    draw_figure_panel,
    figure_style_of_method,
    new_figure,
)
from privatree.reproduction.rendering._guarantees import guarantee_spending
from privatree.reproduction.rendering._summaries import frame_rows, summarise_scores
from privatree.reproduction.rendering._wording import method_wording
from privatree.robustness import bounds
from privatree.robustness.poisoning_bounds import paper_bound

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from privatree.reproduction.running._study import Available

ACCURACY, SUCCESS = "accuracy", "asr"
"""Values of the column ``figure``. Other values are letters of bounds on the success rate."""

PAPER_BOUND = "A"
"""The letter of the paper's Corollary 3."""

COLUMNS = (
    *("dataset", "method", "epsilon", "poisoned", "share", "figure"),
    *("value", "standard_error", "n", "note"),
)


def backdoor_mean_rates(
    cells: pd.DataFrame,
    *,
    methods: Sequence[Method],
    found: Sequence[Available],
    depth: int,
    n_training: int,
) -> pd.DataFrame:
    """Return the mean accuracy, mean success rate and bounds on this rate for each setting.

    `cells` has one split in each row: dataset, method, epsilon (NaN without privacy), depth,
    poisoned, repeat, accuracy, asr, and a note if there is no score. `n_training` is the number of
    training records before poisoning. The result has the columns ``COLUMNS``.

    Our learner has all bounds of its schedule. A method whose epsilon is only a claim has the
    paper's bound at that epsilon, which is only a claim, too. Other methods have no bound.
    """
    import pandas as pd

    rows = [
        row
        for dataset, method in product(found, methods)
        for _, group in cells[
            (cells["dataset"] == dataset.name) & (cells["method"] == method.id)
        ].groupby("epsilon", dropna=False)
        for row in _backdoor_rates_of_setting(group, method, dataset, depth, n_training)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _backdoor_rates_of_setting(
    cells: pd.DataFrame, method: Method, dataset: Available, depth: int, n_training: int
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one method at one epsilon, in increasing number of poisoned records."""
    accuracy, success = _backdoor_means(cells, ACCURACY), _backdoor_means(cells, SUCCESS)
    clean: Any = success.get(0)
    known = method.private and clean is not None and clean.n
    spending = guarantee_spending(method, dataset.schema, clean.epsilon, depth) if known else None
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


def _backdoor_means(cells: pd.DataFrame, figure: str) -> dict[int, Any]:
    """Return mean and standard error over splits, by the number of poisoned records."""
    return {
        number: row
        for number in sorted({int(poisoned) for poisoned in cells["poisoned"]})
        for row in frame_rows(summarise_scores(cells[cells["poisoned"] == number], value=figure))
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
    """Draw a poisoned image, and a panel of success rates for each dataset and epsilon.

    `figures` is what :func:`backdoor_mean_rates` returns. Measured rates are solid lines, the best
    bounds dashed. The rows of panels are the datasets of `schemas`, which maps each dataset to a
    description of its ranges. A method without privacy reads no schema, so it is in every panel.
    """
    with new_figure(len(epsilons) + 0.6, height=0.6 + 2.5 * len(schemas)) as figure:
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
            panel = Panel(title, _backdoor_figure_curves(of_row, epsilons[column], methods))
            draw_figure_panel(axes, panel, entries)
        add_legend_below_figure(figure, entries, n_columns=min(4, max(1, len(entries))))
    return figure


def _backdoor_figure_curves(
    figures: pd.DataFrame, epsilon: float, methods: Sequence[Method]
) -> tuple[Curve, ...]:
    curves = []
    for method in methods:
        of_method = figures[(figures["method"] == method.id) & (figures["n"] > 0)]
        at = of_method[(of_method["epsilon"] == epsilon) | of_method["epsilon"].isna()]
        measured = list(frame_rows(at[at["figure"] == SUCCESS]))
        if not measured:
            continue
        private = not math.isnan(measured[0].epsilon)
        own = figure_style_of_method(method.id) if private else _NO_PRIVACY
        x, y = [row.poisoned for row in measured], [row.value for row in measured]
        errors = [row.standard_error for row in measured]
        style = Style(own.colour, own.marker)
        curves.append(Curve(method.id, method_wording(method), x, y, errors, style))
        limits = at[~at["figure"].isin([ACCURACY, SUCCESS])].groupby("poisoned")["value"].min()
        if len(limits):
            label = f"{method_wording(method)}: {'claimed' if method.claimed else 'best'} bound"
            style = Style(own.colour, "", _DASHES)
            curves.append(Curve(method.id, label, list(limits.index), list(limits), (), style))
    return tuple(curves)
