"""Scores of the probabilities of a classifier: the area under the ROC curve, and the log loss."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

PROBABILITY_SCORES = ("auc", "log_loss")
"""Names of the scores that :func:`probability_scores` returns."""

MIN_PROBABILITY = 1e-6
"""Probabilities below this count as this, so that no record has an infinite loss."""


def probability_scores(classifier: Any, rows: Any, answers: NDArray[Any]) -> tuple[float, ...]:
    """Return AUC and log loss for records with known labels; nothing without probabilities.

    With more than two classes, the AUC is the mean over the classes of each against the rest. A
    class that no record has, or that all have, is left out. Without any other class the AUC is NaN.
    """
    if not hasattr(classifier, "predict_proba"):
        return ()
    classes = np.asarray(classifier.classes_).tolist()
    probabilities = np.asarray(classifier.predict_proba(rows), dtype=np.float64)
    is_class = np.column_stack([answers == label for label in classes])
    # A label that is missing in the training records has a probability of 0.
    of_answers = np.where(is_class, probabilities, 0.0).sum(axis=1)
    log_loss = -np.mean(np.log(np.clip(of_answers, MIN_PROBABILITY, 1.0)))
    return _macro_auc(is_class, probabilities), float(log_loss)


def _macro_auc(is_class: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> float:
    from sklearn.metrics import roc_auc_score

    n_classes = is_class.shape[1]
    shown = [n_classes - 1] if n_classes == 2 else range(n_classes)
    found = [
        float(roc_auc_score(is_class[:, place], probabilities[:, place]))
        for place in shown
        if is_class[:, place].any() and not is_class[:, place].all()
    ]
    return math.fsum(found) / len(found) if found else math.nan
