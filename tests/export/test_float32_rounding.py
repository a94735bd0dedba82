import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.export._float32_rounding import Float32Rounding

finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.slow
@settings(max_examples=200)
@given(st.lists(finite, min_size=1, max_size=6), st.lists(finite, max_size=6), st.data())
def test_every_number_stays_on_its_side(thresholds, numbers, data):
    near = [data.draw(st.sampled_from(thresholds)) for _ in range(3)]
    near += [math.nextafter(x, way) for x in near for way in (-math.inf, math.inf)]
    numbers = np.array([*numbers, *filter(math.isfinite, near)])
    rounding = Float32Rounding(thresholds)
    rounded = rounding.round_numbers(numbers)
    assert rounded.dtype == np.float32
    assert np.isfinite(rounded).all()
    for threshold in thresholds:
        (stands_for,) = rounding.round_thresholds(np.array([threshold]))
        assert ((numbers <= threshold) == (rounded <= stands_for)).all()


def test_far_from_thresholds_it_is_the_usual_rounding():
    numbers = np.array([0.1, 1 / 3, 17.0, -2.5e10])
    assert (Float32Rounding([0.25]).round_numbers(numbers) == numbers.astype(np.float32)).all()
    assert Float32Rounding([0.25]).rounded.tolist() == [0.25]


def test_a_threshold_is_rounded_down_to_the_next_number():
    for threshold in (0.1, 0.7, -0.1, 1 / 3, 1e-40):
        (rounded,) = Float32Rounding([threshold]).rounded
        above = np.nextafter(rounded, np.float32(np.inf))
        assert float(rounded) <= threshold < float(above)


@pytest.mark.parametrize(
    "thresholds",
    [
        [0.1, np.nextafter(0.1, 1), np.nextafter(0.1, 0)],  # one number of 32 bits
        [1e300, 2e300, 3e300],  # beyond them
        [-3e300, -2e300],
        [1e30, np.nextafter(1e30, 2e30), 3.4028235677973366e38],  # the largest that we allow
    ],
)
def test_thresholds_stay_different(thresholds):
    rounding = Float32Rounding(thresholds)
    assert (np.diff(rounding.rounded) > 0).all()
    assert np.isfinite(rounding.rounded).all()
