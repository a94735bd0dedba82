"""Certificates of single predicted numbers: where the median prediction stays after x edits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from privatree.errors import ParameterError
from privatree.privacy import PrivacyStatement
from privatree.repetition import check_confidence
from privatree.robustness.certificates._certificate_json import (
    SavedCertificate,
    prediction_intervals_from_dict,
    prediction_intervals_to_dict,
)
from privatree.robustness.certificates._certificate_text import prediction_intervals_text
from privatree.robustness.certificates._preconditions import require_guarantee
from privatree.robustness.poisoning_bounds._bounds import Spending, best

if TYPE_CHECKING:
    import pandas as pd

_HALVINGS = 60
_ROUNDING = 1e-9
"""Relative tolerance above the rounding error of the binomial law. It makes intervals wider."""


def least_probability(spending: Spending, edits: int) -> float:
    """Return a probability of an event that is above one half after `edits` edits.

    It is the smallest one, up to the precision of floats: at most 1, and 1 if no smaller one does.
    """
    low, high = 0.5, 1.0  # with probability 1/2 or less, the bound is never above one half
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if best(spending, middle, edits).value > 0.5:
            high = middle
        else:
            low = middle
    return high


@dataclass(frozen=True, eq=False)
class PredictionIntervals(SavedCertificate):
    """For each record, an interval that its median prediction stays in after some edits.

    Parameters
    ----------
    privacy : PrivacyStatement
        Statement of the learner.
    target_range : tuple of float
        Range of the target in the schema, which no prediction leaves.
    values : ndarray of shape (n_records, refits)
        Predictions of all refits for each record, in increasing order.
    poisoned : tuple of int
        Numbers of edits for which the intervals hold.
    confidence : float
        *All* intervals hold with at least this probability over the noise of the refits.
    n_train : int
        Number of training records; of training units if epsilon is for units.
    notes : tuple of str
        Further notes for the reader.

    Notes
    -----
    Let p be the smallest probability such that an event with it has more than one half after the
    edits. If the prediction is at least s with probability p or more, the median stays at least s.
    The k-th smallest of n predictions is such an s, but with the probability that fewer than k of n
    trials succeed, where each succeeds with probability 1 - p. The same holds from above.

    Examples
    --------
    >>> import numpy as np
    >>> from privatree.privacy import PrivacyStatement
    >>> from privatree.robustness import PredictionIntervals
    >>> statement = PrivacyStatement("MyLearner", epsilon=0.1)
    >>> values = np.linspace(10.0, 19.9, 100)[np.newaxis]
    >>> intervals = PredictionIntervals(statement, (0.0, 60.0), values, (1,), 0.9, n_train=500)
    >>> [end.round(1).tolist() for end in intervals.interval(1)]
    [[13.6], [16.3]]
    """

    privacy: PrivacyStatement
    target_range: tuple[float, float]
    values: NDArray[np.float64]
    poisoned: tuple[int, ...]
    confidence: float
    n_train: int
    notes: tuple[str, ...] = ()

    _write_dict = staticmethod(prediction_intervals_to_dict)
    _read_dict = staticmethod(prediction_intervals_from_dict)
    _indent = None

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        low, high = self.target_range
        if self.values.ndim != 2 or self.values.size == 0:
            raise ParameterError(
                "values must have one row for each record and one column for each refit, with at "
                f"least one of both, got the shape {self.values.shape}.",
                "values",
            )
        inside = (low <= self.values) & (self.values <= high)
        if not inside.all() or (np.diff(self.values, axis=1) < 0).any():
            raise ParameterError(
                "values must be in the range of the target, and each row in increasing order.",
                "values",
            )
        if self.n_train < 1 or not self.poisoned or min(self.poisoned) < 0:
            raise ParameterError(
                "n_train must be >= 1, and poisoned one or more numbers >= 0.", "poisoned"
            )
        _ = self.spending  # raises an error if the statement supports no certificate

    @cached_property
    def spending(self) -> Spending:
        """Schedule or epsilon of the learner, from which the bounds are computed."""
        return require_guarantee(self.privacy)

    @property
    def refits(self) -> int:
        """Number of refits."""
        return int(self.values.shape[1])

    @cached_property
    def medians(self) -> NDArray[np.float64]:
        """Median prediction of the refits for each record."""
        return np.asarray(np.median(self.values, axis=1))

    def interval(self, edits: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the ends of the interval of each record after `edits` edits.

        `edits` must be one of `poisoned`: the confidence is shared among these.
        """
        if edits not in self.poisoned:
            raise ParameterError(f"edits must be one of {self.poisoned}, got {edits!r}.", "edits")
        place = self._places[edits]
        low, high = (np.full(len(self.values), end) for end in self.target_range)
        if place > 0:
            low, high = self.values[:, place - 1], self.values[:, -place]
        return low, high

    @cached_property
    def _places(self) -> dict[int, int]:
        """The k for which the k-th smallest prediction is a lower end; 0 if none is."""
        return {
            edits: _largest_place(
                self.refits, 1.0 - least_probability(self.spending, edits), self._failure_of_each
            )
            for edits in self.poisoned
        }

    @property
    def _failure_of_each(self) -> float:
        """Allowed probability that one end fails, so that all hold with the confidence."""
        return (1.0 - self.confidence) / (2 * len(self.values) * len(set(self.poisoned)))

    def widths(self, edits: int) -> NDArray[np.float64]:
        """Return the width of the interval of each record."""
        low, high = self.interval(edits)
        return high - low

    def table(self) -> pd.DataFrame:
        """Return a frame with a row for each record: its median, and the ends of its intervals."""
        import pandas as pd

        columns = {"prediction": self.medians}
        for edits in self.poisoned:
            low, high = self.interval(edits)
            columns |= {f"at least, {edits} poisoned": low, f"at most, {edits} poisoned": high}
        return pd.DataFrame(columns)

    def __str__(self) -> str:
        """Return a text in plain words about all records together."""
        return prediction_intervals_text(self)


def _largest_place(refits: int, probability: float, failure: float) -> int:
    """Return the largest k such that fewer than k of the refits succeed rarely enough."""
    fewer = bdtr(np.arange(refits), refits, probability)
    return int(np.searchsorted(fewer, failure * (1 - _ROUNDING), side="right"))
