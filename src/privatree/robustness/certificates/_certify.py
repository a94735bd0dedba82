"""From a learner and its data to a certificate: check, refit, bound.

The mean score of a learner on its training records is unknown; refits with fresh noise estimate it,
and a confidence bound takes its place. One confidence covers all numbers of poisoned records,
because each certified score grows with that mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from privatree.errors import CertificateError, ParameterError
from privatree.repetition import lower_confidence_bound, upper_confidence_bound
from privatree.robustness.attacks._poisoned import USUAL_SHARES
from privatree.robustness.certificates._certificate import (
    AccuracyCertificate,
    AttackSuccessCertificate,
)
from privatree.robustness.certificates._certification import Certification
from privatree.robustness.certificates._measures import (
    Accuracy,
    Attack,
    PredictedCodes,
    SuccessRate,
)
from privatree.robustness.certificates._predictions import PredictionCertificates


def accuracy_certificate(
    estimator: Any,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    poisoned: Sequence[int | str] = USUAL_SHARES,
    confidence: float = 0.99,
    refits: int = 400,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> AccuracyCertificate:
    """Certify the accuracy that poisoned training records leave.

    Parameters
    ----------
    estimator : classifier
        With a ``privacy_`` that guarantees a finite epsilon once it is trained. It is copied, not
        trained itself; its budget, if it has one, is not charged.
    X, y : records and labels
        The training data, clean or not: the certificate is about everything near it.
    X_test, y_test : records and labels
        Fixed before training. A label that is not a class counts as a wrong prediction, and the
        certificate says how many there are.
    poisoned : sequence of int or str
        Numbers of records added or removed, or shares of the training records such as ``"1%"``,
        rounded down, each number once. The result can be asked for any other number too.
    confidence : float, default=0.99
        Probability over the refits that the certificate is right: at least this.
    refits : int, default=400
        How often to train. More bring the certificate nearer to the estimate: 400 to about 0.01,
        100 to 0.04.
    n_jobs : int, optional
        Processes, as in scikit-learn: None is 1, -1 as many as there are processors.
    progress : bool, optional
        Whether to show a bar on stderr; by default if it is a terminal.

    Returns
    -------
    AccuracyCertificate
        To print, tabulate, plot and save. It is computed without privacy.

    Raises
    ------
    CertificateError
        If a condition fails: an inferred schema, a dataset size taken from the data, an epsilon
        that is infinite or only claimed. It says which; nothing was refitted.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> from privatree.robustness.certificates._certify import accuracy_certificate
    >>> X, y, schema = datasets.load("vote")
    >>> learner = PrivaTreeClassifier(0.1, schema=schema, schedule="robust", random_state=0)
    >>> certificate = accuracy_certificate(
    ...     learner, X[:180], y[:180], X[180:], y[180:], poisoned=[1, 5], refits=100
    ... )
    >>> certificate.guarantee(0) > certificate.guarantee(1) > certificate.guarantee(5) > 0.4
    True
    """
    task = Certification.of(estimator, X, y, confidence, refits)
    figures = task.figures(poisoned, y_test)
    privacy = task.guaranteed_privacy()
    measure = Accuracy(X_test, y_test)
    scores = task.scores(measure, n_jobs, progress)
    return AccuracyCertificate(
        privacy=privacy,
        estimate=float(np.mean(scores)),
        clean_bound=lower_confidence_bound(scores, task.confidence),
        majority=measure.majority(task.trial),
        notes=(*task.notes, *measure.notes(task.trial)),
        **figures,
    )


def claimed_accuracy_certificate(
    estimator: Any,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    claimed_by: str,
    poisoned: Sequence[int | str] = USUAL_SHARES,
    confidence: float = 0.99,
    refits: int = 400,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> AccuracyCertificate:
    """Compute what would be certified if an epsilon that somebody claims were true.

    For the paper's tree, the published methods among the baselines, and other people's learners
    with a parameter ``epsilon``. The result is only as true as the claim, and says so wherever it
    is shown; the bounds are those for a learner of which nothing but epsilon is known.

    Parameters
    ----------
    estimator : classifier
        Its ``privacy_.claimed_epsilon``, or without a statement its ``epsilon``, is the claim.
    claimed_by : str
        Who claims it, for the reader: ``"the documentation of diffprivlib 0.6.6"``.
    X, y, X_test, y_test, poisoned, confidence, refits, n_jobs, progress
        As in :func:`accuracy_certificate`.

    Returns
    -------
    AccuracyCertificate
        With ``claimed_by``.

    Raises
    ------
    CertificateError
        If there is no claim, or the learner guarantees its epsilon itself.
    """
    if not isinstance(claimed_by, str) or not claimed_by.strip():
        raise ParameterError("claimed_by must name who claims the epsilon, got none.", "claimed_by")
    task = Certification.of(estimator, X, y, confidence, refits)
    figures = task.figures(poisoned, y_test)
    privacy = task.claimed_privacy()
    measure = Accuracy(X_test, y_test)
    scores = task.scores(measure, n_jobs, progress)
    return AccuracyCertificate(
        privacy=privacy,
        estimate=float(np.mean(scores)),
        clean_bound=lower_confidence_bound(scores, task.confidence),
        majority=measure.majority(task.trial),
        notes=(*task.notes, *measure.notes(task.trial)),
        claimed_by=claimed_by.strip(),
        **figures,
    )


def attack_success_certificate(
    estimator: Any,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    attack: Attack,
    *,
    poisoned: Sequence[int | str] = USUAL_SHARES,
    confidence: float = 0.99,
    refits: int = 400,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> AttackSuccessCertificate:
    """Certify how often a trigger can succeed at most, whatever records are poisoned for it.

    Parameters
    ----------
    X, y : records and labels
        Training data without poison.
    attack : BackdoorAttack
        Or anything with ``success_rate(model, X_test, y_test)``. The trigger, and the test records
        that count, are fixed before training. Its ``target``, if it has one, must be a class of the
        learner; what the learner makes of a trigger outside its schema is noted.
    estimator, X_test, y_test, poisoned, confidence, refits, n_jobs, progress
        As in :func:`accuracy_certificate`.

    Returns
    -------
    AttackSuccessCertificate
        Upper bounds: smaller is better.
    """
    if not callable(getattr(attack, "success_rate", None)):
        raise ParameterError(
            "attack must have success_rate(model, X_test, y_test), as a BackdoorAttack does, got "
            f"{type(attack).__name__}.",
            "attack",
        )
    task = Certification.of(estimator, X, y, confidence, refits)
    figures = task.figures(poisoned, y_test)
    privacy = task.guaranteed_privacy()
    measure = SuccessRate(attack, X_test, y_test)
    scores = task.scores(measure, n_jobs, progress)
    return AttackSuccessCertificate(
        privacy=privacy,
        estimate=float(np.mean(scores)),
        clean_bound=upper_confidence_bound(scores, task.confidence),
        notes=(*task.notes, *measure.notes(task.trial)),
        **figures,
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

    Parameters
    ----------
    X_test : records
        To predict.
    confidence : float, default=0.99
        Probability over the refits that all of them are right together: at least this.
    estimator, X, y, refits, n_jobs, progress
        As in :func:`accuracy_certificate`.

    Returns
    -------
    PredictionCertificates
        A row for each record.
    """
    task = Certification.of(estimator, X, y, confidence, refits)
    privacy = task.guaranteed_privacy()
    classes = task.trial.classes_
    if len(classes) < 2:
        raise CertificateError("the schema must have two or more classes, got 1.")
    n_records = len(task.trial.predict(X_test))
    if n_records == 0:
        raise ParameterError("X_test must have at least one record.")
    counts = np.zeros((n_records, len(classes)), dtype=np.int64)
    for codes in task.measured(PredictedCodes(X_test), n_jobs, progress):
        counts[np.arange(n_records), codes] += 1
    return PredictionCertificates(
        privacy=privacy,
        classes=tuple(classes.tolist()),
        counts=counts,
        confidence=task.confidence,
        n_train=task.n_train,
        notes=task.notes,
    )
