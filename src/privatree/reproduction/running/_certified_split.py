"""The task behind the curve of an ensemble that certifies its own predictions: DPA [LF21]."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from privatree.reproduction.running._task import Score
from privatree.reproduction.running._tasks import RandomSplit, task_edits, task_rows, task_split

CERTIFIED_SHARES = tuple(Fraction(k, 2000) for k in range(21))
"""Shares of the training records that are poisoned: 0 to 1%."""


def certified_accuracy_column(share: Fraction) -> str:
    """Return the name of the result column for the accuracy certified at a poisoned share."""
    return f"certified_{float(share):g}"


@dataclass(frozen=True)
class CertifiedSplit(RandomSplit):
    """A ``RandomSplit`` that also measures the certified accuracy at each poisoned share."""

    measures: ClassVar[tuple[str, ...]] = tuple(map(certified_accuracy_column, CERTIFIED_SHARES))

    def run(self) -> Score:
        """Train on one part; return the accuracy and certified accuracies on the other."""
        records, features = self.load_records(), self.encode_features()
        labels = records.labels.to_numpy()
        train, test = task_split(records, self.repeat)
        rows = task_rows(features, test)
        classifier, seconds = self.fit_and_time(
            task_rows(features, train), labels[train], self.repeat
        )
        poisoned = [task_edits(len(labels), share) for share in CERTIFIED_SHARES]
        certified = classifier.certified_accuracy(rows, labels[test], poisoned)
        accuracy = float(np.mean(classifier.predict(rows) == labels[test]))
        return Score(accuracy, seconds, tuple(map(float, certified)))
