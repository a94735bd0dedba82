"""The task behind the backdoor figure: train on poisoned images, then show the trigger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from privatree.baselines import methods
from privatree.reproduction.running._task import Score
from privatree.reproduction.running._tasks import MethodTask, task_rows, task_split

if TYPE_CHECKING:
    from privatree.robustness import BackdoorAttack

SOURCE, TARGET = "0", "1"
"""The attacker wants triggered images of the first digit to be classified as the second."""

_EFFORT: Mapping[str, float] = {"privatree-paper": 12.0, "decision-tree": 3.0}
"""Cost of a fit on 784 pixels, relative to a method that needs no quantiles of each pixel."""


@dataclass(frozen=True)
class Backdoor(MethodTask):
    """One method on one stratified random split of the zeros and ones of MNIST, with poisoning.

    Repeat r splits (80% for training), poisons and trains with seed r. ``poisoned`` copies of
    training zeros get the trigger and the label 1, and are added. Two numbers are measured
    on the test records: the accuracy, and the attack success rate ``asr``, which is the share of
    zeros that are classified as ones when they have the trigger.
    """

    poisoned: int
    repeat: int

    fields: ClassVar[tuple[str, ...]] = (
        *("dataset", "method", "epsilon", "depth", "poisoned", "repeat"),
    )
    measures: ClassVar[tuple[str, ...]] = ("asr",)

    @property
    def weight(self) -> float:
        """Rough duration of the task: larger for slower methods."""
        return _EFFORT.get(self.method, methods.get(self.method).effort)

    def run(self) -> Score:
        """Poison the training part, train on it, and return the scores on the test part."""
        records, features = self.load_records(), self.encode_features()
        train, test = task_split(records, self.repeat)
        labels = records.labels.to_numpy(dtype=object)
        attack = paper_backdoor_attack(self.repeat)
        poisoned = attack.poison(task_rows(features, train), labels[train], self.poisoned)
        classifier, seconds = self.fit_and_time(poisoned.X, poisoned.y, self.repeat)
        test_images = task_rows(features, test)
        accuracy = float(np.mean(np.asarray(classifier.predict(test_images)) == labels[test]))
        success = attack.success_rate(classifier, test_images, labels[test])
        return Score(accuracy, seconds, (success,))


def paper_backdoor_attack(seed: int) -> BackdoorAttack:
    """Return the paper's attack: four white pixels at the bottom right make a zero a one."""
    from privatree.reproduction.loading._mnist import SHAPE, WHITE
    from privatree.robustness import BackdoorAttack
    from privatree.robustness.attacks import PAPER_PIXELS

    return BackdoorAttack.on_image(
        PAPER_PIXELS, shape=SHAPE, value=WHITE, target=TARGET, source=SOURCE, random_state=seed
    )
