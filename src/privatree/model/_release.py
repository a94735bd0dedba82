"""What is released: a schema, a tree and its privacy statement, in memory and as a JSON file.

Reading a file checks everything in it and executes nothing: an untrusted model is safe to load, and
every loaded model can predict. Nothing here needs scikit-learn, which takes a second to import: the
command line shows models and predicts without it. :class:`~privatree.Model` adds the interface
of a scikit-learn classifier.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privatree._support.atomic_files import replace_file
from privatree._support.escape import escape_to_one_line
from privatree._support.json_files import check_json_size, read_json
from privatree.errors import ModelFormatError, ParameterError, SchemaError
from privatree.model._tree import Tree
from privatree.model._tree_json import tree_from_dict, tree_to_dict
from privatree.privacy import SCHEMA_LEAK, PrivacyStatement, shown_amount
from privatree.schema import Label, Schema
from privatree.tables import prediction_matrix, read_labels

FORMAT, VERSION = "privatree-model", 2
MODEL_FILE = "a model file"
"""Name of the file in error messages."""
_MAX_LEARNER = 60
"""Largest number of characters of the learner's name in ``repr``: a file can have any text."""
_MANY = 10**9
"""Largest number of releases of one spend. More releases count as this many."""
_KEYS = ("format", "version", "classes", "schema", "tree", "privacy")


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A trained tree with its schema and privacy statement; see :class:`~privatree.Model`."""

    schema_: Schema
    tree_: Tree
    privacy_: PrivacyStatement

    def __post_init__(self) -> None:
        if self.tree_.schema != self.schema_:
            raise ModelFormatError("the schema of the tree must be the schema of the model.")
        counted = self.privacy_.words.counted
        if self.tree_.counted != counted:  # a tree from a file does not say what its counts are
            object.__setattr__(self, "tree_", replace(self.tree_, counted=counted))
        _check_spends(self.tree_, self.privacy_)
        if self.schema_.unconfirmed and not math.isinf(self.privacy_.epsilon):
            raise ModelFormatError(
                "privacy: epsilon must be infinite where entries of the schema are unconfirmed."
            )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Release) and (
            (self.schema_, self.tree_, self.privacy_)
            == (other.schema_, other.tree_, other.privacy_)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        learner = escape_to_one_line(self.privacy_.learner)
        learner = learner if len(learner) <= _MAX_LEARNER else f"{learner[: _MAX_LEARNER - 1]}…"
        words = self.privacy_.words
        whole = "" if words.unit is None else f" for {words.whole}"
        return (
            f"<{type(self).__name__}: a tree by {learner}, "
            f"epsilon {shown_amount(self.privacy_.epsilon)}{whole}, "
            f"{self.n_features_in_} features, "
            f"{len(self.schema_.classes)} classes, depth {self.tree_.depth}, "
            f"{self.tree_.n_leaves} leaves>"
        )

    @property
    def classes_(self) -> NDArray[Any]:
        """Class labels, in the order of the schema."""
        return _label_array(self.schema_.classes)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the columns, in the order of the schema."""
        return np.array(self.schema_.names, dtype=object)

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        return len(self.schema_.features)

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
        return self.classes_[self.tree_.predict(*self._feature_matrix(X, names))]

    def predict_proba(self, X: Any, *, names: Sequence[str] | None = None) -> NDArray[np.float64]:
        """Predict the probability of each class, in the order of `classes_`.

        The arguments are those of :meth:`predict`. If the model has no released probabilities, the
        predicted class has probability 1.
        """
        return self.tree_.predict_proba(*self._feature_matrix(X, names))

    def apply(self, X: Any, *, names: Sequence[str] | None = None) -> NDArray[np.int32]:
        """Return the node number of each record's leaf, for the arguments of :meth:`predict`."""
        return self.tree_.apply(*self._feature_matrix(X, names))

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, names: Sequence[str] | None = None
    ) -> float:
        """Compute the accuracy on records with known labels.

        X and names are those of :meth:`predict`, y has the label of each record, and
        `sample_weight` has a weight for each record. A label that is missing, or not one of the
        classes, counts as a wrong prediction. The result is an exact figure about these records:
        it is not private.
        """
        predicted = self.tree_.predict(*self._feature_matrix(X, names))
        actual = read_labels(y, self.schema_)
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
        return float(np.average(predicted == actual, weights=weights))

    def _feature_matrix(
        self, X: Any, names: Sequence[str] | None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        return prediction_matrix(X, self.schema_, self.tree_.used_features, names=names)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the model file as plain dictionaries and lists."""
        contents = (
            FORMAT,
            VERSION,
            list(self.schema_.classes),
            self.schema_.to_dict(),
            tree_to_dict(self.tree_),
            self.privacy_.to_dict(),
        )
        return dict(zip(_KEYS, contents, strict=True))

    @classmethod
    def from_dict(cls, written: Any) -> Self:
        """Return the model that :meth:`to_dict` wrote; raise a ModelFormatError for mistakes."""
        if isinstance(written, dict) and written.get("format") == "privatree-certificate":
            raise ModelFormatError(
                "the file must be a model, got a certificate against poisoned records. "
                "privatree.robustness.AccuracyCertificate.load reads it, or the load method of "
                "another class of certificates."
            )
        if not isinstance(written, dict) or written.get("format") != FORMAT:
            raise ModelFormatError(f"a model must be an object with 'format': '{FORMAT}'.")
        _check_version(written.get("version"))
        if written.keys() != set(_KEYS):
            raise ModelFormatError(f"a model must have the keys {', '.join(_KEYS)}, and no others.")
        try:
            schema = Schema.from_dict(written["schema"])
        except SchemaError as error:
            raise ModelFormatError(f"schema: {error}") from None
        if not _same_labels(written["classes"], schema.classes):
            raise ModelFormatError("'classes' must equal the classes of the schema.")
        privacy = PrivacyStatement.from_dict(written["privacy"])
        if SCHEMA_LEAK in {leak.name for leak in privacy.leaks} and not schema.unconfirmed:
            schema = schema.all_unconfirmed()  # the file is older than the marks
        return cls(schema, tree_from_dict(written["tree"], schema), privacy)

    def to_json(self) -> str:
        """Return the text of the model file; raise an error if it is longer than load accepts."""
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        # A surrogate without its pair has no UTF-8; its backslash form is its JSON escape.
        encoded = f"{text}\n".encode("utf-8", errors="backslashreplace")
        check_json_size(encoded, MODEL_FILE)
        return encoded.decode("utf-8")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, completely or not at all. An old file is replaced."""
        try:
            text = self.to_json()
        except ModelFormatError as error:
            raise ModelFormatError(f"{path}: {error}") from None
        replace_file(path, text)


def _check_spends(tree: Tree, privacy: PrivacyStatement) -> None:
    """Raise a ModelFormatError if the statement claims less epsilon or delta than was spent."""
    spent = np.zeros((tree.n_nodes, 2))  # epsilon and delta
    for spend in privacy.spends:
        if spend.node is not None and spend.node >= tree.n_nodes:
            raise ModelFormatError("privacy: the node of a spend must be a node of the tree.")
        times = min(spend.times, _MANY)
        spent[spend.node or 0] += times * float(spend.epsilon), times * float(spend.delta)
    times = 2 if privacy.neighbours == "replace" else 1  # spends are for one added or removed
    epsilon, delta = times * tree.path_sums(spent).max(axis=0) / (1 + 1e-9)
    if epsilon > privacy.epsilon:
        raise ModelFormatError(
            "privacy: epsilon must be at least the sum of the epsilons spent on each path from the "
            "root to a leaf."
        )
    if delta > privacy.delta and not math.isinf(privacy.epsilon):
        raise ModelFormatError(
            "privacy: delta must be at least the sum of the deltas spent on each path from the "
            "root to a leaf."
        )
    if privacy.leaks and not math.isinf(privacy.epsilon):
        raise ModelFormatError("privacy: epsilon must be infinite where there are leaks.")


def read_release(path: str | os.PathLike[str]) -> Release:
    """Read a model file as :func:`privatree.load` does, but without importing scikit-learn."""
    return read_json(path, MODEL_FILE, Release.from_dict)


def released_tree(model: Any) -> Tree:
    """Return the tree of a Tree, Model or fitted classifier, or raise an error with the reason."""
    tree = model if isinstance(model, Tree) else getattr(model, "tree_", None)
    if isinstance(tree, Tree):
        return tree
    if hasattr(model, "fit") and not isinstance(model, type):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(
            model, msg="This %(name)s is not fitted yet: it has no tree. Call fit(X, y) first."
        )
    raise TypeError(
        f"model must be a privatree.Model or a fitted classifier with one tree, "
        f"got {_type_name(model)}. privatree.load reads a saved model."
    )


def released_model(model: Any) -> Release:
    """Return tree, schema and privacy statement of a Model or fitted classifier."""
    if isinstance(model, Release):
        return model
    tree = released_tree(model)
    privacy = getattr(model, "privacy_", None)
    if not isinstance(privacy, PrivacyStatement):
        raise TypeError(
            f"model must have a privacy statement, got {_type_name(model)}. Pass a privatree.Model "
            "or a fitted classifier."
        )
    return Release(tree.schema, tree, privacy)


def _type_name(model: Any) -> str:
    return f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__


def _check_version(version: Any) -> None:
    if type(version) is not int or version < 1:
        raise ModelFormatError("'version' must be a whole number, at least 1.")
    if version > VERSION:
        named = f"version {version}" if version < 10**9 else "a later version"
        raise ModelFormatError(
            f"'version' must be at most {VERSION} for this version of privatree, got {named}. "
            "Upgrade privatree."
        )


def _same_labels(written: Any, classes: Sequence[Label]) -> bool:
    """Return whether two lists of labels are equal. 1, 1.0 and true are different labels."""
    return (
        isinstance(written, list)
        and written == list(classes)
        and [type(label) for label in written] == [type(label) for label in classes]
    )


def _label_array(labels: Sequence[Label]) -> NDArray[Any]:
    """Return an array of str, bool, int or float; of objects if numpy would change a label."""
    kinds = {type(label) for label in labels}
    kind = str if kinds == {str} else bool if kinds == {bool} else int if kinds == {int} else float
    try:
        array: NDArray[Any] = np.array(labels, dtype=kind)
    except OverflowError:
        return np.array(labels, dtype=object)
    return array if array.tolist() == list(labels) else np.array(labels, dtype=object)
