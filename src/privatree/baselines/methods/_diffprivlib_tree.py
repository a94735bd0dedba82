"""DiffPrivLib's decision tree [HBML19]: random splits, noisy labels; categories as numbers.

The real library, told the ranges, categories and classes of the schema, so that it reads none of
them from the records. ``privatree.baselines.RandomTreeClassifier`` is our version of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.baselines.methods._method import PRIVATE, Method, Training, as_numbers
from privatree.schema import Categorical, Schema


def bounds(schema: Schema) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the largest value of every feature, of categories by their positions."""
    ends = [
        (0, len(feature.categories) - 1)
        if isinstance(feature, Categorical)
        else (feature.low, feature.high)
        for feature in schema.features.values()
    ]
    lows, highs = np.array(ends, dtype=np.float64).T
    return lows, highs


def told(training: Training) -> dict[str, Any]:
    """What the library's trees and forests are told."""
    return {
        "max_depth": training.max_depth,
        "epsilon": training.epsilon,
        "bounds": bounds(training.schema),
        "classes": np.array(training.schema.classes),
        "random_state": training.seed,
    }


def _classifier(training: Training) -> Any:
    from diffprivlib.models import DecisionTreeClassifier

    return DecisionTreeClassifier(**told(training))


METHOD = Method(
    "diffprivlib-tree",
    "DiffPrivLib",
    PRIVATE,
    _classifier,
    encode=as_numbers,
    requires="diffprivlib",
)
