"""Accuracy that is left when records are poisoned: the paper's two tables of guarantees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from privatree.baselines.methods import Method
from privatree.reproduction import _published as published
from privatree.reproduction import datasets
from privatree.reproduction._published_poisoning import printed
from privatree.reproduction.rendering._guarantee_tables import (
    Figures,
    Setting,
    columns,
    notes,
    percent,
    setting_of,
)
from privatree.reproduction.rendering._guarantees import ACCURACY, PAPER, guarantees
from privatree.reproduction.rendering._number_texts import share, signed
from privatree.reproduction.rendering._summaries import MARGIN, outside, rows_of, summarise
from privatree.reproduction.rendering._table_formats import (
    Cell,
    Column,
    Row,
    Section,
    Table,
    write_table,
)
from privatree.reproduction.rendering._titles import claim_notes, marked_title, suite_heading
from privatree.reproduction.running._study import Available, Reporter, Request, Study
from privatree.reproduction.running._tasks import N_FOLDS, n_edits, shown_epsilon
from privatree.reproduction.targets._accuracy import DEPTH, caveats, cross_validation

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
    cells = study.run("poisoning", cross_validation(request, found, chosen, epsilons, repeats))
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
    described = {dataset.name: datasets.describe(dataset.name) for dataset in found}

    def rows(dataset: Available) -> list[Row]:
        edits = " / ".join(str(n_edits(dataset.n_records, at)) for at in SHARES)
        lines = []
        for method in chosen:
            for epsilon in epsilons if method.private else (None,):
                setting = Setting(dataset.name, method.id, shown_epsilon(epsilon))
                leads = (marked_title(method), setting.epsilon)
                texts = printed(*setting[:2], math.nan if epsilon is None else epsilon)
                keys = [(ACCURACY, Fraction(0)), *((PAPER, at) for at in SHARES)]
                beside = dict(zip(keys, texts, strict=True))
                lines.append((leads, figures.cells(setting, SHARES, beside)))
        titles = [(described[dataset.name].title, edits), *([("", "")] * (len(lines) - 1))]
        return [
            Row((*title, *leads), cells)
            for title, (leads, cells) in zip(titles, lines, strict=True)
        ]

    suites = groupby(found, key=lambda dataset: described[dataset.name].suite)
    return Table(
        f"Accuracy guaranteed under poisoning, {name} data",
        ("dataset", f"edits at {' / '.join(map(percent, SHARES))}", "method", "ε"),
        columns(SHARES),
        tuple(
            Section(suite_heading(suite), tuple(row for one in members for row in rows(one)))
            for suite, members in suites
        ),
        (
            protocol,
            *notes(chosen, tidy),
            *caveats(chosen),
            *_own_differences(tidy),
        ),
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
    far = outside(tidy[poisoned].assign(published_standard_error=math.nan))
    titles = {method.id: marked_title(method) for method in chosen}
    rows = [
        Row(
            (row.dataset, titles[row.method], setting_of(row).epsilon),
            (
                Cell("accuracy" if row.figure == ACCURACY else f"A {100 * row.share:g}%"),
                Cell(share(row.value), share(row.standard_error)),
                Cell(share(row.published)),
                Cell(signed(row.difference)),
                Cell(share(row.tolerance)),
            ),
        )
        for row in rows_of(far)
    ]
    return Table(
        f"Where measured and published guarantees disagree, {name} data",
        ("dataset", "method", "ε"),
        tuple(map(Column, ("what", "measured", "published", "difference", "tolerance"))),
        (Section("", tuple(rows)),),
        (
            f"Tolerance: twice the standard error of ours plus {MARGIN:g}; the paper prints none "
            "here.",
            *claim_notes([method for method in chosen if method.id in set(far["method"])]),
        ),
    )
