"""What can be observed of a boosted ensemble: its rounds, their functions, and its margins."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from privatree.model.ensemble import Branch, Ensemble, RoundFunction, Step
from privatree.schema import Categorical, Schema


def view_n_rounds(model: Any, probes: Any) -> Hashable:
    ensemble = _ensemble_of(model)
    return None if ensemble is None else len(ensemble.rounds)


def view_first_function(model: Any, probes: Any) -> RoundFunction | None:
    ensemble = _ensemble_of(model)
    return None if ensemble is None else ensemble.rounds[0].function


def view_features(model: Any, probes: Any) -> Hashable:
    """Return for each round the features of its function, the root first."""
    ensemble = _ensemble_of(model)
    if ensemble is None:
        return None
    return tuple(_features_of(one.function) for one in ensemble.rounds)


def view_margins(model: Any, probes: Any) -> Hashable:
    """Return how many functions speak for a class, minus those against it, for each record."""
    ensemble = _ensemble_of(model)
    if ensemble is None:
        return None
    scores = np.asarray(model.decision_function(probes), dtype=np.float64).ravel()
    return tuple(np.rint(scores / ensemble.step * 2).astype(int).tolist())


def function_in_words(function: RoundFunction, schema: Schema) -> str:
    """Describe a function: "age: + above 30", "+ if kind in {a}", or with a split before it."""
    name = schema.names[function.feature]
    if isinstance(function, Branch):
        sides = (function_in_words(side, schema) for side in (function.left, function.right))
        where = _split_in_words(function, name, schema)
        return "if {} then ({}) else ({})".format(where, *sides)
    if function.positive is not None:
        return f"+ if {name} in {_codes_in_words(function.positive, name, schema)}"
    signs = ["+" if function.first * (-1) ** place > 0 else "-" for place in (0, 1)]
    changes = [
        f"{signs[place % 2]} above {value:.6g}"
        for place, value in enumerate(function.switches, start=1)
    ]
    return f"{name}: {', '.join([signs[0], *changes])}"


def _ensemble_of(model: Any) -> Ensemble | None:
    found = getattr(model, "ensemble_", None)
    return found if isinstance(found, Ensemble) else None


def _features_of(function: RoundFunction) -> tuple[int, ...]:
    if isinstance(function, Step):
        return (function.feature,)
    return function.feature, *_features_of(function.left), *_features_of(function.right)


def _split_in_words(split: Branch, name: str, schema: Schema) -> str:
    if split.goes_left is not None:
        return f"{name} in {_codes_in_words(split.goes_left, name, schema)}"
    if split.threshold == -math.inf:
        return f"{name} is missing"
    return f"{name} <= {split.threshold:.6g}"


def _codes_in_words(chosen: bytes, name: str, schema: Schema) -> str:
    feature = schema.features[name]
    known = feature.categories if isinstance(feature, Categorical) else ()
    named = [*map(str, known), "(missing)"]  # the last code, if missing values are separate
    return f"{{{', '.join(named[code] for code, is_chosen in enumerate(chosen) if is_chosen)}}}"
