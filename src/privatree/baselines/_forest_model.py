"""A forest of released trees that vote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.model import Model, Tree
from privatree.privacy import PrivacyStatement
from privatree.schema import Schema

VOTES = ("majority", "average", "confidence")


class ForestModel:
    """Trees that vote by their labels, by their probabilities, or by labels weighted by these."""

    scores_ = None
    """A forest is not scored: it is never trained with a hold-out."""

    def __init__(
        self, schema: Schema, trees: Sequence[Tree], privacy: PrivacyStatement, vote: str
    ) -> None:
        self.schema_, self.privacy_, self.vote = schema, privacy, vote
        alone = replace(privacy, spends=())
        self.estimators_ = [Model(schema_=schema, tree_=tree, privacy_=alone) for tree in trees]
        self.classes_ = self.estimators_[0].classes_

    def predict_proba(self, X: Any, *, names: Sequence[str] | None = None) -> NDArray[np.float64]:
        """Return the share of each class in the votes of the trees."""
        votes = sum(self._votes_of(model, X, names) for model in self.estimators_)
        return np.asarray(votes / np.sum(votes, axis=1, keepdims=True))

    def predict_log_proba(
        self, X: Any, *, names: Sequence[str] | None = None
    ) -> NDArray[np.float64]:
        """Return the logarithms of :meth:`predict_proba`; minus infinity for a share of 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X, names=names)))

    def predict(self, X: Any, *, names: Sequence[str] | None = None) -> NDArray[Any]:
        """Return the class with the most votes; in a tie, the first of them."""
        return np.asarray(self.classes_[np.argmax(self.predict_proba(X, names=names), axis=1)])

    def save(self, path: Any) -> NoReturn:
        """Raise an error: a model file has one tree."""
        raise ParameterError(
            "a model file has one tree. Save the models of estimators_ one by one, or set "
            "n_trees=1."
        )

    def _repr_html_(self) -> str:
        return ""

    def _votes_of(self, model: Model, X: Any, names: Sequence[str] | None) -> NDArray[np.float64]:
        probabilities = model.predict_proba(X, names=names)
        if self.vote == "average":
            return probabilities
        labels = model.predict(X, names=names)
        weights = probabilities.max(axis=1) if self.vote == "confidence" else np.ones(len(labels))
        return np.asarray((labels[:, np.newaxis] == self.classes_) * weights[:, np.newaxis])
