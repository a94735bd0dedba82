"""The terms of an ensemble as CSV: a row for each cell of each term."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO
from itertools import pairwise, product
from typing import Any

import numpy as np

from privatree.errors import ParameterError
from privatree.export.terms._reading import bands_by_class, scored_classes
from privatree.model.terms import Axis, Term, Terms, category_measure
from privatree.schema import Categorical

_MAX_ROWS = 1_000_000
_PARTS = ("feature", "from", "to", "category", "missing")
"""Columns that a feature of a term has."""


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
    labels = [str(label) for label in scored_classes(terms)]
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(
        ["term", *(f"{part} {place}" for place in range(1, order + 1) for part in _PARTS),
         "measure", *(f"value of {label}" for label in labels),
         *(f"band of {label}" for label in labels)]
    )  # fmt: skip
    nothing = [""] * len(_PARTS)
    writer.writerow([0, *nothing * order, 1.0, *terms.intercept.tolist(), *[""] * len(labels)])
    for number, term in enumerate(terms, start=1):
        writer.writerows(_term_rows(number, term, order))
    return file.getvalue()


def _term_rows(number: int, term: Term, order: int) -> Iterator[list[Any]]:
    values = term.values if term.values.ndim > term.order else term.values[..., np.newaxis]
    bands = bands_by_class(term)
    empty = [""] * len(_PARTS) * (order - term.order)
    for cells in product(*map(_cells, term.axes)):
        place = tuple(cell for cell, *_ in cells)
        measure = float(np.prod([share for _, share, _ in cells]))
        row = [number, *(part for *_, parts in cells for part in parts), *empty, measure]
        band = [""] * values.shape[-1] if bands is None else bands[place].tolist()
        yield [*row, *values[place].tolist(), *band]


def _cells(axis: Axis) -> list[tuple[int, float, list[Any]]]:
    """Return the cell, the measure and the columns of each category, or each cell of a number."""
    feature = axis.feature
    if isinstance(feature, Categorical):
        labels: list[Any] = [*feature.categories, *[""] * feature.separates_missing]
        cells, shares = axis.cell_of_code.tolist(), category_measure(feature).tolist()
        return [
            (cell, share, [axis.name, "", "", label, int(code == feature.missing_place)])
            for code, (cell, share, label) in enumerate(zip(cells, shares, labels, strict=True))
        ]
    cuts = np.empty(0) if axis.cuts is None else axis.cuts
    missing = int(np.searchsorted(cuts, float(feature.missing_place)))
    edges = axis.edges.tolist()
    ends: list[tuple[Any, Any]] = list(pairwise(edges))
    if axis.has_missing_cell:
        ends.insert(0, ("", ""))
    return [
        (cell, share, [axis.name, low, high, "", int(cell == missing)])
        for cell, ((low, high), share) in enumerate(zip(ends, axis.measure.tolist(), strict=True))
    ]
