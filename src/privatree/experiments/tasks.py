"""The units of work of an experiment: train one method once, and score it.

A task is small and can be sent to another process, which loads the dataset by its name. All its
randomness comes from its own repeat and fold, so it does not matter where or when it runs.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from privatree.errors import PaperClaimWarning
from privatree.experiments import datasets, methods
from privatree.experiments.datasets.dataset import Records
from privatree.experiments.methods.method import Method, Training

N_FOLDS = 5


class Score(NamedTuple):
    """What a task found."""

    accuracy: float
    fit_seconds: float


class Task(Protocol):
    """What the runner can run.

    ``fields`` name the parts of ``key``; together they are a row's first columns in the results.
    """

    fields: ClassVar[tuple[str, ...]]

    @property
    def key(self) -> tuple[str, ...]:
        """What tells this task from all others, as written in the results."""

    @property
    def weight(self) -> float:
        """About how long it takes, beside other tasks: for the progress bar."""

    def run(self) -> Score:
        """Do it."""


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

    fields: ClassVar[tuple[str, ...]] = ("dataset", "method", "epsilon", "depth", "repeat", "fold")

    @property
    def key(self) -> tuple[str, ...]:
        """All but where the data came from."""
        where = (str(self.depth), str(self.repeat), str(self.fold))
        return (self.dataset, self.method, shown_epsilon(self.epsilon), *where)

    @property
    def weight(self) -> float:
        """More for larger data."""
        return weight_of(self.dataset)

    def run(self) -> Score:
        """Train on four folds, score on the fifth."""
        records = _records(self.dataset, self.data_dir)
        train, test = _folds(self.dataset, self.data_dir, self.repeat)[self.fold]
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

    fields: ClassVar[tuple[str, ...]] = ("dataset", "method", "epsilon", "depth", "repeat")

    @property
    def key(self) -> tuple[str, ...]:
        """All but where the data came from."""
        epsilon = shown_epsilon(self.epsilon)
        return (self.dataset, self.method, epsilon, str(self.depth), str(self.repeat))

    @property
    def weight(self) -> float:
        """More for larger data."""
        return weight_of(self.dataset)

    def run(self) -> Score:
        """Train on one part, score on the other."""
        from sklearn.model_selection import train_test_split

        records = _records(self.dataset, self.data_dir)
        train, test = train_test_split(
            np.arange(len(records.labels)),
            test_size=0.2,
            stratify=records.labels,
            random_state=self.repeat,
        )
        return _trained_and_scored(self, records, train, test, self.repeat)


def shown_epsilon(epsilon: float | None) -> str:
    """An epsilon as the results write it; empty for a method without privacy."""
    return "" if epsilon is None else f"{epsilon:.6g}"


def weight_of(dataset: str) -> float:
    """A rough cost of one fit, from the size of the data."""
    described = datasets.describe(dataset)
    return 0.3 + described.n_records * described.n_features / 1e6


@contextmanager
def experimenting() -> Iterator[None]:
    """Without the warning that the paper's claim is not a guarantee: the tables say it once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PaperClaimWarning)
        yield


@lru_cache(maxsize=2)
def _records(dataset: str, data_dir: Path | None) -> Records:
    return datasets.load(dataset, data_dir)


@lru_cache(maxsize=4)
def _folds(
    dataset: str, data_dir: Path | None, repeat: int
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    from sklearn.model_selection import StratifiedKFold

    labels = _records(dataset, data_dir).labels
    splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat)
    return list(splitter.split(np.zeros(len(labels)), labels))


@lru_cache(maxsize=2)
def _encoded(dataset: str, data_dir: Path | None, method: str) -> Any:
    records = _records(dataset, data_dir)
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
    features = _encoded(task.dataset, task.data_dir, task.method)
    _warm_up(task.dataset, task.data_dir, method.id, task.depth)
    classifier = method.classifier(training)
    rows, answers = _rows(features, train), records.labels.iloc[train]
    with experimenting():
        start = time.perf_counter()
        classifier.fit(rows, answers)
        seconds = time.perf_counter() - start
    predicted = np.asarray(classifier.predict(_rows(features, test)))
    accuracy = np.mean(predicted == records.labels.iloc[test].to_numpy())
    return Score(float(accuracy), seconds)


def _rows(features: Any, places: NDArray[np.int64]) -> Any:
    return features.iloc[places] if hasattr(features, "iloc") else features[places]


@lru_cache(maxsize=256)
def _warm_up(dataset: str, data_dir: Path | None, method: str, depth: int) -> None:
    """Compile before the clock starts, by a fit on a few records; once in each process."""
    records = _records(dataset, data_dir)
    few = records.labels.groupby(records.labels).head(50).index
    places = np.flatnonzero(records.labels.index.isin(few))
    chosen: Method = methods.get(method)
    classifier = chosen.classifier(Training(records.schema, 1.0, depth, 0))
    with warnings.catch_warnings(), suppress(Exception):  # what is wrong shows in the real fit
        warnings.simplefilter("ignore")
        rows = _rows(_encoded(dataset, data_dir, method), places)
        classifier.fit(rows, records.labels.iloc[places])
