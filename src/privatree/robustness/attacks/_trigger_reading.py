"""What a learner makes of a trigger whose values its schema does not have."""

from __future__ import annotations

from typing import Any

import numpy as np

from privatree.model import Model
from privatree.robustness.attacks._attacks import BackdoorAttack
from privatree.schema import Numeric
from privatree.tables import column_names, column_position, read_features, take_rows


def trigger_notes(attack: Any, X_test: Any, model: Any) -> tuple[str, ...]:
    """A note for each value of a trigger that is read as another one.

    Parameters
    ----------
    attack : object
        Only a :class:`BackdoorAttack` has a trigger that is known.
    X_test : frame
        What the trigger is set in.
    model : classifier
        Trained; one without a schema of its own is not spoken of.
    """
    released = getattr(model, "model_", None)
    if not isinstance(attack, BackdoorAttack) or not isinstance(released, Model):
        return ()
    schema = released.schema_
    first = attack.apply(take_rows(X_test, np.array([0])))
    names = getattr(model, "feature_names_in_", None)  # of the columns of an array
    read = read_features(first, schema, names=names)
    notes = []
    for column, value in attack.trigger.items():
        position = column_position(X_test, column)
        name = column_names(X_test)[position]
        if name not in schema.features:
            name = (schema.names if names is None else names)[position]
        place = read[schema.names.index(name)][0]
        note = _note(name, value, schema.features[name], place)
        notes += [note] if note else []
    return tuple(notes)


def _note(name: str, value: Any, feature: Any, place: Any) -> str | None:
    start = f"The trigger has {value!r} in column {name!r}, which is"
    if isinstance(feature, Numeric):
        is_number = isinstance(value, (int, float, np.number))
        if is_number and feature.low <= value <= feature.high:
            return None
        return (
            f"{start} not in the schema's range from {feature.low:g} to {feature.high:g}: the "
            f"learner reads it as {place:g}."
        )
    category = feature.categories[int(place)]
    if category == value:
        return None
    return (
        f"{start} not a category of the schema: the learner reads it as {category!r}, where what "
        "is unknown counts."
    )
