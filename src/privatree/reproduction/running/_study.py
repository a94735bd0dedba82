"""What every target of ``reproduce`` does: find data and methods, run tasks, keep what is needed.

A study names and leaves out the datasets and methods that this machine does not have, and goes on
with the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from privatree.baselines import methods
from privatree.baselines.methods import Method
from privatree.errors import DatasetMissingError, ParameterError
from privatree.reproduction import datasets
from privatree.reproduction.datasets._dataset import Records
from privatree.reproduction.running._journal import Journal
from privatree.reproduction.running._provenance import claim
from privatree.reproduction.running._runner import Progress, run
from privatree.reproduction.running._task import Task
from privatree.schema import Categorical, Schema

if TYPE_CHECKING:
    import pandas as pd


_HOW_TO_GET_THEM = (
    "They come with the extra 'bench', best in an environment of its own, because it brings an "
    "older scikit-learn: in a clone of the project, make reproduce sets one up in .venv-bench and "
    "runs there."
)


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
    _fingerprints: dict[str, str] = field(default_factory=dict)
    _methods: list[Method] = field(default_factory=list)

    def find_datasets(self, default: Sequence[str]) -> list[Available]:
        """The datasets of the request, or else the default ones, as far as they can be had.

        Those of a request come in the paper's order, so that a suite's stand together.
        """
        asked = {datasets.describe(name).name for name in self.request.datasets or default}
        own = self.request.datasets is None or self.request.as_published
        found = []
        for name in default if own else datasets.names():
            dataset = self._found(name, partial(datasets.load, name)) if name in asked else None
            found += [] if dataset is None else [dataset]
        self._say_where_from(found)
        self._fingerprints = {dataset.name: dataset.fingerprint for dataset in found}
        return found

    def find_dataset(self, name: str, load: Callable[[Path | None], Records]) -> Available | None:
        """A dataset that is in none of the paper's tables, if it is asked for and can be had.

        Parameters
        ----------
        name : str
            What requests and results call it.
        load : callable
            From the user's folder, if there is one, to the records.
        """
        if self.request.datasets is not None and name not in self.request.datasets:
            self.reporter.say(f"Left out: {name}, which is not among the datasets asked for.")
            return None
        found = self._found(name, load)
        if found is not None:
            self._say_where_from([found])
            self._fingerprints[name] = found.fingerprint
        return found

    def _found(self, name: str, load: Callable[[Path | None], Records]) -> Available | None:
        try:
            records = load(self.request.data_dir)
        except DatasetMissingError as error:
            self.missing[name] = str(error)
            self.reporter.say(f"Left out: {error}")
            return None
        share = float(records.labels.value_counts(normalize=True).iloc[0])
        size = len(records.labels)
        return Available(name, records.schema, records.fingerprint, records.origin, size, share)

    def _say_where_from(self, found: Sequence[Available]) -> None:
        """Name what was looked for in the user's folder and found elsewhere."""
        elsewhere = [f"{d.name} ({d.origin})" for d in found if d.origin != "data folder"]
        if self.request.data_dir is not None and elsewhere:
            folder = self.request.data_dir
            self.reporter.say(f"Not in {folder}, so taken from elsewhere: {', '.join(elsewhere)}.")

    def find_methods(self, default: Sequence[str]) -> list[Method]:
        """The methods of the request, or else the default ones, as far as they can be had.

        Of the default ones, a stand-in is used only where the method itself cannot be had.
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
        """Whether figures can be drawn; if not, say so."""
        if find_spec("matplotlib") is not None:
            return True
        self.reporter.say(
            "Left out: figures, which need matplotlib: pip install matplotlib, then give the same "
            "command again."
        )
        return False

    def run(self, name: str, tasks: Sequence[Task], *, jobs: int | None = None) -> pd.DataFrame:
        """Run what is not done yet; all results of these tasks."""
        if not tasks:
            raise NothingToRunError(
                f"{name}: nothing to run: no dataset or no method is left. Get what is named above "
                "as left out, or ask for other datasets and methods."
            )
        claim(self.request.output, self._fingerprints, self._methods)
        path = self.request.output / name / "cells.csv"
        journal = Journal(path, tasks[0].fields, tasks[0].measures)
        if self.request.retry:
            journal.forget_marked(tasks)
        done = sum(task in journal for task in tasks)
        self.reporter.say(f"{name}: {len(tasks):,} fits, of which {done:,} are done.")
        run(
            tasks,
            journal,
            self.reporter,
            jobs=jobs or self.request.jobs,
            time_limit=self.request.time_limit,
        )
        return journal.frame(tasks)
