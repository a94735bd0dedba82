"""``privatree reproduce``: measure the tables and figures of the paper again."""

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

from privatree.cli._output import output_option
from privatree.errors import ParameterError

_SECONDS_BETWEEN_LINES = 60.0
"""How often progress is printed where stderr is not a terminal."""


def reproduce(
    target: Annotated[
        Literal[
            "accuracy",
            "runtime",
            "datasets",
            "survey",
            "epsilon-curve",
            "budget-shares",
            "poisoning",
            "poisoning-curve",
            "backdoor",
            "all",
        ],
        typer.Argument(
            metavar="TARGET",
            help="accuracy: tables of accuracy, AUC and log loss of all methods. runtime: seconds "
            "per training. datasets: properties of the datasets. survey: what published methods "
            "claim, what is proved for them, an audit of each, and their accuracy. epsilon-curve: "
            "accuracy against epsilon. budget-shares: how Algorithm 1 should divide its budget. "
            "poisoning: tables of the accuracy that is guaranteed if records are poisoned. "
            "poisoning-curve: the guaranteed accuracy against the number of poisoned records. "
            "backdoor: how often a trigger that was planted in images works. all: all of them.",
        ),
    ],
    output: Annotated[
        Path, output_option("Folder for results, tables and figures.", "FOLDER")
    ] = Path("reproduction"),
    data_dir: Annotated[
        Path | None,
        typer.Option(
            help="Folder of datasets: NAME.parquet with the label in the column target. backdoor "
            "needs mnist01.npz with the arrays X (uint8, n x 784) and y (0 or 1). Other datasets "
            "come from the package or from OpenML."
        ),
    ] = None,
    suite: Annotated[
        Literal["uci", "numerical", "mixed", "all"] | None,
        typer.Option(help="Group of datasets in the paper. Five of the six in uci are bundled."),
    ] = None,
    datasets: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Datasets, in place of a suite.")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Methods, in place of all: decision-tree, dpa, lightgbm, bdpt, privatree-star, "
            "dpgdf, privatree-paper, diffprivlib-forest, diffprivlib-tree, random-tree (our "
            "version of diffprivlib-tree), privatree (record-level), privatree-robust, privaboost "
            "(an ensemble), privaboost-pure (the same with delta 0), diffprivlib-logistic, dp-ebm. "
            "Other published methods: dpdf, dpdf-forest, smooth-random, smooth-random-forest, "
            "rana-forest, sulq-id3, private-rdt, private-rdt-forest, sulq-based-id3, diffpid3, "
            "diffp-c45, diffgen, dt-diff, dprf, dprfmv, dprfta, rana, adiffp, train-single-tree. "
            "survey stands for these and for the trees to compare them with.",
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(metavar="E,F,...", help="Privacy budgets, in place of those of the paper."),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Number of repetitions with different seeds. The default is 5 for accuracy, 10 "
            "for poisoning, 1 for runtime, and for the figures 50 as in the paper.",
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Number of parallel processes. The results do not depend on it. runtime uses one.",
        ),
    ] = max(1, os.cpu_count() or 1),
    time_limit: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="Time limit for one training and its scoring. What takes longer is marked "
            "timeout.",
        ),
    ] = 1800.0,
    retry: Annotated[
        bool, typer.Option("--retry", help="Repeat trainings that failed or timed out.")
    ] = False,
) -> None:
    """Measure the tables and figures of the paper, and compare with the published values.

    Every finished training is saved at once. If a run was stopped, give the same command again to
    continue it. All seeds are fixed: the same libraries give the same accuracies, on another
    machine up to rounding.

    Some methods need other libraries. These are in the extra "bench" of this package, best
    installed in a separate environment. Methods whose library is missing are named and left out.

    Example: privatree reproduce accuracy --suite uci -o out
    """
    from privatree.reproduction.datasets import names
    from privatree.reproduction.running import NothingToRunError, Request, lock_output_folder
    from privatree.reproduction.targets import TARGETS

    if suite is not None and datasets is not None:
        raise ParameterError("--suite and --datasets exclude each other. Leave one out.")
    if data_dir is not None and not data_dir.is_dir():
        raise ParameterError(f"--data-dir must be a folder that exists, got {data_dir}.")
    if output.exists() and not output.is_dir():
        raise ParameterError(f"{output}: is a file. Name a folder for the results.")
    request = Request(
        output=output,
        datasets=_parse_reproduce_names("--datasets", datasets) if suite is None else names(suite),
        methods=_parse_reproduce_methods(methods),
        epsilons=_parse_reproduce_epsilons(epsilon),
        repeats=_check_reproduce_number("--repeats", repeats),
        data_dir=data_dir,
        jobs=_check_reproduce_number("--jobs", jobs) or 1,
        time_limit=time_limit,
        retry=retry,
        as_published=target == "all",
    )
    if not time_limit > 0:
        raise ParameterError(f"--time-limit must be > 0, got {time_limit:g}.")
    try:
        with _interrupt_reproduce(), lock_output_folder(output), _ReproduceProgress() as reporter:
            for name in list(TARGETS) if target == "all" else [target]:
                reporter.begin_target(name)
                try:
                    reporter.list_files(TARGETS[name](request, reporter))
                except NothingToRunError as error:
                    if target != "all":
                        raise
                    reporter.say(f"Left out: {error}")
    except KeyboardInterrupt:
        typer.echo("Stopped. Give the same command again to continue.", err=True)
        raise


@contextmanager
def _interrupt_reproduce() -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C, so that the processes of the run end, too."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _parse_reproduce_names(option: str, given: str | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    found = tuple(dict.fromkeys(word.strip() for word in given.split(",") if word.strip()))
    if not found:
        raise ParameterError(f"{option} must be names separated by commas, got {given!r}.")
    return found


def _parse_reproduce_methods(given: str | None) -> tuple[str, ...] | None:
    """Return the ids of methods; ``survey`` stands for all of the paper's related work."""
    from privatree.baselines.methods import survey

    found = _parse_reproduce_names("--methods", given)
    if found is None:
        return None
    return tuple(
        dict.fromkeys(one for name in found for one in (survey() if name == "survey" else (name,)))
    )


def _parse_reproduce_epsilons(given: str | None) -> tuple[float, ...] | None:
    if given is None:
        return None
    try:
        found = tuple(dict.fromkeys(float(word) for word in given.split(",") if word.strip()))
    except ValueError:
        found = ()
    if not found or not all(0 < epsilon < math.inf for epsilon in found):
        raise ParameterError(f"--epsilon must be numbers > 0 separated by commas, got {given!r}.")
    return found


def _check_reproduce_number(option: str, given: int | None) -> int | None:
    if given is not None and given < 1:
        raise ParameterError(f"{option} must be at least 1, got {given}.")
    return given


class _ReproduceProgress:
    """A progress bar with the time left, or a line every minute if stderr is not a terminal."""

    def __init__(self) -> None:
        from privatree._support.progress import rich_progress

        columns = ("{task.description:<42}", "bar", "share", "elapsed", "left", "remaining")
        self._bar = rich_progress(*columns, speed_estimate_period=600.0)
        self._target, self._last_line = "", 0.0
        self._said: set[str] = set()
        self._task: Any = None

    def __enter__(self) -> _ReproduceProgress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin_target(self, target: str) -> None:
        self._target = target
        self.say(f"reproduce {target}")

    def say(self, line: str) -> None:
        """Print a line above the bar, unless the same line was printed before."""
        if line not in self._said:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
        self._said.add(line)

    def list_files(self, paths: Sequence[Path]) -> None:
        """Print the paths of written pages and pictures, and the endings of their other formats."""
        for path in paths:
            if path.suffix in (".md", ".png"):
                forms = ", ".join(p.suffix for p in paths if p.stem == path.stem and p != path)
                self.say(f"Wrote {path} (also as {forms})")

    def start(self, total: float, done: float) -> None:
        """Show a new bar with the total weight of all tasks, and the weight of finished ones."""
        self._task = self._bar.add_task(self._target, total=total)
        self._bar.update(self._task, completed=done)
        self._total, self._done, self._before = total, done, done
        self._began = self._last_line = time.monotonic()

    def advance(self, weight: float, doing: str) -> None:
        """Move the bar by the weight of a finished task, and show the current task."""
        self._done += weight
        self._bar.update(self._task, advance=weight, description=f"{self._target}: {doing}")
        now = time.monotonic()
        if self._bar.disable and now - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._last_line = now
            left = (now - self._began) * (self._total - self._done) / (self._done - self._before)
            share = self._done / self._total
            self.say(f"{self._target}: {share:.0%}, about {left / 60:.0f} min left ({doing})")
