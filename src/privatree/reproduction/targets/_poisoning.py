"""The paper's two tables of guarantees: the accuracy that is left if records are poisoned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privatree.baselines.methods import Method
from privatree.reproduction import datasets
from privatree.reproduction._published import published_accuracy, published_guarantees
from privatree.reproduction.datasets._dataset import PaperDataset
from privatree.reproduction.rendering._guarantees import (
    ACCURACY,
    PAPER,
    GuaranteeLookup,
    Setting,
    compute_guarantees,
    guarantee_columns,
    guarantee_notes,
    guarantee_share_text,
    setting_of_guarantee,
)
from privatree.reproduction.rendering._score_tables import (
    DISAGREEMENT_COLUMNS,
    score_disagreement_cells,
    score_sections,
)
from privatree.reproduction.rendering._summaries import (
    MARGIN,
    frame_rows,
    summarise_scores,
    summary_disagreements,
)
from privatree.reproduction.rendering._table import Cell, Column, Row, Section, Table, write_table
from privatree.reproduction.rendering._wording import dagger_wording, method_wording, share_wording
from privatree.reproduction.running._study import Reporter, Request, Study
from privatree.reproduction.running._tasks import N_FOLDS, CrossValidated, task_edits, task_number
from privatree.reproduction.targets._scope import DEPTH, Scope, find_scope, method_caveats

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("privatree-paper", "diffprivlib-logistic", "privatree", "privatree-robust")
EPSILONS = (0.01, 0.1)
REPEATS = 10
SHARES = (Fraction(1, 1000), Fraction(5, 1000), Fraction(1, 100))
_TABLES = {"numerical": ("numerical",), "categorical": ("mixed", "uci")}
_NOTEWORTHY = 0.05  # difference between two figures of the paper that should be the same


def reproduce_poisoning(request: Request, reporter: Reporter) -> list[Path]:
    """Run stratified 5-fold cross-validation, and write guarantees from the mean accuracies."""
    study = Study(request, reporter)
    scope = find_scope(study, datasets.names(), METHODS, EPSILONS, REPEATS)
    fits = scope.tasks(CrossValidated, range(scope.repeats), range(N_FOLDS))
    cells = scope.study.run("poisoning", fits)
    written: list[Path] = []
    for name, suites in _TABLES.items():
        found = [one for one in scope.found if datasets.describe(one.name).suite in suites]
        if not found:
            continue
        summary = summarise_scores(
            cells[cells["dataset"].isin([dataset.name for dataset in found])]
        )
        figures = compute_guarantees(
            summary, methods=scope.methods, found=found, shares=SHARES, depth=DEPTH
        )
        tidy = _add_published_poisoning(figures)
        table = _poisoning_table(tidy, name, replace(scope, found=found))
        more = [_poisoning_disagreements(tidy, name, scope.methods)]
        folder = request.output / "poisoning"
        written += write_table(folder, f"poisoning-{name}", table, tidy, more=more)
    return written


def _add_published_poisoning(figures: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the columns published and difference (measured minus published)."""
    places = {(ACCURACY, 0.0): 0, **{(PAPER, float(at)): n for n, at in enumerate(SHARES, start=1)}}

    def published(row: Any) -> float:
        place = places.get((row.figure, row.share))
        if place is None:
            return math.nan
        text = published_guarantees(row.dataset, row.method, row.epsilon)[place]
        return math.nan if text in ("", "-") else float(text)

    added = figures.assign(published=[published(row) for row in frame_rows(figures)])
    return added.assign(difference=added["value"] - added["published"])


def _poisoning_table(tidy: pd.DataFrame, name: str, scope: Scope) -> Table:
    figures = GuaranteeLookup(tidy)
    sizes = {dataset.name: dataset.n_records for dataset in scope.found}

    def rows(dataset: PaperDataset) -> list[Row]:
        edits = " / ".join(str(task_edits(sizes[dataset.name], at)) for at in SHARES)
        lines: list[Row] = []
        for method in scope.methods:
            for epsilon in scope.epsilons if method.private else (None,):
                setting = Setting(dataset.name, method.id, task_number(epsilon))
                summary_at_epsilon = math.nan if epsilon is None else epsilon
                texts = published_guarantees(dataset.name, method.id, summary_at_epsilon)
                keys = [(ACCURACY, Fraction(0)), *((PAPER, at) for at in SHARES)]
                beside = dict(zip(keys, texts, strict=True))
                of_dataset = ("", "") if lines else (dataset.title, edits)
                titles = (*of_dataset, method_wording(method), setting.epsilon)
                lines.append(Row(titles, figures.cells(setting, SHARES, beside)))
        return lines

    return Table(
        f"Accuracy guaranteed under poisoning, {name} data",
        ("dataset", f"edits at {' / '.join(map(guarantee_share_text, SHARES))}", "method", "ε"),
        guarantee_columns(SHARES),
        score_sections(scope.described, rows),
        (
            f"Trees of depth {DEPTH}. Means over {scope.repeats} x {N_FOLDS}-fold stratified "
            "cross-validation; repeat r shuffles with seed r, fold f is trained with seed "
            f"{N_FOLDS} r + f. After ±: the standard deviation of the scores over the square root "
            "of their number.",
            *guarantee_notes(scope.methods, tidy),
            *method_caveats(scope.methods),
            *_poisoning_contradictions(tidy),
        ),
    )


def _poisoning_contradictions(tidy: pd.DataFrame) -> list[str]:
    """Return a note on accuracies for which the paper's tables have two different figures."""
    told = []
    for row in frame_rows(tidy[(tidy["figure"] == ACCURACY) & tidy["published"].notna()]):
        other = published_accuracy(row.dataset, row.method, row.epsilon)
        if other is not None and abs(other.mean - row.published) > _NOTEWORTHY:
            (text, *_) = published_guarantees(row.dataset, row.method, row.epsilon)
            told.append(
                f"{row.dataset} {share_wording(other.mean)} and {text} (ε = {row.epsilon:g})"
            )
    if not told:
        return []
    return [
        "The paper's own tables differ: the accuracy of PrivaTree is, in its table of accuracy and "
        f"in this one, {'; '.join(told)}."
    ]


def _poisoning_disagreements(tidy: pd.DataFrame, name: str, methods: Sequence[Method]) -> Table:
    poisoned = (tidy["figure"] == ACCURACY) | (tidy["edits"] > 0)
    known = tidy[poisoned].assign(published_standard_error=math.nan)
    far = summary_disagreements(known.rename(columns={"value": "mean"}))
    titles = {method.id: method_wording(method) for method in methods}
    rows = [
        Row(
            (row.dataset, titles[row.method], setting_of_guarantee(row).epsilon),
            [
                Cell("accuracy" if row.figure == ACCURACY else f"A {100 * row.share:g}%"),
                *score_disagreement_cells(row),
            ],
        )
        for row in frame_rows(far)
    ]
    return Table(
        f"Where measured and published guarantees disagree, {name} data",
        ("dataset", "method", "ε"),
        (Column("what"), *DISAGREEMENT_COLUMNS),
        (Section("", rows),),
        (
            f"Tolerance: twice the standard error of ours plus {MARGIN:g}; the paper prints none "
            "here.",
            *dagger_wording(method for method in methods if method.id in set(far["method"])),
        ),
    )
