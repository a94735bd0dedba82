"""Runs tasks in several processes with a time limit, and writes each result as it comes.

The results do not depend on the number of processes, because a task carries its own seeds. A task
that fails, takes too long or crashes its process becomes a row with a note; the other tasks go on.
A killed run loses only the tasks that were running; the next run continues with what is missing.
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

_MAX_ERROR_TEXT = 200  # characters
_MAX_WAIT = 3600.0  # seconds; the system refuses a wait of weeks
_LOADING_LIMIT = 600.0  # seconds, to find and read a dataset
_ATTEMPTS_TO_START = 3

_Message = Literal["started", "loaded"] | Score | str


class Progress(Protocol):
    """Receiver of the progress of a run, such as a progress bar."""

    def start(self, total: float, done: float) -> None:
        """Begin, given the weight of all tasks and the weight of the finished ones."""

    def advance(self, weight: float, doing: str) -> None:
        """Add the weight of a finished task; ``doing`` names its dataset and method."""


def run_tasks(
    tasks: Sequence[Task], journal: Journal, progress: Progress, *, jobs: int, time_limit: float
) -> None:
    """Run all tasks that the journal does not have yet, in ``jobs`` processes.

    Tasks of the same dataset should be adjacent, because a process keeps only its last dataset.
    ``time_limit`` is in seconds for one task, without the time to load its data.
    """
    waiting = deque(task for task in tasks if task not in journal)
    total = sum(task.weight for task in tasks)
    progress.start(total, total - sum(task.weight for task in waiting))
    workers = [_TaskWorker(time_limit) for _ in range(min(jobs, len(waiting)))]
    try:
        while waiting or any(worker.task is not None for worker in workers):
            for worker in workers:
                if worker.task is None and waiting:
                    worker.assign(waiting.popleft())
            for worker in _wait_for_workers(workers):
                finished = worker.receive()
                if finished is None:
                    continue
                task, outcome = finished
                if isinstance(outcome, Score):
                    journal.record_score(task, outcome)
                else:
                    journal.record_failure(task, outcome)
                progress.advance(task.weight, " ".join(task.key[:2]))
    finally:
        for worker in workers:
            worker.stop()
    journal.sort(tasks)


def _wait_for_workers(workers: Sequence[_TaskWorker]) -> list[_TaskWorker]:
    """Wait until some processes have sent a message, have ended or are late; return them."""
    busy = [worker for worker in workers if worker.task is not None]
    left = min(worker.deadline for worker in busy) - time.monotonic()
    at_most = min(max(0.0, left), _MAX_WAIT)
    answered = connection.wait([worker.pipe for worker in busy], timeout=at_most)
    now = time.monotonic()
    return [worker for worker in busy if worker.pipe in answered or now >= worker.deadline]


class _TaskWorker:
    """A process that runs one task at a time. If the process ends, a new one replaces it."""

    def __init__(self, time_limit: float) -> None:
        self.task: Task | None = None
        self._time_limit = time_limit
        self._attempts = 0
        self._start_process()

    def _start_process(self) -> None:
        context = get_context("spawn")  # a clean process, the same on every system
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_run_sent_tasks, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()  # so that the end of the process is seen as the end of the pipe
        self._started = False
        self._set_deadline(_LOADING_LIMIT, "to start")

    def assign(self, task: Task) -> None:
        """Send a task to the process, now or as soon as the process has started."""
        self.task = task
        if self._started:
            self._send_task()

    def _send_task(self) -> None:
        self._set_deadline(_LOADING_LIMIT, "to load the data")
        try:
            self.pipe.send(self.task)
        except OSError:  # the process died while idle; ``receive`` notices it next
            self.deadline = 0.0

    def _set_deadline(self, limit: float, what: str) -> None:
        self.deadline = time.monotonic() + limit
        self._late_note = f"timeout: more than {limit:g} s {what}".rstrip()

    def receive(self) -> tuple[Task, Score | str] | None:
        """Return the task, and its score or why it has none; None if the task is not finished."""
        try:
            message: _Message | None = self.pipe.recv() if self.pipe.poll() else None
        except (EOFError, OSError):
            self._process.join()
            return self._replace_process(
                f"failed: its process ended with exit code {self._process.exitcode}"
            )
        if message is None:
            return self._replace_process(self._late_note)
        if message == "started":
            self._started, self._attempts = True, 0
            self._send_task()
        elif message == "loaded":
            self._set_deadline(self._time_limit, "")
        else:
            return self._finish_task(message)
        return None

    def _replace_process(self, why: str) -> tuple[Task, Score | str] | None:
        """Replace a process that is dead or late. Return its task as failed if it had begun."""
        finished = self._finish_task(why) if self._started else None
        self._attempts += finished is None
        self.stop()
        if self._attempts == _ATTEMPTS_TO_START:
            raise PrivatreeError(
                f"worker processes cannot start ({why}). In a script, put the call below "
                '`if __name__ == "__main__":`.'
            )
        self._start_process()
        return finished

    def _finish_task(self, outcome: Score | str) -> tuple[Task, Score | str] | None:
        task, self.task = self.task, None
        return None if task is None else (task, outcome)

    def stop(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _run_sent_tasks(pipe: Any) -> None:
    """Run tasks in a worker process as they are sent, until the pipe is closed."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C reaches the main process, which ends this one
    Thread(target=_end_worker_with_parent, daemon=True).start()
    try:
        pipe.send("started")
        while True:
            task: Task = pipe.recv()
            try:
                task.prepare()
                pipe.send("loaded")
                answer: Score | str = task.run()
            except Exception as error:  # a method may raise anything; the error becomes the note
                answer = f"failed: {type(error).__name__}: {error}"[:_MAX_ERROR_TEXT]
            pipe.send(answer)
    except (EOFError, OSError):  # the run was killed
        return


def _end_worker_with_parent() -> None:
    """End this process when the main process ends, even in the middle of a fit."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
