"""Sizes of the datasets, as found here and as the paper has them."""

from __future__ import annotations

from pathlib import Path

from privatree.reproduction import datasets
from privatree.reproduction.rendering._dataset_tables import dataset_comparison, dataset_table
from privatree.reproduction.rendering._table_formats import write_table
from privatree.reproduction.running._study import Reporter, Request, Study


def reproduce(request: Request, reporter: Reporter) -> list[Path]:
    """Load every dataset and compare its shape with the paper's table."""
    study = Study(request, reporter)
    found = {dataset.name: dataset for dataset in study.find_datasets(datasets.names())}
    described = [datasets.describe(name) for name in request.datasets or datasets.names()]
    table = dataset_table(found, datasets=described, missing=study.missing)
    tidy = dataset_comparison(found, datasets=described, missing=study.missing)
    return [*write_table(request.output / "datasets", "datasets", table, tidy)]
