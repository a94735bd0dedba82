"""The words for what is protected: one record, or all records of one unit."""

import pytest

from privatree.privacy import UNNAMED_UNIT, UnitWords

RECORD, PATIENT = UnitWords(None), UnitWords("patient_id")


def test_records() -> None:
    assert (RECORD.protected, RECORD.noun, RECORD.counted) == ("record", "record", "records")
    assert (RECORD.whole, RECORD.definition) == ("a whole record", "")
    assert RECORD.change("add-remove") == "one record added or removed"
    assert RECORD.change("replace") == "one record replaced by another"
    assert RECORD.neighbours("add-remove") == "datasets that differ by one record added or removed"
    assert RECORD.neighbours("replace") == "datasets that differ in one record"
    assert RECORD.two_edits.startswith("A replaced record or a flipped label counts as 2")


def test_units() -> None:
    assert (PATIENT.protected, PATIENT.noun, PATIENT.counted) == ("patient_id", "unit", "units")
    assert PATIENT.whole == "all records of one patient_id"
    assert PATIENT.definition == "A unit is all records of one patient_id."
    assert PATIENT.change("replace") == "all records of one patient_id replaced by others"
    assert PATIENT.neighbours("add-remove") == (
        "datasets that differ by all records of one patient_id, added or removed"
    )
    assert PATIENT.neighbours("replace") == "datasets that differ in all records of one patient_id"
    assert PATIENT.two_edits.startswith(PATIENT.definition)


def test_a_unit_without_a_name_is_explained_by_its_ids() -> None:
    assert UnitWords(UNNAMED_UNIT).definition == "A unit is all records with the same id."


@pytest.mark.parametrize("name", ["a\nb", "\x1b[8m", "\u202e", "x" * 1000])
def test_a_strangers_name_is_one_short_printable_line(name: str) -> None:
    shown = UnitWords(name).whole
    assert shown.isprintable()
    assert len(shown) <= len("all records of one ") + 60
