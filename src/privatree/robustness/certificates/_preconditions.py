"""The conditions under which a learner can be certified.

A certificate covers every dataset that differs from the given one by some edits. So the learner may
use the records only through its mechanisms. Everything else that it uses, such as the schema, must
be the same before and after an attack.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from privatree._support.validation import is_integer, is_number
from privatree.errors import CertificateError, ParameterError
from privatree.privacy import SCHEMA_LEAK, PrivacyStatement
from privatree.robustness.poisoning_bounds._bounds import EpsilonDP, Spending
from privatree.schema import Schema
from privatree.tables import read_labels


def require_outcome(estimator: Any, *, number: bool) -> None:
    """Raise a ParameterError if a certificate is about classes and a learner is not, or reverse."""
    from sklearn.base import is_regressor  # here: pages with certificates do without scikit-learn

    if is_regressor(estimator) == number:
        return
    does, instead = (
        ("classes", "accuracy_certificate or prediction_certificates")
        if number
        else ("a number", "error_certificate or prediction_intervals")
    )
    raise ParameterError(
        f"estimator must predict {'a number' if number else 'classes'} for this certificate, but "
        f"{type(estimator).__name__} predicts {does}. Use {instead}.",
        "estimator",
    )


def require_guarantee(privacy: PrivacyStatement) -> Spending:
    """Return the schedule, or else epsilon and delta, that the learner's statement guarantees.

    Raise a :class:`CertificateError` if the statement guarantees too little for a certificate.
    """
    learner = privacy.learner
    if privacy.claimed_epsilon is not None:
        raise CertificateError(
            f"{learner} must guarantee its epsilon for whole records, but only claims it (print "
            "its privacy_). Use claimed_accuracy_certificate, which computes what would follow "
            "from the claim."
        )
    _check_schema_was_declared(privacy)
    if privacy.leaks or math.isinf(privacy.epsilon):
        names = ", ".join(leak.name for leak in privacy.leaks) or "epsilon is infinite"
        raise CertificateError(
            f"{learner} must guarantee a finite epsilon to be certified, but its privacy_ reports: "
            f"{names}. Print privacy_ to see what to change."
        )
    if not privacy.delta < 1:
        raise CertificateError(
            f"{learner} must guarantee a delta below 1 to be certified, got {privacy.delta:g}."
        )
    if privacy.schedule is not None:
        per_edit = privacy.model_epsilon / (2 if privacy.neighbours == "replace" else 1)
        if float(privacy.schedule.total) < per_edit * (1 - 1e-9):  # as in a file that was changed
            raise CertificateError(
                f"{learner} must have a schedule that spends its whole epsilon, but the schedule "
                "in its privacy statement spends less. Use a statement that privatree wrote."
            )
        return privacy.schedule
    if privacy.neighbours != "add-remove":
        raise CertificateError(
            f"{learner} must guarantee its epsilon for one record added or removed, but guarantees "
            "it only for one record replaced. Poisoning can change the number of records. Train "
            'the learner with neighbours="add-remove".'
        )
    return EpsilonDP(privacy.model_epsilon, privacy.delta)


def require_claim(privacy: PrivacyStatement) -> Spending:
    """Return the epsilon claimed for the learner. Raise a CertificateError if it is guaranteed."""
    if privacy.claimed_epsilon is None:
        raise CertificateError(
            "this certificate is for learners whose epsilon is only claimed, but "
            f"{privacy.learner} guarantees its epsilon. Use accuracy_certificate: its result is "
            "stronger and rests on no claim."
        )
    _check_schema_was_declared(privacy)
    return EpsilonDP(privacy.claimed_epsilon)


def require_privacy_statement(model: Any, *, claimed: bool) -> PrivacyStatement:
    """Return the statement of a trained model, without the spends of this one model.

    If `claimed` is true, a model without a statement may have a parameter ``epsilon`` instead.
    """
    name = type(model).__name__
    privacy = getattr(model, "privacy_", None)
    if isinstance(privacy, PrivacyStatement):
        # A round trip through the file format rounds amounts up, as in a file.
        return PrivacyStatement.from_dict(replace(privacy, spends=()).to_dict())
    if not claimed:
        raise CertificateError(
            f"{name} must have a privacy_ that states its guarantee, as the learners of privatree "
            "do. If its epsilon is claimed elsewhere, use claimed_accuracy_certificate."
        )
    epsilon: Any = getattr(model, "epsilon", None)
    if not is_number(epsilon) or not 0 < epsilon < math.inf:
        raise CertificateError(
            f"{name} must claim an epsilon, so its parameter epsilon must be > 0 and finite, got "
            f"{epsilon!r}."
        )
    return PrivacyStatement(learner=name, epsilon=math.inf, claimed_epsilon=float(epsilon))


class _ForbiddenParameterError(CertificateError, ParameterError):
    """A parameter with which a certificate would not hold."""


def require_public_size(estimator: Any, privacy: PrivacyStatement, y: Any, n_train: int) -> None:
    """Raise a CertificateError if the learner counts the records, which an attack can change.

    `n_train` is the number of training records, or of units if epsilon is for units.
    """
    declared = getattr(estimator, "dataset_size", None)
    if privacy.neighbours == "replace" and declared == "private":
        raise CertificateError(
            f'{privacy.learner} with neighbours="replace" takes the number of '
            f"{privacy.words.counted} from the data, and an attack changes it. Use "
            'neighbours="add-remove", or declare a dataset_size from public knowledge.'
        )
    schema = getattr(estimator, "schema", None)
    with_class = {int(np.sum(read_labels(y, schema) >= 0))} if isinstance(schema, Schema) else set()
    refuse_counted_size(declared, {len(y), n_train} | with_class, privacy.words.counted)


def refuse_counted_size(
    declared: Any, n_records: Collection[int], counted: str = "records"
) -> None:
    """Raise a CertificateError if the declared number of records seems to have been counted."""
    if is_integer(declared) and declared in n_records:
        either = counted if counted == "records" else f"records or {counted}"
        raise _ForbiddenParameterError(
            "dataset_size must be declared from public knowledge, but is exactly the number of "
            f"{either}. If it was counted, an attack changes it and the certificate is void. Use "
            '"private", or a round number of about that size.',
            "dataset_size",
        )


def _check_schema_was_declared(privacy: PrivacyStatement) -> None:
    if SCHEMA_LEAK in {leak.name for leak in privacy.leaks}:
        raise CertificateError(
            f"{privacy.learner} must be given a schema in which everything is confirmed. An attack "
            "on the records changes ranges, categories and classes that were read from them. Check "
            "each marked entry of the schema against public knowledge and delete its mark; "
            "Schema.from_toml(path) reads the schema."
        )
