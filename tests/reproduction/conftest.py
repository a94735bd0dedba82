"""Tasks that a process of the runner can import, and somebody who listens."""

import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from rendered import write_tiny_mnist

from privatree.reproduction.datasets._dataset import PaperDataset

FAKE_TASKS = """
import os, signal, time
from pathlib import Path
from dataclasses import dataclass
from typing import ClassVar

from privatree.reproduction.running._task import Score


@dataclass(frozen=True)
class Fake:
    number: int
    does: str = "score"
    clock: str = ""  # a folder: the number of its files is the time, see `test_runner`
    fields: ClassVar = ("number", "does")
    measures: ClassVar = ()
    added_measures: ClassVar = ()

    @property
    def key(self):
        return (str(self.number), self.does)

    @property
    def weight(self):
        return 1.0 + self.number

    def prepare(self):
        if self.does == "load slowly":
            Path(self.clock, self.does).touch()
            time.sleep(1)  # longer than the runner waits for a task that is late
        if self.does == "lose data":
            raise FileNotFoundError("gone")

    def run(self):
        if self.does == "fail":
            raise ValueError("a line\\nand another")
        while self.does == "hang":  # the time goes on, whenever the runner begins to look
            Path(self.clock, f"{time.monotonic()}").touch()
            time.sleep(0.05)
        if self.does == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.does == "leave":
            raise SystemExit(3)
        time.sleep(0.01 * (self.number % 3))
        return Score(self.number / 7, 0.25)
"""


@pytest.fixture(scope="session")
def fake_tasks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("tasks")
    (folder / "fake_tasks.py").write_text(FAKE_TASKS)
    sys.path.insert(0, str(folder))
    import fake_tasks  # type: ignore[import-not-found]

    yield fake_tasks
    sys.path.remove(str(folder))


class Listener:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.total = self.before = self.advanced = 0.0

    def say(self, line: str) -> None:
        self.lines.append(line)

    def start(self, total: float, done: float) -> None:
        self.total, self.before, self.advanced = total, done, 0.0

    def advance(self, weight: float, doing: str) -> None:
        self.advanced += weight


@pytest.fixture(scope="session")
def new_listener() -> Callable[[], Any]:
    return Listener


@pytest.fixture
def listener(new_listener: Callable[[], Any]) -> Any:
    return new_listener()


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture(scope="session")
def tiny_mnist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a few images in the place of MNIST."""
    folder = tmp_path_factory.mktemp("mnist")
    write_tiny_mnist(folder)
    return folder


# --- no test here touches the network or the user's own cache folder ---------------------------


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    folder = tmp_path / "home" / "cache"
    monkeypatch.setenv("PRIVATREE_CACHE", str(folder))
    return folder


@pytest.fixture
def tiny():
    """A dataset of seven rows; what the tests call OpenML has eight, one with a gap."""
    return PaperDataset(
        name="tiny",
        title="tiny",
        suite="mixed",
        openml_id=61,
        n_records=7,
        n_features=3,
        n_categorical=1,
        majority_share=0.571,
    )
