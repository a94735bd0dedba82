"""What poisoning leaves of a measured accuracy: from means to guarantees, and their tables.

An *edit* is a record added or removed; a changed one is two. The mean accuracy stands for the
expected one, so these are plug-in estimates: nothing is said about how sure they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from privatree import PrivaTreeClassifier
from privatree.baselines.methods import Method, Training
from privatree.reproduction.rendering._summaries import rows_of
from privatree.reproduction.rendering._table import Cell, Column
from privatree.reproduction.rendering._wording import claim_notes
from privatree.reproduction.rendering._wording import share as as_share
from privatree.reproduction.running._study import Available
from privatree.reproduction.running._tasks import n_edits, shown_epsilon
from privatree.robustness import EpsilonDP, best
from privatree.robustness.poisoning_bounds import Spending, paper_bound
from privatree.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

ACCURACY, PAPER, BEST = "accuracy", "paper's bound", "best bound"
"""What a row has: the accuracy itself, or what one of the two leaves of it."""

COLUMNS = (
    *("dataset", "method", "epsilon", "figure", "share", "edits", "bound"),
    *("value", "standard_error", "n", "note"),
)


def spending_of(method: Method, schema: Schema, epsilon: float, depth: int) -> Spending:
    """What is known of how a private method spends its epsilon.

    Of our own learner it is every plan that it could follow, whatever the records are, so it is
    asked for them with none; of any other only its epsilon.
    """
    import pandas as pd

    classifier = method.classifier(Training(schema, epsilon, depth, 0))
    if not isinstance(classifier, PrivaTreeClassifier):
        return EpsilonDP(epsilon)
    nothing = pd.DataFrame({name: [] for name in schema.names}, dtype=object)
    statement = classifier.fit(nothing, pd.Series([], dtype=object)).privacy_
    return statement.schedule or EpsilonDP(epsilon)


def guarantees(
    summary: pd.DataFrame,
    *,
    methods: Sequence[Method],
    found: Sequence[Available],
    shares: Sequence[Fraction],
    depth: int,
) -> pd.DataFrame:
    """The accuracy of every setting, and what is left of it after edits, by both bounds.

    Parameters
    ----------
    summary : DataFrame
        What :func:`privatree.reproduction.rendering._summaries.summarise` returns.
    methods, found : sequence
        What the settings are about.
    shares : sequence of Fraction
        Shares of the training records.
    depth : int
        Of the trees.

    Returns
    -------
    DataFrame
        The columns are ``COLUMNS``. A setting without privacy or without scores has its accuracy
        only. The standard error of a guarantee is given where it is a multiple of the accuracy.
    """
    import pandas as pd

    by_name = {dataset.name: dataset for dataset in found}
    by_id = {method.id: method for method in methods}
    rows = [
        figure
        for row in rows_of(summary)
        for figure in _figures(row, by_id[row.method], by_name[row.dataset], shares, depth)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _figures(
    row: Any, method: Method, dataset: Available, shares: Sequence[Fraction], depth: int
) -> Iterator[tuple[Any, ...]]:
    setting = (row.dataset, row.method, row.epsilon)
    scores = (row.n, row.note)
    yield (*setting, ACCURACY, 0.0, 0, "", row.mean, row.standard_error, *scores)
    if not method.private or not row.n:
        return
    spending = spending_of(method, dataset.schema, row.epsilon, depth)
    for share in shares:
        edits = n_edits(dataset.n_records, share)
        where = (float(share), edits)
        left, error = (paper_bound(row.epsilon, v, edits) for v in (row.mean, row.standard_error))
        yield (*setting, PAPER, *where, "A", left, error, *scores)
        certified = best(spending, row.mean, edits)
        yield (*setting, BEST, *where, certified.bound, certified.value, math.nan, *scores)


# --- tables -------------------------------------------------------------------------------------

_NOTHING: Mapping[tuple[str, Fraction], str] = MappingProxyType({})


class Setting(NamedTuple):
    """What a row is about; the epsilon as the results write it."""

    dataset: str
    method: str
    epsilon: str


class Figures:
    """The rows of a frame of guarantees, to be looked up.

    Parameters
    ----------
    frame : DataFrame
        What :func:`guarantees` returns.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self._rows: dict[tuple[Setting, str, float], Any] = {
            (setting_of(row), row.figure, row.share): row for row in rows_of(frame)
        }

    def get(self, setting: Setting, figure: str, share: Fraction = Fraction(0)) -> Any:
        """The row of one figure; None if there is none."""
        return self._rows.get((setting, figure, float(share)))

    def cells(
        self,
        setting: Setting,
        shares: Sequence[Fraction],
        published: Mapping[tuple[str, Fraction], str] = _NOTHING,
    ) -> list[Cell]:
        """The accuracy, then the guarantees of either bound.

        Parameters
        ----------
        setting : Setting
            The row.
        shares : sequence of Fraction
            Shares of the training records.
        published : mapping of (str, Fraction) to str
            The paper's figures, by what they are and their share; 0 for the accuracy.
        """
        accuracy = self.get(setting, ACCURACY)
        if accuracy is None:
            return [Cell()] * (1 + 2 * len(shares))
        first = Cell(
            as_share(accuracy.value),
            as_share(accuracy.standard_error),
            published.get((ACCURACY, Fraction(0)), ""),
            footnote=accuracy.note,
        )
        more = [
            self._guarantee(setting, figure, share, published.get((figure, share), ""))
            for figure in (PAPER, BEST)
            for share in shares
        ]
        return [first, *more]

    def _guarantee(self, setting: Setting, figure: str, share: Fraction, beside: str) -> Cell:
        row = self.get(setting, figure, share)
        if row is None or (share and not row.edits):
            return Cell("-", published=beside.removeprefix("-"))
        letter = f" {row.bound}" if figure == BEST and row.bound else ""
        return Cell(f"{as_share(row.value)}{letter}", published=beside)


def setting_of(row: Any) -> Setting:
    """What a row of guarantees, or of means, is about."""
    epsilon = None if math.isnan(row.epsilon) else row.epsilon
    return Setting(row.dataset, row.method, shown_epsilon(epsilon))


def percent(share: Fraction) -> str:
    """A share as headings write it: ``0.5%``."""
    return f"{float(100 * share):g}%"


def columns(shares: Sequence[Fraction]) -> list[Column]:
    """The headings of what :meth:`Figures.cells` gives."""
    by_paper = [Column(f"A {percent(share)}", "guarantee, the paper's bound") for share in shares]
    by_best = [Column(f"best {percent(share)}", "guarantee, best bound") for share in shares]
    return [Column("accuracy"), *by_paper, *by_best]


def notes(methods: Sequence[Method], frame: pd.DataFrame) -> list[str]:
    """What a reader of guarantees must know."""
    perfect = bool(((frame["figure"] == ACCURACY) & (frame["value"] >= 1)).any())
    regression = any(method.id == "diffprivlib-logistic" for method in methods)
    return [
        "A guarantee is for so many edits: that share of the training records (80% of all), "
        "rounded down. An edit is a record added or removed; a changed one is two. Dash: less than "
        "one record, or a method without a guarantee.",
        "A: the paper's bound, e to the power of -ε for each edit, times the accuracy. Best: the "
        "largest bound for what is known of the method, with its letter: only ε (A, B, AB*), "
        "or, of our learner, every plan that it could follow (C, C*, D, E too).",
        "Plug-in estimates, as in the paper: the bounds are taken at the mean accuracy over splits "
        "as if it were the expected one, and no confidence is claimed.",
        *(["B takes nothing off a mean of 1; but such an estimate hides rare errors."] * perfect),
        *claim_notes(methods, "Guarantees at such an epsilon do not hold either."),
        *([_REGRESSION] * regression),
    ]


_REGRESSION = (
    "Guarantees of DiffPrivLib LR are at its authors' epsilon, as in the paper. That covers a "
    "replaced record, not one added or removed, and not what is read from the records to scale "
    "them: they are not proved."
)
