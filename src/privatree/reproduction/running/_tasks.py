"""Tasks of the paper's tables and curves: train one method once on one dataset, and score it.

A task is small and can be sent to another process, which loads the dataset by its name. All its
randomness comes from its own repeat and fold, so the result does not depend on where or when it
runs.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privatree.baselines import methods
from privatree.baselines.methods import Training
from privatree.errors import PaperClaimWarning, ParameterError
from privatree.reproduction import datasets
from privatree.reproduction.datasets._dataset import Records
from privatree.reproduction.running._probability_scores import (
    PROBABILITY_SCORES,
    probability_scores,
)
from privatree.reproduction.running._task import Score

N_FOLDS = 5


@dataclass(frozen=True)
class DatasetTask:
    """Base class of tasks: a dataset, and the folder in which it is looked for first."""

    dataset: str
    data_dir: Path | None = field(default=None, kw_only=True)
    fingerprint: str | None = field(default=None, kw_only=True)
    """Fingerprint that the records must have; None accepts any records."""

    fields: ClassVar[tuple[str, ...]] = ()
    measures: ClassVar[tuple[str, ...]] = ()
    added_measures: ClassVar[tuple[str, ...]] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """The values of ``fields`` as text. The folder and the fingerprint are not among them."""
        values = [getattr(self, name) for name in self.fields]
        return tuple(value if isinstance(value, str) else task_number(value) for value in values)

    @property
    def weight(self) -> float:
        """Rough cost of one fit, from the size of the dataset in the paper's table."""
        described = datasets.describe(self.dataset)
        return 0.3 + described.n_records * described.n_features / 1e6

    def load_records(self) -> Records:
        """Return the dataset, loaded now or by the previous task, and check its fingerprint."""
        return load_task_once(self.dataset, self.data_dir, self.fingerprint)


@dataclass(frozen=True)
class MethodTask(DatasetTask):
    """Base class of tasks that train a method of the registry."""

    method: str
    epsilon: float | None
    """None for a method without privacy."""
    depth: int

    @property
    def weight(self) -> float:
        """Rough cost of one fit: more for larger datasets and slower methods."""
        return super().weight * methods.get(self.method).effort

    def prepare(self) -> None:
        """Load the dataset and encode its features for the method."""
        self.encode_features()

    def encode_features(self) -> Any:
        """Return the features in the form that the method takes: a DataFrame or an array."""
        return _task_features(self.dataset, self.data_dir, self.fingerprint, self.method)

    def fit_and_time(self, features: Any, labels: Any, seed: int) -> tuple[Any, float]:
        """Return the trained classifier, and how many seconds ``fit`` took."""
        epsilon = math.inf if self.epsilon is None else self.epsilon
        training = Training(self.load_records().schema, epsilon, self.depth, seed)
        classifier = methods.get(self.method).classifier(training)
        with suppress_task_warnings():
            start = time.perf_counter()
            classifier.fit(features, labels)
            return classifier, time.perf_counter() - start

    def fit_and_score(self, train: NDArray[np.int64], test: NDArray[np.int64], seed: int) -> Score:
        """Return the score on `test`. A setting's first fit is made twice; the second is timed."""
        features, labels = self.encode_features(), self.load_records().labels
        fit = (task_rows(features, train), labels.iloc[train], seed)
        classifier, seconds = self.fit_and_time(*fit)
        setting = (self.dataset, self.method, self.epsilon, self.depth)
        if setting not in _timed_before and seconds < _SHORT_FIT:
            classifier, seconds = self.fit_and_time(*fit)
        _timed_before.add(setting)
        rows, answers = task_rows(features, test), labels.iloc[test].to_numpy()
        accuracy = np.mean(np.asarray(classifier.predict(rows)) == answers)
        added: tuple[float, ...] = ()
        if self.added_measures and methods.get(self.method).gives_probabilities:
            added = probability_scores(classifier, rows, answers)
        return Score(float(accuracy), seconds, added=added)


_SHORT_FIT = 60.0  # seconds; in a longer fit, the time to compile and load code hardly matters
_timed_before: set[tuple[str, str, float | None, int]] = set()
"""Settings that this process has trained. Their first fits also compile code and load libraries.

A first fit on a few records would not help: which code runs depends on size and epsilon.
"""


@dataclass(frozen=True)
class CrossValidated(MethodTask):
    """One fold of a stratified cross-validation of one method on one dataset.

    Repeat r shuffles the folds with seed r; fold f is trained with seed 5 r + f.
    """

    repeat: int
    fold: int

    fields: ClassVar[tuple[str, ...]] = ("dataset", "method", "epsilon", "depth", "repeat", "fold")
    added_measures: ClassVar[tuple[str, ...]] = PROBABILITY_SCORES

    def run(self) -> Score:
        """Train on four folds, and score on the fifth."""
        folds = _folds_of_task(self.dataset, self.data_dir, self.fingerprint, self.repeat)
        return self.fit_and_score(*folds[self.fold], N_FOLDS * self.repeat + self.fold)


@dataclass(frozen=True)
class RandomSplit(MethodTask):
    """One method on one stratified random split: 80% for training, 20% for the score.

    Repeat r splits and trains with seed r.
    """

    repeat: int

    fields: ClassVar[tuple[str, ...]] = ("dataset", "method", "epsilon", "depth", "repeat")

    def run(self) -> Score:
        """Train on one part of the split, and score on the other."""
        return self.fit_and_score(*task_split(self.load_records(), self.repeat), self.repeat)


def task_split(records: Records, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the row numbers of a stratified random split: 80% for training, 20% for the score."""
    from sklearn.model_selection import train_test_split

    rows = np.arange(len(records.labels))
    train, test = train_test_split(rows, test_size=0.2, stratify=records.labels, random_state=seed)
    return train, test


def task_training(n_records: int) -> int:
    """Return how many of `n_records` are for training: 80%, rounded down."""
    return n_records * 4 // 5


def task_edits(n_records: int, share: Fraction) -> int:
    """Return how many records `share` of the training records is, rounded down."""
    return math.floor(task_training(n_records) * share)


def task_number(number: float | None) -> str:
    """Write a number in full, for keys and file names: ``0.1``, ``1``; None as an empty text."""
    return "" if number is None else repr(float(number)).removesuffix(".0")


@contextmanager
def suppress_task_warnings() -> Iterator[None]:
    """Suppress two warnings that are expected with the paper's settings.

    One says that the paper's claim is not a guarantee; the tables say it once. The other says that
    DPA has few records in each of its 1000 partitions.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PaperClaimWarning)
        warnings.filterwarnings("ignore", "n_partitions leaves each partition", UserWarning)
        yield


@lru_cache(maxsize=2)
def load_task_once(dataset: str, data_dir: Path | None, fingerprint: str | None) -> Records:
    """Return a dataset, and keep it for the next task. Raise ParameterError if it has changed."""
    records = load_task_dataset(dataset, data_dir)
    if fingerprint not in (None, records.fingerprint):
        raise ParameterError(f"{dataset}: its data has changed since the run began. Start again.")
    return records


def load_task_dataset(dataset: str, data_dir: Path | None) -> Records:
    """Load a dataset of the paper's tables, or a version of MNIST."""
    from privatree.reproduction.loading import _mnist as mnist

    if dataset in mnist.LOADERS:
        return mnist.LOADERS[dataset](data_dir)
    return datasets.load(dataset, data_dir)


@lru_cache(maxsize=4)
def _folds_of_task(
    dataset: str, data_dir: Path | None, fingerprint: str | None, repeat: int
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    from sklearn.model_selection import StratifiedKFold

    labels = load_task_once(dataset, data_dir, fingerprint).labels
    splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat)
    return list(splitter.split(np.zeros(len(labels)), labels))


@lru_cache(maxsize=2)
def _task_features(
    dataset: str, data_dir: Path | None, fingerprint: str | None, method: str
) -> Any:
    records = load_task_once(dataset, data_dir, fingerprint)
    return methods.get(method).encode(records.frame, records.schema)


def task_rows(features: Any, rows: NDArray[np.int64]) -> Any:
    """Select rows of a DataFrame or an array by their numbers."""
    return features.iloc[rows] if hasattr(features, "iloc") else features[rows]
