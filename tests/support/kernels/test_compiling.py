"""Compiled functions are never older than their helpers, and work where nothing can be kept."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import privatree
from privatree._support.kernels import compiling
from privatree._support.kernels.compiling import compiled, compiled_inline

CALLER = """
import json
import numpy as np
from privatree.learners.tree._subtree_kernels import weigh_subsets_of_pair
from privatree.privacy.samplers._decay import Decay
decays = Decay(np.ones(1), np.array([1.0, 0.5]), 1)
found = weigh_subsets_of_pair(np.full((1, 1), 1), np.array([3, 5]), 0, 1, decays)
kept = weigh_subsets_of_pair.stats
print(json.dumps([found[1], sum(kept.cache_hits.values()), kept.cache_path]))
"""
HELPER = (
    "    return table.high[place] * table.low[k - (place << table.shift)] if is_known else 0.0\n"
)


@pytest.fixture
def copied(tmp_path):
    """A copy of the package: it is changed, and must not disturb other tests."""
    source, package = Path(privatree.__file__).parent, tmp_path / "site" / "privatree"
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__", "data"))
    return package


def call(site, tmp_path, **settings):
    """A kernel of the package in another process: what it finds, loads that hit, and its place."""
    settings = {"PYTHONPATH": str(site), "XDG_CACHE_HOME": str(tmp_path / "user"), **settings}
    ours = ("NUMBA_", "PRIVATREE_", "PYTHON")
    others = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        [sys.executable, "-c", CALLER], env=others | settings, capture_output=True, check=True
    )
    return json.loads(done.stdout)


def change(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1
    times = path.stat()
    path.write_text(text.replace(old, new))
    os.utime(path, (times.st_atime, times.st_mtime))  # as an installer may leave them


@pytest.mark.slow
@pytest.mark.parametrize("by_digest", [True, False])
def test_a_helper_that_changes_changes_its_caller(copied, tmp_path, by_digest):
    """And with the same folder for all code it would not: the test can fail."""
    if not by_digest:
        change(
            copied / "_support" / "kernels" / "kernel_folder.py",
            "digest = kernel_code_digest(_PACKAGE)",
            'digest = "same"',
        )
    found, hits, place = call(copied.parent, tmp_path)
    assert found == 0.75
    assert hits == 0
    assert Path(place).is_relative_to(copied / "__pycache__")
    assert call(copied.parent, tmp_path) == [0.75, 1, place]
    change(copied / "privacy" / "samplers" / "_decay.py", HELPER, "    return 0.0\n")
    found, hits, other_place = call(copied.parent, tmp_path)
    assert (found, hits, other_place == place) == (
        (0.5, 0, False) if by_digest else (0.75, 1, True)
    )


@pytest.mark.slow
def test_code_in_an_archive_is_not_kept(copied, tmp_path):
    """There numba would keep it in a place of its own, by the caller's file only."""
    archive = shutil.make_archive(tmp_path / "archive", "zip", copied.parent)
    assert call(archive, tmp_path) == [0.75, 0, None]
    assert not (tmp_path / "user").exists()


def double(number):
    return 2 * number


@pytest.fixture
def without_a_file():
    """A function of no file: numba alone refuses to keep it."""
    made = {}
    exec(compile("def double(number):\n    return 2 * number\n", "<nowhere>", "exec"), made)
    with pytest.raises(RuntimeError, match="no locator available"):
        numba.njit(cache=True)(made["double"])
    return made["double"]


@pytest.fixture
def kept_here(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "kernel_folder", lambda: tmp_path)
    return tmp_path


@pytest.mark.parametrize("decorator", [compiled, compiled_inline])
def test_a_function_does_the_same_and_is_kept(decorator, kept_here):
    before = numba.config.CACHE_DIR
    function = decorator(double)
    assert before == numba.config.CACHE_DIR
    assert function(21) == 42
    assert list(kept_here.glob("*/test_compiling.double-*.nbc"))


@pytest.mark.parametrize("decorator", [compiled, compiled_inline])
def test_without_a_place_it_is_not_kept(decorator, monkeypatch):
    monkeypatch.setattr(compiling, "kernel_folder", lambda: None)
    function = decorator(double)
    assert function(21) == 42
    assert function.stats.cache_path is None


def test_a_function_of_no_file_is_not_kept(kept_here, without_a_file):
    assert compiled(without_a_file)(21) == 42
    assert str(kept_here) != numba.config.CACHE_DIR


def test_no_other_place_is_taken(kept_here, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_LOCATOR_CLASSES", "UserWideCacheLocator")
    function = compiled(double)
    assert function(21) == 42
    assert function.stats.cache_path is None


def test_it_stays_a_plain_function_if_numba_is_switched_off(kept_here, monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    assert compiled(double) is double
