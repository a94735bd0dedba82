"""Measures of a trained model: scores in [0, 1] that are fixed before training, and predictions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from privatree._support.validation import list_some_names
from privatree.errors import CertificateError, ParameterError
from privatree.model import EnsembleModel, Model
from privatree.robustness.attacks._attacks import BackdoorAttack
from privatree.robustness.certificates._majority import Majority, is_label
from privatree.schema import Numeric, Target
from privatree.tables import (
    column_names,
    column_position,
    labels_as_objects,
    read_features,
    read_labels,
    read_target,
    take_rows,
)

_LARGEST = 1e100
"""Largest size of a test target, so that sums of errors are finite and no share is lost."""


class AttackWithTrigger(Protocol):
    """An attack with a trigger that is fixed before training."""

    def success_rate(self, model: Any, X_test: Any, y_test: Any) -> float:
        """Return the share of fixed test records, with the trigger, predicted as the target."""


class _Score:
    """What all scores from 0 to 1 have in common."""

    score_if_stopped: ClassVar[float] = 0.0

    @property
    def scale(self) -> float:
        """What a score of 1 is in the certificate."""
        return 1.0

    @property
    def fields(self) -> dict[str, Any]:
        """Further fields of the certificate."""
        return {}


@dataclass(frozen=True)
class Accuracy(_Score):
    """The share of test records that a model predicts correctly.

    A test record whose label is not a class is always predicted wrongly.
    """

    X_test: Any
    y_test: Any
    meaning_of_stop: ClassVar[str] = "they count as wrong"

    def compare_labels(self, model: Any) -> tuple[tuple[str, ...], Majority | None]:
        """Return a note on test labels that are not classes, if any, and the most frequent class.

        Raise an error if no test label is a class.
        """
        if not hasattr(model, "classes_"):
            return (), None
        classes = np.asarray(model.classes_).tolist()
        codes = self._class_codes(model, classes)
        known = codes[codes >= 0]
        if len(known) == 0:
            raise ParameterError(
                "at least one test label must be a class of the learner, but none is. The "
                f"classes are {list_some_names(classes)}."
            )
        counts = np.bincount(known, minlength=len(classes))
        label = classes[int(np.argmax(counts))]
        shown = label if is_label(label) else str(label)
        majority = Majority(shown, float(counts.max() / len(codes)))
        unknown = len(codes) - len(known)
        if unknown == 0:
            return (), majority
        have, they = ("has", "it counts") if unknown == 1 else ("have", "they count")
        note = (
            f"{unknown} of {len(codes)} test records {have} a label that is not a class; {they} "
            "as wrong."
        )
        return (note,), majority

    def _class_codes(self, model: Any, classes: list[Any]) -> NDArray[Any]:
        """Return the position of each test label among the classes, or -1 if it is not a class."""
        released = getattr(model, "model_", None)
        if isinstance(released, Model | EnsembleModel):
            return read_labels(self.y_test, released.schema_)
        position = {label: code for code, label in enumerate(classes)}
        codes = [position.get(label, -1) for label in labels_as_objects(self.y_test)]
        return np.array(codes, dtype=np.int32)

    def __call__(self, model: Any) -> float:
        released = getattr(model, "model_", None)
        if isinstance(released, Model | EnsembleModel):
            names = getattr(model, "feature_names_in_", None)
            return released.score(self.X_test, self.y_test, names=names)
        return _check_measured_score("score(X_test, y_test)", model.score(self.X_test, self.y_test))


class AbsoluteError(_Score):
    """The mean absolute error of a model's predictions, as a share of the range of test targets.

    Predictions outside the range of the test targets count as its nearer end. Test targets outside
    the range that the learner declares count as its nearer end, as in training: otherwise one of
    them could make the range, and with it the certificate, useless.
    """

    meaning_of_stop: ClassVar[str] = "they count as the largest error"
    score_if_stopped: ClassVar[float] = 1.0

    def __init__(self, X_test: Any, y_test: Any, declared: Target | None = None) -> None:
        self.X_test, exact = X_test, read_target(y_test)
        if not np.isfinite(exact).all():
            raise ParameterError("y_test must have a finite number for each record.", "y_test")
        self.y_test = exact
        if declared is not None:
            self.y_test = np.clip(exact, float(declared.low), float(declared.high))
        self._n_outside = int((self.y_test != exact).sum())
        if len(self.y_test) and self.y_test.min() == self.y_test.max():
            raise ParameterError(
                "y_test, the test targets, must have at least two different numbers.", "y_test"
            )
        if len(self.y_test) and not (
            np.abs(self.y_test).max() <= _LARGEST and self.scale >= 1 / _LARGEST
        ):
            raise ParameterError(
                "y_test, the test targets, must be neither too far apart nor too close for floats: "
                f"from {-_LARGEST:g} to {_LARGEST:g}, and in a range at least {1 / _LARGEST:g} "
                "wide. Choose another unit.",
                "y_test",
            )

    @cached_property
    def target_range(self) -> tuple[float, float]:
        """Smallest and largest test target."""
        return float(self.y_test.min()), float(self.y_test.max())

    @property
    def scale(self) -> float:
        return self.target_range[1] - self.target_range[0]

    @property
    def fields(self) -> dict[str, Any]:
        return {"target_range": self.target_range}

    def compare_labels(self, model: Any) -> tuple[tuple[str, ...], Majority]:
        """Return a note on test targets that are clipped, and the median with its error."""
        median = float(np.median(self.y_test))
        shown = int(median) if median.is_integer() else median
        majority = Majority(shown, float(np.abs(self.y_test - median).mean()))
        if not self._n_outside:
            return (), majority
        have, they = ("has", "it counts") if self._n_outside == 1 else ("have", "they count")
        note = (
            f"{self._n_outside} of {len(self.y_test)} test records {have} a target outside the "
            f"range of the schema; {they} as its nearer end."
        )
        return (note,), majority

    def __call__(self, model: Any) -> float:
        predicted = np.asarray(model.predict(self.X_test), dtype=np.float64)
        if predicted.shape != self.y_test.shape:
            raise ParameterError(
                f"y_test must have one number for each record of X_test, got {len(self.y_test)} "
                f"for {len(predicted)} records.",
                "y_test",
            )
        predicted = np.clip(predicted, *self.target_range)
        share = float(np.abs((predicted - self.y_test) / self.scale).mean())
        return _check_measured_score("the error of predict(X_test)", min(share, 1.0))


@dataclass(frozen=True)
class SuccessRate(_Score):
    """The share of triggered test records for which a model predicts the attacker's target."""

    attack: AttackWithTrigger
    X_test: Any
    y_test: Any
    meaning_of_stop: ClassVar[str] = "the attack has no success there"

    def compare_labels(self, model: Any) -> tuple[tuple[str, ...], None]:
        """Return notes on trigger values outside the schema, and None for the majority.

        Raise an error if the model never predicts the target, or the attack returns no rate.
        """
        target = getattr(self.attack, "target", None)
        if target is not None and hasattr(model, "classes_"):
            classes = np.asarray(model.classes_).tolist()
            if not any(label == target for label in classes):
                raise ParameterError(
                    f"attack.target must be a class of the learner, got {target!r}, which the "
                    f"learner never predicts. The classes are {list_some_names(classes)}."
                )
        self(model)
        return measured_trigger_notes(self.attack, self.X_test, model), None

    def __call__(self, model: Any) -> float:
        rate = self.attack.success_rate(model, self.X_test, self.y_test)
        return _check_measured_score("attack.success_rate", rate)


@dataclass(frozen=True)
class PredictedCodes:
    """The position in ``classes_`` of the class that a model predicts for each record."""

    X_test: Any

    def __call__(self, model: Any) -> NDArray[np.int64]:
        labels = np.asarray(model.predict(self.X_test))
        codes = np.argmax(labels[:, np.newaxis] == model.classes_, axis=1)
        return np.asarray(codes, dtype=np.int64)


@dataclass(frozen=True)
class PredictedNumbers:
    """The number that a model predicts for each record."""

    X_test: Any

    def __call__(self, model: Any) -> NDArray[np.float64]:
        return np.asarray(model.predict(self.X_test), dtype=np.float64)


def _check_measured_score(name: str, score: Any) -> float:
    if not 0.0 <= float(score) <= 1.0:  # NaN fails this comparison too
        raise CertificateError(f"{name} must return a number from 0 to 1, got {score}.")
    return float(score)


def measured_trigger_notes(attack: Any, X_test: Any, model: Any) -> tuple[str, ...]:
    """Return a note for each value of the trigger that the learner reads as another value.

    There are no notes if `attack` is not a :class:`BackdoorAttack`, or `model` has no schema.
    """
    released = getattr(model, "model_", None)
    if not isinstance(attack, BackdoorAttack) or not isinstance(released, Model | EnsembleModel):
        return ()
    schema = released.schema_
    first = attack.apply(take_rows(X_test, np.array([0])))
    names = getattr(model, "feature_names_in_", None)  # the names of the columns of an array
    read = read_features(first, schema, names=names)
    notes = []
    for column, value in attack.trigger.items():
        position = column_position(X_test, column)
        name = column_names(X_test)[position]
        if name not in schema.features:
            name = (schema.names if names is None else names)[position]
        feature, code = schema.features[name], read[schema.names.index(name)][0]
        start = f"The trigger has {value!r} in column {name!r}, which is not"
        if isinstance(feature, Numeric):
            is_number = isinstance(value, (int, float, np.number))
            if not (is_number and feature.low <= value <= feature.high):
                read_as = f"{code:g}" if np.isfinite(code) else "missing"
                notes.append(
                    f"{start} in the schema's range from {feature.low:g} to {feature.high:g}: the "
                    f"learner reads it as {read_as}."
                )
        elif int(code) == len(feature.categories):
            notes.append(f"{start} a category of the schema: the learner reads it as missing.")
        elif (category := feature.categories[int(code)]) != value:
            notes.append(
                f"{start} a category of the schema: the learner reads it as {category!r}, where "
                "what is unknown counts."
            )
    return tuple(notes)
