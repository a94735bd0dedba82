"""Starts a process that reads mutated files, watches it, and starts another where one died."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from fuzzing.trial import Outcome, kind_of
from fuzzing.worker import kinds_named

MAX_SILENT_SECONDS = 30.0
"""Of a worker at a file; what takes it more than 1 s of the processor it reports by itself."""
START_SECONDS = 300.0
"""Until it has imported and compiled everything."""


def write_starting_files(kinds_name: str, folder: Path) -> None:
    """Write a folder of valid files for each kind."""
    for kind in kinds_named(kinds_name):
        (folder / kind.name).mkdir()
        kind.write_starting_files(folder / kind.name)


def outcomes(
    kinds_name: str,
    starting: Path,
    seed: int,
    n_files: int,
    most_silent_seconds: float = MAX_SILENT_SECONDS,
) -> Iterator[Outcome]:
    """Yield the outcome of each file, in order."""
    kinds = kinds_named(kinds_name)
    number = 0
    while number < n_files:
        why = "the process ended"
        for outcome in _of_one_worker(
            kinds_name, starting, seed, number, n_files, most_silent_seconds
        ):
            if isinstance(outcome, str):
                why = outcome
                break
            number = outcome.number + 1
            yield outcome
        if number < n_files:
            yield Outcome(number, kind_of(kinds, number).name, "failed", why, 0.0, 0.0)
            number += 1


def _of_one_worker(
    kinds_name: str, starting: Path, seed: int, first: int, end: int, most_silent_seconds: float
) -> Iterator[Outcome | str]:
    """Yield the outcomes of one worker, and the reason if its process stopped early."""
    command = [
        sys.executable, "-m", "fuzzing.worker", "--kinds", kinds_name, "--starting", str(starting),
        "--seed", str(seed), "--first", str(first), "--end", str(end),
    ]  # fmt: skip
    here = str(Path(__file__).parent.parent)
    path = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    worker = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    lines: queue.Queue[str | None] = queue.Queue()
    reader = threading.Thread(target=_read_lines, args=(worker, lines), daemon=True)
    reader.start()
    is_ready = False
    try:
        while True:
            patience = most_silent_seconds if is_ready else START_SECONDS
            try:
                line = lines.get(timeout=patience)
            except queue.Empty:
                yield f"no answer for {patience:g} s"
                return
            if line is None:
                yield f"the process ended with code {worker.wait()}"
                return
            if is_ready:
                yield Outcome(**json.loads(line))
            is_ready = True
    finally:
        worker.kill()
        worker.wait()
        reader.join()


def _read_lines(worker: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    if worker.stdout is not None:
        with worker.stdout as stream:
            for line in stream:
                lines.put(line)
    lines.put(None)
