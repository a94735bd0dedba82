"""The process that reads mutated files: ``python -m fuzzing.worker``, started by the supervisor.

It prints a line of JSON when it is ready and for each file. If it then dies or is silent, the next
file is to blame.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import warnings
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from fuzzing import trial
from fuzzing.file_kinds import FileKind


def kinds_named(name: str) -> tuple[FileKind, ...]:
    """Return the variable KINDS of a module."""
    module: Any = import_module(name)
    found: tuple[FileKind, ...] = module.KINDS
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", required=True)
    parser.add_argument("--starting", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--end", type=int, required=True)
    arguments = parser.parse_args()
    warnings.simplefilter("error")
    kinds = kinds_named(arguments.kinds)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _warm_up(kinds, arguments.starting, folder)
        trial.limit_memory()
        trial.forget_peak()
        baseline = trial.peak_memory()
        sys.stdout.write("{}\n")  # ready
        sys.stdout.flush()
        for number in range(arguments.first, arguments.end):
            kind = trial.kind_of(kinds, number)
            contents, start = trial.mutated_file(kind, arguments.starting, arguments.seed, number)
            path = folder / f"mutated{kind.suffix}"
            path.write_bytes(contents)
            outcome = trial.run(kind, path, start, number, baseline)
            sys.stdout.write(json.dumps(asdict(outcome)) + "\n")
            sys.stdout.flush()


def _warm_up(kinds: tuple[FileKind, ...], starting: Path, folder: Path) -> None:
    """Import and compile everything first, because that time does not belong to the files."""
    for kind in kinds:
        for path in sorted((starting / kind.name).iterdir()):
            kind.use(kind.load(path, path.stem), folder)


if __name__ == "__main__":
    main()
