"""The base classes of the estimators: they open records, check the schema and predict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from privatree._support.validation import check_same_length
from privatree.errors import ParameterError
from privatree.estimators._schema_checks import (
    check_outcome,
    refuse_separate_missing,
    refuse_weights,
    warn_if_unconfirmed,
)
from privatree.inspection import check_data_to_infer_from, infer_schema
from privatree.model import (
    EnsembleModel,
    FittedModelMixin,
    FittedTreeMixin,
    Model,
    RegressionEnsembleModel,
    RegressionModel,
)
from privatree.schema import Schema
from privatree.sources import Records, Source, open_frame_records, unit_column
from privatree.tables import (
    Table,
    are_class_codes,
    collect_lazy_frame,
    open_frame,
    open_labels,
    read_features,
    read_labels,
    read_unit_ids,
)

MAX_DEPTH = 16


class Columns(NamedTuple):
    """Labelled records as numbers and category codes, with a column for each schema feature."""

    schema: Schema
    columns: list[NDArray[Any]]
    labels: NDArray[np.int32]
    n_records: int
    """Number of all records, including those that are left out because they have no label."""


class OpenRecords(NamedTuple):
    """Records whose columns were found, with all that is public about their units and weights."""

    records: Records
    schema: Schema
    unit: str | None
    """Name of the unit; None if every record is one."""
    has_weights: bool


class RecordEstimator(FittedModelMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator that opens its input and predicts from the released model."""

    schema: Schema | None
    model_: Any
    _predicts_number: ClassVar[bool] = False
    """Whether the learner predicts a number, and so needs a schema with a target."""
    _separates_missing: ClassVar[bool] = False
    """Whether the learner can give missing values a place of their own."""
    _weighs_records: ClassVar[bool] = False
    """Whether the learner knows weights of records, and hence units of several records."""

    def _open_records(
        self, X: Any, y: Any, *, sample_weight: Any, units: Any, max_weight: float
    ) -> OpenRecords:
        """Open the records of a frame or a source. Call this from ``fit``, for the warnings."""
        if isinstance(X, Source):
            _refuse_beside_source("sample_weight", sample_weight, "weight")
            _refuse_beside_source("units", units, "unit")
            schema = self._open_source(X, y, max_weight)
            unit = X.unit_name(schema)
            return OpenRecords(X, replace(schema, unit=unit), unit, X.weight is not None)
        table, target, schema = self._open_frame(X, y, stacklevel=5)
        records, unit, has_weights = open_frame_records(
            table, target, schema, sample_weight=sample_weight, units=units, max_weight=max_weight
        )
        return OpenRecords(records, schema, unit, has_weights)

    def _refuse_beside(self, given: Mapping[str, Any]) -> None:
        """Refuse sample weights and units. `given` has keywords that `fit` does not declare.

        If `fit` declared them, scikit-learn would take this for a learner that knows weights.
        """
        for name, values in given.items():
            if name not in ("sample_weight", "units"):
                raise TypeError(
                    f"{type(self).__name__}.fit() got an unexpected keyword argument {name!r}"
                )
            if values is not None:
                refuse_weights(type(self).__name__, name)

    def _open_source(self, source: Source, y: Any, max_weight: float = 1.0) -> Schema:
        """Let a source find the columns of the schema. Call this from a method that fit calls."""
        self._check_schema()
        if not self._weighs_records and source.weight is not None:
            refuse_weights(type(self).__name__, "weight")
        if not self._weighs_records and source.unit is not None:
            refuse_weights(type(self).__name__, "unit")
        if y is not None:
            raise ParameterError("y must be None if X is a source, which has its own target.", "y")
        if self.schema is None:
            raise ParameterError(
                "schema must be given where X is a source: a schema that is read from the records "
                "would leak. Draft one with the command privatree schema draft, and check it.",
                "schema",
            )
        warn_if_unconfirmed(self.schema, stacklevel=5)
        source.open(self.schema, max_weight=max_weight)
        _keep_names(self, self.schema.names)
        return self.schema.with_target(source.target)

    def _check_schema(self) -> None:
        if self.schema is not None and not isinstance(self.schema, Schema):
            raise ParameterError(
                f"schema must be a privatree.Schema or None, got {type(self.schema).__name__}. "
                "Schema.from_toml(path) reads one from a file.",
                "schema",
            )
        if self.schema is not None:
            check_outcome(self.schema, type(self).__name__, is_number=self._predicts_number)
        if self.schema is not None and not self._separates_missing:
            refuse_separate_missing(self.schema, type(self).__name__)
        if self.schema is not None and self.schema.unit is not None and not self._weighs_records:
            refuse_weights(type(self).__name__, "schema")

    def _open_frame(self, X: Any, y: Any, stacklevel: int) -> tuple[Table, Table, Schema]:
        """Open a frame and its labels. Without a schema, read one from them, and warn."""
        self._check_schema()
        if isinstance(X, Source):
            raise ParameterError(
                f"X must be a frame or an array for {type(self).__name__}, got a source. Load the "
                "records into memory first.",
                "X",
            )
        X = collect_lazy_frame(X)
        table = open_frame(X)
        check_columns(self, X, table, self.schema, reset=True)
        target = open_labels(y)
        if self.schema is None:
            check_data_to_infer_from(table, target)
            is_number = self._predicts_number
            schema = infer_schema(table, target, numeric_target=is_number, stacklevel=stacklevel)
            return table, target, schema
        warn_if_unconfirmed(self.schema, stacklevel)
        return table, target, _with_numbered_classes(self.schema, target)

    def _keep_release(self, model: Any) -> None:
        """Keep what is published, and nothing else."""
        self.model_ = model
        self.schema_, self.privacy_ = model.schema_, model.privacy_
        self.scores_ = model.scores_

    def _ask_model(self, method: str, X: Any) -> Any:
        """Open and check the input of a prediction, and call a method of the model with it."""
        check_is_fitted(self, "model_")
        X = collect_lazy_frame(X)
        table = open_frame(X)
        check_columns(self, X, table, self.schema, reset=False)
        ask = getattr(self.model_, method)
        return ask(table, names=getattr(self, "feature_names_in_", None))

    def save(self, path: str | Path) -> None:
        """Write the released model to a JSON file, which :func:`privatree.load` reads."""
        check_is_fitted(self, "model_")
        self.model_.save(path)

    def _repr_html_(self) -> str | None:
        """Return the parameters as scikit-learn shows them and, once fitted, the model."""
        if get_config()["display"] != "diagram":
            return None
        released = self.model_._repr_html_() if hasattr(self, "model_") else ""
        return f"{estimator_html_repr(self)}{released}"


class RecordClassifier(ClassifierMixin, RecordEstimator):  # type: ignore[misc]
    """A classifier that opens its input and predicts from the released model."""

    def _read_columns(self, X: Any, y: Any) -> Columns:
        """Read the labelled records column by column. Call this from a method that fit calls."""
        table, target, schema = self._open_frame(X, y, stacklevel=6)
        columns = read_features(table, schema)
        labels = read_labels(target, schema)
        check_same_length(len(columns[0]), len(labels))
        known = labels >= 0  # a record without one of the classes is left out
        return Columns(schema, [column[known] for column in columns], labels[known], len(labels))

    def _keep_model(self, model: Model | EnsembleModel) -> None:
        self._keep_release(model)
        self.classes_ = model.classes_

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of each record."""
        return np.asarray(self._ask_model("predict", X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the probability of each class, in the order of ``classes_``, for each record."""
        return np.asarray(self._ask_model("predict_proba", X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of :meth:`predict_proba`; minus infinity for a probability of 0."""
        return np.asarray(self._ask_model("predict_log_proba", X))


class RecordRegressor(RegressorMixin, RecordEstimator):  # type: ignore[misc]
    """A regressor that opens its input and predicts from the released model."""

    _predicts_number = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # on the few records of scikit-learn's checks
        return tags

    def _keep_model(self, model: RegressionModel | RegressionEnsembleModel) -> None:
        self._keep_release(model)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the target of each record: a number in the range of the schema."""
        return np.asarray(self._ask_model("predict", X))


class TreeEstimator(FittedTreeMixin, RecordEstimator):
    """An estimator whose model is one tree."""

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Return the node number of the leaf of each record."""
        return np.asarray(self._ask_model("apply", X))

    def decision_path(self, X: Any) -> csr_matrix[Any]:
        """Return a sparse matrix (records, nodes) with 1 where a record passes a node."""
        path: csr_matrix[Any] = self._ask_model("decision_path", X)
        return path


class TreeClassifier(TreeEstimator, RecordClassifier):
    """A classifier whose model is one tree."""

    def _release_model(self, model: Model) -> Self:
        self._keep_model(model)
        self.tree_ = model.tree_
        return self


class TreeRegressor(TreeEstimator, RecordRegressor):
    """A regressor whose model is one tree."""

    def _release_model(self, model: RegressionModel) -> Self:
        self._keep_model(model)
        self.tree_ = model.tree_
        return self


def check_columns(
    estimator: Any, X: Any, table: Table, schema: Schema | None, *, reset: bool
) -> None:
    """Keep the number and names of the columns of X, or compare X with those that were kept.

    Without a schema, or without names, the rules are scikit-learn's. Columns of a schema are found
    by their names: their order may change, and columns that it does not declare are ignored.
    `table` is X, opened. ``reset=True`` in ``fit`` keeps ``n_features_in_`` and
    ``feature_names_in_`` in the estimator; ``reset=False`` compares X with them.
    """
    if not table.has_shape:  # a list without rows
        if reset and schema is not None:
            estimator.n_features_in_ = len(schema.names)
    elif schema is None or table.names is None:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    elif reset:  # in their order there: the next array has no names, but most likely this order
        _keep_names(estimator, [name for name in table.names if name in schema.features])


def _keep_names(estimator: Any, names: Sequence[str]) -> None:
    estimator.n_features_in_ = len(names)
    estimator.feature_names_in_ = np.array(names, dtype=object)


def _with_numbered_classes(schema: Schema, target: Table) -> Schema:
    """Return the schema with classes 0, 1, ... where whole numbers stand for classes of text.

    Ensembles of scikit-learn number the labels before they train their members. Only the ensemble
    knows which class a number stands for: it sorts the labels that occur, or tells one class from
    the rest. So the member learns numbers, and never gives a number a name that may be wrong. Only
    types and the schema decide this. A number beyond the classes is an unknown label.
    """
    (labels,) = target.columns
    if schema.target is not None or not are_class_codes(labels.type, schema.classes):
        return schema
    return replace(schema, classes=range(len(schema.classes)))


def _refuse_beside_source(name: str, given: Any, option: str) -> None:
    """Raise a ParameterError if `fit` got weights or units beside a source."""
    if given is not None:
        raise ParameterError(
            f"{name} must be None if X is a source. Name its column with {option}= when you make "
            "the source.",
            name,
        )


def count_units(X: Any, unit: str) -> int:
    """Return the exact number of units of a frame, by the ids in its column `unit`."""
    (column,) = unit_column(open_frame(collect_lazy_frame(X)), unit).columns
    return len(read_unit_ids(column.read()).ids)
