"""Runs the tasks of an experiment in several processes, and writes every result at once.

The results do not depend on the number of processes: a task carries its own seeds. A task that
fails, takes too long or takes its process down becomes a marked row; the others go on. A killed run
loses nothing but the tasks that were running: the next one takes up what is missing.
"""

from __future__ import annotations

import os
import signal
import time
from collections import deque
from collections.abc import Sequence
from multiprocessing import connection, get_context, parent_process
from threading import Thread
from typing import Any, Literal, Protocol

from privatree.errors import PrivatreeError
from privatree.reproduction.running._journal import Journal
from privatree.reproduction.running._task import Score, Task

_SHOWN_OF_AN_ERROR = 200  # characters
_MAX_WAIT = 3600.0  # seconds; the system refuses weeks
_LOADING_LIMIT = 600.0  # seconds, to find and read a dataset
_ATTEMPTS_TO_START = 3

_Message = Literal["started", "loaded"] | Score | str


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
        Seconds that a task may take once its data is loaded.

    Raises
    ------
    PrivatreeError
        If processes cannot be started.
    """
    waiting = deque(task for task in tasks if task not in journal)
    total = sum(task.weight for task in tasks)
    progress.start(total, total - sum(task.weight for task in waiting))
    workers = [_Worker(time_limit) for _ in range(min(jobs, len(waiting)))]
    try:
        while waiting or any(worker.task is not None for worker in workers):
            for worker in workers:
                if worker.task is None and waiting:
                    worker.give(waiting.popleft())
            for worker in _ready(workers):
                finished = worker.hear()
                if finished is None:
                    continue
                task, outcome = finished
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
    """Wait until a busy process has a message, is dead or is late; or, with none, for long."""
    busy = [worker for worker in workers if worker.task is not None]
    left = min(worker.deadline for worker in busy) - time.monotonic()
    at_most = min(max(0.0, left), _MAX_WAIT)
    answered = connection.wait([worker.pipe for worker in busy], timeout=at_most)
    now = time.monotonic()
    return [worker for worker in busy if worker.pipe in answered or now >= worker.deadline]


class _Worker:
    """A process that runs one task at a time; a new one takes its place if it ends."""

    def __init__(self, time_limit: float) -> None:
        self.task: Task | None = None
        self._time_limit = time_limit
        self._attempts = 0
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")  # a clean process, the same on every system
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()  # so that the end of the process is seen as the end of the pipe
        self._started = False
        self._clock(_LOADING_LIMIT, "to start")

    def give(self, task: Task) -> None:
        """Send a task, at once or as soon as the process has started."""
        self.task = task
        if self._started:
            self._send()

    def _send(self) -> None:
        self._clock(_LOADING_LIMIT, "to load the data")
        try:
            self.pipe.send(self.task)
        except OSError:  # it died while idle; the end of the pipe is heard next
            self.deadline = 0.0

    def _clock(self, limit: float, what: str) -> None:
        self.deadline = time.monotonic() + limit
        self._late = f"timeout: more than {limit:g} s {what}".rstrip()

    def hear(self) -> tuple[Task, Score | str] | None:
        """What became of the task: its score, or why it has none; None if it is not done yet."""
        try:
            message: _Message | None = self.pipe.recv() if self.pipe.poll() else None
        except (EOFError, OSError):
            self._process.join()
            return self._lost(f"failed: its process ended with exit code {self._process.exitcode}")
        if message is None:
            return self._lost(self._late)
        if message == "started":
            self._started, self._attempts = True, 0
            self._send()
        elif message == "loaded":
            self._clock(self._time_limit, "")
        else:
            return self._finished(message)
        return None

    def _lost(self, why: str) -> tuple[Task, Score | str] | None:
        """The process is dead or late: start another, and give up the task if it had begun."""
        finished = self._finished(why) if self._started else None
        self._attempts += finished is None
        self.stop()
        if self._attempts == _ATTEMPTS_TO_START:
            raise PrivatreeError(
                f"processes for the experiment do not start: {why}. From a script, call below "
                '`if __name__ == "__main__":`.'
            )
        self._start()
        return finished

    def _finished(self, outcome: Score | str) -> tuple[Task, Score | str] | None:
        task, self.task = self.task, None
        return None if task is None else (task, outcome)

    def stop(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _work(pipe: Any) -> None:
    """What a process does: run what it is sent, until the other side is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other side is asked, and ends this one
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        pipe.send("started")
        while True:
            task: Task = pipe.recv()
            try:
                task.prepare()
                pipe.send("loaded")
                answer: Score | str = task.run()
            except Exception as error:  # any failure of any method marks its row
                answer = f"failed: {type(error).__name__}: {error}"[:_SHOWN_OF_AN_ERROR]
            pipe.send(answer)
    except (EOFError, OSError):  # the run was killed
        return


def _end_with_parent() -> None:
    """Do not go on with a fit that nobody waits for."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
