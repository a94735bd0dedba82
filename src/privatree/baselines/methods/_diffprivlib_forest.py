"""DiffPrivLib's random forest [HBML19]: a vote of its trees; categories as numbers.

The real library with its defaults, told the ranges, categories and classes of the schema. It deals
the records to its trees by their position, and into parts whose sizes follow from the number of
records: what one record changes is not in one part only, as its epsilon assumes; see
``docs/audits.md``.
"""

from __future__ import annotations

from typing import Any

from privatree.baselines.methods._diffprivlib_tree import told
from privatree.baselines.methods._method import CLAIMED, Method, Training, as_numbers


def _classifier(training: Training) -> Any:
    from diffprivlib.models import RandomForestClassifier

    return RandomForestClassifier(**told(training))


METHOD = Method(
    "diffprivlib-forest",
    "DiffPrivLib forest",
    CLAIMED,
    _classifier,
    encode=as_numbers,
    requires="diffprivlib",
    claimed=True,
    caveat="DiffPrivLib forest: its records are dealt to trees by position, so that one record "
    "moves the others.",
)
