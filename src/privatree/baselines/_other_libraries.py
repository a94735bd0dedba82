"""Classifiers of other libraries, with bounds and classes from the schema.

DiffPrivLib [HBML19] has trees with random splits and noisy labels. Their bounds and classes are
given here, so they are not read from the records. ``RandomTreeClassifier`` is our version of this
tree. Two methods are not trees: DiffPrivLib's logistic regression [CMS11], and DP-EBM [Nori21], a
private additive model with one curve for each feature. The guarantee of DP-EBM has a delta besides
epsilon. It covers neither the number of records nor which categories occur. DP-EBM supports only
two classes.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from privatree.baselines._random_tree import random_tree_range
from privatree.schema import Categorical, Schema

if TYPE_CHECKING:
    import pandas as pd

EBM_DELTA = 1e-6


class ScaledLogisticRegression(BaseEstimator):  # type: ignore[misc]
    """DiffPrivLib's logistic regression on standardised columns.

    Columns are centred and scaled to unit variance. The largest norm of a row is the bound on the
    norm. As in the paper, all of this is computed from the records, and epsilon does not cover it.
    """

    def __init__(self, epsilon: float, random_state: int | None) -> None:
        self.epsilon = epsilon
        self.random_state = random_state

    def fit(self, X: NDArray[np.float64], y: ArrayLike) -> Self:
        from diffprivlib.models import LogisticRegression
        from sklearn.exceptions import ConvergenceWarning

        self.centre_, self.scale_ = diffprivlib_centre_and_scale(X)
        scaled = self._scale_columns(X)
        self.model_ = LogisticRegression(
            epsilon=self.epsilon,
            data_norm=diffprivlib_row_norm(scaled),
            random_state=self.random_state,
        )
        with warnings.catch_warnings():
            # With much noise 100 iterations may not suffice. The default is part of the comparison.
            warnings.filterwarnings("ignore", "lbfgs failed to converge", ConvergenceWarning)
            # This one is about how the library calls scipy's solver. The result is the same.
            warnings.filterwarnings("ignore", "scipy.optimize: The `disp`", DeprecationWarning)
            self.model_.fit(scaled, np.asarray(y))
        return self

    def predict(self, X: NDArray[np.float64]) -> NDArray[Any]:
        return np.asarray(self.model_.predict(self._scale_columns(X)))

    def predict_proba(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self.model_.predict_proba(self._scale_columns(X)))

    @property
    def classes_(self) -> NDArray[Any]:
        return np.asarray(self.model_.classes_)

    def _scale_columns(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return (X - self.centre_) / self.scale_


def diffprivlib_centre_and_scale(
    X: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation of every column, with deviation 1 if it is constant."""
    constant = np.ptp(X, axis=0) == 0  # rounding may leave the deviation of a constant above 0
    return X.mean(axis=0), np.where(constant, 1.0, X.std(axis=0))


def diffprivlib_row_norm(rows: NDArray[np.float64]) -> float:
    """Return the largest norm of a row, or 1 if all norms are 0: the bound must be positive."""
    largest = float(np.linalg.norm(rows, axis=1).max())
    return largest if largest > 0 else 1.0


def diffprivlib_bounds(schema: Schema) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the largest value of every feature, with categories as positions."""
    lows, highs = np.array([random_tree_range(feature) for feature in schema.features.values()]).T
    return lows, highs


class CodedForestClassifier(BaseEstimator):  # type: ignore[misc]
    """DiffPrivLib's forest, with bounds and classes of a schema, and labels as whole numbers.

    With other labels, diffprivlib 0.6.6 mixes up the classes when the trees vote.
    """

    def __init__(
        self, schema: Schema, epsilon: float, max_depth: int, random_state: int | None
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.random_state = random_state

    def fit(self, X: NDArray[np.float64], y: ArrayLike) -> Self:
        from diffprivlib.models import RandomForestClassifier

        position = {label: code for code, label in enumerate(self.schema.classes)}
        codes = [position[label] for label in np.asarray(y, dtype=object).tolist()]
        self.model_ = RandomForestClassifier(
            epsilon=self.epsilon,
            max_depth=self.max_depth,
            bounds=diffprivlib_bounds(self.schema),
            classes=np.arange(len(position)),
            random_state=self.random_state,
        ).fit(X, np.array(codes))
        return self

    def predict(self, X: NDArray[np.float64]) -> NDArray[Any]:
        return self.classes_[np.asarray(self.model_.predict(X), dtype=np.int64)]

    def predict_proba(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self.model_.predict_proba(X))

    @property
    def classes_(self) -> NDArray[Any]:
        return np.array(self.schema.classes)

    @property
    def estimators_(self) -> list[Any]:
        trees: list[Any] = self.model_.estimators_
        return trees


def public_ebm_options(schema: Schema) -> dict[str, Any]:
    """Return names, types and ranges of features, which DP-EBM would read from the records."""
    kinds = {
        place: "nominal" if isinstance(feature, Categorical) else "continuous"
        for place, feature in enumerate(schema.features.values())
    }
    features = enumerate(schema.features.values())
    return {
        "feature_names": list(schema.names),
        "feature_types": list(kinds.values()),
        "privacy_bounds": {
            place: random_tree_range(feature)
            for place, feature in features
            if kinds[place] == "continuous"
        },
    }


class BoundedEBMClassifier(BaseEstimator):  # type: ignore[misc]
    """DP-EBM with the feature types and ranges of a schema, and with delta ``EBM_DELTA``."""

    def __init__(self, schema: Schema, epsilon: float, random_state: int | None) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.random_state = random_state

    def fit(self, X: pd.DataFrame, y: ArrayLike) -> Self:
        from interpret.privacy import DPExplainableBoostingClassifier

        self.model_ = DPExplainableBoostingClassifier(
            **public_ebm_options(self.schema),
            epsilon=self.epsilon,
            delta=EBM_DELTA,
            random_state=self.random_state,
            n_jobs=1,
        )
        with warnings.catch_warnings():
            # Our results say themselves that a seed is no secret.
            warnings.filterwarnings("ignore", "Privacy violation: using a fixed random_state")
            self.model_.fit(X, np.asarray(y))
        return self

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        return np.asarray(self.model_.predict(X))

    def predict_proba(self, X: pd.DataFrame) -> NDArray[np.float64]:
        return np.asarray(self.model_.predict_proba(X))

    @property
    def classes_(self) -> NDArray[Any]:
        return np.asarray(self.model_.classes_)
