"""What is measured of a trained model: a score in [0, 1] that was fixed before training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privatree._support.validation import list_some_names
from privatree.errors import CertificateError, ParameterError
from privatree.model import Model
from privatree.robustness.attacks._trigger_reading import trigger_notes
from privatree.robustness.certificates._majority import Majority, label_codes, majority_of


class Attack(Protocol):
    """An attack with a trigger that is fixed before training."""

    def success_rate(self, model: Any, X_test: Any, y_test: Any) -> float:
        """Share of some test records, always the same, that the trigger turns to the target."""


@dataclass(frozen=True)
class Accuracy:
    """Share of test records that are predicted right; those without a known label never are."""

    X_test: Any
    y_test: Any

    def check(self, model: Any) -> None:
        """Refuse test records that no model could predict right, which looks like a mistake."""
        if hasattr(model, "classes_") and not np.any(label_codes(self.y_test, model) >= 0):
            raise ParameterError(
                "the test labels must have one that is a class of the learner, got none. The "
                f"classes are {list_some_names(np.asarray(model.classes_).tolist())}."
            )

    def notes(self, model: Any) -> tuple[str, ...]:
        """How many test records can only be wrong."""
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
        """What to compare with."""
        if not hasattr(model, "classes_"):
            return None
        classes = np.asarray(model.classes_).tolist()
        return majority_of(label_codes(self.y_test, model), classes)

    def __call__(self, model: Any) -> float:
        """Measure it."""
        released = getattr(model, "model_", None)
        if isinstance(released, Model):
            names = getattr(model, "feature_names_in_", None)
            return released.score(self.X_test, self.y_test, names=names)
        return _in_range("score(X_test, y_test)", model.score(self.X_test, self.y_test))


@dataclass(frozen=True)
class SuccessRate:
    """Share of triggered test records that are predicted as the attacker wants."""

    attack: Attack
    X_test: Any
    y_test: Any

    def check(self, model: Any) -> None:
        """Refuse a target that no model could predict, and what is no rate."""
        target = getattr(self.attack, "target", None)
        if target is not None and hasattr(model, "classes_"):
            classes = np.asarray(model.classes_).tolist()
            if not any(label == target for label in classes):
                raise ParameterError(
                    f"attack.target must be a class of the learner, got {target!r}: it is never "
                    f"predicted, so any attack would fail. The classes are "
                    f"{list_some_names(classes)}."
                )
        self(model)

    def notes(self, model: Any) -> tuple[str, ...]:
        """What the learner makes of the trigger."""
        return trigger_notes(self.attack, self.X_test, model)

    def __call__(self, model: Any) -> float:
        """Measure it."""
        rate = self.attack.success_rate(model, self.X_test, self.y_test)
        return _in_range("attack.success_rate", rate)


@dataclass(frozen=True)
class PredictedCodes:
    """The place in ``classes_`` of the prediction of each record."""

    X_test: Any

    def __call__(self, model: Any) -> NDArray[np.int64]:
        """Measure it."""
        labels = np.asarray(model.predict(self.X_test))
        codes = np.argmax(labels[:, np.newaxis] == model.classes_, axis=1)
        return np.asarray(codes, dtype=np.int64)


def _in_range(what: str, score: Any) -> float:
    if not 0.0 <= float(score) <= 1.0:  # not true of NaN either
        raise CertificateError(f"{what} must be from 0 to 1, got {score}: the bounds are for that.")
    return float(score)
