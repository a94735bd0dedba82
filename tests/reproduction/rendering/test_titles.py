"""What is printed for a suite and for a method, and what its mark means."""

from typing import NamedTuple

from privatree.reproduction import datasets
from privatree.reproduction.rendering._titles import claim_notes, marked_title, suite_heading


class AMethod(NamedTuple):
    id: str
    title: str
    group: str
    claimed: bool


HOLDS, CLAIMED = AMethod("a", "A", "", False), AMethod("b", "B*", "", True)


def test_a_claim_is_marked():
    assert [marked_title(HOLDS), marked_title(CLAIMED)] == ["A", "B*†"]


def test_the_mark_is_explained_once_where_it_is_shown():
    assert claim_notes([HOLDS]) == claim_notes([]) == []
    assert claim_notes([CLAIMED, HOLDS, CLAIMED]) == [
        "†: its authors' claim; for whole records no finite epsilon holds or is proved."
    ]


def test_every_suite_has_a_heading():
    suites = {datasets.describe(name).suite for name in datasets.names()}
    assert all(suite_heading(suite) != suite for suite in suites)
    assert suite_heading("another") == "another"
