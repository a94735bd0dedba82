"""The most frequent test label: a constant prediction with which an accuracy is compared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.model import Model
from privatree.schema import Label
from privatree.tables import labels_as_objects, read_labels


@dataclass(frozen=True)
class Majority:
    """The most frequent class among the test labels, and its share of all test records.

    Test records whose label is not a class count in the denominator of the share.
    """

    label: Label
    share: float

    def __post_init__(self) -> None:
        if not is_label(self.label):
            raise ParameterError("the class of a majority must be text, a number or a bool.")
        if not 0 < self.share <= 1:
            raise ParameterError("the share of a majority must be above 0 and at most 1.")


def find_majority(codes: NDArray[Any], classes: Sequence[Any]) -> Majority | None:
    """Return the most frequent class (the first of equals), or None if no label is a class.

    `codes` are the class codes that :func:`label_codes` returned.
    """
    known = codes[codes >= 0]
    if len(known) == 0:
        return None
    counts = np.bincount(known, minlength=len(classes))
    label = classes[int(np.argmax(counts))]
    shown = label if is_label(label) else str(label)
    return Majority(shown, float(counts.max() / len(codes)))


def is_label(value: Any) -> TypeGuard[Label]:
    """Tell whether a schema accepts the value as a class and a JSON file can hold it."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, (str, bool, int))


def label_codes(y: Any, model: Any) -> NDArray[Any]:
    """Return the position of each label among the model's classes, or -1 if it is not a class."""
    released = getattr(model, "model_", None)
    if isinstance(released, Model):
        return read_labels(y, released.schema_)
    position = {label: code for code, label in enumerate(np.asarray(model.classes_).tolist())}
    return np.array([position.get(label, -1) for label in labels_as_objects(y)], dtype=np.int32)
