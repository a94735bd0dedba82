"""Runs the tasks of an experiment in several processes, and writes every result at once.

The results do not depend on the number of processes: a task carries its own seeds. A task that
fails, takes too long or takes its process down becomes a marked row; the others go on. A killed run
loses nothing but the tasks that were running: the next one takes up what is missing.
"""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Sequence
from multiprocessing import connection, get_context
from typing import Any, Protocol

from privatree.experiments.journal import Journal
from privatree.experiments.tasks import Score, Task

_SHOWN_OF_AN_ERROR = 200  # characters


class Progress(Protocol):
    """Who wants to know how far the run is."""

    def start(self, total: float, done: float) -> None:
        """How much there is to do, and how much of it was done before."""

    def advance(self, weight: float, doing: str) -> None:
        """A task of this weight is finished; what is at work now."""


def run(
    tasks: Sequence[Task],
    journal: Journal,
    progress: Progress,
    *,
    jobs: int,
    time_limit: float,
) -> None:
    """Run all tasks that the journal does not have yet.

    Parameters
    ----------
    tasks : sequence of Task
        What to run; neighbours in the sequence should use the same data.
    journal : Journal
        Where results go, in the order in which they come.
    progress : Progress
        Told after every task.
    jobs : int
        Number of processes.
    time_limit : float
        Seconds that a task may take.
    """
    waiting = deque(task for task in tasks if task not in journal)
    total = sum(task.weight for task in tasks)
    progress.start(total, total - sum(task.weight for task in waiting))
    workers = [_Worker() for _ in range(min(jobs, len(waiting)))]
    try:
        while waiting or any(worker.task is not None for worker in workers):
            for worker in workers:
                if worker.task is None and waiting:
                    worker.give(waiting.popleft(), time_limit)
            for worker in _ready(workers):
                task, outcome = worker.take(time_limit)
                if isinstance(outcome, Score):
                    journal.scored(task, outcome)
                else:
                    journal.marked(task, outcome)
                progress.advance(task.weight, " ".join(task.key[:2]))
    finally:
        for worker in workers:
            worker.stop()
    journal.sort(tasks)


def _ready(workers: Sequence[_Worker]) -> list[_Worker]:
    """Wait until a busy process has an answer, is dead or is late."""
    busy = [worker for worker in workers if worker.task is not None]
    left = min(worker.deadline for worker in busy) - time.monotonic()
    answered = connection.wait([worker.pipe for worker in busy], timeout=max(0.0, left))
    now = time.monotonic()
    return [worker for worker in busy if worker.pipe in answered or now >= worker.deadline]


class _Worker:
    """A process that runs one task at a time; a new one takes its place if it has to be killed."""

    def __init__(self) -> None:
        self.task: Task | None = None
        self.deadline = 0.0
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")  # a clean process, the same on every system
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()  # so that the end of the process is seen as the end of the pipe

    def give(self, task: Task, time_limit: float) -> None:
        """Send a task; the clock starts."""
        self.task = task
        self.deadline = time.monotonic() + time_limit
        try:
            self.pipe.send(task)
        except OSError:  # it died while idle
            self.stop()
            self._start()
            self.pipe.send(task)

    def take(self, time_limit: float) -> tuple[Task, Score | str]:
        """The task that was given, and its score or why it has none."""
        task, self.task = self.task, None
        outcome: Score | str = f"timeout: more than {time_limit:g} s"
        try:
            if self.pipe.poll():
                outcome = self.pipe.recv()
                return task, outcome  # type: ignore[return-value]
        except EOFError:
            self._process.join()
            outcome = f"failed: its process ended with exit code {self._process.exitcode}"
        self.stop()
        self._start()
        return task, outcome  # type: ignore[return-value]

    def stop(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _work(pipe: Any) -> None:
    """What a process does: run what it is sent, until the other side is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other side is asked, and ends this one
    while True:
        try:
            task: Task = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer: Score | str = task.run()
        except Exception as error:  # any failure of any method marks its row
            answer = f"failed: {type(error).__name__}: {error}"[:_SHOWN_OF_AN_ERROR]
        try:
            pipe.send(answer)
        except OSError:  # the run was killed
            return
