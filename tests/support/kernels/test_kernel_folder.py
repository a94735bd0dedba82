"""Compiled functions are kept by their code, in a folder that can be written, and not for ever."""

import os
import re
import shutil
import time
from pathlib import Path

import pytest

import privatree
from privatree._support.kernels import kernel_folder as code
from privatree._support.kernels.kernel_folder import kernel_code_digest, kernel_folder

PACKAGE = Path(privatree.__file__).parent
COMPILES = code._COMPILES.decode()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of five files in the place of ours: a kernel, what it imports, and another."""
    files = {
        "kernel.py": f"from {COMPILES} import compiled\nfrom privatree.near import near\n",
        "near.py": "if True:\n    from privatree.folder import (\n        far,\n    )\n",
        "folder/__init__.py": "",
        "folder/far.py": "FAR = 1\n",
        "other.py": "from privatree.kernel import kernel\n",
    }
    package = tmp_path / "site" / "privatree"
    for name, text in files.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    monkeypatch.setattr(code, "_PACKAGE", package)
    monkeypatch.setattr(code.numba_settings, "CACHE_DIR", "")
    monkeypatch.setenv("PRIVATREE_CACHE", str(tmp_path / "user"))
    return package


@pytest.fixture(autouse=True)
def _found_anew():
    kernel_folder.cache_clear()
    yield
    kernel_folder.cache_clear()


# --- the digest ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kernel.py", "near.py", "folder/__init__.py", "folder/far.py"])
def test_what_may_be_compiled_in_makes_another_digest(package, name):
    before = kernel_code_digest(package)
    with (package / name).open("a") as file:
        file.write("# changed\n")
    assert kernel_code_digest(package) != before


def test_other_files_do_not(package):
    before = kernel_code_digest(package)
    (package / "other.py").write_text("from privatree.kernel import kernel  # changed\n")
    (package / "new.py").write_text("")
    assert kernel_code_digest(package) == before


@pytest.mark.parametrize("library", ["numba", "llvmlite", "np"])
def test_another_compiler_makes_another_digest(package, library, monkeypatch):
    before = kernel_code_digest(package)
    monkeypatch.setattr(getattr(code, library), "__version__", "0.0.1")
    assert kernel_code_digest(package) != before


def test_the_digest_does_not_depend_on_where_the_package_is(package, tmp_path):
    shutil.copytree(package, tmp_path / "elsewhere" / "privatree")
    assert kernel_code_digest(tmp_path / "elsewhere" / "privatree") == kernel_code_digest(package)


def test_nothing_is_compiled_but_by_our_decorators():
    """Else a kernel would not be found, and would be kept when its helpers change."""
    imports = re.compile(r"^\s*(?:import|from)\s+numba\b", re.MULTILINE)
    using = {path.name for path in PACKAGE.rglob("*.py") if imports.search(path.read_text())}
    assert using == {"compile_notice.py", "compiling.py", "kernel_folder.py"}


# --- the place ----------------------------------------------------------------------------------


def folders_in(parent):
    return sorted(path.name for path in parent.glob("privatree-kernels-*"))


def test_it_is_in_the_package(package):
    folder = kernel_folder()
    assert folder == package / "__pycache__" / f"privatree-kernels-{kernel_code_digest(package)}"
    assert folder.is_dir()
    assert not list(folder.iterdir())


def test_else_in_the_cache_of_the_user(package, tmp_path):
    (package / "__pycache__").write_text("no folder can be made here")
    assert kernel_folder() == tmp_path / "user" / f"privatree-kernels-{kernel_code_digest(package)}"


def test_what_numba_is_told_goes_first(package, tmp_path, monkeypatch):
    monkeypatch.setattr(code.numba_settings, "CACHE_DIR", str(tmp_path / "told"))
    assert kernel_folder() == tmp_path / "told" / f"privatree-kernels-{kernel_code_digest(package)}"
    assert not (package / "__pycache__").exists()


def test_without_a_place_there_is_none(package, tmp_path):
    for place in (package / "__pycache__", tmp_path / "user"):
        place.write_text("no folder can be made here")
    assert kernel_folder() is None


def test_who_has_no_home_needs_none(package, monkeypatch):
    (package / "__pycache__").write_text("no folder can be made here")
    for name in ("PRIVATREE_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("USERPROFILE" if os.name == "nt" else "HOME", "~")  # what is then found
    assert kernel_folder() is None


@pytest.mark.parametrize("hidden", [True, False])
def test_code_that_cannot_be_read_is_not_kept(package, hidden):
    if hidden:  # as in a zip archive
        shutil.rmtree(package)
    else:
        (package / "near.py").unlink()
        (package / "near.py").mkdir()
    assert kernel_folder() is None
    assert not (package / "__pycache__").exists()


# --- old folders --------------------------------------------------------------------------------


def test_folders_of_other_code_do_not_pile_up(package):
    parent, now = package / "__pycache__", time.time()
    for days in range(12):
        folder = parent / f"privatree-kernels-{days:016x}"
        (folder / "inside").mkdir(parents=True)
        (folder / "inside" / "kernel.nbi").write_text("")
        os.utime(folder, (now, now - (days + 0.5) * 24 * 60 * 60))
    (parent / "another").mkdir()
    mine = kernel_folder()
    assert folders_in(parent) == sorted(
        [mine.name, *(f"privatree-kernels-{n:016x}" for n in range(7))]
    )
    assert (parent / "another").exists()


def test_folders_that_may_be_in_use_stay(package):
    parent = package / "__pycache__"
    for number in range(20):
        (parent / f"privatree-kernels-{number:016x}").mkdir(parents=True)
    kernel_folder()
    assert len(folders_in(parent)) == 21


def test_a_folder_that_is_used_again_counts_as_new(package):
    folder = kernel_folder()
    os.utime(folder, (0, 0))
    kernel_folder.cache_clear()
    assert kernel_folder() == folder
    assert time.time() - folder.stat().st_mtime < 24 * 60 * 60
