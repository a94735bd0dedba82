"""The examples in docstrings print what they say."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import privatree

ROOT = Path(privatree.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
    for path in ROOT.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


def test_there_are_examples():
    assert len(MODULES) >= 15


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_examples(module):
    found = doctest.testmod(import_module(module))
    assert found.attempted > 0
    assert found.failed == 0
