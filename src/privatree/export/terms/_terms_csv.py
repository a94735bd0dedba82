"""The terms of an ensemble as CSV: a row for each cell of each term."""

from __future__ import annotations

import csv
from bisect import bisect_left
from collections.abc import Iterator
from io import StringIO
from itertools import pairwise, product
from typing import Any

import numpy as np

from privatree.errors import ParameterError
from privatree.export.terms._reading import (
    bands_by_class,
    effects_by_class,
    predicted_number,
    scored_classes,
)
from privatree.model.terms import Axis, Term, Terms, category_measure
from privatree.schema import Categorical

_MAX_ROWS = 1_000_000
_PARTS = ("feature", "from", "to", "category", "missing")
"""Columns that a feature of a term has."""
_NOT_MISSING, _ALSO_MISSING, _ONLY_MISSING = "no", "also", "only"
"""Whether missing values are in a cell."""


def terms_csv(terms: Terms) -> str:
    """Return a table with the intercept in its first row, and then the strongest term."""
    order = max((term.order for term in terms), default=1)
    n_rows = sum(int(np.prod([len(_cells(axis)) for axis in term.axes])) for term in terms)
    if n_rows > _MAX_ROWS:
        raise ParameterError(
            f'form must be "json" for terms of so many cells: a CSV file must have at most '
            f'{_MAX_ROWS:,} rows. Pass form="json", or a smaller max_pairs.',
            "form",
        )
    whole = predicted_number(terms)
    labels = list(map(str, scored_classes(terms))) if whole is None else [whole]
    figures = ("value", "effect", "band") if len(labels) > 1 else ("value", "band")
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(
        ["term", *(f"{part} {place}" for place in range(1, order + 1) for part in _PARTS),
         "measure", *(f"{figure} of {label}" for figure in figures for label in labels)]
    )  # fmt: skip
    no_axes, no_figures = [""] * len(_PARTS) * order, [""] * (len(figures) - 1) * len(labels)
    writer.writerow([0, *no_axes, 1.0, *terms.intercept.tolist(), *no_figures])
    for number, term in enumerate(terms, start=1):
        writer.writerows(_term_rows(number, term, order))
    return file.getvalue()


def _term_rows(number: int, term: Term, order: int) -> Iterator[list[Any]]:
    effects, bands = effects_by_class(term), bands_by_class(term)
    n_scores = effects.shape[-1]
    figures = effects if n_scores == 1 else np.concatenate([term.values, effects], axis=-1)
    empty = [""] * len(_PARTS) * (order - term.order)
    for cells in product(*map(_cells, term.axes)):
        place = tuple(cell for cell, *_ in cells)
        measure = float(np.prod([share for _, share, _ in cells]))
        row = [number, *(part for *_, parts in cells for part in parts), *empty, measure]
        band = [""] * n_scores if bands is None else bands[place].tolist()
        yield [*row, *figures[place].tolist(), *band]


def _cells(axis: Axis) -> list[tuple[int, float, list[Any]]]:
    """Return the cell, the measure and the columns of each category, or each cell of a number.

    The first cell of numbers has no lower end, and the last one no upper end.
    """
    feature, name = axis.feature, axis.name
    if isinstance(feature, Categorical):
        cells, shares = axis.cell_of_code.tolist(), category_measure(feature).tolist()
        labels: list[Any] = list(feature.categories)
        rows = [[name, "", "", label, _NOT_MISSING] for label in labels]
        if feature.separates_missing:
            rows.append([name, "", "", "", _ONLY_MISSING])
        else:
            rows[feature.missing_place][-1] = _ALSO_MISSING
        return list(zip(cells, shares, rows, strict=True))
    cuts = [] if axis.cuts is None else axis.cuts.tolist()
    numbers = cuts[axis.has_missing_cell :]
    rows = [[name, *ends, "", _NOT_MISSING] for ends in pairwise(["", *numbers, ""])]
    if axis.has_missing_cell:
        rows.insert(0, [name, "", "", "", _ONLY_MISSING])
    else:
        rows[bisect_left(cuts, float(feature.missing_place))][-1] = _ALSO_MISSING
    return list(zip(range(len(rows)), axis.measure.tolist(), rows, strict=True))
