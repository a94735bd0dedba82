from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree.learners.regression._level_split import level_split_score
from privatree.learners.tree import SPLIT_UNITS

SUMS = st.integers(0, 2**40)


@given(SUMS, SUMS, st.integers(2, 18))
def test_levels_are_equally_far_apart_and_the_centre_is_inside(low, high, n_levels):
    score = level_split_score((low, high), n_levels)
    empty, *steps = score.steps
    assert empty == 0
    assert {b - a for a, b in pairwise(steps)} == {SPLIT_UNITS}
    assert steps[0] < 0 < steps[-1]
    most = (n_levels - 1) * SPLIT_UNITS
    assert score.score_range <= 0.9 * most + 0.5


def test_the_centre_is_the_mean_level():
    low, high = 5000, 2000  # 1,000 records of mean level 5, counted from 0 to 7
    assert level_split_score((low, high), 8).steps[1 + 5] == pytest.approx(0, abs=1)
