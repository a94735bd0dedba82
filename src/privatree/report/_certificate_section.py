"""Certificates against poisoned records for the page, or the reason why there are none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from privatree.errors import CertificateError, ParameterError
from privatree.privacy import PrivacyStatement
from privatree.report._certificate_table import ACCURACY_STEPS, CertificateTable, certificate_table
from privatree.report._shown_names import escape_shown_text
from privatree.robustness.certificates import (
    NOT_PRIVATE,
    confidence_text,
    pluralize,
    public_conditions_text,
    require_guarantee,
    score_text,
)
from privatree.schema import Label

EXAMPLE = ACCURACY_STEPS * 9 // 10
"""Accuracy, in steps of the table, that the page uses as an example until the reader enters one."""
_SEEDED = (
    "The noise of this model came from a seed. The figures are for training with noise that an "
    "attacker does not know. Against an attacker who knows the seed, nothing is guaranteed."
)


@dataclass(frozen=True)
class MeasuredAccuracy:
    """An accuracy from a certificate, which is not private. `start` is in steps of the table."""

    start: int
    text: str
    warning: str


@dataclass(frozen=True)
class CertificateSection:
    """The table of certificates with its explanations, or the reason why there is none."""

    table: CertificateTable | None
    why_not: str = ""
    conditions: tuple[str, ...] = ()
    measured: MeasuredAccuracy | None = None
    caution: str = ""


def certificate_section(
    privacy: PrivacyStatement, certificate: Any, classes: Sequence[Label]
) -> CertificateSection:
    """Return the section on poisoned records. Refuse the certificate of another learner."""
    why_not = _why_no_certificate(privacy)
    measured = None
    if certificate is not None:
        _check_section_certificate(privacy, certificate, why_not)
        if certificate.majority is not None and certificate.majority.label not in classes:
            raise ParameterError(
                "certificate must be for the records that the model was trained on, but the most "
                "frequent label in the certificate is not a class of the model. Certify with the "
                "records that the model was trained on.",
                "certificate",
            )
        lower = score_text(certificate.lower, up=False)
        measured = MeasuredAccuracy(
            start=int(Decimal(lower) * ACCURACY_STEPS),
            text=f"at least {lower} expected without poison, "
            f"with {confidence_text(certificate.confidence)} confidence, from "
            f"{pluralize(certificate.refits, 'refit')} on "
            f"{pluralize(certificate.n_train, privacy.words.noun)}, tested on "
            f"{pluralize(certificate.n_test, 'record')}. The files do not tell whether "
            "these were the model's records; whoever made the page must know.",
            warning=NOT_PRIVATE,
        )
    if why_not:
        return CertificateSection(None, escape_shown_text(why_not))
    return CertificateSection(
        table=certificate_table(
            require_guarantee(privacy), extra_start=measured.start if measured else None
        ),
        conditions=(
            "the records you test on and the parameters of the learner are fixed before training, "
            "and no attacker changes them",
            *map(escape_shown_text, public_conditions_text(privacy)),
        ),
        measured=measured,
        caution=_SEEDED if privacy.seeded else "",
    )


def _why_no_certificate(privacy: PrivacyStatement) -> str:
    if privacy.claimed_epsilon is not None:
        return (
            f"The epsilon of {privacy.learner} is claimed, and it is not guaranteed for whole "
            "records. A certificate from a wrong claim would be worthless."
        )
    if privacy.leaks or math.isinf(privacy.epsilon):
        return (
            "A certificate needs a finite epsilon, and this model has none. An attacker can change "
            "at will what the learner read outside the guarantee."
        )
    if privacy.neighbours == "replace":
        return (
            "The epsilon is for datasets of the same size that differ in one replaced "
            f"{privacy.words.noun}. A poisoned dataset may have another size. Train with "
            'neighbours="add-remove" to get a certificate.'
        )
    try:
        require_guarantee(privacy)
    except CertificateError as error:
        return str(error)
    return ""


def _check_section_certificate(privacy: PrivacyStatement, certificate: Any, why_not: str) -> None:
    from privatree.robustness import AccuracyCertificate

    if not isinstance(certificate, AccuracyCertificate):
        raise ParameterError(
            f"certificate must be an AccuracyCertificate, got {type(certificate).__name__}.",
            "certificate",
        )
    if certificate.claimed_by is not None or why_not:
        reason = why_not or "The certificate uses a claim that the learner itself does not make."
        raise ParameterError(f"certificate must be None for this model. {reason}", "certificate")
    written = PrivacyStatement.from_dict(privacy.to_dict())  # rounds amounts up, as a file does
    for name in ("learner", "epsilon", "delta", "neighbours", "unit", "schedule"):
        mine, its = getattr(written, name), getattr(certificate.privacy, name)
        if mine != its:
            got = f": {_certificate_value(its)}, not {_certificate_value(mine)}" * (
                name != "schedule"
            )
            raise ParameterError(
                f"certificate must be from the learner that made the model, but its {name} "
                f"differs{got}. Certify with the parameters that the model was trained with.",
                "certificate",
            )


def _certificate_value(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
