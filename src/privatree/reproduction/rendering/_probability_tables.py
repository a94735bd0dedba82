"""Tables of how good probabilities are: the area under the ROC curve, and the log loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from privatree.reproduction.rendering._score_tables import (
    BEST_NOTE,
    bold_scores,
    score_cell,
    score_columns,
    score_means,
    score_row,
    score_rows_by_place,
    score_sections,
)
from privatree.reproduction.rendering._table import Cell, Row, Table
from privatree.reproduction.rendering._wording import dagger_wording, share_wording
from privatree.reproduction.running._probability_scores import MIN_PROBABILITY

if TYPE_CHECKING:
    import pandas as pd

    from privatree.baselines.methods import Method
    from privatree.reproduction.datasets._dataset import PaperDataset

_PROBABILITY_TABLES = {
    "auc": (
        "Area under the ROC curve",
        False,
        "With more than two classes: the mean over the classes of each against the rest.",
    ),
    "log_loss": (
        "Log loss",
        True,
        f"Less is better. Probabilities below {MIN_PROBABILITY:g} count as {MIN_PROBABILITY:g}.",
    ),
}
"""Title, whether the least figure is the best, and a note, by the name of the score."""


def probability_tables(
    compared: pd.DataFrame,
    *,
    epsilon: float,
    methods: Sequence[Method],
    datasets: Sequence[PaperDataset],
) -> list[Table]:
    """Return a table of the AUC and a table of the log loss; nothing if there are no such scores.

    A method without probabilities has a dash. The parameters are those of ``accuracy_tables``.
    """
    tables = []
    able = [method.id for method in methods if method.gives_probabilities]
    for name, (title, least_is_best, note) in _PROBABILITY_TABLES.items():
        if name not in compared.columns or compared[name].isna().all():
            continue
        shown = compared[compared[name].notna() | (compared["note"] != "")]
        shown = shown[shown["method"].isin(able)]
        places = score_rows_by_place(
            shown.assign(
                mean=shown[name],
                standard_error=shown[f"{name}_standard_error"],
                n=shown["n"].where(shown[name].notna(), 0),
            )
        )
        tables.append(
            _probability_table(
                places, f"{title} at ε = {epsilon:g}", least_is_best, note, methods, datasets
            )
        )
    return tables


def _probability_table(
    found: Mapping[tuple[str, str], Any],
    title: str,
    least_is_best: bool,
    note: str,
    methods: Sequence[Method],
    datasets: Sequence[PaperDataset],
) -> Table:
    def cell(dataset: str, method: str) -> Cell:
        row = found.get((dataset, method))
        error = "" if row is None else share_wording(row.standard_error)
        return score_cell(row, share_wording, error, "")

    def rows(dataset: PaperDataset) -> list[Row]:
        return [bold_scores(score_row(dataset, methods, cell), methods, least_is_best)]

    def means(members: Sequence[PaperDataset]) -> list[Row]:
        names = [dataset.name for dataset in members]
        return [
            bold_scores(row, methods, least_is_best)
            for row in score_means(names, methods, found, lambda *_: None)
        ]

    return Table(
        title,
        ("dataset",),
        score_columns(methods),
        score_sections(datasets, rows, means),
        (
            note,
            BEST_NOTE,
            "Dash: the method predicts labels and no probabilities, or does not apply to the "
            "dataset.",
            *dagger_wording(methods),
        ),
    )
