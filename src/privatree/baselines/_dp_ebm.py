"""DP-EBM [Nori21]: a private sum of curves, one for each feature; not a tree, for comparison.

The real library, told the kinds and ranges of the schema. Its guarantee has a delta besides
epsilon, and the library itself reads from the records, outside it, how many there are and which
categories occur. It knows two classes only.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from privatree.schema import Categorical, Schema

if TYPE_CHECKING:
    import pandas as pd

DELTA = 1e-6


class BoostedCurves(BaseEstimator):  # type: ignore[misc]
    """The library's classifier, told what is public.

    Parameters
    ----------
    schema : Schema
        Kinds and ranges of the features.
    epsilon : float
        The privacy budget, beside ``DELTA``.
    random_state : int or None
        Makes the fit repeatable.
    """

    def __init__(self, schema: Schema, epsilon: float, random_state: int | None) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.random_state = random_state

    def fit(self, X: pd.DataFrame, y: ArrayLike) -> Self:
        """Learn the curves."""
        from interpret.privacy import DPExplainableBoostingClassifier

        self.model_ = DPExplainableBoostingClassifier(
            feature_names=list(self.schema.names),
            feature_types=feature_types(self.schema),
            privacy_bounds=privacy_bounds(self.schema),
            epsilon=self.epsilon,
            delta=DELTA,
            random_state=self.random_state,
            n_jobs=1,
        )
        with warnings.catch_warnings():
            # That a seed is no secret is known here, and told to every reader of the results.
            warnings.filterwarnings("ignore", "Privacy violation: using a fixed random_state")
            self.model_.fit(X, np.asarray(y))
        return self

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """The predicted label of each row."""
        return np.asarray(self.model_.predict(X))

    def predict_proba(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """The probability of each class for each row."""
        return np.asarray(self.model_.predict_proba(X))


def feature_types(schema: Schema) -> list[str]:
    """What the library calls the kind of every feature."""
    return [
        "nominal" if isinstance(feature, Categorical) else "continuous"
        for feature in schema.features.values()
    ]


def privacy_bounds(schema: Schema) -> dict[int, tuple[float, float]]:
    """The range of every numeric feature, by its position."""
    return {
        place: (float(feature.low), float(feature.high))
        for place, feature in enumerate(schema.features.values())
        if not isinstance(feature, Categorical)
    }
