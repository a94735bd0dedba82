"""``privatree reproduce``, as a person runs it: killed and started again, and asked nonsense."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from privatree.baselines import methods
from privatree.baselines.methods import Method
from privatree.cli._app import main
from privatree.cli.commands import _reproduce as reproduce
from privatree.errors import DatasetMissingError
from privatree.reproduction import datasets
from privatree.reproduction.datasets._dataset import Records
from privatree.reproduction.running import _study as study
from privatree.reproduction.targets import TARGETS

SMALL = ["--datasets", "vote,breast-w", "--methods", "decision-tree,dpgdf"]


def command(output: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "privatree", "reproduce", "accuracy", *SMALL,
            "--epsilon", "0.1,1", "--repeats", "2", "-o", str(output), *more]  # fmt: skip


@pytest.fixture
def tasks_here(monkeypatch: pytest.MonkeyPatch, run_here: Callable[..., None]) -> None:
    """Where tasks may be run in this process; others are about processes."""
    monkeypatch.setattr(study, "run_tasks", run_here)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["privatree", "reproduce", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    return int(stopped.value.code or 0)


def without_seconds(folder: Path) -> dict[str, object]:
    """All files below a folder; seconds are measured, so they alone differ from run to run."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        if path.name == "cells.csv":
            with path.open(newline="") as file:
                rows = list(csv.DictReader(file))
            found[path.name] = [{k: v for k, v in r.items() if k != "fit_seconds"} for r in rows]
        elif path.is_file():
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def nothing_or_reason(method: str) -> str | None:
    return "a method needs a library" if method == "diffprivlib-tree" else None


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out"


def n_cells(output: Path) -> int:
    path = output / "accuracy" / "cells.csv"
    return path.read_bytes().count(b"\n") - 1 if path.exists() else 0


STOPS_AT = """
import time
from privatree.cli._app import main
from privatree.reproduction.running._journal import Journal
scored, left = Journal.record_score, iter(range({} - 1))

def scored_once_more(journal, task, score):
    scored(journal, task, score)
    if next(left, None) is None:
        time.sleep(3600)

Journal.record_score = scored_once_more
main()
"""
"""A run that waits after so many cells: however late it is killed, it has not come to its end."""


@pytest.mark.slow
def test_a_killed_run_goes_on_and_ends_with_the_files_of_an_undisturbed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_here: Callable[..., None]
) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    with pytest.MonkeyPatch.context() as patch:  # the other runs have processes
        patch.setattr(study, "run_tasks", run_here)
        assert run(patch, *command(whole)[4:]) == 0
    for at in (3, 20):  # killed twice, the second time after having gone on once
        arguments = command(killed, "--jobs", "1")[3:]
        process = subprocess.Popen(
            [sys.executable, "-c", STOPS_AT.format(at - n_cells(killed)), *arguments],
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        while n_cells(killed) < at:
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert n_cells(killed) == at < n_cells(whole)
        assert not list(killed.rglob("*.md"))
    path = killed / "accuracy" / "cells.csv"
    path.write_bytes(path.read_bytes()[:-7])  # as if killed while writing a row
    kept = path.read_text().splitlines()[:-1]
    assert run(monkeypatch, *command(killed, "--jobs", "2")[4:]) == 0
    assert set(kept) <= set(path.read_text().splitlines()), "a finished cell was run again"
    assert without_seconds(killed) == without_seconds(whole)
    names = {path.name for path in whole.rglob("*") if path.is_file()}
    tables = {f"accuracy-epsilon-{e}.{form}" for e in ("0.1", "1") for form in ("csv", "md", "tex")}
    assert names == tables | {"cells.csv", "run.json", ".lock"}


def test_an_epsilon_is_asked_for_once_however_it_is_written() -> None:
    assert reproduce._parse_reproduce_epsilons("0.1, 1,0.10,1.0,1e-1") == (0.1, 1.0)


def test_every_target_can_be_asked_for() -> None:
    hint = get_type_hints(reproduce.reproduce, include_extras=True)["target"]
    assert set(get_args(get_args(hint)[0])) == {*TARGETS, "all"}


def test_every_method_is_in_the_help() -> None:
    hint = get_type_hints(reproduce.reproduce, include_extras=True)["methods"]
    (option,) = hint.__metadata__
    listed = re.sub(r" \(.*?\)", "", option.help.removeprefix("Methods, in place of all: "))
    ours, others, _ = listed.split(". ")
    surveyed = [name for name in methods.names() if methods.get(name).surveyed]
    assert ours.split(", ") == [name for name in methods.names() if name not in surveyed]
    assert others.removeprefix("Other published methods: ").split(", ") == surveyed


def test_survey_stands_for_the_table_of_related_work() -> None:
    assert reproduce._parse_reproduce_methods("survey") == methods.survey()
    found = reproduce._parse_reproduce_methods("lightgbm, survey,bdpt")
    assert found == ("lightgbm", *methods.survey())
    assert reproduce._parse_reproduce_methods(None) is None


@pytest.mark.usefixtures("tasks_here")
def test_missing_data_and_methods_are_named_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def nowhere(name: str, data_dir: Path | None = None) -> Records:
        if name == "pol":
            raise DatasetMissingError("pol: not found.")
        return load(name, data_dir)

    load = datasets.load
    monkeypatch.setattr(datasets, "load", nowhere)
    monkeypatch.setattr(Method, "missing", property(lambda method: nothing_or_reason(method.id)))
    arguments = ["accuracy", "--datasets", "pol,vote", "--methods", "diffprivlib-tree,dpgdf"]
    code = run(
        monkeypatch, *arguments, "--repeats", "1", "--epsilon", "1", "-o", tmp_path, "--jobs", "1"
    )
    told = capsys.readouterr().err
    assert code == 0
    assert "Left out: pol: not found.\n" in told
    assert "\nLeft out: a method needs a library. They come with the extra 'bench', " in told
    assert (tmp_path / "accuracy" / "accuracy-epsilon-1.md").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("tasks_here")
def test_pages_and_pictures_are_named_and_what_lies_beside(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], output: Path
) -> None:
    arguments = ["--datasets", "vote", "--methods", "decision-tree", "--repeats", "1", "-o", output]
    arguments += ["--jobs", "1"]
    for target in ("accuracy", "epsilon-curve"):
        assert run(monkeypatch, target, *arguments, "--epsilon", "0.1,1") == 0
    told = capsys.readouterr().err.splitlines()
    assert [line for line in told if line.startswith("Wrote")] == [
        f"Wrote {output}/accuracy/accuracy-epsilon-0.1.md (also as .csv, .tex)",
        f"Wrote {output}/accuracy/accuracy-epsilon-1.md (also as .csv, .tex)",
        f"Wrote {output}/epsilon-curve/epsilon-curve.md (also as .csv, .tex, .png, .svg)",
        f"Wrote {output}/epsilon-curve/epsilon-curve.png (also as .csv, .md, .tex, .svg)",
    ]


@pytest.mark.usefixtures("tasks_here")
def test_all_leaves_out_what_was_not_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ["all", "--datasets", "breast-w", "--methods", "decision-tree,diffprivlib-tree"]
    monkeypatch.setattr(Method, "missing", property(lambda method: nothing_or_reason(method.id)))
    assert run(monkeypatch, *arguments, "--repeats", "1", "-o", tmp_path, "--jobs", "1") == 0
    told = capsys.readouterr().err
    assert told.count("Left out: a method needs a library. They") == 1
    assert "Left out: epsilon-curve: nothing to run" in told
    assert "Left out: budget-shares: nothing to run" in told
    assert "Left out: poisoning-curve: nothing to run" in told
    folders = {path.name for path in tmp_path.iterdir() if path.is_dir()}
    assert folders == {"datasets", "accuracy", "runtime", "poisoning"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["poetry"], "got 'poetry'."),
        (["accuracy", "--datasets", "adlut"], "Did you mean 'adult'?"),
        (["accuracy", "--methods", "privatre"], "Did you mean 'privatree'?"),
        (["accuracy", "--datasets", "vote", "--suite", "uci"], "exclude each other"),
        (["accuracy", "--epsilon", "1,zero"], "--epsilon must be numbers > 0"),
        (["accuracy", "--epsilon", "-1"], "--epsilon must be numbers > 0"),
        (["accuracy", "--epsilon", ","], "--epsilon must be numbers > 0"),
        (["accuracy", "--datasets", " ,"], "--datasets must be names separated by"),
        (["accuracy", "--methods", ""], "--methods must be names separated by"),
        (["accuracy", "--repeats", "0"], "--repeats must be at least 1"),
        (["accuracy", "--jobs", "0"], "--jobs must be at least 1"),
        (["accuracy", "--time-limit", "0"], "--time-limit must be > 0"),
        (["accuracy", "--data-dir", "/no/such"], "--data-dir must be a folder"),
        (["accuracy", "-o", __file__], "is a file"),
        (["accuracy", "--datasets", "breast-w", "--methods", "dpgdf"], "nothing to run"),
    ],
)
def test_mistakes_are_one_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, *arguments) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.splitlines()[-1].startswith("privatree: ")
    assert "Traceback" not in told


@pytest.mark.usefixtures("tasks_here")
def test_results_of_other_data_or_versions_are_not_mixed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ["accuracy", "--datasets", "vote", "--methods", "decision-tree", "-o", tmp_path]
    assert run(monkeypatch, *arguments, "--repeats", "1") == 0
    note = tmp_path / "run.json"
    written = note.read_text()
    fingerprint = datasets.load("vote").fingerprint
    note.write_text(written.replace(fingerprint, "0" * len(fingerprint)))
    assert run(monkeypatch, *arguments) == 2
    assert "has results of other data for vote" in capsys.readouterr().err
    note.write_text(written.replace('"scikit-learn": "', '"scikit-learn": "9.'))
    assert run(monkeypatch, *arguments) == 2
    assert "has results of other versions of scikit-learn" in capsys.readouterr().err
    mark = json.loads(written)["methods"]["decision-tree"]
    note.write_text(written.replace(mark, "0" * len(mark)))
    assert run(monkeypatch, *arguments) == 2
    assert "other versions of the methods decision-tree. Choose" in capsys.readouterr().err
    note.write_text("{")
    assert run(monkeypatch, *arguments) == 2
    assert "must be a file that privatree reproduce wrote" in capsys.readouterr().err


def slow_run(output: Path) -> subprocess.Popen[bytes]:
    """A run that has begun and goes on for long: thousands of quick fits."""
    arguments = ["accuracy", "--datasets", "vote", "--methods", "dpgdf", "--jobs", "1"]
    arguments += ["--repeats", "5000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "privatree", "reproduce", *arguments, "-o", str(output)],
        stderr=subprocess.PIPE,
    )
    while n_cells(output) < 1:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    return process


def children(process: subprocess.Popen[bytes]) -> set[int]:
    tasks = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return {int(number) for number in tasks.read_text().split()}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks into /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])  # Ctrl-C goes the way of TERM
def test_no_process_outlives_the_run_and_no_other_shares_its_folder(
    how: signal.Signals,
    output: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    process = slow_run(output)
    alive = children(process)
    assert alive
    assert run(monkeypatch, "datasets", "--datasets", "vote", "-o", output) == 2
    assert "another run uses this folder" in capsys.readouterr().err
    process.send_signal(how)
    _, told = process.communicate(timeout=600)
    patience = time.monotonic() + 600
    while any(Path(f"/proc/{number}").exists() for number in alive):
        assert time.monotonic() < patience, "a process of the run goes on without it"
        time.sleep(0.05)
    if how is not signal.SIGKILL:
        assert process.returncode == 130
        assert b"Give the same command again to continue." in told
    assert run(monkeypatch, "datasets", "--datasets", "vote", "-o", output) == 0
