"""One metric with its interval, and one point of a calibration curve."""

from __future__ import annotations

import math
from dataclasses import dataclass

from privatree._support.escape import escape_to_one_line
from privatree.schema import Label

PERCENTAGES = ("accuracy", "balanced accuracy", "recall", "precision")
"""Metrics that are shown as percentages."""
SHARE_NAMES = (*PERCENTAGES, "share", "AUC")
"""Metrics between 0 and 1."""
IN_TARGET_UNITS = ("mean absolute error", "root mean squared error")
"""Metrics in the unit of the target."""
NAMES = (*PERCENTAGES, "AUC", "Brier score", "log loss", "R²", *IN_TARGET_UNITS)
"""Names of all metrics."""
HIDDEN = "hidden by noise"
"""What stands for an estimate that the noise hides."""


@dataclass(frozen=True)
class Score:
    """A metric with its interval.

    Attributes
    ----------
    name : str
        Name of the metric, such as ``"accuracy"`` or ``"recall"``.
    value : float or None
        The released estimate; None if the noise hides it.
    low, high : float
        Ends of the interval, which covers the true value with a probability of 95%: the value over
        all records of the kind that was scored, of which the scored ones are a sample.
    of_class : str, int, float, bool or None
        The class that the metric is about, if it is about one.

    Examples
    --------
    >>> Score("recall", 0.5, 0.25, 0.75, of_class="yes").title
    'recall of yes'
    >>> Score("accuracy", 0.84, 0.8, 0.875).shown
    ('84.0%', '80.0% to 87.5%')
    """

    name: str
    value: float | None
    low: float
    high: float
    of_class: Label | None = None

    @property
    def title(self) -> str:
        """The name of the metric, with its class: "recall of yes"."""
        if self.of_class is None:
            return self.name
        return f"{self.name} of {escape_to_one_line(str(self.of_class))}"

    @property
    def shown(self) -> tuple[str, str]:
        """The estimate and the interval as text."""
        value = HIDDEN if self.value is None else self._shown_number(self.value)
        return value, f"{self._shown_number(self.low)} to {self._shown_number(self.high)}"

    def _shown_number(self, number: float) -> str:
        if self.name in PERCENTAGES:
            return f"{100 * number:.1f}%"
        if self.name in IN_TARGET_UNITS:
            size = max(abs(self.high), 1e-9)
            return f"{number:,.{max(0, 3 - math.floor(math.log10(size)))}f}"
        return f"{number:.3f}"


@dataclass(frozen=True)
class CurvePoint:
    """A point of a calibration curve: records with about the same predicted probability.

    Attributes
    ----------
    predicted : float
        Their mean predicted probability of the class.
    share : Score
        Share of the class among them, with its interval.
    noisy_size : float
        Noisy number of these records.

    Examples
    --------
    >>> CurvePoint(0.3, Score("share", 0.28, 0.25, 0.31), noisy_size=812.5).share.value
    0.28
    """

    predicted: float
    share: Score
    noisy_size: float
