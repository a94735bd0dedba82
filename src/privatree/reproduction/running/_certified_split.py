"""The task behind the curve of an ensemble that certifies its own predictions: DPA [LF21]."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from privatree.baselines import methods
from privatree.baselines.methods import Training
from privatree.reproduction.running._task import Score
from privatree.reproduction.running._tasks import (
    RandomSplit,
    load_once,
    n_edits,
    suppress_expected_warnings,
)

CERTIFIED_SHARES = tuple(Fraction(k, 2000) for k in range(21))
"""Shares of the training records: 0 to 1%."""


def measure(share: Fraction) -> str:
    """What the results call the accuracy that is certified if this share is poisoned."""
    return f"certified_{float(share):g}"


@dataclass(frozen=True)
class CertifiedSplit(RandomSplit):
    """A random split, the same as without certificates; the certified accuracy at every share."""

    measures: ClassVar[tuple[str, ...]] = tuple(map(measure, CERTIFIED_SHARES))

    def prepare(self) -> None:
        """Load the data."""
        load_once(self.dataset, self.data_dir, self.fingerprint)

    def run(self) -> Score:
        """Train on one part; accuracy and certified accuracy on the other."""
        records = load_once(self.dataset, self.data_dir, self.fingerprint)
        train, test = self.split(records)
        method = methods.get(self.method)
        features = method.encode(records.frame, records.schema)
        labels = records.labels.to_numpy()
        unbounded = Training(records.schema, float("inf"), self.depth, self.repeat)
        classifier = method.classifier(unbounded)
        with suppress_expected_warnings():
            start = time.perf_counter()
            classifier.fit(features[train], labels[train])
            seconds = time.perf_counter() - start
        poisoned = [n_edits(len(records.labels), share) for share in CERTIFIED_SHARES]
        certified = classifier.certified_accuracy(features[test], labels[test], poisoned)
        accuracy = float(np.mean(classifier.predict(features[test]) == labels[test]))
        return Score(accuracy, seconds, tuple(map(float, certified)))
