"""One learner on one table, to be certified: checked first, then refitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from privatree._support.validation import check_integer
from privatree.errors import CertificateError, ParameterError
from privatree.privacy import PrivacyStatement
from privatree.repetition import check_confidence, fit_quietly, refit, without_budget
from privatree.robustness.attacks._poisoned import poisoned_records
from privatree.robustness.certificates._measures import Accuracy, SuccessRate
from privatree.robustness.certificates._preconditions import (
    check_dataset_size,
    claimed_spending,
    guaranteed_spending,
    statement_of,
)

MAX_REFITS = 10**6

Result = TypeVar("Result")


def validate_request(confidence: Any, refits: Any, poisoned: Sequence[int | str] = (0,)) -> None:
    """Refuse what is wrong whatever the records are.

    Parameters
    ----------
    confidence, refits, poisoned
        As in :func:`~privatree.robustness.certificates._certify.accuracy_certificate`.
    """
    check_integer("refits", refits, 1, MAX_REFITS)
    check_confidence(confidence)
    poisoned_records(poisoned, n_train=1)


@dataclass(frozen=True)
class Certification:
    """What is refitted, and how often.

    Parameters
    ----------
    estimator : classifier
        A copy without a budget.
    X, y : records and labels
        The training data.
    confidence : float
        Of the certificate.
    refits : int
        How often to train.
    notes : tuple of str
        What to tell about the copy.
    """

    estimator: Any
    X: Any
    y: Any
    confidence: float
    refits: int
    notes: tuple[str, ...]

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, confidence: Any, refits: Any) -> Certification:
        """Check what the caller asked for."""
        validate_request(confidence, refits)
        if len(y) == 0:
            raise ParameterError("X and y must have at least one record.")
        copy, notes = without_budget(estimator)
        return cls(copy, X, y, float(confidence), int(refits), notes)

    @property
    def n_train(self) -> int:
        """How many training records there are."""
        return len(self.y)

    @cached_property
    def trial(self) -> Any:
        """A model trained once, before all others, to see what its learner states."""
        from sklearn.base import clone

        copy = clone(self.estimator)
        if hasattr(copy, "privacy_"):  # as one that is frozen: every refit would be the same model
            raise CertificateError(
                f"{type(copy).__name__} must be a learner whose copies are untrained, but its copy "
                "has a privacy_ already. Pass the learner itself: a certificate is about training, "
                "not about one model."
            )
        return fit_quietly(copy, self.X, self.y)

    def guaranteed_privacy(self) -> PrivacyStatement:
        """What the learner guarantees, or why it cannot be certified."""
        privacy = statement_of(self.trial, claimed=False)
        guaranteed_spending(privacy)
        check_dataset_size(self.estimator, privacy, self.y)
        return privacy

    def claimed_privacy(self) -> PrivacyStatement:
        """What is claimed of the learner, or why there is nothing to claim."""
        privacy = statement_of(self.trial, claimed=True)
        claimed_spending(privacy)
        return privacy

    def figures(self, poisoned: Sequence[int | str], y_test: Any) -> dict[str, Any]:
        """What a certificate says of its making, once the caller's wishes are checked."""
        if len(y_test) == 0:
            raise ParameterError("X_test and y_test must have at least one record.")
        return {
            "confidence": self.confidence,
            "refits": self.refits,
            "n_train": self.n_train,
            "n_test": len(y_test),
            "poisoned": poisoned_records(poisoned, self.n_train),
        }

    def scores(
        self, measure: Accuracy | SuccessRate, n_jobs: int | None, progress: bool | None
    ) -> list[float]:
        """The score of each refit; the trial is checked first, to fail early."""
        measure.check(self.trial)
        return self.measured(measure, n_jobs, progress)

    def measured(
        self, measure: Callable[[Any], Result], n_jobs: int | None, progress: bool | None
    ) -> list[Result]:
        """What each refit gives."""
        return refit(
            self.estimator,
            self.X,
            self.y,
            measure,
            self.refits,
            n_jobs=n_jobs,
            progress=progress,
        )
