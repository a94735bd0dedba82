"""``privatree reproduce``: the paper's tables and figures, measured here."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from privatree.errors import ParameterError

_SECONDS_BETWEEN_LINES = 60.0


def reproduce(
    target: Annotated[
        Literal[
            "accuracy",
            "runtime",
            "datasets",
            "epsilon-curve",
            "budget-shares",
            "poisoning",
            "poisoning-curve",
            "backdoor",
            "all",
        ],
        typer.Argument(
            metavar="TARGET",
            help="accuracy: the tables of all methods. runtime: seconds a fit. datasets: their "
            "properties. epsilon-curve: accuracy against epsilon. budget-shares: how Algorithm 1 "
            "should divide its budget. poisoning: tables of the accuracy guaranteed if records are "
            "poisoned. poisoning-curve: the same against their number. backdoor: a trigger "
            "planted in images, and how often it works. all: one after the other.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Folder for results, tables and figures."
        ),
    ] = Path("reproduction"),
    data_dir: Annotated[
        Path | None,
        typer.Option(
            help="Folder of datasets: NAME.parquet with the label in the column target; for "
            "backdoor mnist01.npz, with the arrays X (uint8, n x 784) and y (0 or 1). What is not "
            "there comes from the package or from OpenML."
        ),
    ] = None,
    suite: Annotated[
        Literal["uci", "numerical", "mixed", "all"] | None,
        typer.Option(help="One of the paper's groups of datasets. Five of uci's six are bundled."),
    ] = None,
    datasets: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Only these datasets.")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Only these methods: decision-tree, dpa, bdpt, privatree-star, dpgdf, "
            "privatree-paper, diffprivlib-forest, diffprivlib-tree, random-tree (our version of "
            "it), privatree (record-level), privatree-robust, diffprivlib-logistic, dp-ebm.",
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(metavar="E,F,...", help="Privacy budgets, in place of the paper's."),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="How often everything is repeated with other seeds: by default 5 for accuracy, "
            "10 for poisoning, 1 for runtime, and the paper's 50 for the figures.",
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            metavar="N", help="Processes at a time; the results are the same. runtime takes one."
        ),
    ] = max(1, os.cpu_count() or 1),
    time_limit: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="What takes longer than this to train and score is marked timeout.",
        ),
    ] = 1800.0,
    retry: Annotated[
        bool, typer.Option("--retry", help="Run again what failed or took too long before.")
    ] = False,
) -> None:
    """Measure the paper's tables and figures, with the published figures beside.

    Every finished fit is written at once: a run that was stopped goes on where it was when the same
    command is given again. All seeds are fixed: the same accuracies come out again with the same
    libraries, on another machine up to rounding.

    Some methods are other people's libraries, which come with the extra "bench" of this package,
    best installed in an environment of its own; what is missing is named and left out.

    Example: privatree reproduce accuracy --suite uci -o out
    """
    from privatree.reproduction.datasets import names
    from privatree.reproduction.running import NothingToRunError, Request, alone
    from privatree.reproduction.targets import TARGETS

    if suite is not None and datasets is not None:
        raise ParameterError("--suite and --datasets exclude each other. Leave out one.")
    if data_dir is not None and not data_dir.is_dir():
        raise ParameterError(f"{data_dir}: there is no such folder for --data-dir.")
    if output.exists() and not output.is_dir():
        raise ParameterError(f"{output}: is a file. Name a folder.")
    request = Request(
        output=output,
        datasets=_listed("--datasets", datasets) if suite is None else names(suite),
        methods=_listed("--methods", methods),
        epsilons=_epsilons(epsilon),
        repeats=_at_least_one("--repeats", repeats),
        data_dir=data_dir,
        jobs=_at_least_one("--jobs", jobs) or 1,
        time_limit=time_limit,
        retry=retry,
        as_published=target == "all",
    )
    if not time_limit > 0:
        raise ParameterError(f"--time-limit must be > 0, got {time_limit:g}.")
    try:
        with _stopped_by_term(), alone(output), _Terminal() as terminal:
            for name in list(TARGETS) if target == "all" else [target]:
                terminal.begin(name)
                try:
                    terminal.wrote(TARGETS[name](request, terminal))
                except NothingToRunError as error:
                    if target != "all":
                        raise
                    terminal.say(f"Left out: {error}")
    except KeyboardInterrupt:
        typer.echo("Stopped. The same command goes on where this one stopped.", err=True)
        raise


@contextmanager
def _stopped_by_term() -> Iterator[None]:
    """Let a request to end the program end it as Ctrl-C does, with its processes."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _listed(option: str, given: str | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    found = tuple(dict.fromkeys(word.strip() for word in given.split(",") if word.strip()))
    if not found:
        raise ParameterError(f"{option} must be names with commas between, got {given!r}.")
    return found


def _epsilons(given: str | None) -> tuple[float, ...] | None:
    if given is None:
        return None
    try:
        found = tuple(dict.fromkeys(float(word) for word in given.split(",") if word.strip()))
    except ValueError:
        found = ()
    if not found or not all(0 < epsilon < math.inf for epsilon in found):
        raise ParameterError(f"--epsilon must be numbers > 0 with commas between, got {given!r}.")
    return found


def _at_least_one(option: str, given: int | None) -> int | None:
    if given is not None and given < 1:
        raise ParameterError(f"{option} must be at least 1, got {given}.")
    return given


class _Terminal:
    """A progress bar with the time left; where there is no terminal, a line now and then."""

    def __init__(self) -> None:
        from privatree._support.progress import rich_progress

        columns = ("{task.description:<42}", "bar", "share", "elapsed", "left", "remaining")
        self._bar = rich_progress(*columns, speed_estimate_period=600.0)
        self._target, self._last_line = "", 0.0
        self._said: set[str] = set()
        self._task: Any = None

    def __enter__(self) -> _Terminal:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, target: str) -> None:
        """The next target."""
        self._target = target
        self.say(f"reproduce {target}")

    def say(self, line: str) -> None:
        """Show a line above the bar; what was left out, once for all targets."""
        if line not in self._said:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
        self._said.add(line)

    def wrote(self, paths: Sequence[Path]) -> None:
        """Name the pages and pictures to look at; other forms of them lie beside."""
        for path in paths:
            if path.suffix in (".md", ".png"):
                forms = ", ".join(p.suffix for p in paths if p.stem == path.stem and p != path)
                self.say(f"Wrote {path} (beside it: {forms})")

    def start(self, total: float, done: float) -> None:
        """A new bar."""
        self._task = self._bar.add_task(self._target, total=total)
        self._bar.update(self._task, completed=done)
        self._total, self._done, self._before = total, done, done
        self._began = self._last_line = time.monotonic()

    def advance(self, weight: float, doing: str) -> None:
        """Move the bar."""
        self._done += weight
        self._bar.update(self._task, advance=weight, description=f"{self._target}: {doing}")
        now = time.monotonic()
        if self._bar.disable and now - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._last_line = now
            left = (now - self._began) * (self._total - self._done) / (self._done - self._before)
            share = self._done / self._total
            self.say(f"{self._target}: {share:.0%}, about {left / 60:.0f} min left ({doing})")
