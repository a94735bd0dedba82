"""Classifiers for the attacks and defences of the Adversarial Robustness Toolbox [Nicolae18].

ART works on arrays of numbers. :class:`UnitCubeClassifier` wraps a classifier of records: the
schema converts a record to a point of the unit cube and back. So every point that ART finds is a
valid record, and no feature outweighs the others because of its unit. The wrapper is a scikit-learn
classifier, which ART can use and train again.
"""

from __future__ import annotations

import math
import warnings
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from privatree.errors import ParameterError
from privatree.estimators import refuse_separate_missing
from privatree.model import EnsembleModel, Model
from privatree.schema import Categorical, Feature, Schema
from privatree.tables import read_features, read_labels

# ART computes in single precision, which resolves this many digits of a number's range. Numbers
# with no more digits, and so the thresholds of a tree between them, stay as they are.
_DIGITS = 6
_MAX_DECIMALS = 300  # a float can be multiplied by 10 to this power
_MAX_WHOLE = 2.0**53  # every whole number below is exact as a float


def art_classifier(model: Any, schema: Schema | None = None) -> Any:
    """Wrap a classifier for the attacks and defences of ART.

    Parameters
    ----------
    model : classifier
        A trained classifier, or an untrained one that ART trains. A model loaded from a file
        predicts, but cannot be trained again.
    schema : Schema, optional
        Schema of the records; by default the model's own ``schema_`` or ``schema``.

    Returns
    -------
    art.estimators.classification.scikitlearn.ScikitlearnClassifier
        A classifier of inputs from 0 to 1. Its ``model`` is a :class:`UnitCubeClassifier`, whose
        ``points`` and ``one_hot`` convert records and labels for ART. ``records`` and ``labels``
        convert them back.

    Raises
    ------
    ParameterError
        If ART is not installed, or no schema is known.

    Notes
    -----
    ART is not differentially private: neither what it finds nor what it trains.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> from privatree.robustness import art_classifier
    >>> X, y, schema = datasets.load("vote")
    >>> model = PrivaTreeClassifier(1.0, schema=schema, random_state=0).fit(X, y)
    >>> classifier = art_classifier(model)  # for example for BoundaryAttack(classifier)
    >>> points = classifier.model.points(X)
    >>> classifier.predict(points).shape, classifier.model.records(points).equals(X)
    ((232, 2), True)
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ART warns of missing deep-learning libraries
            from art.estimators.classification.scikitlearn import ScikitlearnClassifier
    except ImportError as error:
        raise ParameterError(
            "art_classifier needs ART. Install it: pip install 'privatree[art]'"
        ) from error
    for name in ("schema_", "schema"):
        schema = getattr(model, name, None) if schema is None else schema
    if not isinstance(schema, Schema):
        raise ParameterError(
            f"schema must be a privatree.Schema, got {type(schema).__name__}. Pass a schema, or a "
            "model that has one.",
            "schema",
        )
    refuse_separate_missing(schema, "art_classifier")
    return ScikitlearnClassifier(UnitCubeClassifier(model, schema), clip_values=(0.0, 1.0))


class UnitCubeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A wrapper that classifies points of the unit cube, with classes 0, 1, 2, ...

    The range of a number, or the list of categories in its order, becomes the interval from 0 to 1.
    Every point is read as the nearest record: whole numbers and categories are rounded, other
    numbers are rounded to a millionth of their range. ``fit`` trains a copy of `model`, and later
    predictions come from this copy.
    """

    def __init__(self, model: Any, schema: Schema) -> None:
        self.model = model
        self.schema = schema

    @property
    def classes_(self) -> NDArray[np.int64]:
        return np.arange(len(self.schema.classes))

    @property
    def n_features_in_(self) -> int:
        return len(self.schema.features)

    def points(self, X: Any) -> NDArray[np.float32]:
        """Convert records, in any container that a model with the schema takes, to points."""
        columns = read_features(X, self.schema)
        points = np.empty((len(columns[0]), len(columns)), dtype=np.float32)
        for i, feature in enumerate(self.schema.features.values()):
            low, width = _art_feature_range(feature)
            points[:, i] = (columns[i] - low) / width
        return points

    def records(self, points: NDArray[Any]) -> Any:
        """Convert points to the nearest records, in a pandas frame with the schema's names."""
        import pandas as pd

        array = np.asarray(points, dtype=np.float64)
        if array.ndim != 2 or array.shape[1] != self.n_features_in_:
            raise ParameterError(
                f"points must be a 2-D array with {self.n_features_in_} columns, got the shape "
                f"{array.shape}.",
                "points",
            )
        features = zip(array.T, self.schema.features.values(), self._dtypes, strict=True)
        columns = [_art_nearest_values(*typed_column) for typed_column in features]
        return pd.DataFrame(dict(zip(self.schema.names, columns, strict=True)), copy=False)

    def one_hot(self, y: Any) -> NDArray[np.float32]:
        """Convert labels to one-hot rows, with a column for each class of the schema."""
        positions = read_labels(y, self.schema)
        if (positions < 0).any():
            raise ParameterError("every label in y must be a class of the schema.", "y")
        return np.eye(len(self.schema.classes), dtype=np.float32)[positions]

    def labels(self, one_hot: NDArray[Any]) -> NDArray[Any]:
        """Convert one-hot rows, or rows of probabilities, to the label with the largest number."""
        labels: NDArray[Any] = self._class_labels()[np.argmax(one_hot, axis=1)]
        return labels

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        """Train a copy of the model on points and the positions of their classes in the schema."""
        if isinstance(self.model, Model | EnsembleModel) or not hasattr(self.model, "fit"):
            raise ParameterError(
                f"model must be an estimator that can be trained, got {type(self.model).__name__}, "
                "which only predicts.",
                "model",
            )
        self.model_ = clone(self.model).fit(
            self._model_input(X, self.model), self._class_labels()[y]
        )
        return self

    def predict_proba(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return the probability of each class, in the order of the schema."""
        model = getattr(self, "model_", self.model)
        found = model.predict_proba(self._model_input(X, model))
        places = {label: place for place, label in enumerate(self.schema.classes)}
        known = np.asarray(model.classes_).tolist()  # may lack some classes, or have another order
        if not places.keys() >= set(known):
            raise ParameterError(
                "each class of the model must be a class of the schema. Check the types: 1 and '1' "
                "are different."
            )
        probabilities = np.zeros((len(found), len(places)))
        probabilities[:, [places[label] for label in known]] = found
        return probabilities

    def predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        """Return the position of the most probable class in the schema."""
        positions: NDArray[np.intp] = np.argmax(self.predict_proba(X), axis=1)
        return positions

    def _model_input(self, points: NDArray[Any], model: Any) -> Any:
        """Return the records as a frame, or as an array if the model was trained on an array."""
        frame = self.records(points)
        has_names = hasattr(model, "feature_names_in_") or not hasattr(model, "n_features_in_")
        return frame if has_names else frame.to_numpy()

    @cached_property
    def _dtypes(self) -> list[Any]:
        """The pandas dtype of each categorical feature, cached because it is slow to make."""
        import pandas as pd

        return [
            pd.CategoricalDtype(list(feature.categories))
            if isinstance(feature, Categorical)
            else None
            for feature in self.schema.features.values()
        ]

    def _class_labels(self) -> NDArray[Any]:
        return np.array(list(self.schema.classes))


def _art_feature_range(feature: Feature) -> tuple[float, float]:
    """Return the lowest value (or category code) of a feature, and the width of its range."""
    if isinstance(feature, Categorical):
        return 0.0, float(max(len(feature.categories) - 1, 1))
    width = float(feature.high) - float(feature.low)
    return float(feature.low), width if width > 0 else 1.0


def _art_nearest_values(coordinates: NDArray[np.float64], feature: Feature, dtype: Any) -> Any:
    """Return the feature values nearest to coordinates from 0 to 1; NaN stays missing."""
    import pandas as pd

    low, width = _art_feature_range(feature)
    values = low + width * np.clip(coordinates, 0.0, 1.0)
    if isinstance(feature, Categorical):
        codes = np.where(np.isnan(values), -1, np.rint(values)).astype(np.int64)
        codes = np.minimum(codes, len(feature.categories) - 1)
        return pd.Categorical.from_codes(codes, dtype=dtype)
    decimals = 0 if feature.integer else _DIGITS - math.floor(math.log10(width))
    values = np.round(values, min(decimals, _MAX_DECIMALS))
    values = np.clip(values, float(feature.low), float(feature.high))
    is_whole = feature.integer and bool((np.abs(values) < _MAX_WHOLE).all())  # false if NaN
    return values.astype(np.int64) if is_whole else values
