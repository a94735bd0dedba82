"""Checks whether a learner can be certified on its training data, and refits the learner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.base import clone

from privatree._support.validation import check_integer
from privatree.errors import CertificateError, ParameterError, TooFewRecordsError
from privatree.estimators import count_units
from privatree.privacy import PrivacyStatement
from privatree.repetition import (
    check_confidence,
    lower_confidence_bound,
    refit,
    refit_quietly,
    refit_without_budget,
    upper_confidence_bound,
)
from privatree.robustness.attacks._poisoned_numbers import parse_poisoned
from privatree.robustness.certificates._certificate_json import MAX_REFITS
from privatree.robustness.certificates._measures import AbsoluteError, Accuracy, SuccessRate
from privatree.robustness.certificates._preconditions import (
    require_claim,
    require_guarantee,
    require_privacy_statement,
    require_public_size,
)

if TYPE_CHECKING:
    from privatree.robustness.certificates._certificate import Certificate

    Kind = TypeVar("Kind", bound=Certificate)

Result = TypeVar("Result")


def check_certification_parameters(
    confidence: Any, refits: Any, poisoned: Sequence[int | str] = (0,)
) -> None:
    """Check the parameters of a certificate that can be checked without any record."""
    check_integer("refits", refits, 1, MAX_REFITS)
    check_confidence(confidence)
    parse_poisoned(poisoned, n_train=1)


def _train_unless_stopped(estimator: Any, X: Any, y: Any) -> Any:
    """Return the trained estimator; None if the training stopped at ``min_records``."""
    try:
        return refit_quietly(estimator, X, y)
    except TooFewRecordsError:
        return None


@dataclass(frozen=True)
class _MeasureUnlessStopped:
    """A function that measures a model, and returns None if there is no model."""

    measure: Callable[[Any], Any]

    def __call__(self, model: Any) -> Any:
        return None if model is None else self.measure(model)


class Certification:
    """The learner to certify (a copy that charges no budget), and its training data."""

    def __init__(
        self, estimator: Any, X: Any, y: Any, confidence: Any, refits: Any, **options: Any
    ) -> None:
        check_certification_parameters(confidence, refits)
        if len(y) == 0:
            raise ParameterError("X and y must have at least one record.")
        self.estimator, self.notes = refit_without_budget(estimator)
        self.X, self.y = X, y
        self.confidence, self.refits = float(confidence), int(refits)
        self.options = options  # n_jobs and progress

    @cached_property
    def n_train(self) -> int:
        """Number of training records, or of training units if epsilon is for units."""
        privacy = getattr(self.trial_model, "privacy_", None)
        unit = privacy.unit if isinstance(privacy, PrivacyStatement) else None
        return len(self.y) if unit is None else count_units(self.X, unit)

    @cached_property
    def trial_model(self) -> Any:
        """A model that is trained once, before the refits, to read the learner's statement."""
        copy = clone(self.estimator)
        if hasattr(copy, "privacy_"):  # a frozen estimator, of which every refit would be the same
            raise CertificateError(
                f"sklearn.base.clone must return an untrained copy of the learner, but the copy of "
                f"this {type(copy).__name__} is already trained. Pass the learner itself, not a "
                "frozen model: a certificate is about training."
            )
        return refit_quietly(copy, self.X, self.y)

    def check_privacy(self, *, claimed: bool) -> PrivacyStatement:
        """Return the learner's statement. Raise an error if its epsilon cannot be certified."""
        privacy = require_privacy_statement(self.trial_model, claimed=claimed)
        if claimed:
            require_claim(privacy)
        else:
            require_guarantee(privacy)
            require_public_size(self.estimator, privacy, self.y, self.n_train)
        return privacy

    def measure_refits(
        self, measure: Callable[[Any], Result], if_stopped: Result, meaning: str
    ) -> list[Result]:
        """Refit the learner, and return the measure of each model.

        A training that stops at ``min_records`` releases no model. Poisoned records can make this
        more or less likely, so such a training counts, too: its measure is `if_stopped`. A note
        states the number of such trainings, and explains with `meaning` what they count as.
        """
        found = refit(
            self.estimator,
            self.X,
            self.y,
            _MeasureUnlessStopped(measure),
            self.refits,
            train=_train_unless_stopped,
            **self.options,
        )
        if stopped := sum(value is None for value in found):
            self.notes += (
                f"{stopped} of {self.refits} refits stopped, because the noisy number of records "
                f"was below min_records; {meaning}.",
            )
        return [if_stopped if value is None else value for value in found]

    def certify_score(
        self,
        kind: type[Kind],
        measure: Accuracy | SuccessRate | AbsoluteError,
        poisoned: Sequence[int | str],
        claimed_by: str | None = None,
    ) -> Kind:
        """Return the certificate of a score. All checks are made before the first refit."""
        if len(measure.y_test) == 0:
            raise ParameterError("X_test and y_test must have at least one record.")
        parse_poisoned(poisoned, len(self.y))  # refuses a wrong entry before anything is trained
        privacy = self.check_privacy(claimed=claimed_by is not None)
        notes, majority = measure.compare_labels(self.trial_model)
        scores = self.measure_refits(measure, measure.score_if_stopped, measure.meaning_of_stop)
        confidence_bound = lower_confidence_bound if kind.more_is_better else upper_confidence_bound
        return kind(
            privacy=privacy,
            estimate=measure.scale * float(np.mean(scores)),
            clean_bound=measure.scale * confidence_bound(scores, self.confidence),
            confidence=self.confidence,
            refits=self.refits,
            n_train=self.n_train,
            n_test=len(measure.y_test),
            poisoned=parse_poisoned(poisoned, self.n_train),
            claimed_by=claimed_by,
            notes=(*self.notes, *notes),
            majority=majority,
            **measure.fields,
        )
