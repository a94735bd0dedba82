"""Attacks and defences of the Adversarial Robustness Toolbox [Nicolae18] on our classifiers.

ART works on arrays of numbers. :class:`UnitCubeClassifier` is a model of records seen that way: a
schema says how a record becomes a point of the unit cube and back, so that ART cannot make what is
no record, and no feature outweighs the others because of its unit. It is a scikit-learn classifier,
which ART can use and train again.
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
from privatree.model import Model
from privatree.schema import Categorical, Feature, Schema
from privatree.tables import read_features, read_labels

# ART computes in single precision, which tells this many digits of a number's range apart. Numbers
# with no more digits, and so the cuts of a tree between them, survive.
_DIGITS = 6
_MAX_DECIMALS = 300  # what a float can be multiplied by
_MAX_WHOLE = 2.0**53  # up to here a float is exact


def art_classifier(model: Any, schema: Schema | None = None) -> Any:
    """Make a classifier that attacks and defences of ART take.

    Parameters
    ----------
    model : classifier
        One of privatree's or of another kind, trained, or to be trained by ART. A model that was
        loaded from a file predicts, but cannot be trained again.
    schema : Schema, optional
        What records look like. Needed only if the model has neither ``schema_`` nor ``schema``.

    Returns
    -------
    art.estimators.classification.scikitlearn.ScikitlearnClassifier
        Of inputs from 0 to 1. Its ``model`` is a :class:`UnitCubeClassifier`, whose ``points``,
        ``one_hot`` and ``records`` convert what goes in and what comes out.

    Raises
    ------
    ParameterError
        If ART is not installed, or no schema is known.

    Notes
    -----
    What ART finds out about records or trains on them is not differentially private.

    Examples
    --------
    ::

        classifier = art_classifier(model)
        points = classifier.model.points(X_test)
        found = BoundaryAttack(classifier, targeted=False).generate(points)
        model.predict(classifier.model.records(found))
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the deep-learning libraries it did not find
            from art.estimators.classification.scikitlearn import ScikitlearnClassifier
    except ImportError as error:
        raise ParameterError(
            "ART must be installed to use its attacks. Install it: pip install 'privatree[art]'"
        ) from error
    for name in ("schema_", "schema"):
        schema = getattr(model, name, None) if schema is None else schema
    if not isinstance(schema, Schema):
        raise ParameterError(
            f"schema must be a privatree.Schema, got {type(schema).__name__}. Pass one, or a model "
            "that was given one.",
            "schema",
        )
    return ScikitlearnClassifier(UnitCubeClassifier(model, schema), clip_values=(0.0, 1.0))


class UnitCubeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of records as one of points of the unit cube, with classes 0, 1, 2, ...

    A number's range becomes the interval from 0 to 1, and so do the categories in their order.
    Every point is read as the nearest record: whole numbers and categories are rounded, other
    numbers to a millionth of their range.

    Parameters
    ----------
    model : classifier
        A classifier of records. ``fit`` trains a copy of it.
    schema : Schema
        What records look like.

    Attributes
    ----------
    model_ : classifier
        The copy that ``fit`` trained; before, predictions are those of `model`.
    """

    def __init__(self, model: Any, schema: Schema) -> None:
        self.model = model
        self.schema = schema

    @property
    def classes_(self) -> NDArray[np.int64]:
        """The positions of the classes in the schema."""
        return np.arange(len(self.schema.classes))

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return len(self.schema.features)

    # --- between records and points -----------------------------------------------------------

    def points(self, X: Any) -> NDArray[np.float32]:
        """Records as points: any frame that a model with the schema takes."""
        columns = read_features(X, self.schema)
        points = np.empty((len(columns[0]), len(columns)), dtype=np.float32)
        for i, feature in enumerate(self.schema.features.values()):
            low, width = _range(feature)
            points[:, i] = (columns[i] - low) / width
        return points

    def records(self, points: NDArray[Any]) -> Any:
        """Points as the nearest records, in a pandas frame with the names of the schema."""
        import pandas as pd

        array = np.asarray(points, dtype=np.float64)
        if array.ndim != 2 or array.shape[1] != self.n_features_in_:
            raise ParameterError(
                f"points must have one row for each and {self.n_features_in_} columns, "
                f"got the shape {array.shape}.",
                "points",
            )
        return pd.DataFrame(
            {
                name: _values(array[:, i], *kind)
                for i, (name, kind) in enumerate(self._kinds.items())
            },
            copy=False,
        )

    def one_hot(self, y: Any) -> NDArray[np.float32]:
        """Labels as ART takes them: a column of zeros and ones for each class of the schema."""
        positions = read_labels(y, self.schema)
        if (positions < 0).any():
            raise ParameterError("every label must be one of the classes of the schema.")
        return np.eye(len(self.schema.classes), dtype=np.float32)[positions]

    def labels(self, one_hot: NDArray[Any]) -> NDArray[Any]:
        """The labels of which ART's are the encoding; of probabilities the most probable."""
        labels: NDArray[Any] = self._class_labels()[np.argmax(one_hot, axis=1)]
        return labels

    # --- the classifier -----------------------------------------------------------------------

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        """Train a copy of the model on points and the positions of their classes."""
        if isinstance(self.model, Model) or not hasattr(self.model, "fit"):
            raise ParameterError(
                f"model must be an estimator to be trained, got {type(self.model).__name__}, which "
                "only predicts.",
                "model",
            )
        self.model_ = clone(self.model).fit(self._input(X, self.model), self._class_labels()[y])
        return self

    def predict_proba(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """The probability of each class of the schema, in its order."""
        model = getattr(self, "model_", self.model)
        found = model.predict_proba(self._input(X, model))
        places = {label: place for place, label in enumerate(self.schema.classes)}
        known = np.asarray(model.classes_).tolist()  # some may be missing, or in another order
        if not places.keys() >= set(known):
            raise ParameterError(
                "the model's classes must be among those of the schema. Look at their types: 1 and "
                "'1' are different."
            )
        probabilities = np.zeros((len(found), len(places)))
        probabilities[:, [places[label] for label in known]] = found
        return probabilities

    def predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        """The position of the most probable class."""
        positions: NDArray[np.intp] = np.argmax(self.predict_proba(X), axis=1)
        return positions

    def _input(self, points: NDArray[Any], model: Any) -> Any:
        """The records in a frame, or in an array for a model that was trained on one."""
        frame = self.records(points)
        has_names = hasattr(model, "feature_names_in_") or not hasattr(model, "n_features_in_")
        return frame if has_names else frame.to_numpy()

    @cached_property
    def _kinds(self) -> dict[str, tuple[Feature, Any]]:
        """Each feature with the pandas type of its categories, which takes long to make."""
        import pandas as pd

        return {
            name: (feature, pd.CategoricalDtype(list(feature.categories)))
            if isinstance(feature, Categorical)
            else (feature, None)
            for name, feature in self.schema.features.items()
        }

    def _class_labels(self) -> NDArray[Any]:
        return np.array(list(self.schema.classes))


def _range(feature: Feature) -> tuple[float, float]:
    """Where a feature's values, or the codes of its categories, begin, and how far they go."""
    if isinstance(feature, Categorical):
        return 0.0, float(max(len(feature.categories) - 1, 1))
    width = float(feature.high) - float(feature.low)
    return float(feature.low), width if width > 0 else 1.0


def _values(coordinates: NDArray[np.float64], feature: Feature, dtype: Any) -> Any:
    """The values nearest to coordinates from 0 to 1; a missing one stays missing."""
    import pandas as pd

    low, width = _range(feature)
    values = low + width * np.clip(coordinates, 0.0, 1.0)
    if isinstance(feature, Categorical):
        codes = np.where(np.isnan(values), -1, np.rint(values)).astype(np.int64)
        codes = np.minimum(codes, len(feature.categories) - 1)
        return pd.Categorical.from_codes(codes, dtype=dtype)
    decimals = 0 if feature.integer else _DIGITS - math.floor(math.log10(width))
    values = np.round(values, min(decimals, _MAX_DECIMALS))
    values = np.clip(values, float(feature.low), float(feature.high))
    is_whole = feature.integer and bool((np.abs(values) < _MAX_WHOLE).all())  # not if missing
    return values.astype(np.int64) if is_whole else values
