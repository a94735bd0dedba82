"""Weights of the classes, as the user declares them and as the learner takes them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from privatree._support.validation import check_number, list_some_names
from privatree.errors import ParameterError
from privatree.learners.first_steps import FULL_FACTOR
from privatree.schema import Schema, shorten_value


def check_class_weight(class_weight: Any) -> None:
    """Check that class weights are None, "balanced" or a dictionary of positive numbers."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return
    if not isinstance(class_weight, Mapping):
        raise ParameterError(
            'class_weight must be "balanced", or a dictionary with a weight for each class, or '
            f"None, got {class_weight!r}.",
            "class_weight",
        )
    for weight in class_weight.values():
        check_number(
            "class_weight",
            weight,
            lambda weight: 1e-100 <= weight <= 1e100,
            "have weights from 1e-100 to 1e100",
        )


def class_factors_of(class_weight: Any, schema: Schema) -> tuple[int, ...] | None:
    """Return the weights of the classes as whole numbers; None if all are 1, or balanced."""
    if class_weight is None or isinstance(class_weight, str):
        return None
    if unknown := [label for label in class_weight if label not in schema.classes]:
        raise ParameterError(
            "class_weight must have classes of the schema as keys, got "
            f"{shorten_value(unknown[0])}. The classes are "
            f"{list_some_names(list(schema.classes))}.",
            "class_weight",
        )
    weights = [Fraction(class_weight.get(label, 1)) for label in schema.classes]
    return tuple(max(1, int(FULL_FACTOR * weight / max(weights))) for weight in weights)
