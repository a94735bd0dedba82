"""Measures of a trained model: scores in [0, 1] that are fixed before training, and predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privatree._support.validation import list_some_names
from privatree.errors import CertificateError, ParameterError
from privatree.model import Model
from privatree.robustness.attacks._trigger_notes import trigger_notes
from privatree.robustness.certificates._majority_class import Majority, find_majority, label_codes


class Attack(Protocol):
    """An attack with a trigger that is fixed before training."""

    def success_rate(self, model: Any, X_test: Any, y_test: Any) -> float:
        """Return the share of a fixed set of test records that the trigger turns to the target."""


@dataclass(frozen=True)
class Accuracy:
    """The share of test records that a model predicts correctly.

    A test record whose label is not a class is always predicted wrongly.
    """

    X_test: Any
    y_test: Any

    def check(self, model: Any) -> None:
        """Check that at least one test label is a class of the model."""
        if hasattr(model, "classes_") and not np.any(label_codes(self.y_test, model) >= 0):
            raise ParameterError(
                "the test labels must have at least one class of the learner, got none. The "
                f"classes are {list_some_names(np.asarray(model.classes_).tolist())}."
            )

    def notes(self, model: Any) -> tuple[str, ...]:
        """Return a note on the test records whose label is not a class, if there are any."""
        if not hasattr(model, "classes_"):
            return ()
        codes = label_codes(self.y_test, model)
        unknown = int(np.sum(codes < 0))
        if unknown == 0:
            return ()
        have, they = ("has", "it counts") if unknown == 1 else ("have", "they count")
        return (
            f"{unknown} of {len(codes)} test records {have} a label that is not a class; {they} "
            "as wrong.",
        )

    def majority(self, model: Any) -> Majority | None:
        """Return the most frequent test label."""
        if not hasattr(model, "classes_"):
            return None
        classes = np.asarray(model.classes_).tolist()
        return find_majority(label_codes(self.y_test, model), classes)

    def __call__(self, model: Any) -> float:
        released = getattr(model, "model_", None)
        if isinstance(released, Model):
            names = getattr(model, "feature_names_in_", None)
            return released.score(self.X_test, self.y_test, names=names)
        return _check_score("score(X_test, y_test)", model.score(self.X_test, self.y_test))


@dataclass(frozen=True)
class SuccessRate:
    """The share of triggered test records for which a model predicts the attacker's target."""

    attack: Attack
    X_test: Any
    y_test: Any

    def check(self, model: Any) -> None:
        """Check that the model can predict the target, and that the attack returns a rate."""
        target = getattr(self.attack, "target", None)
        if target is not None and hasattr(model, "classes_"):
            classes = np.asarray(model.classes_).tolist()
            if not any(label == target for label in classes):
                raise ParameterError(
                    f"attack.target must be a class of the learner, got {target!r}, which the "
                    f"learner never predicts. The classes are {list_some_names(classes)}."
                )
        self(model)

    def notes(self, model: Any) -> tuple[str, ...]:
        """Return notes on trigger values that are outside the schema."""
        return trigger_notes(self.attack, self.X_test, model)

    def majority(self, model: Any) -> None:
        """Return None: a success rate is not compared with a constant prediction."""

    def __call__(self, model: Any) -> float:
        rate = self.attack.success_rate(model, self.X_test, self.y_test)
        return _check_score("attack.success_rate", rate)


@dataclass(frozen=True)
class PredictedCodes:
    """The position in ``classes_`` of the class that a model predicts for each record."""

    X_test: Any

    def __call__(self, model: Any) -> NDArray[np.int64]:
        labels = np.asarray(model.predict(self.X_test))
        codes = np.argmax(labels[:, np.newaxis] == model.classes_, axis=1)
        return np.asarray(codes, dtype=np.int64)


def _check_score(name: str, score: Any) -> float:
    if not 0.0 <= float(score) <= 1.0:  # NaN fails this comparison too
        raise CertificateError(f"{name} must return a number from 0 to 1, got {score}.")
    return float(score)
