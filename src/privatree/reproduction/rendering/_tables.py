"""The paper's tables: what was measured beside what was published.

Datasets stand down, grouped by suite, and methods across. A table is a value of
:mod:`privatree.reproduction.rendering._table_formats`, which also writes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from privatree.reproduction import _published as published
from privatree.reproduction.rendering._number_texts import seconds, share, signed, times
from privatree.reproduction.rendering._summaries import (
    MARGIN,
    outside,
    rows_of,
    with_published,
    with_published_runtime,
)
from privatree.reproduction.rendering._table_formats import Cell, Column, Row, Section, Table
from privatree.reproduction.rendering._titles import (
    DatasetTitle,
    MethodTitle,
    claim_notes,
    marked_title,
    suite_heading,
)

if TYPE_CHECKING:
    import pandas as pd

TIDY = (
    *("dataset", "method", "epsilon", "mean", "standard_error", "n"),
    *("published", "published_standard_error", "difference", "note"),
)
"""The columns of a comparison of accuracy that go to a CSV file."""

TIDY_RUNTIME = (
    *("dataset", "method", "epsilon", "mean", "standard_error", "n"),
    *("published", "published_bound", "ratio", "note"),
)
"""The columns of a comparison of runtime that go to a CSV file."""

NONE_MISSING: Mapping[str, str] = MappingProxyType({})

# --- accuracy -----------------------------------------------------------------------------------


def accuracy_tables(
    summary: pd.DataFrame,
    *,
    epsilon: float,
    methods: Sequence[MethodTitle],
    datasets: Sequence[DatasetTitle],
    missing: Mapping[str, str] = NONE_MISSING,
    not_applicable: Collection[tuple[str, str]] = (),
    notes: Sequence[str] = (),
) -> tuple[Table, Table, Table]:
    """The table of accuracy at an epsilon, the differences, and the cells that disagree.

    Parameters
    ----------
    summary : DataFrame
        What :func:`privatree.reproduction.rendering._summaries.summarise` returns.
    epsilon : float
        Shown are its rows, and those without an epsilon.
    methods, datasets : sequence
        What is shown, in this order; datasets of a suite, and methods of a group, stand together.
    missing : mapping of str to str
        Why a dataset was not run, by its name.
    not_applicable : collection of (str, str)
        Names of datasets and ids of methods that were not run because the method does not apply.
    notes : sequence of str
        What to say below the first table, besides what is always said.
    """
    compared = with_published(_shown(summary, epsilon, methods, datasets))
    found = _by_place(compared)

    def cell(dataset: str, method: str) -> Cell:
        printed = published.accuracy(dataset, method, epsilon)
        mark = published.mark(dataset, method, epsilon).removeprefix("-")
        beside = share(printed.mean) if printed else mark
        row = found.get((dataset, method))
        if row is None:
            return Cell(_dash((dataset, method), not_applicable), published=beside)
        return Cell(
            share(row.mean) if row.n else _in_place_of_a_figure(row.note),
            share(row.standard_error),
            beside,
            footnote=row.note,
        )

    def means(names: Sequence[str]) -> list[Row]:
        return _means(names, methods, found, epsilon)

    main = Table(
        f"Test accuracy at ε = {epsilon:g}",
        ("dataset",),
        tuple(Column(marked_title(method), method.group) for method in methods),
        _best_in_bold(_sections(datasets, methods, cell, missing, means), methods),
        (
            *notes,
            *_statistics(compared),
            "Bold: the best of its group.",
            "Mean of k: over all k datasets above it, of the methods that have a figure for each "
            "of them; and over the k for which every method has one. No score may be missing. The "
            "last ones are over all suites.",
            *_EMPTY,
            *claim_notes(methods),
        ),
    )
    differing = outside(compared)
    differences = _differences(compared, differing, epsilon, methods, datasets)
    return main, differences, _disagreements(differing, epsilon, methods, datasets)


_EMPTY = ("Dash: the method does not apply to the dataset. Empty: not run.",)


def _statistics(summary: pd.DataFrame) -> list[str]:
    counts = sorted({int(n) for n in summary["n"] if n})
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
    methods: Sequence[MethodTitle],
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
        cells = (cell(m.id, over) if m.id in shown else Cell() for m in methods)
        return Row((f"mean of {len(over)}",), tuple(cells))

    meant = [(common, used)] if everywhere == used else [(names, everywhere), (common, used)]
    return [row(over, shown) for over, shown in meant if shown and len(over) > 1]


def _best_in_bold(
    sections: tuple[Section, ...], methods: Sequence[MethodTitle]
) -> tuple[Section, ...]:
    """Mark the best figure of each group in each row, if there are two to compare."""

    def marked(row: Row) -> Row:
        cells = list(row.cells)
        for group in {method.group for method in methods}:
            places = [i for i, method in enumerate(methods) if method.group == group]
            figures = [i for i in places if cells[i].text[-1:].isdigit()]
            best = max((float(cells[i].text) for i in figures), default=math.nan)
            for i in figures if len(figures) > 1 else []:
                cells[i] = replace(cells[i], bold=float(cells[i].text) == best)
        return replace(row, cells=tuple(cells))

    return tuple(
        Section(s.title, tuple(map(marked, s.rows)), tuple(map(marked, s.summary)))
        for s in sections
    )


def _differences(
    compared: pd.DataFrame,
    differing: pd.DataFrame,
    epsilon: float,
    methods: Sequence[MethodTitle],
    datasets: Sequence[DatasetTitle],
) -> Table:
    both = _by_place(compared[compared["difference"].notna()])
    far = _by_place(differing)
    methods = [method for method in methods if any(method.id == id_ for _, id_ in both)]
    datasets = [dataset for dataset in datasets if any(dataset.name == name for name, _ in both)]

    def cell(dataset: str, method: str) -> Cell:
        place = (dataset, method)
        return Cell(signed(both[place].difference), bold=place in far) if place in both else Cell()

    columns = [[row.difference for (_, id_), row in both.items() if id_ == m.id] for m in methods]
    mean = tuple(Cell(signed(_mean(column))) for column in columns)
    size = tuple(Cell(share(_mean([abs(one) for one in column]))) for column in columns)
    summary = Section(
        "All suites", (), (Row(("mean",), mean), Row(("mean absolute difference",), size))
    )
    return Table(
        f"Measured minus published accuracy at ε = {epsilon:g}",
        ("dataset",),
        tuple(Column(marked_title(method)) for method in methods),
        (*_sections(datasets, methods, cell), summary) if both else (),
        (f"Bold: beyond {_TOLERANCE}.", *claim_notes(methods)),
    )


_TOLERANCE = f"twice the joint standard error of both figures plus {MARGIN:g}"


def _disagreements(
    differing: pd.DataFrame,
    epsilon: float,
    methods: Sequence[MethodTitle],
    datasets: Sequence[DatasetTitle],
) -> Table:
    far = _by_place(differing)
    shown = {id_ for _, id_ in far}
    rows = [
        Row(
            (dataset.name, marked_title(method)),
            (
                Cell(share(row.mean), share(row.standard_error)),
                Cell(share(row.published), share(row.published_standard_error)),
                Cell(signed(row.difference)),
                Cell(share(row.tolerance)),
            ),
        )
        for dataset in datasets
        for method in methods
        if (row := far.get((dataset.name, method.id)))
    ]
    return Table(
        f"Where measured and published accuracy disagree at ε = {epsilon:g}",
        ("dataset", "method"),
        tuple(map(Column, ("measured", "published", "difference", "tolerance"))),
        (Section("", tuple(rows)),),
        (f"Tolerance: {_TOLERANCE}.", *claim_notes([m for m in methods if m.id in shown])),
    )


# --- runtime ------------------------------------------------------------------------------------


def runtime_tables(
    summary: pd.DataFrame,
    *,
    epsilon: float,
    methods: Sequence[MethodTitle],
    datasets: Sequence[DatasetTitle],
    missing: Mapping[str, str] = NONE_MISSING,
    not_applicable: Collection[tuple[str, str]] = (),
    notes: Sequence[str] = (),
) -> tuple[Table, Table]:
    """The table of seconds that a fit took, and of published over measured seconds.

    The parameters are those of :func:`accuracy_tables`; ``summary`` is of ``fit_seconds``. The
    paper has seconds at one epsilon only: at another there are none beside ours, and no ratios.
    """
    shown = _shown(summary, epsilon, methods, datasets).assign(epsilon=epsilon)
    found = _by_place(with_published_runtime(shown))

    def cell(dataset: str, method: str) -> Cell:
        printed = published.runtime(dataset, method, epsilon)
        beside = printed.text if printed else ""
        row = found.get((dataset, method))
        if row is None:
            return Cell(_dash((dataset, method), not_applicable), published=beside)
        text = seconds(row.mean) if row.n else _in_place_of_a_figure(row.note)
        return Cell(text, published=beside, footnote=row.note)

    def ratio(dataset: str, method: str) -> Cell:
        row = found.get((dataset, method))
        if row is None or math.isnan(row.ratio):
            return Cell()
        return Cell(f"{row.published_bound}{times(row.ratio)}")

    main = Table(
        f"Mean seconds to train at ε = {epsilon:g}",
        ("dataset",),
        tuple(Column(marked_title(method), method.group) for method in methods),
        _sections(datasets, methods, cell, missing),
        (*notes, *_EMPTY, *claim_notes(methods)),
    )
    both = {place for place, row in found.items() if not math.isnan(row.ratio)}
    methods = [method for method in methods if any(method.id == id_ for _, id_ in both)]
    datasets = [dataset for dataset in datasets if any(dataset.name == name for name, _ in both)]
    ratios = Table(
        f"Published over measured seconds at ε = {epsilon:g}",
        ("dataset",),
        tuple(Column(marked_title(method)) for method in methods),
        _sections(datasets, methods, ratio),
        (
            "The paper ran on another machine and rounds to seconds; < and > are its bounds.",
            *claim_notes(methods),
        ),
    )
    return main, ratios


# --- rows and sections ---------------------------------------------------------------------------


def _shown(
    summary: pd.DataFrame,
    epsilon: float,
    methods: Sequence[MethodTitle],
    datasets: Sequence[DatasetTitle],
) -> pd.DataFrame:
    """The rows of an epsilon, and those without one, of what the table shows."""
    at = summary["epsilon"].isna() | ((summary["epsilon"] - epsilon).abs() <= 1e-9 * epsilon)
    wanted = summary["method"].isin([method.id for method in methods])
    return summary[at & wanted & summary["dataset"].isin([dataset.name for dataset in datasets])]


def _by_place(frame: pd.DataFrame) -> dict[tuple[str, str], Any]:
    return {(row.dataset, row.method): row for row in rows_of(frame)}


def _sections(
    datasets: Sequence[DatasetTitle],
    methods: Sequence[MethodTitle],
    cell: Callable[[str, str], Cell],
    missing: Mapping[str, str] = NONE_MISSING,
    means: Callable[[Sequence[str]], list[Row]] = lambda names: [],
) -> tuple[Section, ...]:
    """A section for each suite with its means, and one with the means over all suites."""
    sections = []
    for suite, members in groupby(datasets, key=lambda dataset: dataset.suite):
        together = list(members)
        rows = [
            Row(
                (dataset.title,),
                tuple(cell(dataset.name, method.id) for method in methods),
                missing.get(dataset.name, ""),
            )
            for dataset in together
        ]
        summary = means([dataset.name for dataset in together])
        sections.append(Section(suite_heading(suite), tuple(rows), tuple(summary)))
    over_all = means([dataset.name for dataset in datasets]) if len(sections) > 1 else []
    return (*sections, *([Section("All suites", (), tuple(over_all))] if over_all else []))


def _dash(place: tuple[str, str], not_applicable: Collection[tuple[str, str]]) -> str:
    return "-" if place in not_applicable else ""


def _in_place_of_a_figure(note: str) -> str:
    """``timeout`` or ``failed``, if that is how the note begins."""
    word = note.split(":")[0].split()[0] if note else ""
    return word if word in ("timeout", "failed") else "none"


def _mean(figures: Sequence[float]) -> float:
    return math.fsum(figures) / len(figures)
