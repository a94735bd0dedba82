"""What is measured of a trained model: a score in [0, 1] that was fixed before training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privatree.errors import CertificateError, ParameterError
from privatree.model import Model
from privatree.sources.frames import read_labels


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
        released = getattr(model, "model_", None)
        if isinstance(released, Model) and not np.any(
            read_labels(self.y_test, released.schema_) >= 0
        ):
            raise ParameterError("y_test must have a label that is one of the schema's classes.")

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
        """Refuse what is no rate."""
        self(model)

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
