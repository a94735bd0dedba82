"""Accuracy that is guaranteed if records are poisoned, and its cells in tables.

An *edit* is a record added or removed; a changed record counts as two edits. The measured
mean is used for the expected accuracy, so the guarantees are plug-in estimates without a confidence
claim.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from privatree import PrivaBoostClassifier, PrivaTreeClassifier
from privatree.baselines.methods import Method, Training
from privatree.reproduction.rendering._summaries import frame_rows
from privatree.reproduction.rendering._table import Cell, Column
from privatree.reproduction.rendering._wording import dagger_wording, share_wording
from privatree.reproduction.running._study import Available
from privatree.reproduction.running._tasks import task_edits, task_number
from privatree.robustness import EpsilonDP, best
from privatree.robustness.poisoning_bounds import Spending, paper_bound
from privatree.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

ACCURACY, PAPER, BEST = "accuracy", "paper's bound", "best bound"
"""Values of the column ``figure``: the accuracy itself, or what one of two bounds guarantees."""

COLUMNS = (
    *("dataset", "method", "epsilon", "figure", "share", "edits", "bound"),
    *("value", "standard_error", "n", "note"),
)


def guarantee_spending(method: Method, schema: Schema, epsilon: float, depth: int) -> Spending:
    """Return the schedule of a private method, or its epsilon and delta if no schedule is known.

    Only our own learners have a schedule, which covers every plan that they could follow. It does
    not depend on the records, so it is read from a fit without records.
    """
    import pandas as pd

    classifier = method.classifier(Training(schema, epsilon, depth, 0))
    if not isinstance(classifier, PrivaTreeClassifier | PrivaBoostClassifier):
        return EpsilonDP(epsilon, method.delta)
    nothing = pd.DataFrame({name: [] for name in schema.names}, dtype=object)
    statement = classifier.fit(nothing, pd.Series([], dtype=object)).privacy_
    return statement.schedule or EpsilonDP(epsilon, method.delta)


def compute_guarantees(
    summary: pd.DataFrame,
    *,
    methods: Sequence[Method],
    found: Sequence[Available],
    shares: Sequence[Fraction],
    depth: int,
) -> pd.DataFrame:
    """Return accuracies, and for each poisoned share the paper's guarantee and the best known.

    `summary` is what ``summarise_scores`` returns, and `shares` are of the training records. The
    result has the columns ``COLUMNS``. A method without privacy, or without scores, has only
    a row for its accuracy. A guarantee has a standard error if it is a multiple of the accuracy.
    """
    import pandas as pd

    by_name = {dataset.name: dataset for dataset in found}
    by_id = {method.id: method for method in methods}
    rows = [
        figure
        for row in frame_rows(summary)
        for figure in _guarantee_rows(row, by_id[row.method], by_name[row.dataset], shares, depth)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _guarantee_rows(
    row: Any, method: Method, dataset: Available, shares: Sequence[Fraction], depth: int
) -> Iterator[tuple[Any, ...]]:
    setting = (row.dataset, row.method, row.epsilon)
    scores = (row.n, row.note)
    yield (*setting, ACCURACY, 0.0, 0, "", row.mean, row.standard_error, *scores)
    if not method.private or not row.n:
        return
    spending = guarantee_spending(method, dataset.schema, row.epsilon, depth)
    for share in shares:
        edits = task_edits(dataset.n_records, share)
        where = (float(share), edits)
        left = paper_bound(row.epsilon, row.mean, edits, method.delta)
        error = paper_bound(row.epsilon, row.standard_error, edits)
        yield (*setting, PAPER, *where, "A", left, error, *scores)
        certified = best(spending, row.mean, edits)
        yield (*setting, BEST, *where, certified.bound, certified.value, math.nan, *scores)


# --- tables -------------------------------------------------------------------------------------


class Setting(NamedTuple):
    """A dataset, a method and an epsilon, written as in the results."""

    dataset: str
    method: str
    epsilon: str


class GuaranteeLookup:
    """The rows of :func:`compute_guarantees`, by setting, figure and share."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._rows: dict[tuple[Setting, str, float], Any] = {
            (setting_of_guarantee(row), row.figure, row.share): row for row in frame_rows(frame)
        }

    def get(self, setting: Setting, figure: str, share: Fraction = Fraction(0)) -> Any:
        """Return the row of one figure, or None if there is no such row."""
        return self._rows.get((setting, figure, float(share)))

    def cells(
        self,
        setting: Setting,
        shares: Sequence[Fraction],
        published: Mapping[tuple[str, Fraction], str] | None = None,
    ) -> list[Cell]:
        """Return the cells of a row: the accuracy, then the guarantees of both bounds.

        `published` has the paper's figures by ``figure`` and share; the accuracy has share 0.
        """
        printed = published or {}
        accuracy = self.get(setting, ACCURACY)
        if accuracy is None:
            return [Cell()] * (1 + 2 * len(shares))
        first = Cell(
            share_wording(accuracy.value),
            share_wording(accuracy.standard_error),
            printed.get((ACCURACY, Fraction(0)), ""),
            footnote=accuracy.note,
        )
        more = [
            self._guarantee_cell(setting, figure, share, printed.get((figure, share), ""))
            for figure in (PAPER, BEST)
            for share in shares
        ]
        return [first, *more]

    def _guarantee_cell(self, setting: Setting, figure: str, share: Fraction, beside: str) -> Cell:
        row = self.get(setting, figure, share)
        if row is None or (share and not row.edits):
            return Cell("-", published=beside.removeprefix("-"))
        letter = f" {row.bound}" if figure == BEST and row.bound else ""
        return Cell(f"{share_wording(row.value)}{letter}", published=beside)


def setting_of_guarantee(row: Any) -> Setting:
    """Return the setting of a row of guarantees or means."""
    epsilon = None if math.isnan(row.epsilon) else row.epsilon
    return Setting(row.dataset, row.method, task_number(epsilon))


def guarantee_share_text(share: Fraction) -> str:
    """Write a share of the records as a percentage: ``0.5%``."""
    return f"{float(100 * share):g}%"


def guarantee_columns(shares: Sequence[Fraction]) -> list[Column]:
    """Return the columns of the cells that :meth:`GuaranteeLookup.cells` returns."""
    texts = [guarantee_share_text(share) for share in shares]
    by_paper = [Column(f"A {text}", "guarantee, the paper's bound") for text in texts]
    by_best = [Column(f"best {text}", "guarantee, best bound") for text in texts]
    return [Column("accuracy"), *by_paper, *by_best]


def guarantee_notes(methods: Sequence[Method], frame: pd.DataFrame) -> list[str]:
    """Return the notes below a table of guarantees."""
    perfect = bool(((frame["figure"] == ACCURACY) & (frame["value"] >= 1)).any())
    regression = any(method.id == "diffprivlib-logistic" for method in methods)
    return [
        "A guarantee is for a number of edits: the given share of the training records (80% of "
        "all), rounded down. An edit is a record added or removed; a changed record counts as two "
        "edits. Dash: less than one record, or a method without a guarantee.",
        "A: the paper's bound, e to the power of -ε for each edit, times the accuracy. Best: the "
        "largest bound that is known for the method, with its letter. For most methods only ε is "
        "known (A, B, AB*); for our learner also the schedule of every plan that it could follow "
        "(C, C*, D, E too).",
        "Plug-in estimates, as in the paper: the bounds are taken at the mean accuracy over splits "
        "as if it were the expected one, and no confidence is claimed.",
        *(["B leaves a mean of 1 unchanged; such an estimate hides rare errors."] * perfect),
        *dagger_wording(methods, "Guarantees at such an epsilon do not hold either."),
        *([_REGRESSION] * regression),
    ]


_REGRESSION = (
    "Guarantees of DiffPrivLib LR are at its authors' epsilon, as in the paper. That covers a "
    "replaced record, not one added or removed, and not what is read from the records to scale "
    "them: they are not proved."
)
