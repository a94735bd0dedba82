"""What giving everybody the same answer would score, to compare an accuracy with."""

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
    """The most frequent class among test labels.

    Parameters
    ----------
    label : str, bool, int or float
        The class; of equals the first.
    share : float
        Of all test records, those without a known label included.
    """

    label: Label
    share: float

    def __post_init__(self) -> None:
        """Refuse what is no class and its share; a file might hold anything."""
        if not is_label(self.label):
            raise ParameterError("the class of a majority must be text, a number or a bool.")
        if not 0 < self.share <= 1:
            raise ParameterError("the share of a majority must be above 0 and at most 1.")


def majority_of(codes: NDArray[Any], classes: Sequence[Any]) -> Majority | None:
    """The most frequent class; None where no label is one.

    Parameters
    ----------
    codes : ndarray of int
        As :func:`label_codes` finds them.
    classes : sequence
        Of the learner.
    """
    known = codes[codes >= 0]
    if len(known) == 0:
        return None
    counts = np.bincount(known, minlength=len(classes))
    label = classes[int(np.argmax(counts))]
    shown = label if is_label(label) else str(label)
    return Majority(shown, float(counts.max() / len(codes)))


def is_label(written: Any) -> TypeGuard[Label]:
    """Tell what a schema takes for a class, and a file can hold."""
    if isinstance(written, float):
        return math.isfinite(written)
    return isinstance(written, (str, bool, int))


def label_codes(y: Any, model: Any) -> NDArray[Any]:
    """The place of each label among the classes of a trained model, -1 where it is none of them."""
    released = getattr(model, "model_", None)
    if isinstance(released, Model):
        return read_labels(y, released.schema_)
    place = {label: code for code, label in enumerate(np.asarray(model.classes_).tolist())}
    return np.array([place.get(label, -1) for label in labels_as_objects(y)], dtype=np.int32)
