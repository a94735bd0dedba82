"""The functions that certify a learner of numbers on its data: check the request, refit, bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from privatree.errors import CertificateError, ParameterError
from privatree.robustness.attacks._poisoned_numbers import PAPER_SHARES, parse_poisoned
from privatree.robustness.certificates._certificate import ErrorCertificate
from privatree.robustness.certificates._certification import Certification
from privatree.robustness.certificates._intervals import PredictionIntervals
from privatree.robustness.certificates._measures import AbsoluteError, PredictedNumbers
from privatree.robustness.certificates._preconditions import require_outcome


def error_certificate(
    estimator: Any,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    poisoned: Sequence[int | str] = PAPER_SHARES,
    confidence: float = 0.99,
    refits: int = 400,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> ErrorCertificate:
    """Certify an upper bound on the mean absolute error of a regressor with poisoned training data.

    Predictions outside the range of the test targets count as its nearer end, and test targets
    outside the range of the schema, too, so that one of them cannot spoil the bound.

    Parameters
    ----------
    estimator : regressor
        Learner to certify. Its ``privacy_`` must guarantee a finite epsilon. The estimator is
        copied, not trained, and its budget is not charged.
    X, y : records and targets
        Training data, clean or poisoned. The certificate covers every dataset that differs from
        this one by the given number of edits: records, or units if the schema has a unit, that are
        added or removed. A changed target is two edits.
    X_test, y_test : records and targets
        Test data, fixed before training. Every target must be a number, and not all may be equal.
    poisoned, confidence, refits, n_jobs, progress
        See :func:`accuracy_certificate`.

    Returns
    -------
    ErrorCertificate
        A certificate to print, tabulate, plot and save. The certificate is not private.

    Raises
    ------
    CertificateError
        If a condition of :func:`accuracy_certificate` fails.

    Examples
    --------
    >>> from privatree import Numeric, PrivaTreeRegressor, Schema, Target
    >>> from privatree.robustness import error_certificate
    >>> schema = Schema({"age": Numeric(0, 100)}, target=Target(0, 100))
    >>> ages = [[i % 100] for i in range(1000)]
    >>> cost = [10 + 60 * (age > 50) for (age,) in ages]
    >>> learner = PrivaTreeRegressor(1.0, schema=schema, random_state=0)
    >>> certificate = error_certificate(
    ...     learner, ages, cost, ages[:100], cost[:100], poisoned=[1], refits=50
    ... )
    >>> certificate.estimate < certificate.guarantee(0) < certificate.guarantee(1) < 60
    True
    """
    require_outcome(estimator, number=True)
    task = Certification(estimator, X, y, confidence, refits, n_jobs=n_jobs, progress=progress)
    declared = getattr(getattr(estimator, "schema", None), "target", None)
    score = AbsoluteError(X_test, y_test, declared)
    return task.certify_score(ErrorCertificate, score, poisoned)


def prediction_intervals(
    estimator: Any,
    X: Any,
    y: Any,
    X_test: Any,
    *,
    poisoned: Sequence[int | str] = (1, 5, 10),
    confidence: float = 0.99,
    refits: int = 400,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> PredictionIntervals:
    """Certify for each record an interval that its typical prediction stays in after x edits.

    The typical prediction is the median over the noise of the learner. An edit is one training
    record added or removed, or one unit if the schema has a unit. The interval says nothing about
    the true target of a record.

    Parameters
    ----------
    X_test : records
        Records to predict.
    confidence : float, default=0.99
        All intervals hold with at least this probability over the noise of the refits.
    estimator, X, y, poisoned, refits, n_jobs, progress
        See :func:`error_certificate`.

    Returns
    -------
    PredictionIntervals
        One interval for each record of `X_test` and each number of edits.

    Examples
    --------
    >>> from privatree import Numeric, PrivaTreeRegressor, Schema, Target
    >>> from privatree.robustness import prediction_intervals
    >>> schema = Schema({"age": Numeric(0, 100)}, target=Target(0, 100))
    >>> ages = [[i % 100] for i in range(1000)]
    >>> cost = [10 + 60 * (age > 50) for (age,) in ages]
    >>> learner = PrivaTreeRegressor(0.2, schema=schema, random_state=0)
    >>> intervals = prediction_intervals(
    ...     learner, ages, cost, [[20], [80]], poisoned=[1], refits=100
    ... )
    >>> low, high = intervals.interval(1)
    >>> bool((low <= intervals.medians).all() and (intervals.medians <= high).all())
    True
    """
    require_outcome(estimator, number=True)
    task = Certification(estimator, X, y, confidence, refits, n_jobs=n_jobs, progress=progress)
    privacy = task.check_privacy(claimed=False)
    target = getattr(getattr(task.trial_model, "schema_", None), "target", None)
    if target is None:
        raise CertificateError(
            "the learner must declare the range of its predictions in a schema with a target."
        )
    n_records = len(task.trial_model.predict(X_test))
    if n_records == 0:
        raise ParameterError("X_test must have at least one record.", "X_test")
    edits = parse_poisoned(poisoned, task.n_train)
    no_prediction = np.full(n_records, np.nan)
    found = task.measure_refits(PredictedNumbers(X_test), no_prediction, "they predict nothing")
    if n_stopped := sum(bool(np.isnan(values).any()) for values in found):
        raise CertificateError(
            f"every refit must release a model, but {n_stopped} of {len(found)} stopped, because "
            "the noisy number of records was below min_records. Lower min_records."
        )
    return PredictionIntervals(
        privacy=privacy,
        target_range=(float(target.low), float(target.high)),
        values=np.sort(np.column_stack(found), axis=1),
        poisoned=edits,
        confidence=task.confidence,
        n_train=task.n_train,
        notes=task.notes,
    )
