"""The paper's tables of test accuracy: all methods on all datasets, one table for each epsilon."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privatree.baselines import methods
from privatree.reproduction import datasets
from privatree.reproduction.rendering._probability_tables import probability_tables
from privatree.reproduction.rendering._score_tables import accuracy_tables
from privatree.reproduction.rendering._summaries import (
    summarise_scores,
    summary_at_epsilon,
    with_probability_scores,
    with_published_accuracy,
)
from privatree.reproduction.rendering._table import Table, write_table
from privatree.reproduction.running._study import Reporter, Request, Study
from privatree.reproduction.running._tasks import N_FOLDS, CrossValidated, task_number
from privatree.reproduction.targets._scope import DEPTH, Scope, find_scope, method_caveats

if TYPE_CHECKING:
    import pandas as pd

_LEFT_OUT = ("dpa", "lightgbm", "diffprivlib-forest", "privatree-robust")
METHODS = tuple(
    name for name in methods.names() if name not in _LEFT_OUT and not methods.get(name).surveyed
)
"""All methods except those for other tables; the option --methods accepts these, too."""
EPSILONS = (0.01, 0.1, 1.0)
REPEATS = 5


def reproduce_accuracy(request: Request, reporter: Reporter) -> list[Path]:
    """Run stratified 5-fold cross-validation, and write tables of the scores for each epsilon."""
    study = Study(request, reporter)
    scope = find_scope(study, datasets.names(), METHODS, EPSILONS, REPEATS)
    fits = scope.tasks(CrossValidated, range(scope.repeats), range(N_FOLDS))
    cells = scope.study.run("accuracy", fits)
    summary = with_probability_scores(summarise_scores(cells), cells)
    notes = [
        f"Trees of depth {DEPTH}. {scope.repeats} x {N_FOLDS}-fold stratified cross-validation; "
        f"repeat r shuffles with seed r, fold f is trained with seed {N_FOLDS} r + f.",
        *method_caveats(scope.methods),
    ]
    return write_accuracy_or_runtime(
        scope, "accuracy", summary, with_published_accuracy, _accuracy_and_probability_tables, notes
    )


def _accuracy_and_probability_tables(
    compared: pd.DataFrame, *, notes: Sequence[str], **shown: Any
) -> list[Table]:
    return [
        *accuracy_tables(compared, notes=notes, **shown),
        *probability_tables(compared, **shown),
    ]


def write_accuracy_or_runtime(
    scope: Scope,
    target: str,
    summary: pd.DataFrame,
    compare: Callable[[pd.DataFrame], pd.DataFrame],
    make_tables: Callable[..., Sequence[Table]],
    notes: Sequence[str],
) -> list[Path]:
    """Write the tables of each epsilon, with the figures that `compare` adds to the summary."""
    written: list[Path] = []
    for epsilon in scope.epsilons:
        compared = compare(summary_at_epsilon(summary, epsilon))
        table, *more = make_tables(
            compared,
            epsilon=epsilon,
            methods=scope.methods,
            datasets=scope.described,
            notes=notes,
        )
        name = f"{target}-epsilon-{task_number(epsilon)}"
        folder = scope.study.request.output / target
        written += write_table(folder, name, table, compared, more=more)
    return written
