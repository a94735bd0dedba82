"""Every public class and function has an example, and the examples print what they say."""

import doctest
import inspect
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
PUBLIC = sorted(
    ".".join(path.parent.relative_to(ROOT.parent).parts)
    for path in ROOT.rglob("__init__.pyi")
    if "__all__" in path.read_text(encoding="utf-8")
)


def test_there_are_public_packages_and_examples():
    assert len(PUBLIC) >= 10
    assert len(MODULES) >= 60


@pytest.mark.parametrize("package", PUBLIC)
def test_every_public_class_and_function_has_an_example(package):
    package = import_module(package)
    public = {name: getattr(package, name) for name in package.__all__}
    without = [
        name
        for name, found in public.items()
        if (inspect.isclass(found) or inspect.isroutine(found))
        and "\n>>> " not in inspect.cleandoc(found.__doc__ or "")
    ]
    assert without == []


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_examples(module):
    found = doctest.testmod(import_module(module))
    assert found.attempted > 0
    assert found.failed == 0
