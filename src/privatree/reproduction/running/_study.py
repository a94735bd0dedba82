"""Finds the datasets and methods for a target of ``reproduce``, and runs its tasks.

Datasets and methods that this machine does not have are named and left out; the rest is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from privatree.baselines import methods
from privatree.baselines.methods import Method
from privatree.errors import DatasetMissingError, ParameterError
from privatree.reproduction import datasets
from privatree.reproduction.running._journal import Journal
from privatree.reproduction.running._provenance import record_provenance
from privatree.reproduction.running._runner import Progress, run_tasks
from privatree.reproduction.running._task import Task
from privatree.reproduction.running._tasks import load_task_dataset
from privatree.schema import Categorical, Schema

if TYPE_CHECKING:
    import pandas as pd


_HOW_TO_GET_THEM = (
    "They come with the extra 'bench', best in an environment of its own, because it brings an "
    "older scikit-learn: in a clone of the project, make reproduce sets one up in .venv-bench and "
    "runs there."
)


class Reporter(Progress, Protocol):
    """Receiver of progress and of lines for the user."""

    def say(self, line: str) -> None:
        """Show a line."""


@dataclass(frozen=True)
class Request:
    """The options that a user has given. None stands for the default of each target."""

    output: Path  # folder for results, tables and figures
    datasets: tuple[str, ...] | None = None
    methods: tuple[str, ...] | None = None  # ids
    epsilons: tuple[float, ...] | None = None
    repeats: int | None = None  # each repeat has other seeds
    data_dir: Path | None = None  # folder where datasets are looked for first
    jobs: int = 2  # number of processes
    time_limit: float = 1800.0  # seconds for one fit
    retry: bool = False  # run tasks again that failed or took too long before
    as_published: bool = False
    """Whether to leave out datasets that the paper does not show in this table or figure."""


class NothingToRunError(ParameterError):
    """A target has no dataset with a method that applies to it."""


class Available(NamedTuple):
    """A dataset that was found: its schema and size, without its records."""

    name: str
    schema: Schema
    fingerprint: str
    origin: str
    n_records: int
    majority_share: float

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.schema.features)

    @property
    def n_categorical(self) -> int:
        """Number of categorical features."""
        return sum(isinstance(f, Categorical) for f in self.schema.features.values())


@dataclass
class Study:
    """The run of one target for one request."""

    request: Request
    reporter: Reporter
    missing: dict[str, str] = field(default_factory=dict)
    """The reason why a dataset was left out, by its name."""
    _fingerprints: dict[str, str] = field(default_factory=dict)
    _methods: list[Method] = field(default_factory=list)

    def find_datasets(self, default: Sequence[str]) -> list[Available]:
        """Return the requested datasets, or by default the given ones. Missing ones are left out.

        Requested datasets come in the paper's order, which is sorted by suite.
        """
        asked = {datasets.describe(name).name for name in self.request.datasets or default}
        own = self.request.datasets is None or self.request.as_published
        found = []
        for name in default if own else datasets.names():
            dataset = self._load_or_report(name) if name in asked else None
            found += [] if dataset is None else [dataset]
        self._report_origins(found)
        self._fingerprints = {dataset.name: dataset.fingerprint for dataset in found}
        return found

    def find_mnist_dataset(self, name: str) -> Available | None:
        """Return a version of MNIST, or None if it is missing or not requested.

        MNIST is in none of the paper's tables of datasets, so :meth:`find_datasets` ignores it.
        """
        if self.request.datasets is not None and name not in self.request.datasets:
            self.reporter.say(f"Left out: {name}, because --datasets does not list it.")
            return None
        found = self._load_or_report(name)
        if found is not None:
            self._report_origins([found])
            self._fingerprints[name] = found.fingerprint
        return found

    def _load_or_report(self, name: str) -> Available | None:
        try:
            records = load_task_dataset(name, self.request.data_dir)
        except DatasetMissingError as error:
            self.missing[name] = str(error)
            self.reporter.say(f"Left out: {error}")
            return None
        share = float(records.labels.value_counts(normalize=True).iloc[0])
        size = len(records.labels)
        return Available(name, records.schema, records.fingerprint, records.origin, size, share)

    def _report_origins(self, found: Sequence[Available]) -> None:
        """Report which datasets were not in the user's folder, and where they were found."""
        elsewhere = [f"{d.name} ({d.origin})" for d in found if d.origin != "data folder"]
        if self.request.data_dir is not None and elsewhere:
            folder = self.request.data_dir
            self.reporter.say(f"Not in {folder}, so taken from elsewhere: {', '.join(elsewhere)}.")

    def find_methods(self, default: Sequence[str]) -> list[Method]:
        """Return the requested methods, or by default the given ones, as far as they are installed.

        A default method that replaces another method is used only if the other is not installed.
        """
        found, missing = [], []
        for method in map(methods.get, self.request.methods or default):
            stand_in = method.stands_in_for is not None and self.request.methods is None
            if stand_in and methods.get(method.stands_in_for or "").missing is None:
                continue
            if method.missing is None:
                found.append(method)
            else:
                missing.append(method.missing)
        self._methods = found
        if missing:
            self.reporter.say(f"Left out: {'; '.join(missing)}. {_HOW_TO_GET_THEM}")
        return found

    def can_draw(self) -> bool:
        """Return whether matplotlib is installed; if it is not, say that figures are left out."""
        if find_spec("matplotlib") is not None:
            return True
        self.reporter.say(
            "Left out: figures, because matplotlib is not installed. Run pip install matplotlib, "
            "then the same command again."
        )
        return False

    def run(self, name: str, tasks: Sequence[Task], *, jobs: int | None = None) -> pd.DataFrame:
        """Run the tasks that are not finished yet; return the results of all of them."""
        if not tasks:
            raise NothingToRunError(
                f"{name}: nothing to run. None of the chosen methods applies to an available "
                "dataset. Choose other datasets or methods, or provide what is listed above."
            )
        record_provenance(self.request.output, self._fingerprints, self._methods)
        path = self.request.output / name / "cells.csv"
        journal = Journal(path, tasks[0].fields, tasks[0].measures, tasks[0].added_measures)
        if self.request.retry:
            journal.forget_failures(tasks)
        done = sum(task in journal for task in tasks)
        self.reporter.say(f"{name}: {len(tasks):,} fits, of which {done:,} are done.")
        run_tasks(
            tasks,
            journal,
            self.reporter,
            jobs=jobs or self.request.jobs,
            time_limit=self.request.time_limit,
        )
        return journal.frame(tasks)
