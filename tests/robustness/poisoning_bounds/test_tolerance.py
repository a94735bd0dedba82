import pytest

from privatree.robustness.poisoning_bounds import max_tolerated_edits
from privatree.robustness.poisoning_bounds._tolerance import MAX_EDITS


@pytest.mark.parametrize("most", [0, 1, 2, 3, 7, 8, 100, 12345])
def test_the_largest_number_that_holds(most):
    assert max_tolerated_edits(lambda edits: edits <= most) == most


def test_never_and_always():
    assert max_tolerated_edits(lambda edits: False) is None
    assert max_tolerated_edits(lambda edits: True) == MAX_EDITS
