import numpy as np
import pytest

from privatree import ParameterError
from privatree.robustness.attacks._poisoned import USUAL_SHARES, poisoned_records


def test_numbers_and_shares_rounded_down_in_the_order_given():
    assert poisoned_records([10, "1%", "0.5 %", np.int64(3), 0], 36177) == (10, 361, 180, 3, 0)
    assert poisoned_records(USUAL_SHARES, 36177) == (36, 180, 361)
    assert poisoned_records(["0.1%", "100%"], 1000) == (1, 1000)  # in floats: 0.99... of a record
    assert poisoned_records(["1%", 24, 5, "1%", 5], 2400) == (24, 5)


@pytest.mark.parametrize(
    "poisoned",
    ["1%", 5, [], [-1], [True], [1.5], ["1"], ["x%"], ["-1%"], ["101%"], ["nan%"], ["1e999%"]],
)
def test_anything_else_is_refused(poisoned):
    with pytest.raises(ParameterError, match="poisoned must be"):
        poisoned_records(poisoned, 100)
