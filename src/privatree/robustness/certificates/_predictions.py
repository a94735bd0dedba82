"""Certificates of single predictions: after how many edits a class is still most probable."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.privacy import PrivacyStatement
from privatree.repetition import check_confidence, clopper_pearson_lower, clopper_pearson_upper
from privatree.robustness.certificates._certificate_json import (
    SavedCertificate,
    prediction_certificates_from_dict,
    prediction_certificates_to_dict,
)
from privatree.robustness.certificates._certificate_text import prediction_certificates_text
from privatree.robustness.certificates._preconditions import require_guarantee
from privatree.robustness.poisoning_bounds._bounds import (
    Spending,
    best,
    bounds,
    max_tolerated_edits,
)
from privatree.schema import Label

if TYPE_CHECKING:
    import pandas as pd


def prediction_radius(
    spending: Spending, probability: float, runner_up: float, bound: str | None = None
) -> int | None:
    """Return the largest number of edits after which one class is more probable than another.

    `probability` is a lower bound on the probability of the class without edits. `runner_up` is an
    upper bound on the probability of the other class. `bound` is the letter of the bound to use, by
    default the best one. The result is None if nothing is certain even without an edit.

    Notes
    -----
    Let F be the bound. After the edits, the probability of the class is at least F(probability),
    and that of the other class is at most 1 - F(1 - runner_up). The mean of
    (1 + [class] - [other])/2 could be bounded instead. F is convex, so this never gives more edits.
    """

    def lower_bound(mean: float, edits: int) -> float:
        if bound is not None:
            return bounds(spending, mean, edits)[bound]
        return best(spending, mean, edits).value

    def is_ahead(edits: int) -> bool:
        high = lower_bound(probability, edits)
        others = high if 1 - runner_up == probability else lower_bound(1 - runner_up, edits)
        return high > 1 - others

    return max_tolerated_edits(is_ahead)


@dataclass(frozen=True, eq=False)
class PredictionCertificates(SavedCertificate):
    """The most probable class of each record, and how many edits that prediction survives.

    Parameters
    ----------
    privacy : PrivacyStatement
        Statement of the learner.
    classes : tuple
        Labels that the learner can predict.
    counts : ndarray of shape (n_records, n_classes)
        Number of refits that predicted each class for each record.
    confidence : float
        The certificates of *all* records are right with at least this probability over the noise of
        the refits.
    n_train : int
        Number of training records; of training units if epsilon is for units.
    notes : tuple of str
        Further notes for the reader.

    Examples
    --------
    >>> import numpy as np
    >>> from privatree.privacy import PrivacyStatement
    >>> from privatree.robustness import PredictionCertificates
    >>> statement = PrivacyStatement("MyLearner", epsilon=0.1)
    >>> counts = np.array([[99, 1], [60, 40]])
    >>> certificates = PredictionCertificates(statement, ("a", "b"), counts, 0.9, n_train=500)
    >>> certificates.predictions, certificates.tolerates
    (['a', 'a'], array([22, -1]))
    """

    privacy: PrivacyStatement
    classes: tuple[Label, ...]
    counts: NDArray[np.int64]
    confidence: float
    n_train: int
    notes: tuple[str, ...] = ()

    _write_dict = staticmethod(prediction_certificates_to_dict)
    _read_dict = staticmethod(prediction_certificates_from_dict)
    _indent = None

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        shape, sums = self.counts.shape, self.counts.sum(axis=-1)
        if len(shape) != 2 or shape[0] < 1 or shape[1] != len(self.classes) or shape[1] < 2:
            raise ParameterError(
                "counts must have one row for each record and one column for each class, with at "
                f"least one record and two classes, got the shape {shape}.",
                "counts",
            )
        if self.n_train < 1:
            raise ParameterError(f"n_train must be >= 1, got {self.n_train}.", "n_train")
        if self.counts.min() < 0 or sums.min() != sums.max() or sums.min() < 1:
            raise ParameterError(
                "counts must be >= 0, and each row must add up to the number of refits.", "counts"
            )
        _ = self.spending  # raises an error if the statement supports no certificate

    @cached_property
    def spending(self) -> Spending:
        """Schedule or epsilon of the learner, from which the bounds are computed."""
        return require_guarantee(self.privacy)

    @property
    def refits(self) -> int:
        """Number of refits."""
        return int(self.counts[0].sum())

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """Position in `classes` of the class that most refits predicted for each record."""
        return np.asarray(np.argmax(self.counts, axis=1), dtype=np.int64)

    @property
    def predictions(self) -> list[Label]:
        """The class that most refits predicted for each record; in a tie, the first class."""
        return [self.classes[code] for code in self.codes]

    @cached_property
    def lower(self) -> NDArray[np.float64]:
        """Lower bound on the probability of each prediction without poisoning."""
        each = clopper_pearson_lower(self.counts, self.refits, self._failure_of_each)
        return np.take_along_axis(each, self.codes[:, np.newaxis], axis=1)[:, 0]

    @cached_property
    def runner_up(self) -> NDArray[np.float64]:
        """Upper bound on the probability of every other class without poisoning."""
        each = clopper_pearson_upper(self.counts, self.refits, self._failure_of_each)
        np.put_along_axis(each, self.codes[:, np.newaxis], 0.0, axis=1)
        return np.asarray(np.minimum(np.max(each, axis=1), 1.0 - self.lower))

    @property
    def _failure_of_each(self) -> float:
        """Allowed probability that one bound fails, so that all hold with the confidence.

        It is not known beforehand which class most refits will predict, so there are a lower and an
        upper bound for every class. With two classes, the bounds of one give those of the other.
        """
        n_records, n_classes = self.counts.shape
        n_bounds = 2 if n_classes == 2 else 2 * n_classes
        return (1.0 - self.confidence) / int(n_records * n_bounds)

    @cached_property
    def tolerates(self) -> NDArray[np.int64]:
        """Largest number of edits after which each prediction is still the most probable class.

        The number is -1 if nothing is certain even without an edit.
        """
        pairs = np.column_stack([self.lower, self.runner_up])
        distinct, place = np.unique(pairs, axis=0, return_inverse=True)
        found = [prediction_radius(self.spending, high, low) for high, low in distinct.tolist()]
        radii = np.array([-1 if edits is None else edits for edits in found], dtype=np.int64)
        return np.take(radii, place.reshape(-1))

    def certified_share(self, edits: int) -> float:
        """Return the share of the records whose prediction survives `edits` edits."""
        return float(np.mean(self.tolerates >= edits))

    def table(self) -> pd.DataFrame:
        """Return a frame with a row for each record. A missing `tolerates` means no certificate."""
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
        """Smallest number of refits that can certify a record if all refits agree."""
        return math.floor(-math.log2(self._failure_of_each)) + 1

    def __str__(self) -> str:
        """Return a text in plain words about all records together."""
        return prediction_certificates_text(self)
