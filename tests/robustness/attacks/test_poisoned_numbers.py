import numpy as np
import pytest

from privatree import ParameterError
from privatree.robustness.attacks._poisoned_numbers import PAPER_SHARES, parse_poisoned


def test_numbers_and_shares_rounded_down_in_the_order_given():
    assert parse_poisoned([10, "1%", "0.5 %", np.int64(3), 0], 36177) == (10, 361, 180, 3, 0)
    assert parse_poisoned(PAPER_SHARES, 36177) == (36, 180, 361)
    assert parse_poisoned(["0.1%", "100%"], 1000) == (1, 1000)  # in floats: 0.99... of a record
    assert parse_poisoned(["1%", 24, 5, "1%", 5], 2400) == (24, 5)


@pytest.mark.parametrize(
    "poisoned",
    ["1%", 5, [], [-1], [True], [1.5], ["1"], ["x%"], ["-1%"], ["101%"], ["nan%"], ["1e999%"]],
)
def test_anything_else_is_refused(poisoned):
    with pytest.raises(ParameterError, match="poisoned must be"):
        parse_poisoned(poisoned, 100)
