"""What a guarantee protects as a whole, in words: one record, or all records of one unit."""

from __future__ import annotations

from dataclasses import dataclass

from privatree._support.escape import escape_to_one_line

UNNAMED_UNIT = "unit"
"""Name of units whose ids were passed without the name of a column."""
_MAX_UNIT_LENGTH = 60
"""Most characters of a unit's name in a sentence."""


@dataclass(frozen=True)
class UnitWords:
    """The words for a unit of this name, or for single records if the name is None."""

    unit: str | None

    @property
    def protected(self) -> str:
        """What is protected as a whole, as a noun: "record", or the shortened name of a unit."""
        if self.unit is None:
            return "record"
        unit = escape_to_one_line(self.unit)
        return unit if len(unit) <= _MAX_UNIT_LENGTH else f"{unit[: _MAX_UNIT_LENGTH - 1]}…"

    @property
    def noun(self) -> str:
        """What numbers count, one of it: "record" or "unit"."""
        return "record" if self.unit is None else "unit"

    @property
    def counted(self) -> str:
        """What numbers count: "records" or "units"."""
        return f"{self.noun}s"

    @property
    def whole(self) -> str:
        """What epsilon holds for: "a whole record", or "all records of one patient_id"."""
        return "a whole record" if self.unit is None else f"all records of one {self.protected}"

    @property
    def definition(self) -> str:
        """One sentence that says what a unit is; empty for single records."""
        if self.unit is None:
            return ""
        if self.unit == UNNAMED_UNIT:
            return "A unit is all records with the same id."
        return f"A unit is all records of one {self.protected}."

    @property
    def two_edits(self) -> str:
        """One sentence that says what counts as two edits of a dataset."""
        if self.unit is None:
            return "A replaced record or a flipped label counts as 2: one removed and one added."
        return (
            f"{self.definition} A unit whose records are changed in any way counts as 2: one "
            "removed and one added."
        )

    def change(self, neighbours: str) -> str:
        """Return the difference between neighbours: "one record added or removed"."""
        one = "one record" if self.unit is None else self.whole
        if neighbours == "add-remove":
            return f"{one} added or removed"
        return f"{one} replaced by {'another' if self.unit is None else 'others'}"

    def neighbours(self, neighbours: str) -> str:
        """Return which datasets are neighbours."""
        if self.unit is None:
            differ = "in one record" if neighbours == "replace" else f"by {self.change(neighbours)}"
        elif neighbours == "replace":
            differ = f"in {self.whole}"
        else:
            differ = f"by {self.whole}, added or removed"
        return f"datasets that differ {differ}"
