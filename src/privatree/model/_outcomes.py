"""What releases predict: classes, or numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.model._release import Release
from privatree.schema import Label
from privatree.tables import read_labels, read_target


class ClassPredictions(Release):
    """The predictions of a release whose schema has classes."""

    def _describe_outcome(self) -> str:
        return f"{len(self.schema_.classes)} classes"

    @property
    def classes_(self) -> NDArray[Any]:
        """Class labels, in the order of the schema."""
        return _label_array(self.schema_.classes)

    def predict(self, X: Any, *, names: Sequence[str] | None = None) -> NDArray[Any]:
        """Predict the class of each record.

        Parameters
        ----------
        X : frame
            A numpy array, pandas or polars frame, or Arrow table, with the columns of the schema.
            Columns with names may have any order, and columns with other names are ignored.
        names : sequence of str, optional
            Names of the columns, if X itself has no names.

        Returns
        -------
        array of shape (n_records,)
            Class labels.
        """
        codes = self._predictor.predict(*self._feature_matrix(X, names))
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any, *, names: Sequence[str] | None = None) -> NDArray[np.float64]:
        """Predict the probability of each class, in the order of `classes_`.

        The arguments are those of :meth:`predict`. If the model has no released probabilities, the
        predicted class has probability 1.
        """
        return self._predictor.predict_proba(*self._feature_matrix(X, names))

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, names: Sequence[str] | None = None
    ) -> float:
        """Compute the accuracy on records with known labels.

        X and names are those of :meth:`predict`, y has the label of each record, and
        `sample_weight` has a weight for each record. A label that is missing, or not one of the
        classes, counts as a wrong prediction. The result is an exact figure about these records:
        it is not private.
        """
        predicted = self._predictor.predict(*self._feature_matrix(X, names))
        actual = read_labels(y, self.schema_)
        weights = _check_weights(sample_weight, predicted, actual)
        return float(np.average(predicted == actual, weights=weights))


class NumberPredictions(Release):
    """The predictions of a release whose schema has a target."""

    has_target: ClassVar[bool] = True

    def _describe_outcome(self) -> str:
        target = self.schema_.target
        return "" if target is None else f"target from {target.low:.6g} to {target.high:.6g}"

    def predict(self, X: Any, *, names: Sequence[str] | None = None) -> NDArray[np.float64]:
        """Predict the target of each record.

        Parameters
        ----------
        X : frame
            A numpy array, pandas or polars frame, or Arrow table, with the columns of the schema.
            Columns with names may have any order, and columns with other names are ignored.
        names : sequence of str, optional
            Names of the columns, if X itself has no names.

        Returns
        -------
        array of shape (n_records,)
            Numbers in the range of the target.
        """
        return self._predictor.predict(*self._feature_matrix(X, names))

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, names: Sequence[str] | None = None
    ) -> float:
        """Compute R², the share of the variance of the target that the predictions explain.

        X and names are those of :meth:`predict`, y has the target of each record, and
        `sample_weight` has a weight for each record. A record whose target is missing or not a
        number is left out. The result is an exact figure about these records: it is not private.
        """
        predicted = self.predict(X, names=names)
        actual = read_target(y)
        weights = _check_weights(sample_weight, predicted, actual)
        weights = np.where(np.isnan(actual), 0.0, weights)
        if not weights.sum() > 0:
            raise ParameterError("y must have a number for at least one record, got none.", "y")
        actual = np.where(np.isnan(actual), 0.0, actual)
        mean = np.average(actual, weights=weights)
        error, spread = (
            float(np.average((actual - centre) ** 2, weights=weights))
            for centre in (predicted, mean)
        )
        if spread == 0:  # as in scikit-learn
            return float(error == 0)
        return 1 - error / spread


def _check_weights(
    sample_weight: Any, predicted: NDArray[Any], actual: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the weights of records to score, by default 1; raise an error if they do not fit."""
    if len(predicted) != len(actual):
        raise ParameterError("X and y must have the same number of records.", "y")
    if len(actual) == 0:
        raise ParameterError("X must have at least one record, got none.", "X")
    weights = np.ones(len(actual)) if sample_weight is None else np.asarray(sample_weight)
    if weights.shape != actual.shape or not weights.sum() > 0:
        raise ParameterError(
            "sample_weight must have one number for each record, and a positive sum.",
            "sample_weight",
        )
    return weights


def _label_array(labels: Sequence[Label]) -> NDArray[Any]:
    """Return an array of str, bool, int or float; of objects if numpy would change a label."""
    kinds = {type(label) for label in labels}
    kind = str if kinds == {str} else bool if kinds == {bool} else int if kinds == {int} else float
    try:
        array: NDArray[Any] = np.array(labels, dtype=kind)
    except OverflowError:
        return np.array(labels, dtype=object)
    return array if array.tolist() == list(labels) else np.array(labels, dtype=object)
