"""What every target of ``reproduce`` does: find data and methods, run tasks, keep what is needed.

A study leaves out, with one line each, the datasets and methods that this machine does not have,
and goes on with the rest. Its output folder holds results of one version of the package on the same
data only: anything else could not be told apart afterwards.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from privatree.errors import ParameterError
from privatree.experiments import datasets, methods
from privatree.experiments.atomic_files import replace_file
from privatree.experiments.datasets.dataset import DatasetMissingError
from privatree.experiments.journal import Journal
from privatree.experiments.methods.method import Method
from privatree.experiments.runner import Progress, run
from privatree.experiments.tasks import Task
from privatree.schema import Categorical, Schema

if TYPE_CHECKING:
    import pandas as pd

_LIBRARIES = ("privatree", "numpy", "pandas", "scikit-learn", "diffprivlib", "interpret-core")


class Reporter(Progress, Protocol):
    """Who is told what happens."""

    def say(self, line: str) -> None:
        """Show a line."""


@dataclass(frozen=True)
class Request:
    """What the user asked for; None where a target is to take its own default.

    Parameters
    ----------
    output : Path
        The folder for results, tables and figures.
    datasets, methods : tuple of str or None
        Which ones.
    epsilons : tuple of float or None
        Privacy budgets.
    repeats : int or None
        How often everything is repeated, with other seeds.
    data_dir : Path or None
        A folder with datasets.
    jobs : int, default=2
        Number of processes.
    time_limit : float, default=1800
        Seconds for one fit.
    retry : bool, default=False
        Whether to run again what failed or took too long before.
    as_published : bool, default=False
        Whether a target keeps to the datasets that the paper shows there, as far as they are asked
        for; else it takes what is asked for.
    """

    output: Path
    datasets: tuple[str, ...] | None = None
    methods: tuple[str, ...] | None = None
    epsilons: tuple[float, ...] | None = None
    repeats: int | None = None
    data_dir: Path | None = None
    jobs: int = 2
    time_limit: float = 1800.0
    retry: bool = False
    as_published: bool = False


class NothingToRunError(ParameterError):
    """No dataset or no method is left."""


class Available(NamedTuple):
    """A dataset that was found."""

    name: str
    schema: Schema
    fingerprint: str
    origin: str
    n_records: int
    majority_share: float

    @property
    def n_features(self) -> int:
        """How many columns it has."""
        return len(self.schema.features)

    @property
    def n_categorical(self) -> int:
        """How many of them are categories."""
        return sum(isinstance(f, Categorical) for f in self.schema.features.values())


@dataclass
class Study:
    """One target of one request.

    Parameters
    ----------
    request : Request
        What to do.
    reporter : Reporter
        Who is told.
    """

    request: Request
    reporter: Reporter
    missing: dict[str, str] = field(default_factory=dict)
    """Why a dataset was left out, by its name."""

    def find_datasets(self, default: Sequence[str]) -> list[Available]:
        """The datasets of the request, or else the default ones, as far as they can be had."""
        asked: Sequence[str] = self.request.datasets or default
        for name in asked:
            datasets.describe(name)
        if self.request.as_published:
            asked = [name for name in default if name in asked]
        found = []
        for name in asked:
            try:
                records = datasets.load(name, self.request.data_dir)
            except DatasetMissingError as error:
                self.missing[name] = str(error)
                self.reporter.say(f"Left out: {error}")
                continue
            share = float(records.labels.value_counts(normalize=True).iloc[0])
            size = len(records.labels)
            found.append(
                Available(name, records.schema, records.fingerprint, records.origin, size, share)
            )
        self._keep_apart(found)
        return found

    def find_methods(self, default: Sequence[str]) -> list[Method]:
        """The methods of the request, or else the default ones, as far as they can be had.

        Of the default ones, a stand-in is used only where the method itself cannot be had.
        """
        found = []
        for method in map(methods.get, self.request.methods or default):
            stand_in = method.stands_in_for is not None and self.request.methods is None
            if stand_in and methods.get(method.stands_in_for or "").missing is None:
                continue
            if method.missing is None:
                found.append(method)
            else:
                self.reporter.say(f"Left out: {method.missing}")
        return found

    def run(self, name: str, tasks: Sequence[Task], *, jobs: int | None = None) -> pd.DataFrame:
        """Run what is not done yet; all results of these tasks."""
        if not tasks:
            raise NothingToRunError(f"{name}: nothing to run: no dataset or no method is left.")
        journal = Journal(self.request.output / name / "cells.csv", tasks[0].fields)
        if self.request.retry:
            journal.forget_marked()
        run(
            tasks,
            journal,
            self.reporter,
            jobs=jobs or self.request.jobs,
            time_limit=self.request.time_limit,
        )
        return journal.frame(tasks)

    def _keep_apart(self, found: Sequence[Available]) -> None:
        """Refuse to mix results of different data or versions in one folder; note what is used."""
        path = self.request.output / "run.json"
        before = _read(path)
        libraries = _versions()
        known: dict[str, Any] = before.get("datasets", {})
        changed = [d.name for d in found if known.get(d.name, d.fingerprint) != d.fingerprint]
        if changed or before.get("privatree", libraries["privatree"]) != libraries["privatree"]:
            what = f"other data for {', '.join(changed)}" if changed else "another version"
            raise ParameterError(
                f"{self.request.output}: holds results of {what}. Name another output folder."
            )
        note = {
            "privatree": libraries["privatree"],
            "machine": {"system": platform.platform(), "processors": os.cpu_count()},
            "libraries": {"python": platform.python_version(), **libraries},
            "datasets": known | {d.name: d.fingerprint for d in found},
        }
        replace_file(path, json.dumps(note, indent=1, sort_keys=True) + "\n")


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        written = None
    if not isinstance(written, dict):
        raise ParameterError(f"{path}: is not a note of a run. Name another output folder.")
    return written


def _versions() -> dict[str, str]:
    found = {}
    for library in _LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found
