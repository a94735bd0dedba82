"""What the tree classifiers share: reading input, checking parameters, predicting."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from privatree._support.validation import check_same_length
from privatree.errors import ParameterError, PrivacyLeakWarning
from privatree.inspection import check_data_to_infer_from, infer_schema
from privatree.model import Model, mimebundle, refuse_importances, tags_of_trees
from privatree.privacy import SCHEMA_LEAK, Leak, positive_fraction
from privatree.schema import Schema
from privatree.sources import FrameRecords, Records, Source
from privatree.tables import (
    Table,
    are_class_codes,
    collect_lazy_frame,
    open_frame,
    open_labels,
    read_features,
    read_labels,
)

MIN_EPSILON, MAX_EPSILON = 1e-9, 1e9
MAX_DEPTH = 16


class Columns(NamedTuple):
    """Records read as numbers and category codes, a column for each feature of the schema."""

    schema: Schema
    columns: list[NDArray[Any]]
    labels: NDArray[np.int32]
    n_records: int
    """Including those left out for want of a label."""


class TreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Opens the input, and predicts from the released model."""

    schema: Schema | None

    def _records(self, X: Any, y: Any) -> tuple[Records, Schema]:
        """The records, opened, wherever they live, and the schema; to be called by ``fit``."""
        if isinstance(X, Source):
            return X, self._open_source(X, y)
        table, target, schema = self._open(X, y, stacklevel=5)
        return FrameRecords(table, target, schema), schema

    def _open_source(self, source: Source, y: Any) -> Schema:
        """Let a source find the columns of the schema."""
        self._check_schema()
        if y is not None:
            raise ParameterError("y must be left out with a source, which has its own target.", "y")
        if self.schema is None:
            raise ParameterError(
                "schema must be given with a source: reading one from all its records would leak. "
                "privatree schema draft writes one for you to check.",
                "schema",
            )
        self._warn_if_unconfirmed(self.schema, stacklevel=5)
        source.open(self.schema)
        _keep_names(self, self.schema.names)
        return self.schema

    def _check_schema(self) -> None:
        if self.schema is not None and not isinstance(self.schema, Schema):
            raise ParameterError(
                f"schema must be a privatree.Schema or None, got {type(self.schema).__name__}. "
                "Schema.from_toml(path) reads one from a file.",
                "schema",
            )

    def _warn_if_unconfirmed(self, schema: Schema, stacklevel: int) -> None:
        """Warn if anything was read from records and nobody has confirmed it."""
        if schema.unconfirmed:
            warnings.warn(_warning(schema), PrivacyLeakWarning, stacklevel=stacklevel)

    def _open(self, X: Any, y: Any, stacklevel: int) -> tuple[Table, Table, Schema]:
        """Open a frame and its labels, and the schema or, without one, what they show.

        Warns if anything in the schema was read from records and nobody has confirmed it.
        """
        self._check_schema()
        if isinstance(X, Source):
            raise ParameterError(
                f"X must be records in memory for {type(self).__name__}, got a source."
            )
        X = collect_lazy_frame(X)
        table = open_frame(X)
        check_columns(self, X, table, self.schema, reset=True)
        target = open_labels(y)
        if self.schema is None:
            check_data_to_infer_from(table, target)
            return table, target, infer_schema(table, target, stacklevel=stacklevel)
        self._warn_if_unconfirmed(self.schema, stacklevel)
        return table, target, _of_coded_labels(self.schema, target)

    def _read(self, X: Any, y: Any, stacklevel: int = 5) -> Columns:
        """Read the records column by column; called by ``fit`` itself, unless it says otherwise."""
        table, target, schema = self._open(X, y, stacklevel)
        columns = read_features(table, schema)
        labels = read_labels(target, schema)
        check_same_length(len(columns[0]), len(labels))
        known = labels >= 0  # a record without one of the classes is left out
        return Columns(schema, [column[known] for column in columns], labels[known], len(labels))

    def _release(self, model: Model) -> Self:
        """Keep what is published, and nothing else."""
        self.model_ = model
        self.schema_, self.tree_, self.privacy_ = model.schema_, model.tree_, model.privacy_
        self.classes_ = model.classes_
        return self

    def _seen(self, X: Any) -> tuple[Table, Any]:
        """X, opened and checked, and the names of the training columns for an X that has none."""
        check_is_fitted(self, "model_")
        X = collect_lazy_frame(X)
        table = open_frame(X)
        check_columns(self, X, table, self.schema, reset=False)
        return table, getattr(self, "feature_names_in_", None)

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted label of each row."""
        X, names = self._seen(X)
        return self.model_.predict(X, names=names)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class (columns in the order of ``classes_``) for each row."""
        X, names = self._seen(X)
        return self.model_.predict_proba(X, names=names)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of :meth:`predict_proba`; minus infinity where that is 0."""
        X, names = self._seen(X)
        return self.model_.predict_log_proba(X, names=names)

    def apply(self, X: Any) -> NDArray[np.int32]:
        """The number of the leaf that each row falls in."""
        X, names = self._seen(X)
        return self.model_.apply(X, names=names)

    def decision_path(self, X: Any) -> csr_matrix[Any]:
        """The nodes that each row passes: a sparse matrix of ones, (rows, nodes)."""
        X, names = self._seen(X)
        return self.model_.decision_path(X, names=names)

    def get_depth(self) -> int:
        """The number of questions on the longest path."""
        check_is_fitted(self, "model_")
        return self.model_.get_depth()

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        check_is_fitted(self, "model_")
        return self.model_.get_n_leaves()

    @property
    def feature_importances_(self) -> NoReturn:
        """Not there: see :func:`privatree.model.refuse_importances`."""
        refuse_importances(self)

    def save(self, path: str | Path) -> None:
        """Write the released model as JSON; :func:`privatree.load` reads it."""
        check_is_fitted(self, "model_")
        self.model_.save(path)

    def __sklearn_tags__(self) -> Any:
        return tags_of_trees(super().__sklearn_tags__())

    def _repr_html_(self) -> str | None:
        """The parameters as scikit-learn shows them and, once trained, tree and statement."""
        if get_config()["display"] != "diagram":
            return None
        released = self.model_._repr_html_() if hasattr(self, "model_") else ""
        return f"{estimator_html_repr(self)}{released}"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return mimebundle(self)


def check_columns(
    estimator: Any, X: Any, table: Table, schema: Schema | None, *, reset: bool
) -> None:
    """Keep the number and the names of the columns, or compare with those that were kept.

    Without a schema, or without names, as scikit-learn does it. Columns of a schema are found by
    their names: their order may change, and columns that it does not declare are ignored.

    Parameters
    ----------
    estimator : estimator
        Which has, or gets, ``n_features_in_`` and ``feature_names_in_``.
    X : frame
        What was passed.
    table : Table
        The same, opened, with no names but its own.
    schema : Schema or None
        What is public, if it was declared.
    reset : bool
        Whether to keep, in ``fit``, or to compare.
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


def _of_coded_labels(schema: Schema, target: Table) -> Schema:
    """The same schema with the classes 0, 1, ... where whole numbers stand for classes of text.

    Ensembles of scikit-learn number the labels before they train their members. Which class a
    number stands for is theirs to know: they sort the labels that occur, or tell one class from the
    rest. So the member learns numbers, and never gives one a name that may be wrong. Only types
    decide, and the schema; a number beyond the classes is a label that is unknown.
    """
    (labels,) = target.columns
    if not are_class_codes(labels.type, schema.classes):
        return schema
    return replace(schema, classes=range(len(schema.classes)))


def schema_leaks(schema: Schema) -> tuple[Leak, ...]:
    """What a model reveals by a schema that came from the records; nothing if all is confirmed.

    Parameters
    ----------
    schema : Schema
        With which the model was trained, also where the learner was given none.
    """
    if not schema.unconfirmed:
        return ()
    return (
        Leak(
            SCHEMA_LEAK,
            "these entries were taken from the records, and nobody has confirmed that they are "
            f"public: {schema.shown_unconfirmed()}. Check each against public knowledge, and pass "
            "a schema without marks.",
        ),
    )


def _warning(schema: Schema) -> str:
    return (
        "The schema has entries that were read from the records and that nobody has confirmed: "
        f"{schema.shown_unconfirmed()}. They are outside the privacy guarantee: no finite epsilon "
        "holds. Check each against public knowledge; then delete its mark in the schema's file, or "
        "pass schema.confirmed()."
    )


def check_epsilon(epsilon: Any) -> None:
    """Refuse an epsilon that is not a positive finite number of sensible size."""
    exact = positive_fraction("epsilon", epsilon)
    if exact < MIN_EPSILON:
        raise ParameterError(f"epsilon must be at least {MIN_EPSILON:g}, got {epsilon}.", "epsilon")
    if exact > MAX_EPSILON:
        raise ParameterError(
            f"epsilon must be at most {MAX_EPSILON:g}: that is no privacy.", "epsilon"
        )
