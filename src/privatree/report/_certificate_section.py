"""Certificates against poisoned records for the page, or the reason why there are none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from privatree.errors import CertificateError, ParameterError
from privatree.privacy import PrivacyStatement
from privatree.report._certificate_table import (
    ACCURACY_STEPS,
    ERROR_STEPS,
    CertificateTable,
    certificate_table,
)
from privatree.report._shown_names import escape_shown_text
from privatree.robustness.certificates import (
    NOT_PRIVATE,
    confidence_text,
    pluralize,
    public_conditions_text,
    require_guarantee,
    score_text,
)
from privatree.schema import Label, Schema, Target

_SEEDED = (
    "The noise of this model came from a seed. The figures are for training with noise that an "
    "attacker does not know. Against an attacker who knows the seed, nothing is guaranteed."
)


@dataclass(frozen=True)
class MeasuredScore:
    """An accuracy or an error from a certificate, which is not private.

    `start` is in steps of the table.
    """

    start: int
    text: str
    warning: str


@dataclass(frozen=True)
class CertificateSection:
    """The table of certificates with its explanations, or the reason why there is none."""

    table: CertificateTable | None
    why_not: str = ""
    conditions: tuple[str, ...] = ()
    measured: MeasuredScore | None = None
    caution: str = ""
    range: float | None = None
    """Width of the range of a numeric target, which an error is a share of."""


def certificate_section(
    privacy: PrivacyStatement, certificate: Any, schema: Schema
) -> CertificateSection:
    """Return the section on poisoned records. Refuse the certificate of another learner."""
    why_not = _why_no_certificate(privacy)
    measured, target = None, schema.target
    width = None if target is None else float(target.high) - float(target.low)
    if certificate is not None:
        _check_section_certificate(privacy, certificate, why_not, is_error=target is not None)
        _check_section_outcomes(certificate, schema)
        start, bound = _measured_start(certificate)
        width = None if target is None else certificate.largest
        measured = MeasuredScore(
            start=start,
            text=f"{bound} expected without poison, "
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
            require_guarantee(privacy),
            measured.start if measured else None,
            ACCURACY_STEPS if target is None else ERROR_STEPS,
        ),
        conditions=(
            "the records you test on and the parameters of the learner are fixed before training, "
            "and no attacker changes them",
            *map(escape_shown_text, public_conditions_text(privacy)),
        ),
        measured=measured,
        caution=_SEEDED if privacy.seeded else "",
        range=width,
    )


def _measured_start(certificate: Any) -> tuple[int, str]:
    """Return the score without poison, in steps of the table, and as text; both promise less."""
    if certificate.more_is_better:
        lower = score_text(certificate.lower, up=False)
        return int(Decimal(lower) * ACCURACY_STEPS), f"at least {lower}"
    width = Decimal(certificate.largest)
    upper = score_text(certificate.upper, up=True, last=width.adjusted() - 4)
    return max(0, int((1 - Decimal(upper) / width) * ERROR_STEPS)), f"an error of at most {upper}"


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


def _check_section_outcomes(certificate: Any, schema: Schema) -> None:
    """Check that the answer which a certificate is compared with is one that the model can give."""
    if certificate.majority is None:
        return
    answer, target = certificate.majority.label, schema.target
    if target is None and answer not in schema.classes:
        what = "most frequent label in the certificate is not a class"
    elif target is not None and not _is_in_range(answer, target):
        what = "median target in the certificate is not in the target's range"
    else:
        return
    raise ParameterError(
        f"certificate must be for the records that the model was trained on, but the {what} of the "
        "model. Certify with the records that the model was trained on.",
        "certificate",
    )


def _is_in_range(value: Label, target: Target) -> bool:
    return isinstance(value, int | float) and float(target.low) <= value <= float(target.high)


def _check_section_certificate(
    privacy: PrivacyStatement, certificate: Any, why_not: str, *, is_error: bool
) -> None:
    from privatree.robustness import AccuracyCertificate, ErrorCertificate

    kind = ErrorCertificate if is_error else AccuracyCertificate
    if not isinstance(certificate, kind):
        raise ParameterError(
            f"certificate must be an {kind.__name__}, because the model predicts "
            f"{'a number' if is_error else 'a class'}, got {type(certificate).__name__}.",
            "certificate",
        )
    if certificate.claimed_by is not None or why_not:
        reason = why_not or "The certificate uses a claim that the learner itself does not make."
        raise ParameterError(f"certificate must be None for this model. {reason}", "certificate")
    written = PrivacyStatement.from_dict(privacy.to_dict())  # rounds amounts up, as a file does
    for name in ("learner", "model_epsilon", "delta", "neighbours", "unit", "schedule"):
        mine, its = getattr(written, name), getattr(certificate.privacy, name)
        if mine != its:
            got = f": {_certificate_value(its)}, not {_certificate_value(mine)}" * (
                name != "schedule"
            )
            raise ParameterError(
                "certificate must be from the learner that made the model, but its "
                f"{name.removeprefix('model_')} differs{got}. Certify with the parameters that "
                "the model was trained with.",
                "certificate",
            )


def _certificate_value(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
