"""Numbers as the tables print them."""

import math

import pytest

from privatree.reproduction.rendering._number_texts import seconds, share, signed, times


@pytest.mark.parametrize(
    ("figure", "text"),
    [(0.8154, ".815"), (1.0, "1.000"), (0.9996, "1.000"), (0.0, ".000"), (math.nan, "")],
)
def test_share(figure, text):
    assert share(figure) == text


@pytest.mark.parametrize(
    ("difference", "text"),
    [(0.012, "+.012"), (-0.0051, "-.005"), (-0.0004, ".000"), (0.0, ".000"), (-1.0, "-1.000")],
)
def test_signed(difference, text):
    assert signed(difference) == text


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (0.0, "<0.001"),
        (0.0042, "0.004"),
        (0.0996, "0.10"),
        (0.321, "0.32"),
        (0.996, "1.0"),
        (1.44, "1.4"),
        (9.96, "10"),
        (107.6, "108"),
    ],
)
def test_seconds(duration, text):
    assert seconds(duration) == text


@pytest.mark.parametrize(
    ("ratio", "text"), [(0.4, "0.40×"), (0.996, "1.0×"), (1.44, "1.4×"), (57.9, "58×")]
)
def test_times(ratio, text):
    assert times(ratio) == text
