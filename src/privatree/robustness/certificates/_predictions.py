"""Single predictions under poisoning: up to how many edits a class stays the most probable."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.privacy import PrivacyStatement
from privatree.repetition import check_confidence, clopper_pearson_lower, clopper_pearson_upper
from privatree.robustness.certificates._preconditions import guaranteed_spending
from privatree.robustness.poisoning_bounds._bounds import Spending, best, bounds
from privatree.robustness.poisoning_bounds._tolerance import most_edits
from privatree.schema import Label

if TYPE_CHECKING:
    import pandas as pd


def prediction_radius(
    spending: Spending, probability: float, runner_up: float, bound: str | None = None
) -> int | None:
    """The most edits after which one class is still more probable than another.

    Parameters
    ----------
    spending : Schedule or EpsilonDP
        What the learner can spend.
    probability : float
        At least so probable is the class on the records as they are.
    runner_up : float
        At most so probable is the other.
    bound : str, optional
        The letter of a bound to compute with; by default the best of all.

    Returns
    -------
    int or None
        None if it is not certain even without an edit.

    Notes
    -----
    The probability of the class is at least F(probability), that of the other at most
    1 - F(1 - runner_up). The mean of (1 + [class] - [other])/2 could be bounded instead, but F is
    convex, so F of the mean of two arguments is at most the mean of both: that never gives more.
    """

    def at_least(mean: float, edits: int) -> float:
        if bound is not None:
            return bounds(spending, mean, edits)[bound]
        return best(spending, mean, edits).value

    def holds(edits: int) -> bool:
        high = at_least(probability, edits)
        others = high if 1 - runner_up == probability else at_least(1 - runner_up, edits)
        return high > 1 - others

    return most_edits(holds)


@dataclass(frozen=True, eq=False)
class PredictionCertificates:
    """For each record the most probable class, and how many edits that survives.

    Parameters
    ----------
    privacy : PrivacyStatement
        Of the learner.
    classes : tuple
        The labels.
    counts : ndarray of shape (n_records, n_classes)
        How many refits predicted each class for each record.
    confidence : float
        Probability over the refits that everything said of *all* records is right: at least this.
    n_train : int
        Number of training records.
    notes : tuple of str
        What else a reader should know.
    """

    privacy: PrivacyStatement
    classes: tuple[Label, ...]
    counts: NDArray[np.int64]
    confidence: float
    n_train: int
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        shape, sums = self.counts.shape, self.counts.sum(axis=-1)
        if len(shape) != 2 or shape[0] < 1 or shape[1] != len(self.classes) or shape[1] < 2:
            raise ParameterError(
                "counts must have a row for each record, a column for each class.", "counts"
            )
        if self.n_train < 1:
            raise ParameterError("n_train must be >= 1.", "n_train")
        if self.counts.min() < 0 or sums.min() != sums.max() or sums.min() < 1:
            raise ParameterError(
                "counts must be >= 0 and add up to the refits for each record.", "counts"
            )
        _ = self.spending

    @cached_property
    def spending(self) -> Spending:
        """What the learner can spend, which the bounds rest on."""
        return guaranteed_spending(self.privacy)

    @property
    def refits(self) -> int:
        """How many there were."""
        return int(self.counts[0].sum())

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """The place in `classes` of what most refits predicted for each record."""
        return np.asarray(np.argmax(self.counts, axis=1), dtype=np.int64)

    @property
    def predictions(self) -> list[Label]:
        """What most refits predicted for each record; of equals the first class."""
        return [self.classes[code] for code in self.codes]

    @cached_property
    def lower(self) -> NDArray[np.float64]:
        """Probability of each record's prediction on the records as they are, at least."""
        each = clopper_pearson_lower(self.counts, self.refits, self._failure_of_each)
        return np.take_along_axis(each, self.codes[:, np.newaxis], axis=1)[:, 0]

    @cached_property
    def runner_up(self) -> NDArray[np.float64]:
        """Probability of every other class, at most."""
        each = clopper_pearson_upper(self.counts, self.refits, self._failure_of_each)
        np.put_along_axis(each, self.codes[:, np.newaxis], 0.0, axis=1)
        return np.asarray(np.minimum(np.max(each, axis=1), 1.0 - self.lower))

    @property
    def _failure_of_each(self) -> float:
        """One bound may fail with this probability: all together with 1 - confidence.

        Which class most refits predicted is not known beforehand, so there is a lower and an upper
        bound for every class; with two classes they are the same bounds.
        """
        n_records, n_classes = self.counts.shape
        n_bounds = 2 if n_classes == 2 else 2 * n_classes
        return (1.0 - self.confidence) / int(n_records * n_bounds)

    @cached_property
    def tolerates(self) -> NDArray[np.int64]:
        """The most edits after which the prediction is still the most probable class.

        -1 where that is not certain even without an edit.
        """
        pairs = np.column_stack([self.lower, self.runner_up])
        distinct, place = np.unique(pairs, axis=0, return_inverse=True)
        found = [prediction_radius(self.spending, high, low) for high, low in distinct.tolist()]
        radii = np.array([-1 if edits is None else edits for edits in found], dtype=np.int64)
        return np.take(radii, place.reshape(-1))

    def certified_share(self, edits: int) -> float:
        """Share of the records whose prediction survives so many edits."""
        return float(np.mean(self.tolerates >= edits))

    def table(self) -> pd.DataFrame:
        """A row for each record; `tolerates` is missing where nothing is certain."""
        import pandas as pd

        tolerates = pd.Series(self.tolerates, dtype="Int64")
        return pd.DataFrame(
            {
                "prediction": self.predictions,
                "probability at least": self.lower,
                "runner-up at most": self.runner_up,
                "tolerates": tolerates.mask(tolerates < 0),
            }
        )

    @property
    def fewest_refits(self) -> int:
        """The fewest refits that can certify a record, if all of them agree."""
        return math.floor(-math.log2(self._failure_of_each)) + 1

    def __str__(self) -> str:
        """What is certain of all of them, in plain words."""
        from privatree.robustness.certificates._predictions_text import full_text

        return full_text(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries and lists, as in the JSON file."""
        from privatree.robustness.certificates._predictions_json import predictions_to_dict

        return predictions_to_dict(self)

    @classmethod
    def from_dict(cls, written: Any) -> Self:
        """Read what :meth:`to_dict` wrote; every mistake is a :class:`ModelFormatError`."""
        from privatree.robustness.certificates._predictions_json import predictions_from_dict

        return predictions_from_dict(cls, written)

    def to_json(self) -> str:
        """The text of the JSON file."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def save(self, path: str | Path) -> None:
        """Write a JSON file; :meth:`load` reads it."""
        from privatree.robustness.certificates._certificate_json import write_json

        write_json(path, self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote, and check it in full; every mistake names the file."""
        from privatree.robustness.certificates._certificate_json import read_json

        return read_json(path, cls.from_dict)
