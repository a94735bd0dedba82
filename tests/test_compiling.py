"""Compiled functions work where nothing can be kept on disk."""

import pytest
from numba import njit

from privatree.compiling import compiled, compiled_inline


def double(number):
    return 2 * number


@pytest.fixture
def without_a_place():
    """A function of no file: numba has no folder to keep it in, as where none can be written."""
    made = {}
    exec(compile("def double(number):\n    return 2 * number\n", "<nowhere>", "exec"), made)
    return made["double"]


@pytest.mark.parametrize("decorator", [compiled, compiled_inline])
def test_a_function_does_the_same(decorator, without_a_place):
    assert decorator(double)(21) == 42
    assert decorator(without_a_place)(21) == 42


def test_numba_alone_refuses(without_a_place):
    with pytest.raises(RuntimeError, match="no locator available"):
        njit(cache=True)(without_a_place)
