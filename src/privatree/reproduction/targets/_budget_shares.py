"""The paper's ternary maps for the datasets vote and pol: how to divide the budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from privatree.baselines.paper import divide_paper_budget
from privatree.errors import ParameterError
from privatree.reproduction.rendering._figures import write_figure
from privatree.reproduction.rendering._summaries import frame_rows
from privatree.reproduction.rendering._table import Cell, Column, Row, Section, Table, write_table
from privatree.reproduction.rendering._ternary_maps import TernaryPanel, TernaryShares, ternary_map
from privatree.reproduction.rendering._wording import share_wording
from privatree.reproduction.running._budget_share import STEPS, BudgetShare
from privatree.reproduction.running._study import Available, Reporter, Request, Study
from privatree.reproduction.running._tasks import task_number

if TYPE_CHECKING:
    import pandas as pd

DATASETS = ("vote", "pol")
EPSILON = 0.1
DEPTH = 3
REPEATS = 50
_SHARES = ["quantiles", "nodes", "leaves"]


def reproduce_budget_shares(request: Request, reporter: Reporter) -> list[Path]:
    """Train with each division of epsilon on a grid, and draw maps of the training accuracy."""
    study = Study(request, reporter)
    found = study.find_datasets(DATASETS)
    can_draw = study.can_draw()
    repeats = request.repeats or REPEATS
    written: list[Path] = []
    for epsilon in request.epsilons or (EPSILON,):
        tasks = [
            BudgetShare(
                dataset.name,
                epsilon,
                DEPTH,
                *shares,
                repeat,
                data_dir=request.data_dir,
                fingerprint=dataset.fingerprint,
            )
            for dataset in found
            for shares in _all_budget_shares()
            for repeat in range(repeats)
        ]
        summary = _mean_of_budget_shares(study.run("budget-shares", tasks))
        scored = [dataset for dataset in found if dataset.name in set(summary["dataset"])]
        if not scored:
            raise ParameterError(
                f"budget-shares: at least one fit must succeed, but all failed at epsilon "
                f"{epsilon:g}. See the notes in cells.csv, and use --retry to run them again."
            )
        panels = [_budget_shares_panel(dataset, summary, epsilon) for dataset in scored]
        folder = request.output / "budget-shares"
        name = f"budget-shares-epsilon-{task_number(epsilon)}"
        written += write_table(folder, name, _best_shares_table(panels, epsilon, repeats), summary)
        if can_draw:
            figure = ternary_map(panels, value_label="mean training accuracy")
            written += write_figure(folder, name, figure)
    return written


def _all_budget_shares() -> list[tuple[int, int, int]]:
    """Return all ways to divide the steps among quantiles, nodes and leaves."""
    return [
        (quantiles, STEPS - quantiles - leaves, leaves)
        for quantiles in range(STEPS + 1)
        for leaves in range(STEPS + 1 - quantiles)
    ]


def _mean_of_budget_shares(cells: pd.DataFrame) -> pd.DataFrame:
    """Return mean and standard error of the training accuracy of each division with a score."""
    grouped = cells.groupby(["dataset", "epsilon", *_SHARES])["accuracy"]
    found = grouped.agg(mean="mean", standard_error="sem", n="count").reset_index()
    return found[found["n"] > 0].assign(**{name: found[name] / STEPS for name in _SHARES})


def _budget_shares_panel(dataset: Available, summary: pd.DataFrame, epsilon: float) -> TernaryPanel:
    of_dataset = list(frame_rows(summary[summary["dataset"] == dataset.name]))
    return TernaryPanel(
        f"{dataset.name} ({dataset.n_records:,} records)",
        tuple(TernaryShares(row.quantiles, row.nodes, row.leaves) for row in of_dataset),
        tuple(row.mean for row in of_dataset),
        _budget_shares_of_paper(dataset, epsilon),
    )


def _budget_shares_of_paper(dataset: Available, epsilon: float) -> TernaryShares:
    """Return the division that Algorithm 1 chooses; quantiles are for numeric features only."""
    budget = divide_paper_budget(
        Fraction(epsilon),
        n_records=dataset.n_records,
        n_classes=len(dataset.schema.classes),
        max_depth=DEPTH,
        max_leaf_error=0.01,
        private_quantiles=dataset.n_categorical < dataset.n_features,
    )
    quantiles, leaves = float(budget.quantiles) / epsilon, float(budget.leaf) / epsilon
    return TernaryShares(quantiles, 1 - quantiles - leaves, leaves)


def _best_shares_table(panels: Sequence[TernaryPanel], epsilon: float, repeats: int) -> Table:
    """Return a table of the best division, and of the tried one nearest to Algorithm 1's own."""
    rows = []
    for panel in panels:
        values = dict(zip(panel.shares, panel.values, strict=True))
        nearest = min(values, key=partial(math.dist, panel.chosen))
        for what, shares in (("best", panel.best), ("Algorithm 1, nearest tried", nearest)):
            cells = (*(Cell(f"{part:.0%}") for part in shares), Cell(share_wording(values[shares])))
            rows.append(Row((panel.title, what), cells))
    return Table(
        f"How the budget of Algorithm 1 is best divided, ε = {epsilon:g}",
        ("dataset", "division"),
        tuple(map(Column, (*_SHARES, "training accuracy"))),
        (Section("", rows),),
        (
            f"Trees of depth {DEPTH}; means over {repeats} fits on all records, of the accuracy on "
            f"the same records. All divisions in steps of 1/{STEPS}; repeat r is trained with "
            "seed r. The best of so many means is a little too good.",
            "The paper prints a figure and no numbers; its caption has vote with 435 records, "
            "which is before rows with missing values are dropped.",
        ),
    )
