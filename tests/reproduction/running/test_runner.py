"""Every task ends as a row, whatever it does to its process."""

import math
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from privatree.errors import PrivatreeError
from privatree.reproduction.running import _runner as runner
from privatree.reproduction.running._journal import Journal

FIELDS = ("number", "does")


def finished(path: Path) -> dict[str, list[str]]:
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
    return {row[0]: row[1:] for row in rows}


@pytest.mark.parametrize(("jobs", "limit"), [(1, math.inf), (3, 60.0)])
def test_the_file_is_the_same_for_any_number_of_processes(
    fake_tasks: ModuleType, tmp_path: Path, listener: Any, jobs: int, limit: float
) -> None:
    journal = Journal(tmp_path / "cells.csv", FIELDS)
    tasks = [fake_tasks.Fake(number) for number in range(7)]
    runner.run_tasks(tasks, journal, listener, jobs=jobs, time_limit=limit)
    expected = [f"{n},score,{n / 7:.6f},0.2500," for n in range(7)]
    assert journal.path.read_text().splitlines()[1:] == expected
    assert listener.advanced == listener.total == sum(range(1, 8))


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In the place of the runner's clock: a folder, in which each file is ten seconds."""
    folder = tmp_path / "clock"
    folder.mkdir()
    time = SimpleNamespace(monotonic=lambda: 10.0 * len(list(folder.iterdir())))
    monkeypatch.setattr(runner, "time", time)
    return folder


def test_what_fails_hangs_or_dies_is_marked_and_the_rest_goes_on(
    fake_tasks: ModuleType, tmp_path: Path, listener: Any, clock: Path
) -> None:
    journal = Journal(tmp_path / "cells.csv", FIELDS)
    does = ["score", "fail", "hang", "die", "leave", "load slowly", "score", "lose data"]
    tasks = [fake_tasks.Fake(number, what, str(clock)) for number, what in enumerate(does)]
    runner.run_tasks(tasks, journal, listener, jobs=1, time_limit=0.5)
    rows = finished(journal.path)
    assert rows["1"][1:] == ["", "", "failed: ValueError: a line and another"]
    assert rows["2"][1:] == ["", "", "timeout: more than 0.5 s"]
    assert rows["3"][1:] == ["", "", "failed: its process ended with exit code -9"]
    assert rows["4"][1:] == ["", "", "failed: its process ended with exit code 3"]
    assert rows["7"][1:] == ["", "", "failed: FileNotFoundError: gone"]
    for number in (0, 5, 6):  # loading does not count
        assert rows[str(number)][1] == f"{number / 7:.6f}"


def test_only_what_is_missing_is_run(fake_tasks: ModuleType, tmp_path: Path, listener: Any) -> None:
    path = tmp_path / "cells.csv"
    tasks = [fake_tasks.Fake(number) for number in range(4)]
    runner.run_tasks(tasks[:2], Journal(path, FIELDS), listener, jobs=1, time_limit=60)
    path.write_text(path.read_text().replace("0.142857", "0.999999"))
    runner.run_tasks(tasks, Journal(path, FIELDS), listener, jobs=1, time_limit=60)
    assert listener.before == 3.0
    assert listener.advanced == 7.0
    assert finished(path)["1"][1] == "0.999999"
    assert set(finished(path)) == {"0", "1", "2", "3"}


def test_nothing_to_do(fake_tasks: ModuleType, tmp_path: Path, listener: Any) -> None:
    journal = Journal(tmp_path / "cells.csv", FIELDS)
    runner.run_tasks([], journal, listener, jobs=2, time_limit=1)
    assert journal.path.read_text().count("\n") == 1


class Killed:
    """Kills its process, as many times as said, before it has read what it is sent."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
        self.left = times
        start = runner._TaskWorker._start_process

        def start_and_kill(worker: runner._TaskWorker) -> None:
            start(worker)
            if self.left > 0:
                self.left -= 1
                worker._process.kill()

        monkeypatch.setattr(runner._TaskWorker, "_start_process", start_and_kill)


def test_a_process_that_dies_before_it_starts_is_replaced(
    monkeypatch: pytest.MonkeyPatch, fake_tasks: ModuleType, tmp_path: Path, listener: Any
) -> None:
    journal = Journal(tmp_path / "cells.csv", FIELDS)
    killed = Killed(monkeypatch, 2)
    runner.run_tasks([fake_tasks.Fake(3)], journal, listener, jobs=1, time_limit=60)
    assert killed.left == 0
    assert finished(journal.path)["3"][1] == "0.428571"


def test_processes_that_never_start_end_the_run_and_mark_nothing(
    monkeypatch: pytest.MonkeyPatch, fake_tasks: ModuleType, tmp_path: Path, listener: Any
) -> None:
    journal = Journal(tmp_path / "cells.csv", FIELDS)
    Killed(monkeypatch, 1000)
    with pytest.raises(PrivatreeError, match=r"cannot start .* exit code -9"):
        runner.run_tasks([fake_tasks.Fake(3)], journal, listener, jobs=1, time_limit=60)
    assert finished(journal.path) == {}


def test_a_process_that_dies_while_idle_is_replaced(
    monkeypatch: pytest.MonkeyPatch, fake_tasks: ModuleType, tmp_path: Path, listener: Any
) -> None:
    give = runner._TaskWorker.assign

    def kill_and_give(worker: runner._TaskWorker, task: Any) -> None:
        if task.number == 1:
            worker._process.kill()
            worker._process.join()
        give(worker, task)

    monkeypatch.setattr(runner._TaskWorker, "assign", kill_and_give)
    journal = Journal(tmp_path / "cells.csv", FIELDS)
    tasks = [fake_tasks.Fake(number) for number in range(3)]
    runner.run_tasks(tasks, journal, listener, jobs=1, time_limit=60)
    rows = finished(journal.path)
    assert rows["1"][1:] == ["", "", "failed: its process ended with exit code -9"]
    assert rows["2"][1] == "0.285714"
