"""Mutated files: each is refused with one clear line, or loads and works.

``benchmarks/fuzz_loaders.py`` reads 100,000 of them; here are some, and loaders that are wrong.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
Fuzz = Callable[..., tuple[int, str]]


@pytest.fixture
def fuzz(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Fuzz:
    """Runs the script here; the process that reads the files is another one."""

    def run(*arguments: str, modules: Path | None = None) -> tuple[int, str]:
        monkeypatch.setenv("PYTHONPATH", str(modules or ""))
        for folder in filter(None, (modules, BENCHMARKS)):
            monkeypatch.syspath_prepend(folder)
        monkeypatch.setattr(sys, "argv", ["fuzz_loaders.py", *arguments])
        with pytest.raises(SystemExit) as ended:
            import_module("fuzz_loaders").main()
        said = capfd.readouterr()
        assert "Traceback" not in said.err, said.err
        return int(ended.value.code or 0), said.out

    return run


@pytest.mark.slow
def test_mutated_files_are_refused_or_work(fuzz: Fuzz) -> None:
    code, text = fuzz("--files", "300", "--seed", "1")
    assert code == 0, text
    rows = re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \| (\d+) \| 0 \|", text, flags=re.MULTILINE)
    assert [(kind, int(files)) for kind, files, *_ in rows] == [
        ("models", 180),
        ("schemas", 90),
        ("certificates", 30),
    ]
    # Otherwise nothing was shown: both ends are reached, often.
    assert all(int(loaded) > 0.05 * int(files) for _, files, loaded, _ in rows), text
    assert all(int(refused) > 0.3 * int(files) for _, files, _, refused in rows), text


# --- what must be noticed -----------------------------------------------------------------------

WRONG_LOADERS = """
import os, time, warnings
from dataclasses import replace
from fuzzing.file_kinds import KINDS as RIGHT
from privatree.errors import SchemaError


def another_exception(path, name):
    return {}["features"]


def hang(path, name):
    time.sleep(3600)


def slow(path, name):
    until = time.process_time() + 1.02
    while time.process_time() < until:
        pass
    raise SchemaError(f"{path}: it is wrong.")


def much_memory(path, name):
    return len(bytes(300 * 2**20))


def crash(path, name):
    os.abort()


def warn(path, name):
    warnings.warn("hm")


def no_path(path, name):
    raise SchemaError("it is wrong.")


def two_lines(path, name):
    raise SchemaError(f"{path}: it is\\nwrong.")


def long_line(path, name):
    raise SchemaError(f"{path}: " + "x" * 400)


def internals(path, name):
    raise SchemaError(f"{path}: got NoneType.")


def does_not_work(path, name):
    return "not a schema"


def kind(wrong):
    def load(path, name):  # what was not mutated is read, so that the process can begin
        return (wrong if path.name.startswith("mutated") else RIGHT[1].load)(path, name)

    return replace(RIGHT[1], name=wrong.__name__, share=1, load=load)


KINDS = tuple(map(kind, (
    another_exception, slow, much_memory, warn, no_path, two_lines, long_line, internals,
    does_not_work, crash,
)))
"""
NOTICED = [
    "another_exception 0: KeyError at .*: 'features'",
    r"slow 1: loading took 1\.\d s",
    "much_memory 2: MemoryError at ",
    "warn 3: UserWarning at ",
    "no_path 4: the message does not begin with the path",
    "two_lines 5: the message is not one line",
    "long_line 6: the message is not one line",
    "internals 7: the message shows NoneType",
    "does_not_work 8: AttributeError at ",
    "crash 9: the process ended with code -6",
]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory as Linux has them")
def test_wrong_loaders_are_noticed(fuzz: Fuzz, tmp_path: Path) -> None:
    (tmp_path / "wrong_loaders.py").write_text(WRONG_LOADERS)
    options = ("--kinds", "wrong_loaders", "--files", str(len(NOTICED)), "--patience", "600")
    code, text = fuzz(*options, modules=tmp_path)
    assert code == 1, text
    failures = [line for line in text.splitlines() if line.startswith("FAILED ")]
    assert len(failures) == len(NOTICED), text
    for line, expected in zip(failures, NOTICED, strict=True):
        assert re.match(f"FAILED {expected}", line), line


@pytest.mark.slow
def test_a_loader_that_hangs_is_noticed(fuzz: Fuzz, tmp_path: Path) -> None:
    """It is alone: with so little patience, any other may seem to hang on a busy machine."""
    alone = WRONG_LOADERS + "KINDS = (kind(hang),)\n"
    (tmp_path / "hanging_loader.py").write_text(alone)
    options = ("--kinds", "hanging_loader", "--files", "1", "--patience", "0.5")
    code, text = fuzz(*options, modules=tmp_path)
    assert code == 1, text
    assert text.startswith("FAILED hang 0: no answer for 0.5 s\n")
