"""Learners of every kind, and tables with which to call their ``fit``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree import Categorical, Numeric, Schema
from privatree.counting import MAX_GROUPS

SCHEMA = Schema(
    {
        "size": Numeric(-2.5, 7.5, missing=1.0),
        "age": Numeric(0, 99, integer=True),
        "kind": Categorical(["a", "b", "c"], missing="b"),
        "flag": Categorical([True, False]),
    },
    ["no", "yes"],
)
KINDS = ["a", "b", "c", *(f"k{place}" for place in range(MAX_GROUPS + 85))]
MANY_CATEGORIES = Schema(
    {**SCHEMA.features, "kind": Categorical(KINDS, missing="b")}, SCHEMA.classes
)
"""More than there are codes, so that categories are put into groups."""

LEARNERS: dict[str, dict[str, Any]] = {
    "accuracy": {},
    "robust": {"schedule": "robust"},
    "declared n": {"dataset_size": 50, "lookahead": 1},
    "probabilities": {"probability_share": 0.25, "n_bins": 4},
    "free depth": {"max_depth": None},
    "many categories": {"schema": MANY_CATEGORIES, "max_depth": 1, "dataset_size": 1},
}
"""Parameters by name; what is not given is that of `SMALL`."""

SMALL = {"schema": SCHEMA, "random_state": 0, "max_depth": 2}

TABLE = [((1.0, 30, "a", True), "no"), ((2.0, 40, "b", False), "yes")]


def as_array(table: Sequence[tuple[Any, Any]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows and their labels, as objects of any type."""
    X = np.empty((len(table), len(SCHEMA.features)), dtype=object)
    for place, (row, _) in enumerate(table):
        X[place] = row
    return X, np.array([label for _, label in table], dtype=object)
