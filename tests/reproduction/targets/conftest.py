"""Runs a target once, with a listener that also counts processes, for tests to look at.

If one job is asked for, it is done in this process.
"""

import csv
import math
import multiprocessing
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from privatree.reproduction.running import Request
from privatree.reproduction.running import _study as study
from privatree.reproduction.running._journal import Journal
from privatree.reproduction.running._study import Study
from privatree.reproduction.running._task import Score
from privatree.reproduction.targets import TARGETS


@dataclass
class Made:
    """A target that was run: its folder, what it returned and what it told."""

    target: str
    request: Request
    written: list[Path]
    listener: Any
    n_processes: int

    @property
    def folder(self) -> Path:
        return self.request.output / self.target

    @property
    def content(self) -> dict[str, bytes]:
        paths = sorted(self.request.output.rglob("*"))
        return {path.name: path.read_bytes() for path in paths if path.is_file()}

    def header(self, name: str) -> list[str]:
        return self.text(name).splitlines()[0].split(",")

    def rows(self, name: str) -> list[dict[str, str]]:
        with (self.folder / name).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def scores(self, value: str, **setting: str) -> list[float]:
        """The scores in cells.csv of one setting."""
        return [
            float(row[value])
            for row in self.rows("cells.csv")
            if all(row[key] == text for key, text in setting.items())
        ]

    def markdown_rows(self, name: str, title: str) -> list[list[str]]:
        """The cells of every line of a page's tables that begins with a title."""
        lines = self.text(name).splitlines()
        split = [[part.strip() for part in line.strip("|").split("|")] for line in lines]
        return [cells for cells in split if cells[0] == title]


class Statistics:
    """Means and errors by hand, from the scores as they are written."""

    @staticmethod
    def mean(scores: Sequence[float]) -> float:
        return sum(scores) / len(scores)

    @staticmethod
    def error(scores: Sequence[float]) -> float:
        return statistics.stdev(scores) / math.sqrt(len(scores))

    @staticmethod
    def shown(figure: float) -> str:
        return f"{figure:.3f}".lstrip("0")


@pytest.fixture(scope="session")
def by_hand() -> Any:
    return Statistics


@pytest.fixture(scope="session")
def reproduce(
    new_listener: Callable[[], Any], run_here: Callable[..., None]
) -> Callable[..., Made]:
    """Run a target; afterwards, what it was and how many processes there were at a time."""

    def run(target: str, request: Request) -> Made:
        listener, seen = new_listener(), [0]
        before = set(multiprocessing.active_children())  # of other tests
        advance = listener.advance

        def counted(weight: float, doing: str) -> None:
            seen.append(len(set(multiprocessing.active_children()) - before))
            advance(weight, doing)

        listener.advance = counted
        with pytest.MonkeyPatch.context() as patch:
            if request.jobs == 1:
                patch.setattr(study, "run", run_here)
            written = TARGETS[target](request, listener)
        return Made(target, request, written, listener, max(seen))

    return run


@pytest.fixture
def asked_for(monkeypatch: pytest.MonkeyPatch, listener: Any) -> Callable[..., list[Any]]:
    """The tasks that a target would run."""

    class AskedError(Exception):
        pass

    def stop(study: Study, name: str, tasks: list[Any], **_: Any) -> None:
        raise AskedError(tasks)

    def tasks_of(target: str, request: Request) -> list[Any]:
        monkeypatch.setattr(Study, "run", stop)
        with pytest.raises(AskedError) as asked:
            TARGETS[target](request, listener)
        return list(asked.value.args[0])

    return tasks_of


@pytest.fixture(scope="session")
def fill() -> Callable[..., None]:
    """Write scores for tasks, as if they had been run; None marks a task as failed."""

    def write(
        folder: Path, tasks: Sequence[Any], score: Callable[[Any], float | Score | None]
    ) -> None:
        journal = Journal(folder / "cells.csv", tasks[0].fields, tasks[0].measures)
        for task in tasks:
            found = score(task)
            if found is None:
                journal.marked(task, "failed: ValueError: no good")
            else:
                journal.scored(task, found if isinstance(found, Score) else Score(found, 0.5))

    return write
