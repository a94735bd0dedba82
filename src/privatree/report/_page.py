"""What a page is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privatree.privacy import UnitWords
from privatree.report._certificate_section import CertificateSection
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
    """Return the table of certificates for the script. `words` say what an edit changes.

    Until the reader enters an accuracy or an error, the page uses an example: an accuracy of 90%,
    or an error of a tenth of the range.
    """
    if section.table is None:
        return None
    return {
        "steps": section.table.steps,
        "range": section.range,
        "edited": [words.noun, words.counted],
        "example": section.table.steps * 9 // 10,
        "starts": section.table.starts,
        "edits": section.table.edits,
        "rows": section.table.rows,
        "paper": section.table.paper_factors,
        "measured": None if section.measured is None else section.measured.start,
    }
