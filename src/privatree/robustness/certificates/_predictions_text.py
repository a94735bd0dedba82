"""Certificates of single predictions in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privatree.privacy import shown_amount
from privatree.robustness.certificates._certificate_text import (
    NOT_PRIVATE,
    TWO_EDITS,
    block,
    counted,
    filled,
    public_conditions,
    seed_notes,
    shown_confidence,
)

if TYPE_CHECKING:
    from privatree.robustness.certificates._predictions import PredictionCertificates

_SHOWN_ROWS = 6


def full_text(certificates: PredictionCertificates) -> str:
    """Everything but the single records, which are in the table."""
    privacy = certificates.privacy
    shares = [(edits, certificates.certified_share(edits)) for edits in _shown(certificates)]
    rows = [("poisoned", "certain"), *((str(edits), f"{share:.2%}") for edits, share in shares)]
    return "\n".join(
        [
            f"Certificates of {counted(len(certificates.counts), 'prediction')} of "
            f"{privacy.learner}, epsilon {shown_amount(privacy.epsilon)}",
            "",
            *("  " + "  ".join(cell.rjust(10) for cell in row) for row in rows),
            "  certain: share of the records for which the class predicted most often stays so.",
            "",
            *(line for hint in hints(certificates) for line in (filled(hint), "")),
            filled(meaning(certificates)),
            *block("on the conditions that", conditions(certificates)),
            *block("notes", notes(certificates)),
            "",
            filled(NOT_PRIVATE),
        ]
    )


def meaning(certificates: PredictionCertificates) -> str:
    """The sentence that the table of records completes."""
    return (
        f"With {shown_confidence(certificates.confidence)} confidence over "
        f"{counted(certificates.refits, 'refit')}, for this training set "
        f"({counted(certificates.n_train, 'record')}) and all "
        f"{counted(len(certificates.counts), 'record')} to predict together: the class that the "
        "learner predicts most often for a record stays the one that it predicts most often, "
        "after any additions or removals of at most as many training records as that tolerates. "
        f"{TWO_EDITS}"
    )


def hints(certificates: PredictionCertificates) -> list[str]:
    """What to do where nothing is certain."""
    undecided = int(np.sum(certificates.tolerates < 0))
    if undecided == 0:
        return []
    start = (
        f"Nothing is certain for {undecided} of {counted(len(certificates.counts), 'record')}, not "
        "even without poison: "
    )
    fewest = certificates.fewest_refits
    if certificates.refits < fewest:
        return [
            f"{start}that takes at least {counted(fewest, 'refit')} here, and more where they "
            f"disagree; there were {certificates.refits}. Use more."
        ]
    return [f"{start}the refits disagree too often. More of them make more certain."]


def conditions(certificates: PredictionCertificates) -> list[str]:
    """What must hold, besides the arithmetic."""
    fixed = "the parameters of the learner were fixed before training"
    return [fixed, *public_conditions(certificates.privacy)]


def notes(certificates: PredictionCertificates) -> list[str]:
    """What else a reader should know."""
    return [*certificates.notes, *seed_notes(certificates.privacy)]


def _shown(certificates: PredictionCertificates) -> list[int]:
    """Numbers of edits, from none to the most that a record tolerates."""
    most = max(int(certificates.tolerates.max()), 0)
    return sorted(set(np.linspace(0, most, _SHOWN_ROWS).astype(int).tolist()))
