"""The house: which files there are, and through which doors they are imported.

That a stage imports only stages before it is checked by import-linter, with the rules in
``pyproject.toml``.
"""

import ast
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import privatree

ROOT = Path(privatree.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
FOLDERS = sorted({path.parent for path in FILES})
STUBS = sorted(ROOT.rglob("__init__.pyi"))
MAX_FILES = 14


@cache
def imports(path):
    """The modules that a file imports from, each with a name that it takes from there."""
    return list(_imports(path))


def _imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            for alias in node.names:
                yield node.module or "", alias.name
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, ""


def stage(path):
    return path.relative_to(ROOT).parts[0]


def dotted(folder):
    return ".".join(["privatree", *folder.relative_to(ROOT).parts])


def test_private_modules_are_imported_in_their_own_stage_only():
    for path in FILES:
        for module, name in imports(path):
            parts = [*module.split("."), name]
            private = any(part.startswith("_") and not part.startswith("__") for part in parts[2:])
            if parts[0] == "privatree" and len(parts) > 2 and parts[1] != "_support" and private:
                assert parts[1] == stage(path), f"{path}: {module} is private: use its package"


def test_modules_that_are_no_api_begin_with_an_underscore():
    api = {ROOT / "errors.py", ROOT / "__main__.py"}
    plain = {path for path in FILES if not path.name.startswith("_") and path not in api}
    assert {path for path in plain if stage(path) != "_support"} == set()


@pytest.mark.parametrize("folder", FOLDERS, ids=dotted)
def test_a_folder_can_be_taken_in_at_a_glance(folder):
    files = [path for path in folder.iterdir() if path.suffix in (".py", ".pyi")]
    assert len(files) <= MAX_FILES


@pytest.mark.parametrize("folder", FOLDERS, ids=dotted)
def test_a_folder_has_a_map(folder):
    told = (folder / "__init__.py").read_text(encoding="utf-8")
    for path in folder.iterdir():
        if path.suffix == ".py" and not path.name.startswith("__"):
            assert path.stem in told
        elif (path / "__init__.py").exists():
            assert f"{path.name}/" in told or folder.name == "learners"


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: dotted(stub.parent))
def test_every_name_of_a_package_can_be_had_and_is_used(stub):
    package = import_module(dotted(stub.parent))
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    names = {name for _, name in imports(stub)}
    used = {
        name
        for path in (*FILES, *STUBS)
        if path.parent != stub.parent
        for module, name in imports(path)
        if module == package.__name__
    }
    for name in names:
        assert getattr(package, name) is not None
        assert not (stub.parent / name).is_dir() or name in ("mechanisms", *privatree.__all__)
    public = any(isinstance(node, ast.Assign) for node in tree.body)
    assert names - used - (set(package.__all__) if public else set()) == set()


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(
        AttributeError, match=r"module 'privatree.counting' has no attribute 'Nope'"
    ):
        _ = import_module("privatree.counting").Nope
