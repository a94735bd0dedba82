"""Tables of what was measured beside what the paper published, of accuracy and of runtime.

Datasets stand down, grouped by suite, and methods across.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from privatree.reproduction import _published as published
from privatree.reproduction.rendering._summaries import MARGIN, outside, rows_of
from privatree.reproduction.rendering._table import Cell, Column, Row, Section, Table
from privatree.reproduction.rendering._wording import (
    claim_notes,
    marked_title,
    seconds,
    share,
    signed,
    suite_heading,
    times,
)

if TYPE_CHECKING:
    import pandas as pd

    from privatree.baselines.methods import Method
    from privatree.reproduction.datasets._dataset import PaperDataset

_EMPTY = "Dash: the method does not apply to the dataset. Empty: not run."
_TOLERANCE = f"twice the joint standard error of both figures plus {MARGIN:g}"


def suite_sections(
    datasets: Sequence[PaperDataset],
    rows: Callable[[PaperDataset], Iterable[Row]],
    means: Callable[[Sequence[PaperDataset]], Sequence[Row]] = lambda members: (),
) -> list[Section]:
    """A section for each suite with its means, and one with the means over all suites."""
    sections = []
    for suite, group in groupby(datasets, key=lambda dataset: dataset.suite):
        members = list(group)
        shown = [row for dataset in members for row in rows(dataset)]
        sections.append(Section(suite_heading(suite), shown, means(members)))
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
    """The table of accuracy at an epsilon, the differences, and the cells that disagree.

    Parameters
    ----------
    compared : DataFrame
        What :func:`privatree.reproduction.rendering._summaries.with_published` returns. Where it
        has no row, the method does not apply to the dataset.
    epsilon : float
        That of the rows.
    methods, datasets : sequence
        What is shown, in this order; datasets of a suite, and methods of a group, stand together.
    notes : sequence of str
        What to say below the first table, besides what is always said.
    """
    found = _by_place(compared)

    def cell(dataset: str, method: str) -> Cell:
        printed = published.accuracy(dataset, method, epsilon)
        mark = published.mark(dataset, method, epsilon).removeprefix("-")
        beside = share(printed.mean) if printed else mark
        row = found.get((dataset, method))
        if row is None:
            return Cell("-", published=beside)
        text = share(row.mean) if row.n else _in_place_of_a_figure(row.note)
        return Cell(text, share(row.standard_error), beside, footnote=row.note)

    def rows(dataset: PaperDataset) -> list[Row]:
        return [_best_in_bold(_row(dataset, methods, cell), methods)]

    def means(members: Sequence[PaperDataset]) -> list[Row]:
        names = [dataset.name for dataset in members]
        return [_best_in_bold(row, methods) for row in _means(names, methods, found, epsilon)]

    main = Table(
        f"Test accuracy at ε = {epsilon:g}",
        ("dataset",),
        method_columns(methods),
        suite_sections(datasets, rows, means),
        (
            *notes,
            *_statistics(compared),
            "Bold: the best of its group.",
            "Mean of k: over all k datasets above it, of the methods that have a figure for each "
            "of them; and over the k for which every method has one. No score may be missing. The "
            "last ones are over all suites.",
            _EMPTY,
            *claim_notes(methods),
        ),
    )
    far = _by_place(outside(compared))
    return (
        main,
        _differences(compared, far, epsilon, methods, datasets),
        _disagreements(far, epsilon, methods, datasets),
    )


def _statistics(compared: pd.DataFrame) -> list[str]:
    counts = sorted({int(n) for n in compared["n"] if n})
    if not counts:
        return []
    n = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return [
        f"Means over {n} scores a cell; after ±: the standard deviation of a cell's scores (with "
        "n - 1) over the square root of their number. The folds of a repeat share training "
        "records, so it is a guide and no exact standard error."
    ]


def _means(
    names: Sequence[str],
    methods: Sequence[Method],
    found: Mapping[tuple[str, str], Any],
    epsilon: float,
) -> list[Row]:
    """Means over all these datasets, of methods that have them all, and over what all methods have.

    One row if that is the same; none over fewer than two datasets. A cell with a note lacks scores,
    perhaps those of the hardest folds: it counts as none.
    """
    scored = {place for place, row in found.items() if row.n and not row.note}
    names = [name for name in names if any(place[0] == name for place in scored)]
    used = {method.id for method in methods if any((name, method.id) in scored for name in names)}
    everywhere = {id_ for id_ in used if all((name, id_) in scored for name in names)}
    common = [name for name in names if all((name, id_) in scored for id_ in used)]

    def cell(method: str, over: Sequence[str]) -> Cell:
        printed = [published.accuracy(name, method, epsilon) for name in over]
        known = [figure.mean for figure in printed if figure]
        beside = share(_mean(known)) if len(known) == len(over) else ""
        return Cell(share(_mean([found[name, method].mean for name in over])), published=beside)

    def row(over: Sequence[str], shown: set[str]) -> Row:
        cells = [cell(m.id, over) if m.id in shown else Cell() for m in methods]
        return Row((f"mean of {len(over)}",), cells)

    meant = [(common, used)] if everywhere == used else [(names, everywhere), (common, used)]
    return [row(over, shown) for over, shown in meant if shown and len(over) > 1]


def _best_in_bold(row: Row, methods: Sequence[Method]) -> Row:
    """Mark the best figure of each group, if there are two to compare."""
    groups: dict[str, list[float]] = {}
    figures = [float(cell.text) if cell.text[-1:].isdigit() else None for cell in row.cells]
    for figure, method in zip(figures, methods, strict=True):
        groups.setdefault(method.group, []).extend([] if figure is None else [figure])
    cells = [
        replace(cell, bold=len(rivals) > 1 and figure == max(rivals))
        for cell, figure, method in zip(row.cells, figures, methods, strict=True)
        for rivals in [groups[method.group]]
    ]
    return replace(row, cells=cells)


def _differences(
    compared: pd.DataFrame,
    far: Mapping[tuple[str, str], Any],
    epsilon: float,
    methods: Sequence[Method],
    datasets: Sequence[PaperDataset],
) -> Table:
    both = _by_place(compared[compared["difference"].notna()])
    methods, datasets = _occurring(both, methods, datasets)

    def cell(dataset: str, method: str) -> Cell:
        place = (dataset, method)
        return Cell(signed(both[place].difference), bold=place in far) if place in both else Cell()

    columns = [[row.difference for (_, id_), row in both.items() if id_ == m.id] for m in methods]
    mean = [Cell(signed(_mean(column))) for column in columns]
    size = [Cell(share(_mean([abs(one) for one in column]))) for column in columns]
    sections = suite_sections(datasets, lambda dataset: [_row(dataset, methods, cell)])
    overall = [Row(("mean",), mean), Row(("mean absolute difference",), size)]
    return Table(
        f"Measured minus published accuracy at ε = {epsilon:g}",
        ("dataset",),
        [Column(marked_title(method)) for method in methods],
        [*sections, Section("All suites", (), overall)] if both else [],
        (f"Bold: beyond {_TOLERANCE}.", *claim_notes(methods)),
    )


def _disagreements(
    far: Mapping[tuple[str, str], Any],
    epsilon: float,
    methods: Sequence[Method],
    datasets: Sequence[PaperDataset],
) -> Table:
    rows = [
        Row((dataset.name, marked_title(method)), disagreement(row))
        for dataset in datasets
        for method in methods
        if (row := far.get((dataset.name, method.id)))
    ]
    return Table(
        f"Where measured and published accuracy disagree at ε = {epsilon:g}",
        ("dataset", "method"),
        DISAGREEMENT,
        (Section("", rows),),
        (f"Tolerance: {_TOLERANCE}.", *claim_notes(_occurring(far, methods, datasets)[0])),
    )


DISAGREEMENT = tuple(map(Column, ("measured", "published", "difference", "tolerance")))
"""The headings of what :func:`disagreement` gives."""


def disagreement(row: Any) -> list[Cell]:
    """A row of what ``outside`` returns."""
    return [
        Cell(share(row.mean), share(row.standard_error)),
        Cell(share(row.published), share(row.published_standard_error)),
        Cell(signed(row.difference)),
        Cell(share(row.tolerance)),
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
    """The table of seconds that a fit took, and of published over measured seconds.

    The parameters are those of :func:`accuracy_tables`; ``compared`` is what
    :func:`privatree.reproduction.rendering._summaries.with_published_runtime` returns.
    """
    found = _by_place(compared)

    def cell(dataset: str, method: str) -> Cell:
        printed = published.runtime(dataset, method, epsilon)
        beside = printed.text if printed else ""
        row = found.get((dataset, method))
        if row is None:
            return Cell("-", published=beside)
        text = seconds(row.mean) if row.n else _in_place_of_a_figure(row.note)
        return Cell(text, published=beside, footnote=row.note)

    both = _by_place(compared[compared["ratio"].notna()])
    timed, timed_on = _occurring(both, methods, datasets)

    def ratio(dataset: str, method: str) -> Cell:
        row = both.get((dataset, method))
        return Cell() if row is None else Cell(f"{row.published_bound}{times(row.ratio)}")

    main = Table(
        f"Mean seconds to train at ε = {epsilon:g}",
        ("dataset",),
        method_columns(methods),
        suite_sections(datasets, lambda dataset: [_row(dataset, methods, cell)]),
        (*notes, _EMPTY, *claim_notes(methods)),
    )
    ratios = Table(
        f"Published over measured seconds at ε = {epsilon:g}",
        ("dataset",),
        [Column(marked_title(method)) for method in timed],
        suite_sections(timed_on, lambda dataset: [_row(dataset, timed, ratio)]),
        (
            "The paper ran on another machine and rounds to seconds; < and > are its bounds.",
            *claim_notes(timed),
        ),
    )
    return main, ratios


# --- rows and columns ---------------------------------------------------------------------------


def _by_place(frame: pd.DataFrame) -> dict[tuple[str, str], Any]:
    return {(row.dataset, row.method): row for row in rows_of(frame)}


def _occurring(
    places: Iterable[tuple[str, str]], methods: Sequence[Method], datasets: Sequence[PaperDataset]
) -> tuple[list[Method], list[PaperDataset]]:
    """The methods and datasets that have a place."""
    names, ids = {name for name, _ in places}, {id_ for _, id_ in places}
    return [m for m in methods if m.id in ids], [d for d in datasets if d.name in names]


def method_columns(methods: Sequence[Method]) -> list[Column]:
    """The headings of methods, and the groups that they belong to."""
    return [Column(marked_title(method), method.group) for method in methods]


def _row(dataset: PaperDataset, methods: Sequence[Method], cell: Callable[[str, str], Cell]) -> Row:
    return Row((dataset.title,), [cell(dataset.name, method.id) for method in methods])


def _in_place_of_a_figure(note: str) -> str:
    """``timeout`` or ``failed``, if that is how the note begins."""
    word = note.split(":")[0].split()[0] if note else ""
    return word if word in ("timeout", "failed") else "none"


def _mean(figures: Sequence[float]) -> float:
    return math.fsum(figures) / len(figures)
