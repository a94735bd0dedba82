"""Describes observations of a model in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from privatree.audit._ensemble_views import function_in_words
from privatree.audit._views import VALUE_STEPS, view_shows_error
from privatree.audit.exact._privacy_loss import TreeShape
from privatree.schema import Categorical, Schema


def outcome_describer(
    view: str, schema: Schema, outcomes: Iterable[Hashable]
) -> Callable[[Hashable], str]:
    """Return a function that describes an outcome of a view in words.

    ``outcomes`` are all outcomes of the view. Entries that all models have are not described.
    """
    known: dict[str, Callable[[Any], str]] = {
        "tree": lambda shape: (
            ("always " if len(shape) == 1 else "") + _tree_in_words(shape, schema)
        ),
        "splits": lambda splits: _splits_in_words(splits, schema),
        "root": lambda root: _root_in_words(root, schema),
        "first function": lambda function: function_in_words(function, schema),
        "labels": ", ".join,
        "members": ", ".join,
        "said": ", ".join,
    }
    words = _differences_in_words(outcomes) if view == "listed" else known.get(view, str)

    def say(outcome: Any) -> str:
        if view_shows_error(outcome):
            return f"the error {' '.join(map(str, outcome[1:]))!r}"
        is_nothing = outcome is None or (outcome == () and view != "splits")
        return "none" if is_nothing else words(outcome)

    return say


def _differences_in_words(outcomes: Iterable[Any]) -> Callable[[Any], str]:
    """Return a function that lists the entries of a model, except those that all models have."""
    seen = [
        frozenset(outcome) for outcome in set(outcomes) if outcome and not view_shows_error(outcome)
    ]
    common = frozenset.intersection(*seen) if seen else frozenset()

    def say(outcome: Any) -> str:
        entries = [f"{path} = {text}" for path, text in outcome if (path, text) not in common]
        return " and ".join(entries) or "only what is in all models"

    return say


def _tree_in_words(shape: TreeShape, schema: Schema) -> str:
    if len(shape) == 1:
        return _leaf_in_words(shape[0], schema)
    left, right = (
        f"({_tree_in_words(below, schema)})" if len(below) == 4 else _tree_in_words(below, schema)
        for below in shape[2:]
    )
    return f"if {_root_in_words(shape, schema)} then {left} else {right}"


def _leaf_in_words(outcome: float, schema: Schema) -> str:
    """Describe a class, or a number that is counted in steps of the range of the target."""
    if schema.target is None:
        return str(schema.classes[int(outcome)])
    low, high = float(schema.target.low), float(schema.target.high)
    return f"about {low + (high - low) * outcome / VALUE_STEPS:.6g}"


def _splits_in_words(splits: TreeShape, schema: Schema) -> str:
    if not splits:
        return "a single leaf"
    feature, left, right = splits
    below = [_splits_in_words(side, schema) for side in (left, right) if side]
    return f"{schema.names[feature]}" + (f", below it {' and '.join(below)}" if below else "")


def _root_in_words(root: TreeShape, schema: Schema) -> str:
    if len(root) == 1:
        return f"a leaf that predicts {_leaf_in_words(root[0], schema)}"
    feature, where = root[:2]
    name = schema.names[feature]
    declared = schema.features[name]
    if isinstance(declared, Categorical):
        named = [str(category) for category in declared.categories]
        named += ["(missing)"]  # the last code, if missing values are separate
        return f"{name} in {{{', '.join(named[code] for code in where)}}}"
    if where == -math.inf:
        return f"{name} is missing"
    return f"{name} <= {where:.6g}"
