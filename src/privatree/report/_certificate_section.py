"""What poisoned records leave of an accuracy, for the page; or why nobody can say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from privatree.errors import CertificateError, ParameterError
from privatree.privacy import PrivacyStatement
from privatree.report._certificate_table import UNITS, CertificateTable, certificate_table
from privatree.report._shown_names import visible
from privatree.robustness.certificates import (
    NOT_PRIVATE,
    counted,
    guaranteed_spending,
    public_conditions,
    shown_confidence,
    shown_score,
)
from privatree.schema import Label

EXAMPLE = UNITS * 9 // 10
"""The accuracy that the page calculates an example with until the reader types one, in units."""


_SEEDED = (
    "The noise of this model came from a seed. The figures are for training with noise that an "
    "attacker does not know; against one who knows the seed they promise nothing."
)


@dataclass(frozen=True)
class Measured:
    """An accuracy from a certificate file, which is not private.

    Parameters
    ----------
    start : int
        In units of the table.
    text : str
        Where it comes from.
    warning : str
        That it is not private.
    """

    start: int
    text: str
    warning: str


@dataclass(frozen=True)
class CertificateSection:
    """The table and what to say of it; or the reason why there is none."""

    table: CertificateTable | None
    why_not: str = ""
    conditions: tuple[str, ...] = ()
    measured: Measured | None = None
    caution: str = ""


def certificate_section(
    privacy: PrivacyStatement, certificate: Any, classes: Sequence[Label]
) -> CertificateSection:
    """Compute what the page shows of poisoned records.

    Parameters
    ----------
    privacy : PrivacyStatement
        Of the model.
    certificate : AccuracyCertificate or None
        Of the same learner.
    classes : sequence of labels
        Of the model.

    Raises
    ------
    ParameterError
        If the certificate is of another learner.
    """
    why_not = _why_not(privacy)
    if certificate is None:
        measured = None
    else:
        _check_match(privacy, certificate, why_not)
        if certificate.majority is not None and certificate.majority.label not in classes:
            raise ParameterError(
                "certificate must be of the records that made the model, and its most frequent "
                "label is none of the model's. Certify with those.",
                "certificate",
            )
        lower = shown_score(certificate.lower, up=False)
        measured = Measured(
            start=int(Decimal(lower) * UNITS),
            text=f"at least {lower} expected without poison, "
            f"with {shown_confidence(certificate.confidence)} confidence, from "
            f"{counted(certificate.refits, 'refit')} on {counted(certificate.n_train, 'record')}, "
            f"tested on {counted(certificate.n_test, 'record')}; that these were the model's "
            "records is for whoever made the page to know, as files cannot tell",
            warning=NOT_PRIVATE,
        )
    if why_not:
        return CertificateSection(None, visible(why_not))
    extra = None if measured is None else measured.start
    return CertificateSection(
        table=certificate_table(guaranteed_spending(privacy), extra_start=extra),
        conditions=(
            "the records you test on and the parameters of the learner are fixed before training, "
            "and no attacker changes them",
            *map(visible, public_conditions(privacy)),
        ),
        measured=measured,
        caution=_SEEDED if privacy.seeded else "",
    )


def _why_not(privacy: PrivacyStatement) -> str:
    if privacy.claimed_epsilon is not None:
        return (
            f"The epsilon of {privacy.learner} is claimed and not guaranteed for whole records. A "
            "certificate that rests on a claim which is known to be wrong would be worth nothing."
        )
    if privacy.leaks or math.isinf(privacy.epsilon):
        return (
            "A certificate follows from a finite epsilon, and this model has none: what its "
            "learner read outside the guarantee, an attacker can change at will."
        )
    if privacy.delta > 0:
        return "The bounds are for pure differential privacy, and this model has a delta above 0."
    if privacy.neighbours == "replace":
        return (
            "The epsilon is for tables of the same size, of which one record was replaced. "
            "Poisoned tables need not have the same size. Training with "
            'neighbours="add-remove" gives a certificate.'
        )
    try:
        guaranteed_spending(privacy)
    except CertificateError as error:
        return str(error)
    return ""


def _check_match(privacy: PrivacyStatement, certificate: Any, why_not: str) -> None:
    from privatree.robustness import AccuracyCertificate

    if not isinstance(certificate, AccuracyCertificate):
        raise ParameterError(
            f"certificate must be an AccuracyCertificate, got {type(certificate).__name__}.",
            "certificate",
        )
    if certificate.claimed_by is not None or why_not:
        reason = why_not or "It rests on a claim that the learner itself does not make."
        raise ParameterError(
            f"certificate must be left out for this model. {reason}", "certificate"
        )
    written = PrivacyStatement.from_dict(privacy.to_dict())  # amounts rounded up as in a file
    for name in ("learner", "epsilon", "neighbours", "schedule"):
        mine, its = getattr(written, name), getattr(certificate.privacy, name)
        if mine != its:
            got = f": {_shown(its)}, not {_shown(mine)}" if name != "schedule" else ""
            raise ParameterError(
                f"certificate must be of the learner that made the model, and its {name} is "
                f"another{got}. Certify with the parameters that the model was trained with.",
                "certificate",
            )


def _shown(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
