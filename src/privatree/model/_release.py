"""What is released: a schema, a tree and its privacy statement, in memory and as a JSON file.

Reading a file checks everything in it and executes nothing: a model from a stranger is safe to
load, and whatever loads predicts. Nothing here needs scikit-learn, which takes a second to import:
the command line shows and predicts without it. :class:`~privatree.Model`
is the same as a classifier.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
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

FORMAT, VERSION = "privatree-model", 1
MODEL_FILE = "a model file"
"""What messages about a file call it."""
_MAX_LEARNER = 60
"""Characters of the learner's name that ``repr`` shows: a file can hold any text."""
_MANY = 10**9
"""Releases of one spend; from there on they are counted as so many."""
_KEYS = ("format", "version", "classes", "schema", "tree", "privacy")


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A trained tree that can be shown, saved and used, without the data it came from.

    Parameters
    ----------
    schema_ : Schema
        What was declared public before training. Entries that were read from the records instead
        are marked, and epsilon is infinite.
    tree_ : Tree
        The tree, of the same schema.
    privacy_ : PrivacyStatement
        What is guaranteed, on what assumptions, and how it was spent.
    """

    schema_: Schema
    tree_: Tree
    privacy_: PrivacyStatement

    def __post_init__(self) -> None:
        """Refuse a tree of another schema."""
        if self.tree_.schema != self.schema_:
            raise ModelFormatError("the tree must be of the model's own schema.")
        _check_spends(self.tree_, self.privacy_)
        if self.schema_.unconfirmed and not math.isinf(self.privacy_.epsilon):
            raise ModelFormatError(
                "privacy: epsilon must be infinite where entries of the schema are unconfirmed."
            )

    def __eq__(self, other: object) -> bool:
        """Whether both publish the same: schema, tree and statement."""
        return isinstance(other, Release) and (
            (self.schema_, self.tree_, self.privacy_)
            == (other.schema_, other.tree_, other.privacy_)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """What it is, on one line."""
        learner = escape_to_one_line(self.privacy_.learner)
        learner = learner if len(learner) <= _MAX_LEARNER else f"{learner[: _MAX_LEARNER - 1]}…"
        return (
            f"<{type(self).__name__}: a tree by {learner}, "
            f"epsilon {shown_amount(self.privacy_.epsilon)}, {self.n_features_in_} features, "
            f"{len(self.schema_.classes)} classes, depth {self.tree_.depth}, "
            f"{self.tree_.n_leaves} leaves>"
        )

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels, in the order of the schema."""
        return _label_array(self.schema_.classes)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the columns, in the order of the schema."""
        return np.array(self.schema_.names, dtype=object)

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return len(self.schema_.features)

    def predict(self, X: Any, *, names: Sequence[str] | None = None) -> NDArray[Any]:
        """Predict the class of each record.

        Parameters
        ----------
        X : frame
            A numpy array, pandas or polars frame, or Arrow table, with the columns of the schema.
            Those with names are found by them, and others are ignored.
        names : sequence of str, optional
            Names of the columns of a frame that has none of its own.

        Returns
        -------
        array of shape (n_records,)
            Class labels.
        """
        return self.classes_[self.tree_.predict(*self._matrix(X, names))]

    def predict_proba(self, X: Any, *, names: Sequence[str] | None = None) -> NDArray[np.float64]:
        """Predict the probability of each class, in the order of `classes_`.

        The arguments are those of :meth:`predict`. Without released probabilities each row is 1
        for the predicted class and 0 for the others.
        """
        return self.tree_.predict_proba(*self._matrix(X, names))

    def apply(self, X: Any, *, names: Sequence[str] | None = None) -> NDArray[np.int32]:
        """Find the leaf of each record; the arguments are those of :meth:`predict`."""
        return self.tree_.apply(*self._matrix(X, names))

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, names: Sequence[str] | None = None
    ) -> float:
        """Compute the accuracy on records with known labels.

        A label that is missing or not one of the classes counts as a wrong prediction. The
        result is an exact figure about these records: it is not private.

        Parameters
        ----------
        X, names
            As in :meth:`predict`.
        y : labels
            One for each record.
        sample_weight : array-like of shape (n_records,), optional
            How much each record counts.
        """
        predicted = self.tree_.predict(*self._matrix(X, names))
        actual = read_labels(y, self.schema_)
        if len(predicted) != len(actual):
            raise ParameterError("X and y must have the same number of records.")
        if len(actual) == 0:
            raise ParameterError("score must be given at least one record.")
        weights = np.ones(len(actual)) if sample_weight is None else np.asarray(sample_weight)
        if weights.shape != actual.shape or not weights.sum() > 0:
            raise ParameterError(
                "sample_weight must have one number for each record, and a positive sum.",
                "sample_weight",
            )
        return float(np.average(predicted == actual, weights=weights))

    def _matrix(self, X: Any, names: Sequence[str] | None) -> tuple[NDArray[Any], NDArray[Any]]:
        return prediction_matrix(X, self.schema_, self.tree_.used_features, names=names)

    # --- written form -------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries and lists, as in the JSON file."""
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
        """Read what :meth:`to_dict` wrote; every mistake is a :class:`ModelFormatError`."""
        if isinstance(written, dict) and written.get("format") == "privatree-certificate":
            raise ModelFormatError(
                "this is a certificate against poisoned records, not a model: "
                "privatree.robustness.AccuracyCertificate.load reads it, or load of the class of "
                "its kind."
            )
        if not isinstance(written, dict) or written.get("format") != FORMAT:
            raise ModelFormatError(f"a model must be an object with 'format': '{FORMAT}'.")
        _check_version(written.get("version"))
        if written.keys() != set(_KEYS):
            raise ModelFormatError(f"a model must have the keys {', '.join(_KEYS)}, no others.")
        try:
            schema = Schema.from_dict(written["schema"])
        except SchemaError as error:
            raise ModelFormatError(f"schema: {error}") from None
        if not _same_labels(written["classes"], schema.classes):
            raise ModelFormatError("'classes' must equal the classes of the schema.")
        privacy = PrivacyStatement.from_dict(written["privacy"])
        if SCHEMA_LEAK in {leak.name for leak in privacy.leaks} and not schema.unconfirmed:
            schema = schema.all_unconfirmed()  # of a file from before there were marks
        return cls(schema, tree_from_dict(written["tree"], schema), privacy)

    def to_json(self) -> str:
        """The text of the model file.

        Raises
        ------
        ModelFormatError
            If it is larger than what :func:`load` reads.
        """
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        # A surrogate without its pair has no UTF-8; its backslash form is its JSON escape.
        encoded = f"{text}\n".encode("utf-8", errors="backslashreplace")
        check_json_size(encoded, MODEL_FILE)
        return encoded.decode("utf-8")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as a JSON file, whole or not at all.

        Parameters
        ----------
        path : path
            The file to write; one that is there is replaced.
        """
        try:
            text = self.to_json()
        except ModelFormatError as error:
            raise ModelFormatError(f"{path}: {error}") from None
        replace_file(path, text)


def _check_spends(tree: Tree, privacy: PrivacyStatement) -> None:
    """Refuse a statement that promises more than its own spends allow."""
    epsilons, deltas = np.zeros((2, tree.n_nodes))
    for spend in privacy.spends:
        if spend.node is not None and spend.node >= tree.n_nodes:
            raise ModelFormatError("privacy: a spend must be at a node of the tree.")
        times = min(spend.times, _MANY)
        epsilons[spend.node or 0] += times * float(spend.epsilon)
        deltas[spend.node or 0] += times * float(spend.delta)
    epsilons, deltas = tree.path_sums(epsilons), tree.path_sums(deltas)  # by a node's records
    times = 2 if privacy.neighbours == "replace" else 1  # spends are for one added or removed
    if times * epsilons.max() > privacy.epsilon * (1 + 1e-9):
        raise ModelFormatError("privacy: epsilon must cover the spends on every path.")
    if times * deltas.max() > privacy.delta * (1 + 1e-9) and not math.isinf(privacy.epsilon):
        raise ModelFormatError("privacy: delta must cover the spends on every path.")
    if privacy.leaks and not math.isinf(privacy.epsilon):
        raise ModelFormatError("privacy: epsilon must be infinite where there are leaks.")


def read_release(path: str | os.PathLike[str]) -> Release:
    """Read what :meth:`Release.save` wrote; as :func:`privatree.load`, without scikit-learn."""
    return read_json(path, MODEL_FILE, Release.from_dict)


# --- small checks -------------------------------------------------------------------------------


def _check_version(version: Any) -> None:
    if type(version) is not int or version < 1:
        raise ModelFormatError("'version' must be a whole number from 1.")
    if version > VERSION:
        named = f"version {version}" if version < 10**9 else "a later version"
        raise ModelFormatError(
            f"this privatree reads version {VERSION} of the model format, the file has {named}. "
            "Please upgrade privatree."
        )


def _same_labels(written: Any, classes: Sequence[Label]) -> bool:
    """Equal one by one, 1, 1.0 and true told apart."""
    return (
        isinstance(written, list)
        and written == list(classes)
        and [type(label) for label in written] == [type(label) for label in classes]
    )


def _label_array(labels: Sequence[Label]) -> NDArray[Any]:
    """The array a scikit-learn user expects; of objects where numpy would change a label."""
    kinds = {type(label) for label in labels}
    kind = str if kinds == {str} else bool if kinds == {bool} else int if kinds == {int} else float
    try:
        array: NDArray[Any] = np.array(labels, dtype=kind)
    except OverflowError:
        return np.array(labels, dtype=object)
    return array if array.tolist() == list(labels) else np.array(labels, dtype=object)
