"""Accuracy that is left when records are poisoned: the paper's two tables of guarantees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from privatree.baselines.methods import Method
from privatree.reproduction import _published as published
from privatree.reproduction import datasets
from privatree.reproduction._published_poisoning import printed
from privatree.reproduction.datasets._dataset import PaperDataset
from privatree.reproduction.rendering._guarantees import (
    ACCURACY,
    PAPER,
    Figures,
    Setting,
    columns,
    guarantees,
    notes,
    percent,
    setting_of,
)
from privatree.reproduction.rendering._summaries import MARGIN, outside, rows_of, summarise
from privatree.reproduction.rendering._table import Cell, Column, Row, Section, Table, write_table
from privatree.reproduction.rendering._tables import DISAGREEMENT, disagreement, suite_sections
from privatree.reproduction.rendering._wording import claim_notes, marked_title, share
from privatree.reproduction.running._study import Available, Reporter, Request, Study
from privatree.reproduction.running._tasks import N_FOLDS, CrossValidated, n_edits, shown_epsilon
from privatree.reproduction.targets._protocols import DEPTH, caveats, tasks

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("privatree-paper", "diffprivlib-logistic", "privatree", "privatree-robust")
EPSILONS = (0.01, 0.1)
REPEATS = 10
SHARES = (Fraction(1, 1000), Fraction(5, 1000), Fraction(1, 100))
_TABLES = {"numerical": ("numerical",), "categorical": ("mixed", "uci")}
_NOTEWORTHY = 0.05  # between two figures of the paper that should be the same


def reproduce(request: Request, reporter: Reporter) -> list[Path]:
    """Run stratified 5-fold cross-validation; guarantees from the mean accuracies."""
    study = Study(request, reporter)
    found = study.find_datasets(datasets.names())
    chosen = study.find_methods(METHODS)
    epsilons = request.epsilons or EPSILONS
    repeats = request.repeats or REPEATS
    folds = (range(repeats), range(N_FOLDS))
    fits = tasks(CrossValidated, request, found, chosen, epsilons, *folds)
    cells = study.run("poisoning", fits)
    protocol = (
        f"Trees of depth {DEPTH}. Means over {repeats} x {N_FOLDS}-fold stratified "
        f"cross-validation; repeat r shuffles with seed r, fold f is trained with seed {N_FOLDS} r "
        "+ f. After ±: the standard deviation of the scores over the square root of their number."
    )
    written: list[Path] = []
    for name, suites in _TABLES.items():
        shown = [dataset for dataset in found if datasets.describe(dataset.name).suite in suites]
        if not shown:
            continue
        summary = summarise(cells[cells["dataset"].isin([dataset.name for dataset in shown])])
        figures = guarantees(summary, methods=chosen, found=shown, shares=SHARES, depth=DEPTH)
        tidy = _with_published(figures)
        table = _table(tidy, name, shown, chosen, epsilons, protocol)
        more = [_disagreements(tidy, name, chosen)]
        folder = request.output / "poisoning"
        written += write_table(folder, f"poisoning-{name}", table, tidy, more=more)
    return written


def _with_published(figures: pd.DataFrame) -> pd.DataFrame:
    """Add published and difference (measured minus published)."""
    texts = [
        printed(row.dataset, row.method, row.epsilon)[_place(row.figure, row.share)]
        if row.figure in (ACCURACY, PAPER)
        else ""
        for row in rows_of(figures)
    ]
    known = [math.nan if text in ("", "-") else float(text) for text in texts]
    added = figures.assign(published=known)
    return added.assign(difference=added["value"] - added["published"])


def _place(figure: str, at: float) -> int:
    """Where the paper's row has a figure."""
    return 0 if figure == ACCURACY else 1 + [float(one) for one in SHARES].index(at)


def _table(
    tidy: pd.DataFrame,
    name: str,
    found: Sequence[Available],
    chosen: Sequence[Method],
    epsilons: Sequence[float],
    protocol: str,
) -> Table:
    figures = Figures(tidy)
    sizes = {dataset.name: dataset.n_records for dataset in found}

    def rows(dataset: PaperDataset) -> list[Row]:
        edits = " / ".join(str(n_edits(sizes[dataset.name], at)) for at in SHARES)
        lines: list[Row] = []
        for method in chosen:
            for epsilon in epsilons if method.private else (None,):
                setting = Setting(dataset.name, method.id, shown_epsilon(epsilon))
                texts = printed(*setting[:2], math.nan if epsilon is None else epsilon)
                keys = [(ACCURACY, Fraction(0)), *((PAPER, at) for at in SHARES)]
                beside = dict(zip(keys, texts, strict=True))
                of_dataset = ("", "") if lines else (dataset.title, edits)
                titles = (*of_dataset, marked_title(method), setting.epsilon)
                lines.append(Row(titles, figures.cells(setting, SHARES, beside)))
        return lines

    return Table(
        f"Accuracy guaranteed under poisoning, {name} data",
        ("dataset", f"edits at {' / '.join(map(percent, SHARES))}", "method", "ε"),
        columns(SHARES),
        suite_sections([datasets.describe(dataset.name) for dataset in found], rows),
        (protocol, *notes(chosen, tidy), *caveats(chosen), *_own_differences(tidy)),
    )


def _own_differences(tidy: pd.DataFrame) -> list[str]:
    """Where the paper has two figures for one accuracy, in different tables."""
    told = []
    for row in rows_of(tidy[(tidy["figure"] == ACCURACY) & tidy["published"].notna()]):
        other = published.accuracy(row.dataset, row.method, row.epsilon)
        if other is not None and abs(other.mean - row.published) > _NOTEWORTHY:
            (text, *_) = printed(row.dataset, row.method, row.epsilon)
            told.append(f"{row.dataset} {share(other.mean)} and {text} (ε = {row.epsilon:g})")
    if not told:
        return []
    return [
        "The paper's own tables differ: the accuracy of PrivaTree is, in its table of accuracy and "
        f"in this one, {'; '.join(told)}."
    ]


def _disagreements(tidy: pd.DataFrame, name: str, chosen: Sequence[Method]) -> Table:
    poisoned = (tidy["figure"] == ACCURACY) | (tidy["edits"] > 0)
    known = tidy[poisoned].assign(published_standard_error=math.nan)
    far = outside(known.rename(columns={"value": "mean"}))
    titles = {method.id: marked_title(method) for method in chosen}
    rows = [
        Row((row.dataset, titles[row.method], setting_of(row).epsilon), [what, *disagreement(row)])
        for row in rows_of(far)
        for what in [Cell("accuracy" if row.figure == ACCURACY else f"A {100 * row.share:g}%")]
    ]
    return Table(
        f"Where measured and published guarantees disagree, {name} data",
        ("dataset", "method", "ε"),
        (Column("what"), *DISAGREEMENT),
        (Section("", rows),),
        (
            f"Tolerance: twice the standard error of ours plus {MARGIN:g}; the paper prints none "
            "here.",
            *claim_notes(method for method in chosen if method.id in set(far["method"])),
        ),
    )
