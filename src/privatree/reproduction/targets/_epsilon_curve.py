"""Accuracy against the privacy budget, on adult and compas-two-years: a figure of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from privatree.baselines.methods import Method
from privatree.reproduction import datasets
from privatree.reproduction.rendering._figures import accuracy_curves, write_figure
from privatree.reproduction.rendering._summaries import rows_of, summarise
from privatree.reproduction.rendering._table import Cell, Row, Section, Table, write_table
from privatree.reproduction.rendering._tables import method_columns
from privatree.reproduction.rendering._wording import claim_notes, share
from privatree.reproduction.running._study import Available, Reporter, Request, Study
from privatree.reproduction.running._tasks import RandomSplit
from privatree.reproduction.targets._protocols import DEPTH, caveats, tasks

if TYPE_CHECKING:
    import pandas as pd

DATASETS = ("adult", "compas-two-years")
METHODS = (
    "decision-tree",
    "bdpt",
    "privatree-star",
    "dpgdf",
    "privatree-paper",
    "diffprivlib-tree",
    "random-tree",
    "privatree",
    "dp-ebm",
)
EPSILONS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
REPEATS = 50


def reproduce(request: Request, reporter: Reporter) -> list[Path]:
    """Train on random splits at many epsilons; a curve for each method."""
    study = Study(request, reporter)
    found = study.find_datasets(DATASETS)
    chosen = study.find_methods(METHODS)
    drawn = study.can_draw()
    epsilons = tuple(sorted(request.epsilons or EPSILONS))
    repeats = request.repeats or REPEATS
    fits = tasks(RandomSplit, request, found, chosen, epsilons, range(repeats))
    summary = summarise(study.run("epsilon-curve", fits))
    folder = request.output / "epsilon-curve"
    described = [datasets.describe(dataset.name) for dataset in found]
    table = _table(summary, chosen, found, epsilons, repeats)
    written = [*write_table(folder, "epsilon-curve", table, summary)]
    if drawn:
        figure = accuracy_curves(summary, methods=chosen, datasets=described)
        written += write_figure(folder, "epsilon-curve", figure)
    return written


def _table(
    summary: pd.DataFrame,
    chosen: Sequence[Method],
    found: Sequence[Available],
    epsilons: Sequence[float],
    repeats: int,
) -> Table:
    """The points of the curves, a row for each epsilon; without privacy the same in all rows."""
    points = {(row.dataset, row.method, row.epsilon): row for row in rows_of(summary)}
    levels = {(row.dataset, row.method): row for row in rows_of(summary[summary.epsilon.isna()])}

    def cell(dataset: str, method: str, epsilon: float) -> Cell:
        row = points.get((dataset, method, epsilon), levels.get((dataset, method)))
        if row is None:
            return Cell("-")
        return Cell(share(row.mean), share(row.standard_error), footnote=row.note)

    def row(dataset: str, epsilon: float) -> Row:
        return Row((f"{epsilon:g}",), [cell(dataset, method.id, epsilon) for method in chosen])

    return Table(
        "Test accuracy against epsilon",
        ("epsilon",),
        method_columns(chosen),
        [Section(one.name, [row(one.name, epsilon) for epsilon in epsilons]) for one in found],
        (
            f"Trees of depth {DEPTH}. Means and standard errors over {repeats} stratified random "
            "splits, 80% for training; repeat r splits and trains with seed r. The paper prints a "
            "figure and no numbers.",
            *claim_notes(chosen),
            *caveats(chosen),
            "Dash: the method does not apply to the dataset.",
        ),
    )
