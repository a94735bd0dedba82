"""The result of a forecast: what privacy cost on each table, and what to expect from that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

from privatree.forecast._setting import Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TOO_EASY = 0.98
"""From this accuracy and AUC without privacy on, a dataset says little about real people."""


@dataclass(frozen=True)
class TableScores:
    """Mean scores of the models that were trained on one table with one epsilon.

    Parameters
    ----------
    table : str
        Name of the table.
    bundled : bool
        Whether it is a public dataset. Otherwise its records are made up.
    epsilon : float
        Privacy budget that the scores are for.
    repeats : int
        Number of trainings, each on other records of the table.
    accuracy, auc : float
        Mean scores of the private models.
    plain_accuracy, plain_auc : float
        Mean scores of the models without privacy, trained on the same records.
    accuracy_deviation, auc_deviation : float or None
        Standard deviation of the loss between the repeats; None if there was one.

    Examples
    --------
    >>> from privatree.forecast import TableScores
    >>> scores = TableScores("adult", True, 0.5, 5, 0.84, 0.85, 0.85, 0.875, 0.002, 0.01)
    >>> round(scores.accuracy_lost, 3), round(scores.auc_lost, 3), scores.counts
    (0.01, 0.025, True)
    """

    table: str
    bundled: bool
    epsilon: float
    repeats: int
    accuracy: float
    auc: float
    plain_accuracy: float
    plain_auc: float
    accuracy_deviation: float | None
    auc_deviation: float | None

    @property
    def accuracy_lost(self) -> float:
        """How much accuracy privacy cost on this table. Below 0, the private model was better."""
        return self.plain_accuracy - self.accuracy

    @property
    def auc_lost(self) -> float:
        """How much AUC privacy cost on this table."""
        return self.plain_auc - self.auc

    @property
    def counts(self) -> bool:
        """Whether the table counts in the forecast. A dataset that is far too easy does not."""
        return not self.bundled or min(self.plain_accuracy, self.plain_auc) < _TOO_EASY


@dataclass(frozen=True)
class Loss:
    """What privacy cost on average over tables, and on the tables where it cost least and most.

    Parameters
    ----------
    mean : float
        Mean over the tables.
    standard_error : float
        Standard error of the mean, from the differences between tables.
    lowest, highest : float
        The least and the most that privacy cost on one of the tables.

    Examples
    --------
    >>> from privatree.forecast import Loss
    >>> loss = Loss.of([0.0, 0.125, 0.25])
    >>> loss.mean, round(loss.standard_error, 3), loss.highest
    (0.125, 0.072, 0.25)
    """

    mean: float
    standard_error: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, losses: Sequence[float]) -> Loss:
        """Return the loss on several tables."""
        error = stdev(losses) / len(losses) ** 0.5
        return cls(mean(losses), error, min(losses), max(losses))


@dataclass(frozen=True)
class Expected:
    """What to expect at one epsilon.

    Parameters
    ----------
    epsilon : float
        Privacy budget.
    accuracy, auc : Loss
        Accuracy and AUC that privacy costs.

    Examples
    --------
    >>> from privatree.forecast import Expected, Loss
    >>> Expected(0.5, Loss.of([0.0, 0.25]), Loss.of([0.125, 0.375])).auc.mean
    0.25
    """

    epsilon: float
    accuracy: Loss
    auc: Loss


@dataclass(frozen=True)
class Forecast:
    """What privacy will probably cost. Printed, it is a table with its explanation.

    Parameters
    ----------
    setting : Setting
        What the forecast is for.
    tables : tuple of TableScores
        What privacy cost on each table at each epsilon.
    left_out : dict of str
        Bundled datasets that were not used, each with the reason.

    Examples
    --------
    >>> from privatree.forecast import Forecast, Setting, TableScores
    >>> one = TableScores("adult", True, 0.5, 5, 0.84, 0.85, 0.85, 0.875, 0.002, 0.01)
    >>> other = TableScores("made up 1", False, 0.5, 1, 0.78, 0.75, 0.81, 0.825, None, None)
    >>> made = Forecast(Setting(8000, (0.5,)), (one, other), {})
    >>> round(made.expected[0].accuracy.mean, 3), round(made.expected[0].auc.mean, 3)
    (0.02, 0.05)
    """

    setting: Setting
    tables: tuple[TableScores, ...]
    left_out: dict[str, str]

    @property
    def expected(self) -> tuple[Expected, ...]:
        """What to expect at each epsilon: each table that counts has one vote."""
        return tuple(map(self._expected_at, self.setting.epsilons))

    def _expected_at(self, epsilon: float) -> Expected:
        found = [scores for scores in self.tables if scores.epsilon == epsilon and scores.counts]
        return Expected(
            epsilon,
            Loss.of([scores.accuracy_lost for scores in found]),
            Loss.of([scores.auc_lost for scores in found]),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the forecast as dictionaries, lists, numbers and text, for JSON."""
        return {
            "setting": asdict(self.setting),
            "expected": [asdict(each) for each in self.expected],
            "tables": [
                asdict(each)
                | {
                    "accuracy_lost": each.accuracy_lost,
                    "auc_lost": each.auc_lost,
                    "counts": each.counts,
                }
                for each in self.tables
            ],
            "left_out": dict(self.left_out),
        }

    def plot(self) -> tuple[Axes, Axes]:
        """Draw the accuracy and the AUC that privacy costs, against epsilon.

        Returns
        -------
        tuple of matplotlib axes
            The axes of accuracy and those of AUC, on a new figure.

        Raises
        ------
        ParameterError
            If matplotlib is not installed.
        """
        from privatree.forecast._forecast_plot import plot_forecast

        return plot_forecast(self)

    def save_plot(self, path: str | Path) -> None:
        """Write the picture of :meth:`plot` to a file, whose name ends in .png or .svg.

        Raises
        ------
        ParameterError
            If the name has another ending, or matplotlib is not installed.
        """
        from privatree.forecast._forecast_plot import save_plot

        save_plot(self, Path(path))

    def __str__(self) -> str:
        from privatree.forecast._forecast_text import forecast_text

        return forecast_text(self)
