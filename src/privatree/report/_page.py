"""What a page is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privatree.privacy import UnitWords
from privatree.report._certificate_section import EXAMPLE, CertificateSection
from privatree.report._certificate_table import ACCURACY_STEPS
from privatree.report._summary import ModelSummary


@dataclass(frozen=True)
class ReportPage:
    """What a page shows, and how.

    `own` is what only a tree or an ensemble has; the templates call it by the noun of the model.
    `data` is for the script.
    """

    summary: ModelSummary
    own: Any
    data: dict[str, Any]


def certificate_data(section: CertificateSection, words: UnitWords) -> dict[str, Any] | None:
    """Return the table of certificates for the script. `words` say what an edit changes."""
    if section.table is None:
        return None
    return {
        "steps": ACCURACY_STEPS,
        "edited": [words.noun, words.counted],
        "example": EXAMPLE,
        "starts": section.table.starts,
        "edits": section.table.edits,
        "rows": section.table.rows,
        "paper": section.table.paper_factors,
        "measured": None if section.measured is None else section.measured.start,
    }
