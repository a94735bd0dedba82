"""Tables of measured accuracy and seconds beside the figures that the paper published.

Each row is a dataset, each column a method; datasets are grouped by suite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from privatree.reproduction._published import (
    published_accuracy,
    published_accuracy_text,
    published_runtime,
)
from privatree.reproduction.rendering._summaries import MARGIN, frame_rows, summary_disagreements
from privatree.reproduction.rendering._table import Cell, Column, Row, Section, Table
from privatree.reproduction.rendering._wording import (
    SUITE_HEADINGS,
    dagger_wording,
    difference_wording,
    method_wording,
    ratio_wording,
    seconds_wording,
    share_wording,
)

if TYPE_CHECKING:
    import pandas as pd

    from privatree.baselines.methods import Method
    from privatree.reproduction.datasets._dataset import PaperDataset

_EMPTY = "Dash: the method does not apply to the dataset. Empty: not run."
BEST_NOTE = "Bold: the best of its group."
_MEANS = (
    "Mean of k: the mean over k datasets. One row is over all datasets above it, for methods with "
    "a figure for each; the other is over the datasets for which every method has a figure. Cells "
    "with missing scores are not used. The last rows are over all suites."
)
_TOLERANCE = f"twice the joint standard error of both figures plus {MARGIN:g}"


def score_sections(
    datasets: Sequence[PaperDataset],
    rows: Callable[[PaperDataset], Iterable[Row]],
    means: Callable[[Sequence[PaperDataset]], Sequence[Row]] = lambda members: (),
) -> list[Section]:
    """Return a section for each suite, with its means, and a section of means over all suites."""
    sections = []
    for suite, group in groupby(datasets, key=lambda dataset: dataset.suite):
        members = list(group)
        shown = [row for dataset in members for row in rows(dataset)]
        sections.append(Section(SUITE_HEADINGS[suite], shown, means(members)))
    if len(sections) > 1 and (over_all := means(datasets)):
        sections.append(Section("All suites", (), over_all))
    return sections


# --- accuracy -----------------------------------------------------------------------------------


def accuracy_tables(
    compared: pd.DataFrame,
    *,
    epsilon: float,
    methods: Sequence[Method],
    datasets: Sequence[PaperDataset],
    notes: Sequence[str] = (),
) -> tuple[Table, Table, Table]:
    """Return tables of accuracies at an epsilon, differences to the paper, and disagreements.

    `compared` is what ``with_published_accuracy`` returns. If it has no row for a dataset and a
    method, the method does not apply to the dataset. Datasets must be sorted by suite, and methods
    by group. `notes` come below the first table, before the notes that this table always has.
    """
    found = score_rows_by_place(compared)

    def cell(dataset: str, method: str) -> Cell:
        printed = published_accuracy_text(dataset, method, epsilon)
        beside = printed.partition("±")[0].removeprefix("-")
        row = found.get((dataset, method))
        error = "" if row is None else share_wording(row.standard_error)
        return score_cell(row, share_wording, error, beside)

    def rows(dataset: PaperDataset) -> list[Row]:
        return [bold_scores(score_row(dataset, methods, cell), methods)]

    def published_mean(dataset: str, method: str) -> float | None:
        figure = published_accuracy(dataset, method, epsilon)
        return None if figure is None else figure.mean

    def means(members: Sequence[PaperDataset]) -> list[Row]:
        names = [dataset.name for dataset in members]
        rows = score_means(names, methods, found, published_mean)
        return [bold_scores(row, methods) for row in rows]

    main = Table(
        f"Test accuracy at ε = {epsilon:g}",
        ("dataset",),
        score_columns(methods),
        score_sections(datasets, rows, means),
        (
            *notes,
            *_score_error_note(compared),
            BEST_NOTE,
            _MEANS,
            _EMPTY,
            *dagger_wording(methods),
        ),
    )
    far = score_rows_by_place(summary_disagreements(compared))
    return (
        main,
        _score_difference_table(compared, far, epsilon, methods, datasets),
        _score_disagreement_table(far, epsilon, methods, datasets),
    )


def _score_error_note(compared: pd.DataFrame) -> list[str]:
    counts = sorted({int(n) for n in compared["n"] if n})
    if not counts:
        return []
    n = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return [
        f"Means over {n} scores a cell; after ±: the standard deviation of a cell's scores (with "
        "n - 1) over the square root of their number. The folds of a repeat share training "
        "records, so it is only a guide to the standard error."
    ]


def score_means(
    names: Sequence[str],
    methods: Sequence[Method],
    found: Mapping[tuple[str, str], Any],
    published: Callable[[str, str], float | None],
) -> list[Row]:
    """Return a row of means over all datasets, and a row over the datasets of every method.

    The first row has means only for methods with a figure for each dataset. The second row is over
    the datasets for which every method has a figure. If both rows are the same, one is returned. A
    row over fewer than two datasets is left out. A cell with a note is not used: it lacks scores,
    perhaps those of the hardest folds.
    """
    scored = {place for place, row in found.items() if row.n and not row.note}
    names = [name for name in names if any(place[0] == name for place in scored)]
    used = {method.id for method in methods if any((name, method.id) in scored for name in names)}
    everywhere = {id_ for id_ in used if all((name, id_) in scored for name in names)}
    common = [name for name in names if all((name, id_) in scored for id_ in used)]

    def cell(method: str, over: Sequence[str]) -> Cell:
        printed = [published(name, method) for name in over]
        known = [figure for figure in printed if figure is not None]
        beside = share_wording(_exact_mean(known)) if len(known) == len(over) else ""
        mean = _exact_mean([found[name, method].mean for name in over])
        return Cell(share_wording(mean), published=beside)

    def row(over: Sequence[str], shown: set[str]) -> Row:
        cells = [cell(m.id, over) if m.id in shown else Cell() for m in methods]
        return Row((f"mean of {len(over)}",), cells)

    meant = [(common, used)] if everywhere == used else [(names, everywhere), (common, used)]
    return [row(over, shown) for over, shown in meant if shown and len(over) > 1]


def bold_scores(row: Row, methods: Sequence[Method], least_is_best: bool = False) -> Row:
    """Make the best figure of each group of methods bold, if the group has two figures or more."""
    best = min if least_is_best else max
    figures = [float(cell.text) if cell.text[-1:].isdigit() else None for cell in row.cells]

    def is_best(figure: float | None, group: str) -> bool:
        pairs = zip(figures, methods, strict=True)
        rivals = [one for one, m in pairs if one is not None and m.group == group]
        return len(rivals) > 1 and figure == best(rivals)

    marks = [is_best(figure, m.group) for figure, m in zip(figures, methods, strict=True)]
    cells = [replace(cell, bold=mark) for cell, mark in zip(row.cells, marks, strict=True)]
    return replace(row, cells=cells)


def _score_difference_table(
    compared: pd.DataFrame,
    far: Mapping[tuple[str, str], Any],
    epsilon: float,
    methods: Sequence[Method],
    datasets: Sequence[PaperDataset],
) -> Table:
    both = score_rows_by_place(compared[compared["difference"].notna()])
    methods, datasets = _with_a_score(both, methods, datasets)

    def cell(dataset: str, method: str) -> Cell:
        place = (dataset, method)
        if place not in both:
            return Cell()
        return Cell(difference_wording(both[place].difference), bold=place in far)

    columns = [[row.difference for (_, id_), row in both.items() if id_ == m.id] for m in methods]
    mean = [Cell(difference_wording(_exact_mean(column))) for column in columns]
    size = [Cell(share_wording(_exact_mean([abs(one) for one in column]))) for column in columns]
    sections = score_sections(datasets, lambda dataset: [score_row(dataset, methods, cell)])
    overall = [Row(("mean",), mean), Row(("mean absolute difference",), size)]
    return Table(
        f"Measured minus published accuracy at ε = {epsilon:g}",
        ("dataset",),
        [Column(method_wording(method)) for method in methods],
        [*sections, Section("All suites", (), overall)] if both else [],
        (f"Bold: beyond {_TOLERANCE}.", *dagger_wording(methods)),
    )


def _score_disagreement_table(
    far: Mapping[tuple[str, str], Any],
    epsilon: float,
    methods: Sequence[Method],
    datasets: Sequence[PaperDataset],
) -> Table:
    rows = [
        Row((dataset.name, method_wording(method)), score_disagreement_cells(row))
        for dataset in datasets
        for method in methods
        if (row := far.get((dataset.name, method.id)))
    ]
    return Table(
        f"Where measured and published accuracy disagree at ε = {epsilon:g}",
        ("dataset", "method"),
        DISAGREEMENT_COLUMNS,
        (Section("", rows),),
        (f"Tolerance: {_TOLERANCE}.", *dagger_wording(_with_a_score(far, methods, datasets)[0])),
    )


DISAGREEMENT_COLUMNS = tuple(map(Column, ("measured", "published", "difference", "tolerance")))
"""The headings of the cells that :func:`score_disagreement_cells` returns."""


def score_disagreement_cells(row: Any) -> list[Cell]:
    """Return the cells for one row of what ``summary_disagreements`` returns."""
    return [
        Cell(share_wording(row.mean), share_wording(row.standard_error)),
        Cell(share_wording(row.published), share_wording(row.published_standard_error)),
        Cell(difference_wording(row.difference)),
        Cell(share_wording(row.tolerance)),
    ]


# --- runtime ------------------------------------------------------------------------------------


def runtime_tables(
    compared: pd.DataFrame,
    *,
    epsilon: float,
    methods: Sequence[Method],
    datasets: Sequence[PaperDataset],
    notes: Sequence[str] = (),
) -> tuple[Table, Table]:
    """Return a table of seconds to train, and a table of published divided by measured seconds.

    `compared` is what ``with_published_runtime`` returns. The other parameters are those of
    :func:`accuracy_tables`.
    """
    found = score_rows_by_place(compared)

    def cell(dataset: str, method: str) -> Cell:
        printed = published_runtime(dataset, method, epsilon)
        beside = printed.text if printed else ""
        return score_cell(found.get((dataset, method)), seconds_wording, "", beside)

    both = score_rows_by_place(compared[compared["ratio"].notna()])
    timed, timed_on = _with_a_score(both, methods, datasets)

    def ratio(dataset: str, method: str) -> Cell:
        row = both.get((dataset, method))
        return Cell() if row is None else Cell(f"{row.published_bound}{ratio_wording(row.ratio)}")

    main = Table(
        f"Mean seconds to train at ε = {epsilon:g}",
        ("dataset",),
        score_columns(methods),
        score_sections(datasets, lambda dataset: [score_row(dataset, methods, cell)]),
        (*notes, _EMPTY, *dagger_wording(methods)),
    )
    ratios = Table(
        f"Published over measured seconds at ε = {epsilon:g}",
        ("dataset",),
        [Column(method_wording(method)) for method in timed],
        score_sections(timed_on, lambda dataset: [score_row(dataset, timed, ratio)]),
        (
            "The paper ran on another machine and rounds to seconds; < and > are its bounds.",
            *dagger_wording(timed),
        ),
    )
    return main, ratios


# --- rows and columns ---------------------------------------------------------------------------


def score_rows_by_place(frame: pd.DataFrame) -> dict[tuple[str, str], Any]:
    return {(row.dataset, row.method): row for row in frame_rows(frame)}


def _with_a_score(
    places: Iterable[tuple[str, str]], methods: Sequence[Method], datasets: Sequence[PaperDataset]
) -> tuple[list[Method], list[PaperDataset]]:
    """Return the methods and the datasets that occur in `places`, pairs of dataset and method."""
    names, ids = {name for name, _ in places}, {id_ for _, id_ in places}
    return [m for m in methods if m.id in ids], [d for d in datasets if d.name in names]


def score_columns(methods: Sequence[Method]) -> list[Column]:
    """Return a column for each method, under the heading of its group."""
    return [Column(method_wording(method), method.group) for method in methods]


def score_row(
    dataset: PaperDataset, methods: Sequence[Method], cell: Callable[[str, str], Cell]
) -> Row:
    return Row((dataset.title,), [cell(dataset.name, method.id) for method in methods])


def score_cell(row: Any, as_text: Callable[[float], str], error: str, beside: str) -> Cell:
    """Return the table cell of `row`: its mean score, why there is none, or a dash without row."""
    if row is None:
        return Cell("-", published=beside)
    word = row.note.split(":")[0].split()[0] if row.note else ""
    text = as_text(row.mean) if row.n else word if word in ("timeout", "failed") else "none"
    return Cell(text, error, beside, footnote=row.note)


def _exact_mean(figures: Sequence[float]) -> float:
    return math.fsum(figures) / len(figures)
