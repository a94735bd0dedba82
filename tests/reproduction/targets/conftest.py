"""Targets that are run once, with what they wrote, told and drew for tests to look at."""

import csv
import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib.figure
import pytest
from rendered import faked_runs

from privatree.reproduction.running import Request
from privatree.reproduction.running import _study as study
from privatree.reproduction.running._study import Study
from privatree.reproduction.targets import TARGETS


@dataclass
class Made:
    """A target that was run: its folder, what it returned, told, ran and drew."""

    target: str
    request: Request
    listener: Any
    written: list[Path] = field(default_factory=list)
    tasks: list[Any] = field(default_factory=list)
    figures: list[Any] = field(default_factory=list)
    n_processes: int = 0

    @property
    def folder(self) -> Path:
        return self.request.output / self.target

    @property
    def content(self) -> dict[str, bytes]:
        paths = sorted(self.request.output.rglob("*"))
        return {path.name: path.read_bytes() for path in paths if path.is_file()}

    def rows(self, name: str) -> list[dict[str, str]]:
        with (self.folder / name).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def markdown_rows(self, name: str, title: str) -> list[list[str]]:
        """The cells of every line of a page's tables that begins with a title."""
        lines = self.text(name).splitlines()
        split = [[part.strip() for part in line.strip("|").split("|")] for line in lines]
        return [cells for cells in split if cells[0] == title]


@pytest.fixture(scope="session")
def reproduce(
    new_listener: Callable[[], Any], run_here: Callable[..., None]
) -> Callable[..., Made]:
    """Run a target: in this process if one job is asked for."""

    def run(target: str, request: Request) -> Made:
        made = Made(target, request, new_listener())
        before = set(multiprocessing.active_children())  # of other tests
        advance, study_run = made.listener.advance, Study.run

        def counted(weight: float, doing: str) -> None:
            there = len(set(multiprocessing.active_children()) - before)
            made.n_processes = max(made.n_processes, there)
            advance(weight, doing)

        def noted(self: Study, name: str, tasks: list[Any], **settings: Any) -> Any:
            made.tasks += tasks
            return study_run(self, name, tasks, **settings)

        made.listener.advance = counted
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Study, "run", noted)
            if request.jobs == 1:
                patch.setattr(study, "run_tasks", run_here)
            made.written = TARGETS[target](request, made.listener)
        return made

    return run


@pytest.fixture
def faked(output: Path, new_listener: Callable[[], Any]) -> Callable[..., Made]:
    """Run a target with scores that are made up; of a figure, nothing is written."""

    def run(target: str, score: Callable[[Any], Any], *asked: Any, **more: Any) -> Made:
        made = Made(target, Request(output, *asked, **more), new_listener())

        def keep(figure: Any, content: Any, **_: Any) -> None:
            if figure not in made.figures:
                made.figures.append(figure)

        with faked_runs(score), pytest.MonkeyPatch.context() as patch:
            patch.setattr(matplotlib.figure.Figure, "savefig", keep)
            made.written = TARGETS[target](made.request, made.listener)
        return made

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
