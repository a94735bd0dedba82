"""The paper's table of datasets: their sizes, as found here and as published."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from privatree.reproduction import datasets
from privatree.reproduction.datasets._dataset import PaperDataset
from privatree.reproduction.rendering._score_tables import score_sections
from privatree.reproduction.rendering._table import Cell, Column, Row, Table, write_table
from privatree.reproduction.rendering._wording import share_wording
from privatree.reproduction.running._study import Available, Reporter, Request, Study

if TYPE_CHECKING:
    import pandas as pd

_PROPERTIES = {
    "n_records": "samples",
    "n_features": "features",
    "n_categorical": "categorical features",
    "majority_share": "majority class share",
}


def reproduce_datasets(request: Request, reporter: Reporter) -> list[Path]:
    """Load each dataset, and write a table of its size beside the paper's."""
    study = Study(request, reporter)
    found = {dataset.name: dataset for dataset in study.find_datasets(datasets.names())}
    described = [datasets.describe(name) for name in request.datasets or datasets.names()]
    table = _dataset_size_table(found, described, study.missing)
    tidy = _dataset_size_frame(found, described, study.missing)
    return [*write_table(request.output / "datasets", "datasets", table, tidy)]


def _dataset_size_table(
    found: Mapping[str, Available], described: Sequence[PaperDataset], missing: Mapping[str, str]
) -> Table:
    """Return the table of sizes; a figure that differs from the paper's is bold."""

    def row(dataset: PaperDataset) -> Row:
        pairs = zip(_dataset_sizes(found.get(dataset.name)), _dataset_sizes(dataset), strict=True)
        cells = [
            Cell(ours, published=theirs, bold=ours not in ("", theirs)) for ours, theirs in pairs
        ]
        return Row((dataset.title,), cells, missing.get(dataset.name, ""))

    return Table(
        "Datasets",
        ("dataset",),
        [Column(heading) for heading in _PROPERTIES.values()],
        score_sections(described, lambda dataset: [row(dataset)]),
        ("Rows with missing values are left out. Bold: not what the paper has.",),
    )


def _dataset_sizes(size: Available | PaperDataset | None) -> list[str]:
    if size is None:
        return [""] * len(_PROPERTIES)
    counts = (size.n_records, size.n_features, size.n_categorical)
    return [*(f"{count:,}" for count in counts), share_wording(size.majority_share)]


def _dataset_size_frame(
    found: Mapping[str, Available], described: Sequence[PaperDataset], missing: Mapping[str, str]
) -> pd.DataFrame:
    """Return a DataFrame with one property of one dataset in each row."""
    import pandas as pd

    rows = [
        (dataset.name, name, ours, theirs, ours - theirs, missing.get(dataset.name, ""))
        for dataset in described
        for name in _PROPERTIES
        for ours in [float(getattr(found.get(dataset.name), name, math.nan))]
        for theirs in [float(getattr(dataset, name))]
    ]
    columns = ["dataset", "property", "measured", "published", "difference", "note"]
    return pd.DataFrame(rows, columns=columns)
