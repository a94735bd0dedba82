"""The units of work of an experiment: train one method once, and score it.

A task is small and can be sent to another process, which loads the dataset by its name. All its
randomness comes from its own repeat and fold, so it does not matter where or when it runs.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privatree.baselines import methods
from privatree.baselines.methods import Method, Training
from privatree.errors import PaperClaimWarning, ParameterError
from privatree.reproduction import datasets
from privatree.reproduction.datasets._dataset import Records
from privatree.reproduction.running._task import Score

N_FOLDS = 5


@dataclass(frozen=True)
class CrossValidated:
    """One fold of a stratified cross-validation of one method on one dataset.

    Repeat r shuffles the folds with seed r; fold f is trained with seed 5 r + f.
    """

    dataset: str
    method: str
    epsilon: float | None
    """None for a method without privacy."""
    depth: int
    repeat: int
    fold: int
    data_dir: Path | None = None
    fingerprint: str | None = None
    """Of the data that is meant, if it matters."""

    fields: ClassVar[tuple[str, ...]] = ("dataset", "method", "epsilon", "depth", "repeat", "fold")
    measures: ClassVar[tuple[str, ...]] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """All but where the data came from."""
        where = (str(self.depth), str(self.repeat), str(self.fold))
        return (self.dataset, self.method, shown_epsilon(self.epsilon), *where)

    @property
    def weight(self) -> float:
        """More for larger data and slower methods."""
        return weight_of(self.dataset) * methods.get(self.method).effort

    def prepare(self) -> None:
        """Load and encode the data."""
        _encoded(self.dataset, self.data_dir, self.fingerprint, self.method)

    def run(self) -> Score:
        """Train on four folds, score on the fifth."""
        records = load_once(self.dataset, self.data_dir, self.fingerprint)
        train, test = _folds(self.dataset, self.data_dir, self.fingerprint, self.repeat)[self.fold]
        return _trained_and_scored(self, records, train, test, N_FOLDS * self.repeat + self.fold)


@dataclass(frozen=True)
class RandomSplit:
    """One method on one stratified random split: 80% for training, 20% for the score.

    Repeat r splits and trains with seed r.
    """

    dataset: str
    method: str
    epsilon: float | None
    depth: int
    repeat: int
    data_dir: Path | None = None
    fingerprint: str | None = None
    """Of the data that is meant, if it matters."""

    fields: ClassVar[tuple[str, ...]] = ("dataset", "method", "epsilon", "depth", "repeat")
    measures: ClassVar[tuple[str, ...]] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """All but where the data came from."""
        epsilon = shown_epsilon(self.epsilon)
        return (self.dataset, self.method, epsilon, str(self.depth), str(self.repeat))

    @property
    def weight(self) -> float:
        """More for larger data and slower methods."""
        return weight_of(self.dataset) * methods.get(self.method).effort

    def prepare(self) -> None:
        """Load and encode the data."""
        _encoded(self.dataset, self.data_dir, self.fingerprint, self.method)

    def run(self) -> Score:
        """Train on one part, score on the other."""
        records = load_once(self.dataset, self.data_dir, self.fingerprint)
        train, test = self.split(records)
        return _trained_and_scored(self, records, train, test, self.repeat)

    def split(self, records: Records) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows for training, and those for the score."""
        from sklearn.model_selection import train_test_split

        rows = np.arange(len(records.labels))
        train, test = train_test_split(
            rows, test_size=0.2, stratify=records.labels, random_state=self.repeat
        )
        return train, test


def n_edits(n_records: int, share: Fraction) -> int:
    """How many records a share of the training records is, rounded down.

    Parameters
    ----------
    n_records : int
        All records; 80% of them, rounded down, are for training.
    share : Fraction
        Of the training records.
    """
    return math.floor(n_records * 4 // 5 * share)


def shown_epsilon(epsilon: float | None) -> str:
    """An epsilon as the results write it, in full; empty for a method without privacy."""
    return "" if epsilon is None else repr(float(epsilon)).removesuffix(".0")


def weight_of(dataset: str) -> float:
    """A rough cost of one fit, from the size of the data."""
    described = datasets.describe(dataset)
    return 0.3 + described.n_records * described.n_features / 1e6


@contextmanager
def suppress_expected_warnings() -> Iterator[None]:
    """Without warnings of what is as the paper has it.

    That its claim is not a guarantee: the tables say it once. That DPA has few records in each of
    its 1000 partitions.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PaperClaimWarning)
        warnings.filterwarnings("ignore", "n_partitions leaves each partition", UserWarning)
        yield


@lru_cache(maxsize=2)
def load_once(dataset: str, data_dir: Path | None, fingerprint: str | None) -> Records:
    """The dataset, kept for the next task; refused if it is not the one that is meant."""
    records = datasets.load(dataset, data_dir)
    if fingerprint not in (None, records.fingerprint):
        raise ParameterError(f"{dataset}: its data has changed since the run began. Start again.")
    return records


@lru_cache(maxsize=4)
def _folds(
    dataset: str, data_dir: Path | None, fingerprint: str | None, repeat: int
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    from sklearn.model_selection import StratifiedKFold

    labels = load_once(dataset, data_dir, fingerprint).labels
    splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat)
    return list(splitter.split(np.zeros(len(labels)), labels))


@lru_cache(maxsize=2)
def _encoded(dataset: str, data_dir: Path | None, fingerprint: str | None, method: str) -> Any:
    records = load_once(dataset, data_dir, fingerprint)
    return methods.get(method).encode(records.frame, records.schema)


def _trained_and_scored(
    task: CrossValidated | RandomSplit,
    records: Records,
    train: NDArray[np.int64],
    test: NDArray[np.int64],
    seed: int,
) -> Score:
    method = methods.get(task.method)
    epsilon = float("inf") if task.epsilon is None else task.epsilon
    training = Training(records.schema, epsilon, task.depth, seed)
    features = _encoded(task.dataset, task.data_dir, task.fingerprint, task.method)
    rows, answers = _rows(features, train), records.labels.iloc[train]
    classifier, seconds = _timed_fit(method, training, rows, answers)
    setting = (task.dataset, task.method, task.epsilon, task.depth)
    if setting not in _timed_before and seconds < _SHORT_FIT:
        classifier, seconds = _timed_fit(method, training, rows, answers)
    _timed_before.add(setting)
    predicted = np.asarray(classifier.predict(_rows(features, test)))
    accuracy = np.mean(predicted == records.labels.iloc[test].to_numpy())
    return Score(float(accuracy), seconds)


_SHORT_FIT = 60.0  # seconds; in a longer one it is of no account what is compiled and loaded
_timed_before: set[tuple[str, str, float | None, int]] = set()
"""What this process has trained: the first time, code is compiled and libraries are loaded.

A fit on a few records would not do in its place: which code runs depends on size and epsilon.
"""


def _timed_fit(method: Method, training: Training, rows: Any, answers: Any) -> tuple[Any, float]:
    classifier = method.classifier(training)
    with suppress_expected_warnings():
        start = time.perf_counter()
        classifier.fit(rows, answers)
        return classifier, time.perf_counter() - start


def _rows(features: Any, places: NDArray[np.int64]) -> Any:
    return features.iloc[places] if hasattr(features, "iloc") else features[places]
