"""For what a learner may be certified, and why not.

A certificate is about every table within some edits of the one at hand. So nothing that the learner
uses may come from the records except through its mechanisms: what is fixed here, before an
attack, must be the same after it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from privatree._support.validation import is_number
from privatree.errors import CertificateError, ParameterError
from privatree.privacy import SCHEMA_LEAK, PrivacyStatement
from privatree.robustness.poisoning_bounds._bounds import EpsilonDP, Spending
from privatree.schema import Schema
from privatree.tables import read_labels


def guaranteed_spending(privacy: PrivacyStatement) -> Spending:
    """What a learner can spend, as its own statement guarantees it.

    Parameters
    ----------
    privacy : PrivacyStatement
        Of a model that the learner trained.

    Raises
    ------
    CertificateError
        If the statement guarantees nothing that a certificate could rest on.
    """
    if privacy.claimed_epsilon is not None:
        raise CertificateError(
            f"{privacy.learner} has an epsilon that is claimed and not guaranteed for whole "
            "records (print its privacy_). claimed_accuracy_certificate computes what would "
            "follow from the claim, and says so."
        )
    _refuse_inferred_schema(privacy)
    if privacy.leaks or math.isinf(privacy.epsilon):
        names = ", ".join(leak.name for leak in privacy.leaks) or "epsilon is infinite"
        raise CertificateError(
            f"{privacy.learner} must guarantee a finite epsilon to be certified: {names}. Its "
            "privacy_ says what to change."
        )
    if privacy.delta > 0:
        raise CertificateError(
            f"{privacy.learner} must be certified with delta = 0, its statement has "
            f"delta = {privacy.delta:g}: the bounds are for pure differential privacy."
        )
    if privacy.schedule is not None:
        _check_total(privacy)
        return privacy.schedule
    if privacy.neighbours != "add-remove":
        raise CertificateError(
            f"{privacy.learner} must be private for a record added or removed, but its epsilon is "
            "for tables of the same size, and poisoned tables need not be. Train it with "
            'neighbours="add-remove".'
        )
    return EpsilonDP(privacy.epsilon)


def claimed_spending(privacy: PrivacyStatement) -> Spending:
    """What a learner would spend if the epsilon claimed for it were true."""
    if privacy.claimed_epsilon is None:
        raise CertificateError(
            f"{privacy.learner} guarantees its epsilon itself. Use accuracy_certificate, whose "
            "result rests on no claim and is stronger."
        )
    _refuse_inferred_schema(privacy)
    return EpsilonDP(privacy.claimed_epsilon)


def statement_of(model: Any, *, claimed: bool) -> PrivacyStatement:
    """The statement of a trained model, as far as it is about the learner and not this one model.

    Parameters
    ----------
    model : classifier
        Trained.
    claimed : bool
        Whether a parameter named epsilon will do where there is no statement: a claim.
    """
    name = type(model).__name__
    privacy = getattr(model, "privacy_", None)
    if isinstance(privacy, PrivacyStatement):
        # What each model spent is its own; amounts are rounded up as in a file.
        return PrivacyStatement.from_dict(replace(privacy, spends=()).to_dict())
    if not claimed:
        raise CertificateError(
            f"{name} must have a privacy_ that states what it guarantees, as privatree's learners "
            "do, and has none. If somebody claims that its epsilon holds, "
            "claimed_accuracy_certificate computes what would follow."
        )
    epsilon: Any = getattr(model, "epsilon", None)
    if not is_number(epsilon) or not 0 < epsilon < math.inf:
        raise CertificateError(
            f"{name} must have a finite parameter epsilon > 0 to be claimed, got {epsilon!r}."
        )
    return PrivacyStatement(learner=name, epsilon=math.inf, claimed_epsilon=float(epsilon))


class _ForbiddenParameterError(CertificateError, ParameterError):
    """A parameter with which a certificate would not hold."""


def check_dataset_size(estimator: Any, privacy: PrivacyStatement, y: Any) -> None:
    """Refuse a number of records that an attack on them would change.

    Parameters
    ----------
    estimator : classifier
        Its parameter ``dataset_size``, if it has one, is looked at.
    privacy : PrivacyStatement
        Of a model that it trained.
    y : labels
        Of the training records.
    """
    declared = getattr(estimator, "dataset_size", None)
    if privacy.neighbours == "replace" and declared == "private":
        raise CertificateError(
            f'{privacy.learner} with neighbours="replace" takes the number of records from the '
            'data, and an attack changes it. Use neighbours="add-remove", or declare a '
            "dataset_size from public knowledge."
        )
    if isinstance(declared, (int, np.integer)) and declared in _lengths(estimator, y):
        raise _ForbiddenParameterError(
            "dataset_size must be declared from public knowledge, and it is exactly the number of "
            "training records: if it was counted, an attack changes it and the certificate is "
            'void. Use "private", or a round number of about that size.',
            "dataset_size",
        )


def _lengths(estimator: Any, y: Any) -> set[int]:
    """Of the table, and of what is left of it without the records whose label is unknown."""
    schema = getattr(estimator, "schema", None)
    known = {int(np.sum(read_labels(y, schema) >= 0))} if isinstance(schema, Schema) else set()
    return {len(y)} | known


def _check_total(privacy: PrivacyStatement) -> None:
    """Refuse a schedule of less than the statement's epsilon, as in a file that was changed."""
    per_edit = privacy.epsilon / (2 if privacy.neighbours == "replace" else 1)
    if privacy.schedule is None or float(privacy.schedule.total) < per_edit * (1 - 1e-9):
        raise CertificateError(
            f"{privacy.learner} must have a schedule that spends its epsilon, and has one that "
            "spends less. The statement contradicts itself."
        )


def _refuse_inferred_schema(privacy: PrivacyStatement) -> None:
    if SCHEMA_LEAK in {leak.name for leak in privacy.leaks}:
        raise CertificateError(
            f"{privacy.learner} must be given a schema to be certified, with nothing in it "
            "unconfirmed: ranges, categories and classes that come from the records are changed by "
            "an attack on them. Schema.from_toml(path) reads one from a file; check each marked "
            "entry against public knowledge and delete its mark."
        )
