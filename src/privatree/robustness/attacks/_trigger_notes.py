"""Notes on the values of a trigger that are outside the schema of the learner."""

from __future__ import annotations

from typing import Any

import numpy as np

from privatree.model import Model
from privatree.robustness.attacks._attacks import BackdoorAttack
from privatree.schema import Numeric
from privatree.tables import column_names, column_position, read_features, take_rows


def trigger_notes(attack: Any, X_test: Any, model: Any) -> tuple[str, ...]:
    """Return a note for each value of the trigger that the learner reads as another value.

    There are no notes if `attack` is not a :class:`BackdoorAttack`, or `model` has no schema.
    """
    released = getattr(model, "model_", None)
    if not isinstance(attack, BackdoorAttack) or not isinstance(released, Model):
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
        code = read[schema.names.index(name)][0]
        notes.append(_note_on_value(name, value, schema.features[name], code))
    return tuple(filter(None, notes))


def _note_on_value(name: str, value: Any, feature: Any, code: Any) -> str:
    start = f"The trigger has {value!r} in column {name!r}, which is"
    if isinstance(feature, Numeric):
        is_number = isinstance(value, (int, float, np.number))
        if is_number and feature.low <= value <= feature.high:
            return ""
        return (
            f"{start} not in the schema's range from {feature.low:g} to {feature.high:g}: the "
            f"learner reads it as {code:g}."
        )
    category = feature.categories[int(code)]
    if category == value:
        return ""
    return (
        f"{start} not a category of the schema: the learner reads it as {category!r}, where what "
        "is unknown counts."
    )
