"""Test accuracy of every method on every dataset: the paper's tables, one for each epsilon."""

from __future__ import annotations

from pathlib import Path

from privatree.baselines import methods
from privatree.reproduction import datasets
from privatree.reproduction.rendering._summaries import at_epsilon, summarise, with_published
from privatree.reproduction.rendering._table import write_table
from privatree.reproduction.rendering._tables import accuracy_tables
from privatree.reproduction.running._study import Reporter, Request, Study
from privatree.reproduction.running._tasks import N_FOLDS, CrossValidated, shown_epsilon
from privatree.reproduction.targets._protocols import DEPTH, caveats, tasks

_LEFT_OUT = ("dpa", "diffprivlib-forest", "privatree-robust")
METHODS = tuple(name for name in methods.names() if name not in _LEFT_OUT)
"""All but two that are about poisoning; they can be asked for by their names."""
EPSILONS = (0.01, 0.1, 1.0)
REPEATS = 5


def reproduce(request: Request, reporter: Reporter) -> list[Path]:
    """Run stratified 5-fold cross-validation; a table for each epsilon."""
    study = Study(request, reporter)
    found = study.find_datasets(datasets.names())
    chosen = study.find_methods(METHODS)
    epsilons = request.epsilons or EPSILONS
    repeats = request.repeats or REPEATS
    folds = (range(repeats), range(N_FOLDS))
    fits = tasks(CrossValidated, request, found, chosen, epsilons, *folds)
    summary = summarise(study.run("accuracy", fits))
    written: list[Path] = []
    for epsilon in epsilons:
        compared = with_published(at_epsilon(summary, epsilon))
        table, *more = accuracy_tables(
            compared,
            epsilon=epsilon,
            methods=chosen,
            datasets=[datasets.describe(dataset.name) for dataset in found],
            notes=[
                f"Trees of depth {DEPTH}. {repeats} x {N_FOLDS}-fold stratified cross-validation; "
                f"repeat r shuffles with seed r, fold f is trained with seed {N_FOLDS} r + f.",
                *caveats(chosen),
            ],
        )
        name = f"accuracy-epsilon-{shown_epsilon(epsilon)}"
        written += write_table(request.output / "accuracy", name, table, compared, more=more)
    return written
