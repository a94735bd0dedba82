"""Test accuracy of every method on every dataset: the paper's tables, one for each epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from privatree.baselines import methods
from privatree.baselines.methods import Method
from privatree.reproduction import datasets
from privatree.reproduction.rendering._summaries import summarise, with_published
from privatree.reproduction.rendering._table_formats import write_table
from privatree.reproduction.rendering._tables import TIDY, accuracy_tables
from privatree.reproduction.running._study import Available, Reporter, Request, Study
from privatree.reproduction.running._tasks import N_FOLDS, CrossValidated, shown_epsilon

_LEFT_OUT = ("dpa", "diffprivlib-forest", "privatree-robust")
METHODS = tuple(name for name in methods.names() if name not in _LEFT_OUT)
"""All but two that are about poisoning; they can be asked for by their names."""
EPSILONS = (0.01, 0.1, 1.0)
DEPTH = 4
REPEATS = 5


def reproduce(request: Request, reporter: Reporter) -> list[Path]:
    """Run stratified 5-fold cross-validation; a table for each epsilon."""
    study = Study(request, reporter)
    found = study.find_datasets(datasets.names())
    chosen = study.find_methods(METHODS)
    epsilons = request.epsilons or EPSILONS
    repeats = request.repeats or REPEATS
    cells = study.run("accuracy", cross_validation(request, found, chosen, epsilons, repeats))
    summary = summarise(cells)
    written: list[Path] = []
    for epsilon in epsilons:
        table, *more = accuracy_tables(
            summary,
            epsilon=epsilon,
            methods=chosen,
            datasets=[datasets.describe(dataset.name) for dataset in found],
            not_applicable=not_applicable(found, chosen),
            notes=[
                f"Trees of depth {DEPTH}. {repeats} x {N_FOLDS}-fold stratified cross-validation; "
                f"repeat r shuffles with seed r, fold f is trained with seed {N_FOLDS} r + f.",
                *caveats(chosen),
            ],
        )
        at = summary[(summary["epsilon"] == epsilon) | summary["epsilon"].isna()]
        tidy = with_published(at.assign(epsilon=epsilon))[list(TIDY)]
        folder = request.output / "accuracy"
        name = f"accuracy-epsilon-{shown_epsilon(epsilon)}"
        written += write_table(folder, name, table, tidy, more=more)
    return written


def cross_validation(
    request: Request,
    found: Sequence[Available],
    chosen: Sequence[Method],
    epsilons: Sequence[float],
    repeats: int,
) -> list[CrossValidated]:
    """Every fold of every repeat; a method without privacy has no epsilon."""
    return [
        CrossValidated(
            dataset.name,
            method.id,
            epsilon,
            DEPTH,
            repeat,
            fold,
            data_dir=request.data_dir,
            fingerprint=dataset.fingerprint,
        )
        for dataset in found
        for method in chosen
        if method.applies_to(dataset.schema)
        for epsilon in (epsilons if method.private else [None])
        for repeat in range(repeats)
        for fold in range(N_FOLDS)
    ]


def not_applicable(found: Sequence[Available], chosen: Sequence[Method]) -> set[tuple[str, str]]:
    """Datasets and methods that do not go together."""
    return {
        (dataset.name, method.id)
        for dataset in found
        for method in chosen
        if not method.applies_to(dataset.schema)
    }


def caveats(chosen: Sequence[Method]) -> list[str]:
    """What a reader must know to compare these methods."""
    return [
        "Ranges, categories and classes are those of all records, and declared public for every "
        "method, as in the paper.",
        *(method.caveat for method in chosen if method.caveat),
    ]
