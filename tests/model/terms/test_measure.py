"""The public measure: how likely each value of a feature is taken to be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree.model.terms._measure import category_measure, number_measure
from privatree.schema import Categorical, Numeric


@pytest.mark.parametrize(
    ("feature", "cuts", "interval", "expected"),
    [
        (Numeric(0, 10), [], None, [1]),
        (Numeric(0, 10), [2, 5], None, [0.2, 0.3, 0.5]),
        (Numeric(0, 10), [0], None, [0, 1]),
        (Numeric(3, 3), [], None, [1]),
        (Numeric(1, 4, integer=True), [1, 3], None, [0.25, 0.5, 0.25]),
        (Numeric(1, 4, integer=True), [1.5, 3.5], None, [0.25, 0.5, 0.25]),
        (Numeric(7, 7, integer=True), [], None, [1]),
        (Numeric(0, 10), [5], (4, 6), [0.5, 0.5]),
        (Numeric(0, 10), [5], (0, 5), [0.9, 0.1]),
        (Numeric(0, 9, integer=True), [4], (0, 4), [0.9, 0.1]),
        (Numeric(0, 9, integer=True), [4], (2.5, 5.5), [0.8 * 2 / 3 + 0.1, 0.8 / 3 + 0.1]),
        (Numeric(0, 9, integer=True), [4], (2.5, 2.6), [0.9, 0.1]),
        (Numeric(0, 10, missing="separate"), [-np.inf], None, [0.05, 0.95]),
        (Numeric(0, 10, missing="separate"), [-np.inf, 5], None, [0.05, 0.475, 0.475]),
        (Numeric(0, 10, missing="separate"), [5], None, [0.525, 0.475]),
        (Numeric(0, 10, missing=7), [5], None, [0.5, 0.5]),
    ],
)
def test_numbers(feature, cuts, interval, expected) -> None:
    found = number_measure(feature, np.array(cuts, dtype=float), interval)
    assert found.tolist() == pytest.approx(expected)


def test_categories() -> None:
    assert category_measure(Categorical(["a", "b"])).tolist() == [0.5, 0.5]
    assert category_measure(Categorical(["a"])).tolist() == [1.0]
    separate = category_measure(Categorical(["a", "b"], missing="separate"))
    assert separate.tolist() == pytest.approx([0.475, 0.475, 0.05])


@given(
    ends=st.lists(st.integers(-(2**60), 2**60), min_size=4, max_size=4, unique=True).map(sorted),
    integer=st.booleans(),
    separate=st.booleans(),
    shares=st.lists(st.floats(0, 1, exclude_max=True), max_size=6),
    has_interval=st.booleans(),
)
def test_a_measure_is_one(ends, integer, separate, shares, has_interval) -> None:
    """On ranges of all sizes, with cuts anywhere."""
    low, *interval, high = map(float, ends)
    feature = Numeric(low, high, integer=integer, missing="separate" if separate else None)
    cuts = sorted({min(low + (high - low) * s, np.nextafter(high, low)) for s in shares})
    cuts = [-np.inf, *cuts] if separate and has_interval else cuts
    found = number_measure(feature, np.array(cuts), tuple(interval) if has_interval else None)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1.0)
