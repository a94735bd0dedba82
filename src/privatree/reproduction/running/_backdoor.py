"""The task behind the backdoor experiment: train on poisoned images, then show the trigger."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from privatree.baselines import methods
from privatree.baselines.methods import Training
from privatree.errors import ParameterError
from privatree.reproduction.datasets._dataset import Records
from privatree.reproduction.running._task import Score
from privatree.reproduction.running._tasks import shown_epsilon, suppress_expected_warnings

if TYPE_CHECKING:
    from privatree.robustness import BackdoorAttack

SOURCE, TARGET = "0", "1"
"""Triggered images of the first digit shall be taken for the second."""

_TEST_SHARE = 0.2
_EFFORT: Mapping[str, float] = {"privatree-paper": 12.0, "decision-tree": 3.0}
"""How long a method takes on 784 pixels, beside one that has not to find quantiles of each."""


@dataclass(frozen=True)
class Backdoor:
    """One method on one stratified random split of the zeros and ones of MNIST, poisoned.

    Repeat r splits (80% for training), poisons and trains with seed r. So many copies of training
    zeros get the trigger and the label 1, and are added. Measured on the rest: the accuracy, and
    the attack's success rate ``asr``, the share of zeros taken for ones once they are triggered.
    """

    dataset: str
    """One of the names of :mod:`privatree.reproduction.loading._mnist`."""
    method: str
    epsilon: float | None
    """None for a method without privacy."""
    depth: int
    poisoned: int
    repeat: int
    data_dir: Path | None = None
    fingerprint: str | None = None
    """Of the data that is meant, if it matters."""

    fields: ClassVar[tuple[str, ...]] = (
        *("dataset", "method", "epsilon", "depth", "poisoned", "repeat"),
    )
    measures: ClassVar[tuple[str, ...]] = ("asr",)

    @property
    def key(self) -> tuple[str, ...]:
        """All but where the data came from."""
        numbers = (str(self.depth), str(self.poisoned), str(self.repeat))
        return (self.dataset, self.method, shown_epsilon(self.epsilon), *numbers)

    @property
    def weight(self) -> float:
        """More for slower methods."""
        return _EFFORT.get(self.method, methods.get(self.method).effort)

    def prepare(self) -> None:
        """Load and encode the images."""
        _encoded(self.dataset, self.data_dir, self.fingerprint, self.method)

    def run(self) -> Score:
        """Poison one part and train on it, score on the other."""
        from sklearn.model_selection import train_test_split

        records = images(self.dataset, self.data_dir, self.fingerprint)
        features = _encoded(self.dataset, self.data_dir, self.fingerprint, self.method)
        train_rows, test_rows, train_labels, test_labels = train_test_split(
            features,
            records.labels.to_numpy(dtype=object),
            test_size=_TEST_SHARE,
            stratify=records.labels,
            random_state=self.repeat,
        )
        attack = paper_attack(self.repeat)
        poisoned = attack.poison(train_rows, train_labels, self.poisoned)
        epsilon = float("inf") if self.epsilon is None else self.epsilon
        training = Training(records.schema, epsilon, self.depth, self.repeat)
        classifier = methods.get(self.method).classifier(training)
        with suppress_expected_warnings():
            start = time.perf_counter()
            classifier.fit(poisoned.X, poisoned.y)
            seconds = time.perf_counter() - start
        accuracy = float(np.mean(np.asarray(classifier.predict(test_rows)) == test_labels))
        success = attack.success_rate(classifier, test_rows, test_labels)
        return Score(accuracy, seconds, (success,))


def paper_attack(seed: int) -> BackdoorAttack:
    """The paper's: four white pixels at the bottom right make a zero a one."""
    from privatree.reproduction.loading._mnist import SHAPE, WHITE
    from privatree.robustness import BackdoorAttack
    from privatree.robustness.attacks import PAPER_PIXELS

    return BackdoorAttack.on_image(
        PAPER_PIXELS, shape=SHAPE, value=WHITE, target=TARGET, source=SOURCE, random_state=seed
    )


def n_training(n_records: int) -> int:
    """How many records the larger part of a split has, before it is poisoned."""
    return n_records - int(np.ceil(_TEST_SHARE * n_records))


@lru_cache(maxsize=2)
def images(dataset: str, data_dir: Path | None, fingerprint: str | None) -> Records:
    """The zeros and ones, kept for the next task; refused if they are not those that are meant."""
    from privatree.reproduction.loading import _mnist as mnist

    records = mnist.LOADERS[dataset](data_dir)
    if fingerprint not in (None, records.fingerprint):
        raise ParameterError(f"{dataset}: its data has changed since the run began. Start again.")
    return records


@lru_cache(maxsize=2)
def _encoded(dataset: str, data_dir: Path | None, fingerprint: str | None, method: str) -> Any:
    records = images(dataset, data_dir, fingerprint)
    return methods.get(method).encode(records.frame, records.schema)
