"""Seconds that a fit takes: the paper's table of runtimes."""

from __future__ import annotations

from pathlib import Path

from privatree.reproduction import datasets
from privatree.reproduction.rendering._summaries import (
    at_epsilon,
    summarise,
    with_published_runtime,
)
from privatree.reproduction.rendering._table import write_table
from privatree.reproduction.rendering._tables import runtime_tables
from privatree.reproduction.running._study import Reporter, Request, Study
from privatree.reproduction.running._tasks import N_FOLDS, CrossValidated, shown_epsilon
from privatree.reproduction.targets._accuracy import METHODS
from privatree.reproduction.targets._protocols import DEPTH, tasks

EPSILON = 0.1
REPEATS = 1


def reproduce(request: Request, reporter: Reporter) -> list[Path]:
    """Time the fits of a cross-validation, one at a time; a table for each epsilon."""
    study = Study(request, reporter)
    found = study.find_datasets(datasets.names())
    chosen = study.find_methods(METHODS)
    epsilons = request.epsilons or (EPSILON,)
    folds = (range(request.repeats or REPEATS), range(N_FOLDS))
    fits = tasks(CrossValidated, request, found, chosen, epsilons, *folds)
    summary = summarise(study.run("runtime", fits, jobs=1), value="fit_seconds")
    written: list[Path] = []
    for epsilon in epsilons:
        compared = with_published_runtime(at_epsilon(summary, epsilon))
        table, *more = runtime_tables(
            compared,
            epsilon=epsilon,
            methods=chosen,
            datasets=[datasets.describe(dataset.name) for dataset in found],
            notes=[
                f"Trees of depth {DEPTH}. Mean seconds of a fit in a 5-fold cross-validation, one "
                "fit at a time. The first one of a method on a dataset is done twice and counted "
                "once, because code is compiled and loaded meanwhile. Reading data is not "
                "included, nor writing categories as numbers for a method that knows only those."
            ],
        )
        name = f"runtime-epsilon-{shown_epsilon(epsilon)}"
        written += write_table(request.output / "runtime", name, table, compared, more=more)
    return written
