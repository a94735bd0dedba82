"""A certificate in plain words: what is certain, on what conditions, and what is not private."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from textwrap import TextWrapper
from typing import TYPE_CHECKING

from privatree.privacy import PrivacyStatement, shown_amount

if TYPE_CHECKING:
    from privatree.robustness.certificates._certificate import Certificate
    from privatree.robustness.certificates._majority import Majority

NOT_PRIVATE = (
    "This certificate was computed from the records without privacy: publishing it is outside "
    "epsilon."
)
TWO_EDITS = "A replaced record or a flipped label counts as 2: one removed and one added."
SEEDED = (
    "The refits came from random_state, so that they can be repeated. The confidence holds for a "
    "seed that was not chosen by its result."
)
_BOUNDS = "bound: the letter of the best one. A is the paper's; any other is tighter there."
_ANSWER_WIDTH = 40
"""Of a class that is printed; longer ones are cut."""


def meaning(certificate: Certificate) -> str:
    """The sentence that the table completes."""
    side = "at least" if certificate.more_is_better else "at most"
    shown = "guaranteed" if certificate.claimed_by is None else "shown"
    reserve = "" if certificate.claimed_by is None else ", if the claim is true"
    return (
        f"With {shown_confidence(certificate.confidence)} confidence over "
        f"{counted(certificate.refits, 'refit')}, for this training set "
        f"({counted(certificate.n_train, 'record')}) and test set "
        f"({counted(certificate.n_test, 'record')}), any x additions or removals of training "
        f"records leave an expected {certificate.score} of {side} what is {shown} for "
        f"x{reserve}. {TWO_EDITS}"
    )


def comparison(certificate: Certificate) -> list[str]:
    """What to compare an accuracy with, and what to do if nothing is above it."""
    if certificate.majority is None:
        return []
    always = (
        f"Always answering {_answer(certificate.majority)} would have an accuracy of "
        f"{certificate.majority.share:.4f} on the test set."
    )
    return [always, *hints(certificate)]


def hints(certificate: Certificate) -> list[str]:
    """What to do if every figure for poisoned records is below a constant answer's."""
    figures = [value for edits, (value, _), _ in certificate.rows if edits > 0]
    if certificate.majority is None or not figures or max(figures) >= certificate.majority.share:
        return []
    robust = 'schedule="robust", ' if certificate.privacy.schedule is not None else ""
    too_few = certificate.clean_bound < certificate.majority.share <= certificate.estimate
    return [
        f"Every figure for poisoned records is below that of always answering "
        f"{_answer(certificate.majority)}. {'More refits, a' if too_few else 'A'} smaller "
        f"epsilon, {robust}more training records or fewer poisoned ones can make certificates "
        "stronger."
    ]


def conditions(certificate: Certificate) -> list[str]:
    """What must hold, besides the arithmetic."""
    trigger = "" if certificate.more_is_better else ", the trigger"
    return [
        f"the test set{trigger} and the parameters of the learner were fixed before training, and "
        "no attacker changes them",
        *(public_conditions(certificate.privacy) if certificate.claimed_by is None else []),
        *claim(certificate.privacy, certificate.claimed_by),
    ]


def public_conditions(privacy: PrivacyStatement) -> list[str]:
    """What the learner takes to be public must not change with the records."""
    if not privacy.public:
        return []
    listed = _public_list(privacy)
    return [
        f"these do not come from the records, so poison cannot change them: {listed}",
        "types of columns and labels were fixed beforehand, and each record is read on its own: no "
        "other record changes how",
    ]


def _public_list(privacy: PrivacyStatement) -> str:
    """On one line; an explanation after a colon goes into brackets."""
    parts = [entry.partition(": ") for entry in privacy.public]
    return "; ".join(f"{name} ({why})" if why else name for name, _, why in parts)


def claim(privacy: PrivacyStatement, claimed_by: str | None) -> list[str]:
    """What a certificate that rests on a claim must say of it."""
    if claimed_by is None:
        return []
    epsilon = shown_amount(privacy.claimed_epsilon or 0.0)
    entries = [
        f"epsilon = {epsilon} holds for one record added or removed: this is claimed by "
        f"{claimed_by}, it is not guaranteed, and the certificate is only as true as that claim"
    ]
    if privacy.public:
        entries.append(
            f"the claim takes these as public: {_public_list(privacy)}. Where poison changes one "
            "of them, not even the claim covers it"
        )
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
    header = [
        ("without poison, average of the refits", f"{certificate.estimate:.4f}"),
        (f"without poison, expected {side}", _shown(certificate, certificate.clean_bound)),
    ]
    if certificate.majority is not None:
        always = f"always answering {_answer(certificate.majority)}"
        header.append((always, f"{certificate.majority.share:.4f}"))
    width = max(len(name) for name, _ in header)
    rows = [
        ("poisoned", "share", certificate.promise, "bound"),
        *(
            (str(edits), f"{edits / certificate.n_train:.2%}", _shown(certificate, value), bound)
            for edits, (value, bound), _ in certificate.rows
        ),
    ]
    lines = [
        f"{word} of {certificate.learner}, epsilon {shown_amount(certificate.epsilon)}: "
        f"{certificate.score} against poisoned training records",
        *(f"  {name:<{width}}   {figure}" for name, figure in header),
        "",
        *("  " + "  ".join(cell.rjust(10) for cell in row) for row in rows),
        f"  {_BOUNDS}",
        "",
        *(line for hint in hints(certificate) for line in (filled(hint), "")),
        filled(meaning(certificate)),
        *block("on the conditions that", conditions(certificate)),
        *block("notes", notes(certificate)),
        "",
        filled(NOT_PRIVATE),
    ]
    return "\n".join(lines)


def _answer(majority: Majority) -> str:
    shown = repr(majority.label)
    return shown if len(shown) <= _ANSWER_WIDTH else f"{shown[: _ANSWER_WIDTH - 3]}..."


def counted(number: int, noun: str) -> str:
    """A number of things: one record, two records."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


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
