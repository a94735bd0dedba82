"""Numbers, suites and methods as the tables print them, and what a mark means."""

import math

import pytest

from privatree.baselines import methods
from privatree.reproduction import datasets
from privatree.reproduction.rendering._wording import (
    SUITE_HEADINGS,
    dagger_wording,
    difference_wording,
    method_wording,
    ratio_wording,
    seconds_wording,
    share_wording,
)


@pytest.mark.parametrize(
    ("figure", "text"),
    [(0.8154, ".815"), (1.0, "1.000"), (0.9996, "1.000"), (0.0, ".000"), (math.nan, "")],
)
def test_share(figure, text):
    assert share_wording(figure) == text


@pytest.mark.parametrize(
    ("difference", "text"),
    [(0.012, "+.012"), (-0.0051, "-.005"), (-0.0004, ".000"), (0.0, ".000"), (-1.0, "-1.000")],
)
def test_signed(difference, text):
    assert difference_wording(difference) == text


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (0.0, "<0.001"),
        (0.0042, "0.004"),
        (0.0994, "0.099"),
        (0.0996, "0.10"),
        (0.321, "0.32"),
        (0.996, "1.0"),
        (1.44, "1.4"),
        (9.96, "10"),
        (107.6, "108"),
    ],
)
def test_seconds(duration, text):
    assert seconds_wording(duration) == text


@pytest.mark.parametrize(
    ("ratio", "text"), [(0.4, "0.40×"), (0.996, "1.0×"), (1.44, "1.4×"), (57.9, "58×")]
)
def test_times(ratio, text):
    assert ratio_wording(ratio) == text


HOLDS, CLAIMED = methods.get("privatree"), methods.get("privatree-star")


def test_a_claim_is_marked():
    assert not HOLDS.claimed
    assert method_wording(HOLDS) == HOLDS.title
    assert method_wording(CLAIMED) == "PrivaTree*†"


def test_the_mark_is_explained_once_where_it_is_shown():
    assert dagger_wording([HOLDS], "More.") == dagger_wording([]) == []
    assert dagger_wording([CLAIMED, HOLDS, CLAIMED], "More.") == [
        "†: its authors' claim; for whole records no finite epsilon holds or is proved.",
        "More.",
    ]


def test_every_suite_has_a_heading():
    assert all(SUITE_HEADINGS[datasets.describe(name).suite] for name in datasets.names())
