"""DiffPrivLib [HBML19]: what its trees must be told, and its logistic regression.

Its trees have random splits and noisy labels. Told the ranges, categories and classes of the
schema, they read none of them from the records. ``RandomTreeClassifier`` is our version of one.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from privatree.schema import Categorical, Schema


class ScaledLogisticRegression(BaseEstimator):  # type: ignore[misc]
    """DiffPrivLib's logistic regression [CMS11] on standardised columns; no tree, for comparison.

    Columns are centred and scaled to unit variance, and the largest row norm of the result is given
    as its bound: both are read from the records, outside the guarantee, as in the paper.

    Parameters
    ----------
    epsilon : float
        The privacy budget.
    random_state : int or None
        Makes the fit repeatable.
    """

    def __init__(self, epsilon: float, random_state: int | None) -> None:
        self.epsilon = epsilon
        self.random_state = random_state

    def fit(self, X: NDArray[np.float64], y: ArrayLike) -> Self:
        """Learn the scale of every column and the coefficients."""
        from diffprivlib.models import LogisticRegression
        from sklearn.exceptions import ConvergenceWarning

        self.centre_, self.scale_ = centre_and_scale(X)
        scaled = self._scaled(X)
        self.model_ = LogisticRegression(
            epsilon=self.epsilon,
            data_norm=largest_norm(scaled),
            random_state=self.random_state,
        )
        with warnings.catch_warnings():
            # With much noise 100 rounds may not suffice: the default is part of the comparison.
            warnings.filterwarnings("ignore", "lbfgs failed to converge", ConvergenceWarning)
            # About how the library calls scipy's solver; the result is the same.
            warnings.filterwarnings("ignore", "scipy.optimize: The `disp`", DeprecationWarning)
            self.model_.fit(scaled, np.asarray(y))
        return self

    def predict(self, X: NDArray[np.float64]) -> NDArray[Any]:
        """The predicted label of each row."""
        return np.asarray(self.model_.predict(self._scaled(X)))

    def predict_proba(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probability of each class for each row."""
        return np.asarray(self.model_.predict_proba(self._scaled(X)))

    def _scaled(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return (X - self.centre_) / self.scale_


def centre_and_scale(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of every column; a constant column is not scaled."""
    constant = np.ptp(X, axis=0) == 0  # not the deviation: rounding may leave it above 0
    return X.mean(axis=0), np.where(constant, 1.0, X.std(axis=0))


def largest_norm(rows: NDArray[np.float64]) -> float:
    """The largest norm of a row; 1 if all are 0, since the library wants a positive bound."""
    largest = float(np.linalg.norm(rows, axis=1).max())
    return largest if largest > 0 else 1.0


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
