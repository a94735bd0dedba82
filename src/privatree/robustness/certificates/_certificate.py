"""Certificates of a mean score after poisoning: accuracy, attack success rate, and error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from privatree._support.validation import is_number
from privatree.errors import ParameterError
from privatree.privacy import PrivacyStatement
from privatree.repetition import check_confidence
from privatree.robustness.certificates._certificate_json import (
    SavedCertificate,
    score_certificate_from_dict,
    score_certificate_to_dict,
)
from privatree.robustness.certificates._certificate_plot import plot_certificate
from privatree.robustness.certificates._certificate_text import score_certificate_text
from privatree.robustness.certificates._majority import Majority
from privatree.robustness.certificates._preconditions import require_claim, require_guarantee
from privatree.robustness.poisoning_bounds._bounds import (
    Certified,
    Spending,
    best,
    bounds,
    max_tolerated_edits,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Certificate(SavedCertificate):
    """Base class of certificates: bounds on a mean score after poisoning.

    Parameters
    ----------
    privacy : PrivacyStatement
        Privacy statement of the learner: epsilon, assumptions about what is public, and schedule.
    estimate : float
        Average score of the refits on the training records, without further poisoning.
    clean_bound : float
        Bound on the mean score without further poisoning, with the confidence.
    confidence : float
        The whole certificate is right with at least this probability over the noise of the refits.
    refits, n_train, n_test : int
        Number of refits, of training records and of test records. If epsilon is for units,
        `n_train` is the number of training units, and an edit is a unit added or removed.
    poisoned : tuple of int
        Numbers of edits that the tables show.
    claimed_by : str or None
        Name of whoever claims the epsilon, if the learner does not guarantee it.
    notes : tuple of str
        Further notes for the reader.
    majority : Majority or None
        Most frequent test label and its share, to compare an accuracy with.
    """

    privacy: PrivacyStatement
    estimate: float
    clean_bound: float
    confidence: float
    refits: int
    n_train: int
    n_test: int
    poisoned: tuple[int, ...]
    claimed_by: str | None = None
    notes: tuple[str, ...] = ()
    majority: Majority | None = None

    kind: ClassVar[str]
    """Name of the kind of certificate in a file."""
    score: ClassVar[str]
    """Name of the score in a text."""
    more_is_better: ClassVar[bool]
    majority_keys: ClassVar[tuple[str, str]] = ("class", "share")
    """Names of the fields of `majority` in a file."""
    _write_dict = staticmethod(score_certificate_to_dict)
    _read_dict = staticmethod(score_certificate_from_dict)
    _indent = 1

    def __post_init__(self) -> None:
        _ = self.spending  # raises an error if the statement supports no certificate
        check_confidence(self.confidence)
        largest = self.largest
        if not (0 <= self.estimate <= largest and 0 <= self.clean_bound <= largest):
            raise ParameterError(
                f"estimate and clean_bound must be from 0 to {largest:g}, got {self.estimate} and "
                f"{self.clean_bound}."
            )
        if self._to_maximize(self.clean_bound) > self._to_maximize(self.estimate):
            side = "at most" if self.more_is_better else "at least"
            raise ParameterError(
                f"clean_bound, the bound without poisoning, must be {side} the estimate, "
                f"{self.estimate}, got {self.clean_bound}.",
                "clean_bound",
            )
        if self.majority is not None and self.majority.share > largest:
            raise ParameterError(
                f"the share of a majority must be > 0 and <= {largest:g}, got "
                f"{self.majority.share}."
            )
        if min(self.refits, self.n_train, self.n_test) < 1 or min(self.poisoned, default=0) < 0:
            raise ParameterError(
                "refits, n_train and n_test must be >= 1, and each number in poisoned >= 0."
            )

    @cached_property
    def spending(self) -> Spending:
        """Schedule or epsilon of the learner, from which the bounds are computed."""
        read_spending = require_guarantee if self.claimed_by is None else require_claim
        return read_spending(self.privacy)

    @property
    def largest(self) -> float:
        """Largest possible score."""
        return 1.0

    @property
    def learner(self) -> str:
        """Name of the learner."""
        return self.privacy.learner

    @property
    def epsilon(self) -> float:
        """Epsilon of the learner, or the claimed epsilon if `claimed_by` is set."""
        claimed = self.privacy.claimed_epsilon
        return self.privacy.epsilon if claimed is None else claimed

    @property
    def promise(self) -> str:
        """Heading of the bounds in tables: "guaranteed", or "if claimed" for a claimed epsilon."""
        return "guaranteed" if self.claimed_by is None else "if claimed"

    def guarantee(self, edits: int) -> float:
        """Return the worst mean score after `edits` records, or units, are added or removed."""
        return self._certified(edits).value

    def bounds(self, edits: int) -> dict[str, float]:
        """Return every bound on the mean score after `edits` edits, by its letter."""
        found = bounds(self.spending, self._to_maximize(self.clean_bound), edits)
        return {letter: self._from_maximized(value) for letter, value in found.items()}

    def tolerates(self, score: float) -> int | None:
        """Return the largest number of edits after which the mean score is still this good.

        Parameters
        ----------
        score : float
            An accuracy, > 0 and <= 1; an attack success rate, >= 0 and < 1; or an error, >= 0 and
            less than the width of the range.

        Returns
        -------
        int or None
            None if the score is not certain even without an edit.
        """
        wanted = self._to_maximize(score) if is_number(score) else math.nan
        if not 0 < wanted <= 1:
            allowed = "> 0 and <= 1" if self.more_is_better else f">= 0 and < {self.largest:g}"
            hint = " 70% is 0.7." if self.largest == 1 else ""
            raise ParameterError(f"score must be {allowed}, got {score!r}.{hint}", "score")
        clean = self._to_maximize(self.clean_bound)
        return max_tolerated_edits(lambda edits: best(self.spending, clean, edits).value >= wanted)

    def table(self) -> pd.DataFrame:
        """Return a frame with the guarantee and all bounds for each number of poisoned records."""
        import pandas as pd

        rows = [
            {
                "poisoned": edits,
                "share": edits / self.n_train,
                self.promise: certified.value,
                "bound": certified.bound,
                **all_bounds,
            }
            for edits, certified, all_bounds in self.rows
        ]
        return pd.DataFrame(rows)

    @cached_property
    def rows(self) -> tuple[tuple[int, Certified, dict[str, float]], ...]:
        """The guarantee and every bound by its letter, for each number of poisoned records.

        For 0 edits all bounds are equal, and none of them is named.
        """
        return tuple((edits, self._certified(edits), self.bounds(edits)) for edits in self.poisoned)

    def _to_maximize(self, score: float) -> float:
        """Return a number from 0 to 1 that is the larger, the better the score."""
        return score if self.more_is_better else 1.0 - score / self.largest

    def _from_maximized(self, value: float) -> float:
        return value if self.more_is_better else self.largest * (1.0 - value)

    def compare_with_majority(self, score: float) -> float:
        """Return how much better a score is than that of one answer for all records."""
        return (
            0.0
            if self.majority is None
            else (self._to_maximize(score) - self._to_maximize(self.majority.share))
        )

    def _certified(self, edits: int) -> Certified:
        found = best(self.spending, self._to_maximize(self.clean_bound), edits)
        return Certified(self._from_maximized(found.value), found.bound if edits > 0 else "-")

    def __str__(self) -> str:
        """Return the certificate in plain words. Figures are rounded so that they promise less."""
        return score_certificate_text(self)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the guarantee against the number of poisoned records, by default on a new figure."""
        return plot_certificate(self, ax)


@dataclass(frozen=True)
class AccuracyCertificate(Certificate):
    """Lower bounds on the expected accuracy after poisoning.

    The expectation is over the noise of the learner. An attacker does not know the noise when
    choosing the records to add or remove. The parameters are those of ``Certificate``.

    Examples
    --------
    >>> from privatree.privacy import PrivacyStatement
    >>> from privatree.robustness import AccuracyCertificate
    >>> certificate = AccuracyCertificate(
    ...     PrivacyStatement("MyLearner", epsilon=0.1), estimate=0.9, clean_bound=0.88,
    ...     confidence=0.99, refits=400, n_train=1000, n_test=200, poisoned=(5,),
    ... )
    >>> round(certificate.guarantee(5), 3), certificate.tolerates(0.7)
    (0.802, 9)
    """

    kind: ClassVar[str] = "accuracy"
    score: ClassVar[str] = "accuracy"
    more_is_better: ClassVar[bool] = True

    @property
    def lower(self) -> float:
        """Lower bound on the expected accuracy without poisoning, with the confidence."""
        return self.clean_bound


@dataclass(frozen=True)
class AttackSuccessCertificate(Certificate):
    """Upper bounds on the expected success rate of an attack whose trigger is fixed.

    The parameters are those of ``Certificate``.

    Examples
    --------
    >>> from privatree.privacy import PrivacyStatement
    >>> from privatree.robustness import AttackSuccessCertificate
    >>> certificate = AttackSuccessCertificate(
    ...     PrivacyStatement("MyLearner", epsilon=0.1), estimate=0.01, clean_bound=0.02,
    ...     confidence=0.99, refits=400, n_train=1000, n_test=200, poisoned=(5,),
    ... )
    >>> round(certificate.guarantee(5), 3), certificate.tolerates(0.2)
    (0.033, 23)
    """

    kind: ClassVar[str] = "attack-success"
    score: ClassVar[str] = "attack success rate"
    more_is_better: ClassVar[bool] = False

    @property
    def upper(self) -> float:
        """Upper bound on the expected success rate without poisoning, with the confidence."""
        return self.clean_bound


@dataclass(frozen=True)
class ErrorCertificate(Certificate):
    """Upper bounds on the expected mean absolute error after poisoning.

    Parameters are those of ``Certificate``, in the units of the target. `majority` is the median
    of the test targets, and its error.

    Parameters
    ----------
    target_range : tuple of float
        Smallest and largest test target. Predictions outside count as the nearer end.

    Examples
    --------
    >>> from privatree.privacy import PrivacyStatement
    >>> from privatree.robustness import ErrorCertificate
    >>> certificate = ErrorCertificate(
    ...     PrivacyStatement("MyLearner", epsilon=0.1), estimate=5.0, clean_bound=6.0,
    ...     confidence=0.99, refits=400, n_train=1000, n_test=200, poisoned=(5,),
    ...     target_range=(0.0, 60.0),
    ... )
    >>> round(certificate.guarantee(5), 2), certificate.tolerates(15.0)
    (9.89, 9)
    """

    target_range: tuple[float, float] = (0.0, 1.0)

    kind: ClassVar[str] = "error"
    score: ClassVar[str] = "mean absolute error"
    more_is_better: ClassVar[bool] = False
    majority_keys: ClassVar[tuple[str, str]] = ("value", "error")

    def __post_init__(self) -> None:
        low, high = self.target_range
        if not (low < high and math.isfinite(high - low)):
            raise ParameterError(
                f"target_range must be two numbers, the smaller one first, got {low} and {high}.",
                "target_range",
            )
        super().__post_init__()

    @property
    def largest(self) -> float:
        """Width of the range of the test targets."""
        return self.target_range[1] - self.target_range[0]

    @property
    def upper(self) -> float:
        """Upper bound on the expected error without poisoning, with the confidence."""
        return self.clean_bound
