"""A certificate in plain words: what is certain, on what conditions, and what is not private."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from textwrap import TextWrapper
from typing import TYPE_CHECKING

from privatree.privacy.statement import PrivacyStatement, shown_amount

if TYPE_CHECKING:
    from privatree.robustness.curve import Certificate

NOT_PRIVATE = (
    "This certificate was computed from the records without privacy: publishing it is outside "
    "epsilon."
)
TWO_EDITS = "A replaced record or a flipped label counts as 2: one removed and one added."
SEEDED = (
    "The refits came from random_state, so that they can be repeated. The confidence holds for a "
    "seed that was not chosen by its result."
)
_BOUNDS = (
    "Bounds: A is the paper's Corollary 2; B, AB* hold for any learner of this epsilon; C, C*, D, "
    "E use how it spends epsilon."
)


def meaning(certificate: Certificate) -> str:
    """The sentence that the table completes."""
    side = "at least" if certificate.more_is_better else "at most"
    return (
        f"With {shown_confidence(certificate.confidence)} confidence over {certificate.refits} "
        f"refits, for this training set ({certificate.n_train} records) and test set "
        f"({certificate.n_test} records), any x additions or removals of training records leave "
        f"an expected {certificate.score} of {side} what is guaranteed for x. {TWO_EDITS}"
    )


def conditions(certificate: Certificate) -> list[str]:
    """What must hold, besides the arithmetic."""
    fixed = "the test set" if certificate.more_is_better else "the test set and the trigger"
    return [
        f"{fixed} and the parameters of the learner were fixed before training, and no attacker "
        "changes them",
        *public_conditions(certificate.privacy),
        *claim(certificate.privacy, certificate.claimed_by),
    ]


def public_conditions(privacy: PrivacyStatement) -> list[str]:
    """What the learner takes to be public must not change with the records."""
    return [
        f"not read from the records, so that poison cannot change it: {it}" for it in privacy.public
    ]


def claim(privacy: PrivacyStatement, claimed_by: str | None) -> list[str]:
    """What a certificate that rests on a claim must say of it."""
    if claimed_by is None:
        return []
    epsilon = shown_amount(privacy.claimed_epsilon or 0.0)
    entries = [
        f"epsilon = {epsilon} holds for one record added or removed: this is claimed by "
        f"{claimed_by}, it is not guaranteed, and the certificate is only as true as that claim"
    ]
    entries += [f"known to contradict the claim: {k.name}: {k.explanation}" for k in privacy.leaks]
    return entries


def notes(certificate: Certificate) -> list[str]:
    """What else a reader should know."""
    return [*certificate.notes, *seed_notes(certificate.privacy)]


def seed_notes(privacy: PrivacyStatement) -> list[str]:
    """What to say of refits that can be repeated."""
    return [SEEDED] if privacy.seeded else []


def full_text(certificate: Certificate) -> str:
    """Everything."""
    word = "Claimed certificate" if certificate.claimed_by is not None else "Certificate"
    side = "at least" if certificate.more_is_better else "at most"
    clean = _shown(certificate, certificate.clean_bound)
    rows = [
        ("poisoned", "share", "guaranteed", "bound"),
        *(
            (str(edits), f"{edits / certificate.n_train:.2%}", _shown(certificate, value), bound)
            for edits, (value, bound), _ in certificate.rows
        ),
    ]
    lines = [
        f"{word} of {certificate.learner}, epsilon {shown_amount(certificate.epsilon)}: "
        f"{certificate.score} against poisoned training records",
        f"  without poison, average of the refits   {certificate.estimate:.4f}",
        f"  without poison, expected {side:<15} {clean}",
        "",
        *("  " + "  ".join(cell.rjust(10) for cell in row) for row in rows),
        "",
        filled(meaning(certificate)),
        filled(_BOUNDS),
        *block("on the conditions that", conditions(certificate)),
        *block("notes", notes(certificate)),
        "",
        filled(NOT_PRIVATE),
    ]
    return "\n".join(lines)


def shown_confidence(confidence: float) -> str:
    """As a percentage, without a digit too many."""
    return f"{Decimal(repr(confidence)) * 100:f}".rstrip("0").rstrip(".") + "%"


def shown_score(value: float, *, up: bool) -> str:
    """A score in four digits, rounded to the side that promises less."""
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    return f"{Decimal(repr(value)).quantize(Decimal('0.0001'), rounding=rounding):f}"


def _shown(certificate: Certificate, value: float) -> str:
    return shown_score(value, up=not certificate.more_is_better)


def filled(text: str) -> str:
    """In lines of a page."""
    return TextWrapper(96, break_on_hyphens=False).fill(text)


def block(title: str, entries: Sequence[str]) -> list[str]:
    """A list with its title, or nothing."""
    bullet = TextWrapper(
        96, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False
    )
    return [f"{title}:", *(bullet.fill(entry) for entry in entries)] if entries else []
