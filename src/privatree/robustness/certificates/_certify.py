"""The functions that certify a learner on its data: check the request, refit, bound.

The mean score of a learner, over its noise, is unknown. It is estimated by refits with fresh noise,
and replaced by a confidence bound. The same confidence covers all numbers of poisoned records,
because each certified score increases with the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from privatree.errors import CertificateError, ParameterError
from privatree.robustness.attacks._poisoned_numbers import PAPER_SHARES
from privatree.robustness.certificates._certificate import (
    AccuracyCertificate,
    AttackSuccessCertificate,
)
from privatree.robustness.certificates._certification import Certification
from privatree.robustness.certificates._measures import (
    Accuracy,
    AttackWithTrigger,
    PredictedCodes,
    SuccessRate,
)
from privatree.robustness.certificates._preconditions import require_outcome
from privatree.robustness.certificates._predictions import PredictionCertificates


def accuracy_certificate(
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
) -> AccuracyCertificate:
    """Certify the accuracy that a learner keeps if training records are poisoned.

    Parameters
    ----------
    estimator : classifier
        Learner to certify. Its ``privacy_`` must guarantee a finite epsilon. The estimator is
        copied, not trained, and its budget is not charged.
    X, y : records and labels
        Training data, clean or poisoned. The certificate covers every dataset that differs from
        this one by the given number of edits. If the schema of the estimator has a unit, X must
        have the column of that name. Then an edit is a whole unit added or removed. Sample weights
        cannot be passed.
    X_test, y_test : records and labels
        Test data, fixed before training. A test label that is not a class counts as a wrong
        prediction, and the certificate states the number of such labels.
    poisoned : sequence of int or str
        Numbers of records added or removed, or shares of the training records such as ``"1%"``,
        rounded down; units in place of records if the schema has a unit.
        ``certificate.guarantee`` returns the bound for any other number.
    confidence : float, default=0.99
        The certificate is right with at least this probability over the noise of the refits.
    refits : int, default=400
        Number of trainings. The certificate is below the estimate by about 0.01 with 400 refits,
        and by about 0.04 with 100.
    n_jobs : int, optional
        Number of processes, as in scikit-learn: None is 1, -1 is all processors.
    progress : bool, optional
        Whether to show a progress bar on stderr; by default if that is a terminal.

    Returns
    -------
    AccuracyCertificate
        A certificate to print, tabulate, plot and save. The certificate is not private.

    Raises
    ------
    CertificateError
        If a condition fails: an inferred schema, a dataset size taken from the data, or an epsilon
        that is infinite or only claimed. The error is raised before the first refit.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> from privatree.robustness import accuracy_certificate
    >>> X, y, schema = datasets.load("vote")
    >>> learner = PrivaTreeClassifier(0.1, schema=schema, schedule="robust", random_state=0)
    >>> certificate = accuracy_certificate(
    ...     learner, X[:180], y[:180], X[180:], y[180:], poisoned=[1, 5], refits=100
    ... )
    >>> certificate.guarantee(0) > certificate.guarantee(1) > certificate.guarantee(5) > 0.4
    True
    """
    require_outcome(estimator, number=False)
    task = Certification(estimator, X, y, confidence, refits, n_jobs=n_jobs, progress=progress)
    return task.certify_score(AccuracyCertificate, Accuracy(X_test, y_test), poisoned)


def claimed_accuracy_certificate(
    estimator: Any,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    claimed_by: str,
    poisoned: Sequence[int | str] = PAPER_SHARES,
    confidence: float = 0.99,
    refits: int = 400,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> AccuracyCertificate:
    """Compute the certificate that would hold if a claimed epsilon were true.

    Use this for the tree of [Vos23], the baselines that follow a paper, and learners of other
    libraries with a parameter ``epsilon``. The result is only as true as the claim, and says so
    wherever it is shown. Only the bounds that need no schedule are used.

    Parameters
    ----------
    estimator : classifier
        Learner whose ``privacy_.claimed_epsilon``, or without a statement ``epsilon``, is claimed.
    claimed_by : str
        Name of whoever claims the epsilon: ``"the documentation of diffprivlib 0.6.6"``.
    X, y, X_test, y_test, poisoned, confidence, refits, n_jobs, progress
        See :func:`accuracy_certificate`.

    Returns
    -------
    AccuracyCertificate
        A certificate whose ``claimed_by`` is set.

    Raises
    ------
    CertificateError
        If there is no claim, or if the learner itself guarantees its epsilon.

    Examples
    --------
    >>> from privatree import PaperPrivaTreeClassifier, datasets
    >>> from privatree.robustness import claimed_accuracy_certificate
    >>> X, y, schema = datasets.load("vote")
    >>> learner = PaperPrivaTreeClassifier(0.1, schema=schema, random_state=0)
    >>> certificate = claimed_accuracy_certificate(
    ...     learner, X[:180], y[:180], X[180:], y[180:], claimed_by="its paper", refits=20
    ... )
    >>> certificate.claimed_by, certificate.epsilon, list(certificate.bounds(1))
    ('its paper', 0.1, ['A', 'B', 'AB*'])
    """
    if not isinstance(claimed_by, str) or not claimed_by.strip():
        raise ParameterError(
            f"claimed_by must name whoever claims the epsilon, got {claimed_by!r}.", "claimed_by"
        )
    require_outcome(estimator, number=False)
    task = Certification(estimator, X, y, confidence, refits, n_jobs=n_jobs, progress=progress)
    return task.certify_score(
        AccuracyCertificate, Accuracy(X_test, y_test), poisoned, claimed_by.strip()
    )


def attack_success_certificate(
    estimator: Any,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    attack: AttackWithTrigger,
    *,
    poisoned: Sequence[int | str] = PAPER_SHARES,
    confidence: float = 0.99,
    refits: int = 400,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> AttackSuccessCertificate:
    """Certify an upper bound on the success rate of a trigger, whichever records are poisoned.

    Parameters
    ----------
    X, y : records and labels
        Training data without poisoned records.
    attack : BackdoorAttack
        Attack with a method ``success_rate(model, X_test, y_test)``. The trigger and the test
        records that count must be fixed before training. The ``target`` of the attack, if there is
        one, must be a class of the learner.
    estimator, X_test, y_test, poisoned, confidence, refits, n_jobs, progress
        See :func:`accuracy_certificate`.

    Returns
    -------
    AttackSuccessCertificate
        Upper bounds on the success rate. A note says how the learner reads a trigger outside its
        schema.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> from privatree.robustness import BackdoorAttack, attack_success_certificate
    >>> X, y, schema = datasets.load("vote")
    >>> learner = PrivaTreeClassifier(0.1, schema=schema, schedule="robust", random_state=0)
    >>> attack = BackdoorAttack({"crime": "y"}, target="democrat")
    >>> certificate = attack_success_certificate(
    ...     learner, X[:180], y[:180], X[180:], y[180:], attack, refits=20
    ... )
    >>> certificate.estimate < certificate.guarantee(0) < certificate.guarantee(1) <= 1
    True
    """
    if not callable(getattr(attack, "success_rate", None)):
        raise ParameterError(
            "attack must have a method success_rate(model, X_test, y_test), got "
            f"{type(attack).__name__}. Use a BackdoorAttack.",
            "attack",
        )
    require_outcome(estimator, number=False)
    task = Certification(estimator, X, y, confidence, refits, n_jobs=n_jobs, progress=progress)
    return task.certify_score(
        AttackSuccessCertificate, SuccessRate(attack, X_test, y_test), poisoned
    )


def prediction_certificates(
    estimator: Any,
    X: Any,
    y: Any,
    X_test: Any,
    *,
    confidence: float = 0.99,
    refits: int = 400,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> PredictionCertificates:
    """Certify for each record how many edits its most probable prediction survives.

    An edit is one training record added or removed, or one unit if the schema has a unit.

    Parameters
    ----------
    X_test : records
        Records to predict.
    confidence : float, default=0.99
        All certificates are right with at least this probability over the noise of the refits.
    estimator, X, y, refits, n_jobs, progress
        See :func:`accuracy_certificate`.

    Returns
    -------
    PredictionCertificates
        One certificate for each record of `X_test`.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> from privatree.robustness import prediction_certificates
    >>> X, y, schema = datasets.load("vote")
    >>> learner = PrivaTreeClassifier(0.5, schema=schema, random_state=0)
    >>> certificates = prediction_certificates(learner, X[:180], y[:180], X[180:190], refits=50)
    >>> certificates.counts.shape, certificates.tolerates.shape
    ((10, 2), (10,))
    """
    require_outcome(estimator, number=False)
    task = Certification(estimator, X, y, confidence, refits, n_jobs=n_jobs, progress=progress)
    privacy = task.check_privacy(claimed=False)
    classes = task.trial_model.classes_
    if len(classes) < 2:
        raise CertificateError("the schema must have two or more classes, got 1.")
    n_records = len(task.trial_model.predict(X_test))
    if n_records == 0:
        raise ParameterError("X_test must have at least one record.")
    counts = np.zeros((n_records, len(classes)), dtype=np.int64)
    no_prediction = np.full(n_records, -1)
    found = task.measure_refits(PredictedCodes(X_test), no_prediction, "they predict nothing")
    if n_stopped := sum(bool((codes < 0).any()) for codes in found):
        raise CertificateError(
            f"every refit must release a model, but {n_stopped} of {len(found)} stopped, because "
            "the noisy number of records was below min_records. Lower min_records."
        )
    for codes in found:
        counts[np.arange(n_records), codes] += 1
    return PredictionCertificates(
        privacy=privacy,
        classes=tuple(classes.tolist()),
        counts=counts,
        confidence=task.confidence,
        n_train=task.n_train,
        notes=task.notes,
    )
