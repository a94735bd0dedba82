"""Tables of guarantees: the accuracy, and what either bound leaves of it, a setting a row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from privatree.baselines.methods import Method
from privatree.reproduction.rendering._guarantees import ACCURACY, BEST, PAPER
from privatree.reproduction.rendering._number_texts import share as shown
from privatree.reproduction.rendering._summaries import rows_of
from privatree.reproduction.rendering._table_formats import Cell, Column
from privatree.reproduction.rendering._titles import claim_notes
from privatree.reproduction.running._tasks import shown_epsilon

if TYPE_CHECKING:
    import pandas as pd

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
        With the columns of :func:`privatree.reproduction.rendering._guarantees.guarantees`.
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
    ) -> tuple[Cell, ...]:
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
            return (Cell(),) * (1 + 2 * len(shares))
        first = Cell(
            shown(accuracy.value),
            shown(accuracy.standard_error),
            published.get((ACCURACY, Fraction(0)), ""),
            footnote=accuracy.note,
        )
        more = [
            self._guarantee(setting, figure, share, published.get((figure, share), ""))
            for figure in (PAPER, BEST)
            for share in shares
        ]
        return (first, *more)

    def _guarantee(self, setting: Setting, figure: str, share: Fraction, beside: str) -> Cell:
        row = self.get(setting, figure, share)
        if row is None or (share and not row.edits):
            return Cell("-", published=beside.removeprefix("-"))
        letter = f" {row.bound}" if figure == BEST and row.bound else ""
        return Cell(f"{shown(row.value)}{letter}", published=beside)


def setting_of(row: Any) -> Setting:
    """What a row of guarantees, or of means, is about."""
    epsilon = None if math.isnan(row.epsilon) else row.epsilon
    return Setting(row.dataset, row.method, shown_epsilon(epsilon))


def percent(share: Fraction) -> str:
    """A share as headings write it: ``0.5%``."""
    return f"{float(100 * share):g}%"


def columns(shares: Sequence[Fraction]) -> tuple[Column, ...]:
    """The headings of what :meth:`Figures.cells` gives."""
    by_paper = [Column(f"A {percent(share)}", "guarantee, the paper's bound") for share in shares]
    by_best = [Column(f"best {percent(share)}", "guarantee, best bound") for share in shares]
    return (Column("accuracy"), *by_paper, *by_best)


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
        *claim_notes(methods),
        *(["Guarantees at such an epsilon do not hold either."] * bool(claim_notes(methods))),
        *([_REGRESSION] * regression),
    ]


_REGRESSION = (
    "Guarantees of DiffPrivLib LR are at its authors' epsilon, as in the paper. That covers a "
    "replaced record, not one added or removed, and not what is read from the records to scale "
    "them: they are not proved."
)
