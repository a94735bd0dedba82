"""Which files of the package a training crosses, and how often it opens and parses what it reads.

    python benchmarks/trace_of_a_fit.py

Traced are ``fit(X, y)``, ``privatree fit data.csv`` with both engines that need no cluster, and
``privatree predict --keep``. A file is crossed if a function in it is called; imports do not count.
Everything runs once before, so that nothing is compiled or imported while it is traced.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import privatree
from privatree import PrivaTreeClassifier, datasets
from privatree.cli import main

PACKAGE = Path(privatree.__file__).parent
WATCHED = {
    "find_files": "files looked for",
    "open": "source opened",
    "read_first_row": "CSV header parsed",
    "read_row_chunks": "passes over a CSV file",
}
"""Functions of ``sources/``, and what a call of them is."""


class Trace:
    """Functions of the package that are called while it is active, in all threads."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        self._entered: set[Any] = set()  # a generator is called once, however often it goes on

    def _note(self, frame: Any, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(str(PACKAGE)):
            return
        if code.co_name == "<module>" or frame in self._entered:
            return
        if code.co_flags & inspect.CO_GENERATOR:
            self._entered.add(frame)
        self.calls[str(Path(code.co_filename).relative_to(PACKAGE)), code.co_name] += 1

    def __enter__(self) -> Trace:
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def report(self, name: str) -> None:
        """Print the functions that were called."""
        files = sorted({file for file, _ in self.calls})
        print(f"{name}: {len(files)} files")
        for function, meaning in WATCHED.items():
            times = sum(
                count
                for (file, called), count in self.calls.items()
                if called == function and file.startswith("sources")
            )
            print(f"  {meaning}: {times}")
        print("  " + " ".join(files))


def traced(name: str, call: Callable[[], object]) -> None:
    call()
    with Trace() as trace:
        call()
    trace.report(name)


def command(arguments: str) -> None:
    """Run a command without output; if it fails, show what it printed."""
    sys.argv = ["privatree", *arguments.split()]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise RuntimeError(printed.getvalue()) from None


def run() -> None:
    frame, labels, schema = datasets.load("adult")
    traced("fit(X, y)", lambda: PrivaTreeClassifier(1.0, schema=schema).fit(frame, labels))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        frame.assign(answer=labels).to_csv("data.csv", index=False)
        schema.to_toml("schema.toml")
        fit = "fit data.csv --target answer --schema schema.toml --epsilon 1 -o model.json --quiet"
        for engine in ("memory", "stream"):
            traced(f"privatree fit --engine {engine}", partial(command, f"{fit} --engine {engine}"))
        predict = f"predict model.json data.csv --keep {frame.columns[0]} -o out.csv"
        traced("privatree predict --keep", partial(command, predict))
        os.chdir(PACKAGE)


if __name__ == "__main__":
    run()
