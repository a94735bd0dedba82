from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree.learners.regression._levels import MAX_LEVELS, TargetLevels
from privatree.schema import TARGET_CODES


@st.composite
def intervals(draw):
    """The ends of an interval in codes, at least 8 apart."""
    start = draw(st.integers(0, TARGET_CODES - 8))
    return start, draw(st.integers(start + 8, TARGET_CODES))


@given(intervals())
def test_every_code_has_a_level_in_order(ends):
    levels = TargetLevels(*ends)
    of_codes = levels.level_of_code()
    assert 2 <= levels.n_levels <= MAX_LEVELS == 18
    assert np.unique(of_codes).tolist() == list(range(levels.n_levels))
    assert (np.diff(of_codes) >= 0).all()
    assert len(levels.middles) == levels.n_levels
    assert all(0 <= middle <= TARGET_CODES for middle in levels.middles)
    assert (np.diff(levels.middles) > 0).all()
    inner = levels.middles[1:-1]
    assert all(int(of_codes[int(m)]) == level for level, m in enumerate(inner, start=1))


def test_levels_are_narrow_inside_the_interval_and_double_outside():
    levels = TargetLevels(32768, 32768 + 1024)
    assert levels.n_levels == 18
    assert np.diff(levels.cuts).tolist() == [
        *(2048, 1024, 512, 256),
        *[128] * 8,
        *(256, 512, 1024, 2048),
    ]
    assert levels.middles[4] == 32768 - 128  # between the ends of a level
    assert levels.middles[0] == levels.cuts[0] - 1024  # as wide as its neighbour


def test_cuts_at_the_ends_of_the_range_separate_nothing():
    assert TargetLevels(0, TARGET_CODES).n_levels == 8
    assert TargetLevels(0, 1024).cuts[:2] == (128, 256)


@pytest.mark.parametrize(
    ("shares", "ends"),
    [
        ((Fraction(1, 4), Fraction(1, 2)), (16384, 32768)),
        ((Fraction(1, 3), Fraction(1, 3)), (21845, 21853)),
        ((Fraction(1), Fraction(1)), (TARGET_CODES - 8, TARGET_CODES)),
    ],
)
def test_an_interval_that_is_too_narrow_is_widened(shares, ends):
    levels = TargetLevels.around(shares)
    assert (levels.start, levels.stop) == ends
