"""Seconds that a fit takes: the paper's table of runtimes."""

from __future__ import annotations

from pathlib import Path

from privatree.reproduction import datasets
from privatree.reproduction.rendering._summaries import summarise, with_published_runtime
from privatree.reproduction.rendering._table_formats import write_table
from privatree.reproduction.rendering._tables import TIDY_RUNTIME, runtime_tables
from privatree.reproduction.running._study import Reporter, Request, Study
from privatree.reproduction.running._tasks import shown_epsilon
from privatree.reproduction.targets._accuracy import (
    DEPTH,
    METHODS,
    cross_validation,
    not_applicable,
)

EPSILON = 0.1
REPEATS = 1


def reproduce(request: Request, reporter: Reporter) -> list[Path]:
    """Time the fits of a cross-validation, one at a time; a table for each epsilon."""
    study = Study(request, reporter)
    found = study.find_datasets(datasets.names())
    chosen = study.find_methods(METHODS)
    epsilons = request.epsilons or (EPSILON,)
    tasks = cross_validation(request, found, chosen, epsilons, request.repeats or REPEATS)
    summary = summarise(study.run("runtime", tasks, jobs=1), value="fit_seconds")
    written: list[Path] = []
    for epsilon in epsilons:
        table, *more = runtime_tables(
            summary,
            epsilon=epsilon,
            methods=chosen,
            datasets=[datasets.describe(dataset.name) for dataset in found],
            not_applicable=not_applicable(found, chosen),
            notes=[
                f"Trees of depth {DEPTH}. Mean seconds of a fit in a 5-fold cross-validation, one "
                "fit at a time. The first one of a method on a dataset is done twice and counted "
                "once, because code is compiled and loaded meanwhile. Reading data is not "
                "included, nor writing categories as numbers for a method that knows only those."
            ],
        )
        at = summary[(summary["epsilon"] == epsilon) | summary["epsilon"].isna()]
        tidy = with_published_runtime(at.assign(epsilon=epsilon))[list(TIDY_RUNTIME)]
        folder = request.output / "runtime"
        name = f"runtime-epsilon-{shown_epsilon(epsilon)}"
        written += write_table(folder, name, table, tidy, more=more)
    return written
