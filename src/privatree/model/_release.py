"""What is released: a schema, a tree or ensemble, and its privacy statement, also as a JSON file.

Reading a file checks everything in it and executes nothing: an untrusted model is safe to load, and
every loaded model can predict. Nothing here needs scikit-learn, which takes a second to import: the
command line shows models and predicts without it. :class:`~privatree.Model` and
:class:`~privatree.EnsembleModel` add the interface of a scikit-learn classifier.
"""

from __future__ import annotations

import json
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from privatree._support.atomic_files import replace_file
from privatree._support.escape import escape_to_one_line
from privatree._support.json_files import check_json_size
from privatree.errors import ModelFormatError, SchemaError
from privatree.privacy import SCHEMA_LEAK, PrivacyStatement, Spend, shown_amount
from privatree.schema import Label, Schema
from privatree.tables import prediction_matrix

FORMAT, VERSION = "privatree-model", 4
"""Name of the format, and its latest version."""
MODEL_FILE = "a model file"
"""Name of the file in error messages."""
_MAX_LEARNER = 60
"""Largest number of characters of the learner's name in ``repr``: a file can have any text."""


class Predictor(Protocol):
    """A trained tree or ensemble, with its predictions for a matrix of values and codes."""

    @property
    def used_features(self) -> tuple[int, ...]: ...

    def predict(self, matrix: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]: ...

    def predict_proba(self, matrix: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.float64]: ...


class Scores(Protocol):
    """Private scores of a model (:class:`privatree.evaluation.PrivateScores`)."""

    @property
    def classes(self) -> tuple[Label, ...]: ...

    @property
    def neighbours(self) -> str: ...

    @property
    def unit(self) -> str | None: ...

    @property
    def spends(self) -> tuple[Spend, ...]: ...

    def to_dict(self) -> dict[str, Any]: ...


class Release(ABC):
    """What is released: a schema, a trained tree or ensemble, and a privacy statement.

    A model that was trained with a held-out part has its scores, too.

    ``kind`` is the key of the tree or ensemble in the model file, and ``version`` that of the file.
    ``first_version`` is the first version of the format that has this kind. ``has_target`` tells
    whether it predicts numbers, not classes.
    """

    kind: ClassVar[str]
    version: ClassVar[int]
    first_version: ClassVar[int] = 1
    has_target: ClassVar[bool] = False
    schema_: Schema
    privacy_: PrivacyStatement
    scores_: Scores | None

    @property
    @abstractmethod
    def _predictor(self) -> Predictor:
        """The tree or ensemble."""

    @abstractmethod
    def _predictor_to_dict(self) -> dict[str, Any]:
        """Return the tree or ensemble as plain dictionaries and lists."""

    @classmethod
    @abstractmethod
    def _from_parts(
        cls,
        schema: Schema,
        predictor: Any,
        privacy: PrivacyStatement,
        scores: Scores | None,
        version: int,
    ) -> Self:
        """Return the release of a schema, what `_predictor_to_dict` wrote, and a statement.

        `version` is that of the file.
        """

    @abstractmethod
    def _describe(self) -> tuple[str, str]:
        """Return what the model is, such as "a tree", and its size, in words."""

    @abstractmethod
    def _describe_outcome(self) -> str:
        """Return what the model predicts, in a few words."""

    @abstractmethod
    def predict(self, X: Any, *, names: Sequence[str] | None = None) -> NDArray[Any]:
        """Predict the class, or the number, of each record."""

    def _check_statement(self) -> None:
        """Raise a ModelFormatError if the statement claims more than is true for this schema."""
        if self.has_target != (self.schema_.target is not None):
            needed, got = ("a target", "classes")[:: 1 if self.has_target else -1]
            raise ModelFormatError(
                f"the schema of this kind of model must have {needed}, got one with {got}."
            )
        if self.schema_.unconfirmed and not math.isinf(self.privacy_.epsilon):
            raise ModelFormatError(
                "privacy: epsilon must be infinite where entries of the schema are unconfirmed."
            )
        self._check_scores()

    def _check_scores(self) -> None:
        """Raise a ModelFormatError unless the scores are those that the statement accounts for."""
        scores, privacy = self.scores_, self.privacy_
        if (scores is None) != (privacy.holdout is None):
            raise ModelFormatError(
                "a model must have scores if its privacy statement has a held-out part, and only "
                "then."
            )
        if scores is None or privacy.holdout is None:
            return
        if tuple(scores.classes) != (() if self.has_target else tuple(self.schema_.classes)):
            raise ModelFormatError("the classes of the scores must be those of the schema.")
        account = (scores.neighbours, scores.unit, scores.spends)
        if account != (privacy.neighbours, privacy.unit, privacy.holdout.spends):
            raise ModelFormatError(
                "the scores must have the neighbours, the unit and the spends that the privacy "
                "statement has for the held-out part."
            )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Release)
            and self.kind == other.kind
            and (self.schema_, self._predictor, self.privacy_, self.scores_)
            == (other.schema_, other._predictor, other.privacy_, other.scores_)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        learner = escape_to_one_line(self.privacy_.learner)
        learner = learner if len(learner) <= _MAX_LEARNER else f"{learner[: _MAX_LEARNER - 1]}…"
        words = self.privacy_.words
        whole = "" if words.unit is None else f" for {words.whole}"
        what, size = self._describe()
        delta = f", delta {shown_amount(self.privacy_.delta)}" if self.privacy_.delta else ""
        return (
            f"<{type(self).__name__}: {what} by {learner}, "
            f"epsilon {shown_amount(self.privacy_.epsilon)}{delta}{whole}, "
            f"{self.n_features_in_} features, {self._describe_outcome()}, {size}>"
        )

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the columns, in the order of the schema."""
        return np.array(self.schema_.names, dtype=object)

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        return len(self.schema_.features)

    def _feature_matrix(
        self, X: Any, names: Sequence[str] | None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        return prediction_matrix(X, self.schema_, self._predictor.used_features, names=names)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the model file as plain dictionaries and lists."""
        classes = {} if self.has_target else {"classes": list(self.schema_.classes)}
        return {
            "format": FORMAT,
            "version": self.version,
            **classes,
            "schema": self.schema_.to_dict(),
            self.kind: self._predictor_to_dict(),
            "privacy": self.privacy_.to_dict(),
            **({} if self.scores_ is None else {"scores": self.scores_.to_dict()}),
        }

    @classmethod
    def from_dict(cls, written: Any) -> Self:
        """Return the model that :meth:`to_dict` wrote; raise a ModelFormatError for mistakes."""
        check_format(written)
        classes = () if cls.has_target else ("classes",)
        keys = ("format", "version", *classes, "schema", cls.kind, "privacy")
        if written.keys() - {"scores"} != set(keys):
            raise ModelFormatError(
                f"a model must have the keys {', '.join(keys)}, and no others but scores."
            )
        if written["version"] < cls.first_version:
            raise ModelFormatError(
                f"'version' must be at least {cls.first_version} for this kind of model, "
                f"got {written['version']}."
            )
        try:
            schema = Schema.from_dict(written["schema"])
        except SchemaError as error:
            raise ModelFormatError(f"schema: {error}") from None
        if not cls.has_target and not _same_labels(written["classes"], schema.classes):
            raise ModelFormatError("'classes' must equal the classes of the schema.")
        privacy = PrivacyStatement.from_dict(written["privacy"])
        if SCHEMA_LEAK in {leak.name for leak in privacy.leaks} and not schema.unconfirmed:
            schema = schema.all_unconfirmed()  # the file is older than the marks
        scores = _scores_from_dict(written["scores"]) if "scores" in written else None
        return cls._from_parts(schema, written[cls.kind], privacy, scores, written["version"])

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


def _scores_from_dict(written: Any) -> Scores:
    from privatree.evaluation import PrivateScores

    return PrivateScores.from_dict(written)


def check_format(written: Any) -> None:
    """Raise a ModelFormatError if `written` is not a model, or one of a later version."""
    if isinstance(written, dict) and written.get("format") == "privatree-certificate":
        raise ModelFormatError(
            "the file must be a model, got a certificate against poisoned records. "
            "privatree.robustness.AccuracyCertificate.load reads it, or the load method of "
            "another class of certificates."
        )
    if not isinstance(written, dict) or written.get("format") != FORMAT:
        raise ModelFormatError(f"a model must be an object with 'format': '{FORMAT}'.")
    _check_version(written.get("version"))


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
