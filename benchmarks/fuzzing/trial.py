"""One mutated file through its loader: what came of it, how long it took and how much memory."""

from __future__ import annotations

import math
import os
import random
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzzing.file_kinds import FileKind

MAX_SECONDS, MAX_MEGABYTES = 1.0, 200
MAX_MESSAGE_LENGTH = 400
INTERNALS = ("NoneType", "object at 0x", "unhashable", "Traceback", "<class", "numpy.", "np.")


@dataclass(frozen=True)
class Outcome:
    """What one file came to.

    Parameters
    ----------
    number : int
        Of the file.
    kind : str
        Of the file.
    result : str
        "loaded", "refused" or "failed".
    why : str
        The message of a refusal without what varies, or what failed.
    seconds : float
        Of the processor that the loader took.
    megabytes : float
        The process had more at most than before the first file.
    """

    number: int
    kind: str
    result: str
    why: str
    seconds: float
    megabytes: float


def kind_of(kinds: Sequence[FileKind], number: int) -> FileKind:
    """Return the kind of the file with this number; kinds alternate by their shares."""
    turns = [kind for kind in kinds for _ in range(kind.share)]
    return turns[number % len(turns)]


def mutated_file(kind: FileKind, starting: Path, seed: int, number: int) -> tuple[bytes, str]:
    """Return the file with this number, always the same, and the name of its original."""
    rng = random.Random(f"{seed} {kind.name} {number}")
    files = sorted((starting / kind.name).iterdir())
    start, other = rng.choice(files), rng.choice(files)
    return kind.mutate(start.read_bytes(), other.read_bytes(), rng), start.stem


def run(kind: FileKind, path: Path, name: str, number: int, baseline: float) -> Outcome:
    """Load the file, and use the loaded object."""
    forget_peak()
    result, why = "loaded", ""
    loaded, error, seconds = _timed(lambda: kind.load(path, name))
    if isinstance(error, kind.refusal):
        result, why = "refused", str(error).removeprefix(f"{path}: ")
        if wrong := wrong_message(str(error), path):
            result, why = "failed", wrong
    elif error is None:
        _, error, use_seconds = _timed(lambda: kind.use(loaded, path.parent))
        if use_seconds > MAX_SECONDS:
            result, why = "failed", f"using it took {use_seconds:.1f} s"
    if error is not None and result == "loaded":
        result, why = "failed", _described(error)
    megabytes = peak_memory() - baseline
    if result != "failed" and seconds > MAX_SECONDS:
        result, why = "failed", f"loading took {seconds:.1f} s"
    if result != "failed" and megabytes > MAX_MEGABYTES:
        result, why = "failed", f"{megabytes:.0f} MB"
    return Outcome(number, kind.name, result, why, round(seconds, 4), round(megabytes, 1))


def wrong_message(message: str, path: Path) -> str:
    """Return what is wrong with the message of a refusal, or an empty text."""
    if not message.startswith(f"{path}: "):
        return f"the message does not begin with the path: {message[:200]}"
    if "\n" in message or len(message) > MAX_MESSAGE_LENGTH:
        return f"the message is not one line of {MAX_MESSAGE_LENGTH} characters: {message[:200]}"
    if found := [word for word in INTERNALS if word in message.removeprefix(f"{path}: ")]:
        return f"the message shows {found[0]}: {message[:200]}"
    return ""


def _described(error: Exception) -> str:
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(where.filename).name}:{where.lineno}"
    return f"{type(error).__name__} at {place}: {str(error)[:200]}"


def _timed(action: Callable[[], Any]) -> tuple[Any, Exception | None, float]:
    """What it gives or raises, and in how many seconds of the processor.

    So others that are busy on the machine do not count, except that they make it slower: what took
    long is done again. A loader that sleeps is found by the supervisor.
    """
    fastest = math.inf
    for _ in range(2):
        result, error, begin = None, None, time.process_time()
        try:
            result = action()
        except Exception as raised:
            error = raised
        fastest = min(fastest, time.process_time() - begin)
        if fastest <= MAX_SECONDS:
            break
    return result, error, fastest


# --- memory -------------------------------------------------------------------------------------


def forget_peak() -> None:
    """Reset the measurement of peak memory, if the system supports it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def peak_memory() -> float:
    """Return the peak memory in MB since :func:`forget_peak` or the start of the process."""
    if os.path.exists("/proc/self/status"):
        return _status("VmHWM")
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def limit_memory() -> None:
    """Limit the process to 200 MB more than it has now, if the system supports it."""
    if not os.path.exists("/proc/self/status"):
        return
    import resource

    most = int((_status("VmSize") + MAX_MEGABYTES) * 2**20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _status(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    return 0.0
