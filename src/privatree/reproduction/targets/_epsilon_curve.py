"""A figure of the paper: accuracy against the privacy budget, on adult and compas-two-years."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from privatree.reproduction.rendering._figures import accuracy_figure, write_figure
from privatree.reproduction.rendering._score_tables import score_columns
from privatree.reproduction.rendering._summaries import frame_rows, summarise_scores
from privatree.reproduction.rendering._table import Cell, Row, Section, Table, write_table
from privatree.reproduction.rendering._wording import dagger_wording, share_wording
from privatree.reproduction.running._study import Reporter, Request, Study
from privatree.reproduction.running._tasks import RandomSplit
from privatree.reproduction.targets._scope import DEPTH, Scope, find_scope, method_caveats

if TYPE_CHECKING:
    import pandas as pd

DATASETS = ("adult", "compas-two-years")
METHODS = (
    *("decision-tree", "bdpt", "privatree-star", "dpgdf", "privatree-paper"),
    *("diffprivlib-tree", "random-tree", "privatree", "dp-ebm"),
)
EPSILONS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
REPEATS = 50


def reproduce_epsilon_curve(request: Request, reporter: Reporter) -> list[Path]:
    """Train on random splits at many epsilons, and draw a curve for each method."""
    study = Study(request, reporter)
    scope = find_scope(study, DATASETS, METHODS, EPSILONS, REPEATS)
    scope = replace(scope, epsilons=sorted(scope.epsilons))
    can_draw = study.can_draw()
    fits = scope.tasks(RandomSplit, range(scope.repeats))
    summary = summarise_scores(scope.study.run("epsilon-curve", fits))
    folder = request.output / "epsilon-curve"
    written = [*write_table(folder, "epsilon-curve", _epsilon_curve_table(summary, scope), summary)]
    if can_draw:
        figure = accuracy_figure(summary, methods=scope.methods, datasets=scope.described)
        written += write_figure(folder, "epsilon-curve", figure)
    return written


def _epsilon_curve_table(summary: pd.DataFrame, scope: Scope) -> Table:
    """Return the points of the curves, with a row for each epsilon.

    A method without privacy has the same figure in all rows.
    """
    points = {(row.dataset, row.method, row.epsilon): row for row in frame_rows(summary)}
    levels = {(row.dataset, row.method): row for row in frame_rows(summary[summary.epsilon.isna()])}

    def cell(dataset: str, method: str, epsilon: float) -> Cell:
        row = points.get((dataset, method, epsilon), levels.get((dataset, method)))
        if row is None:
            return Cell("-")
        return Cell(share_wording(row.mean), share_wording(row.standard_error), footnote=row.note)

    def row(dataset: str, epsilon: float) -> Row:
        return Row((f"{epsilon:g}",), [cell(dataset, m.id, epsilon) for m in scope.methods])

    return Table(
        "Test accuracy against epsilon",
        ("epsilon",),
        score_columns(scope.methods),
        [
            Section(dataset.name, [row(dataset.name, epsilon) for epsilon in scope.epsilons])
            for dataset in scope.found
        ],
        (
            f"Trees of depth {DEPTH}. Means and standard errors over {scope.repeats} stratified "
            "random splits, 80% for training; repeat r splits and trains with seed r. The paper "
            "prints a figure and no numbers.",
            *dagger_wording(scope.methods),
            *method_caveats(scope.methods),
            "Dash: the method does not apply to the dataset.",
        ),
    )
