"""The paper's table of runtimes: the seconds that a fit takes."""

from __future__ import annotations

from pathlib import Path

from privatree.reproduction import datasets
from privatree.reproduction.rendering._score_tables import runtime_tables
from privatree.reproduction.rendering._summaries import summarise_scores, with_published_runtime
from privatree.reproduction.running._study import Reporter, Request, Study
from privatree.reproduction.running._tasks import N_FOLDS, CrossValidated
from privatree.reproduction.targets._accuracy import METHODS, write_accuracy_or_runtime
from privatree.reproduction.targets._scope import DEPTH, find_scope


def reproduce_runtime(request: Request, reporter: Reporter) -> list[Path]:
    """Time the fits of a cross-validation, one at a time, and write a table for each epsilon."""
    scope = find_scope(Study(request, reporter), datasets.names(), METHODS, (0.1,), 1)
    fits = scope.tasks(CrossValidated, range(scope.repeats), range(N_FOLDS))
    summary = summarise_scores(scope.study.run("runtime", fits, jobs=1), value="fit_seconds")
    notes = [
        f"Trees of depth {DEPTH}. Mean seconds of a fit in a 5-fold cross-validation, one "
        "fit at a time. The first fit of a method on a dataset is run twice and only the second is "
        "timed, because the first also compiles and loads code. The time to read data is not "
        "included, nor the time to encode categories as numbers for methods that need it."
    ]
    return write_accuracy_or_runtime(
        scope, "runtime", summary, with_published_runtime, runtime_tables, notes
    )
