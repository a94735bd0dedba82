"""A released tree with its schema and privacy statement: of classes, or of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ModelFormatError
from privatree.model._outcomes import ClassPredictions, NumberPredictions
from privatree.model._release import Predictor, Release, Scores
from privatree.model.tree import Tree, tree_from_dict, tree_to_dict
from privatree.privacy import PrivacyStatement, check_holdout
from privatree.schema import Schema

_MANY = 10**9
"""Largest number of releases of one spend. More releases count as this many."""


@dataclass(frozen=True, eq=False, repr=False)
class TreeRelease(Release):
    """A trained tree with its schema and privacy statement, whatever it predicts."""

    kind: ClassVar[str] = "tree"

    schema_: Schema
    tree_: Tree
    privacy_: PrivacyStatement
    scores_: Scores | None = None

    def __post_init__(self) -> None:
        if self.tree_.schema != self.schema_:
            raise ModelFormatError("the schema of the tree must be the schema of the model.")
        counted = self.privacy_.words.counted
        if self.tree_.counted != counted:  # a tree from a file does not say what its counts are
            object.__setattr__(self, "tree_", replace(self.tree_, counted=counted))
        _check_spends(self.tree_, self.privacy_)
        self._check_statement()

    @property
    def _predictor(self) -> Predictor:
        return self.tree_

    def _predictor_to_dict(self) -> dict[str, Any]:
        return tree_to_dict(self.tree_)

    @classmethod
    def _from_parts(
        cls,
        schema: Schema,
        predictor: Any,
        privacy: PrivacyStatement,
        scores: Scores | None,
        version: int,
    ) -> Self:
        return cls(schema, tree_from_dict(predictor, schema), privacy, scores)

    def _describe(self) -> tuple[str, str]:
        return "a tree", f"depth {self.tree_.depth}, {self.tree_.n_leaves} leaves"

    def apply(self, X: Any, *, names: Sequence[str] | None = None) -> NDArray[np.int32]:
        """Return the node number of each record's leaf, for the arguments of :meth:`predict`."""
        return self.tree_.apply(*self._feature_matrix(X, names))


class ClassTreeRelease(ClassPredictions, TreeRelease):
    """A tree that predicts classes; see :class:`~privatree.Model`."""

    version: ClassVar[int] = 2


class NumberTreeRelease(NumberPredictions, TreeRelease):
    """A tree that predicts numbers; see :class:`~privatree.RegressionModel`."""

    version: ClassVar[int] = 4
    first_version: ClassVar[int] = 4


def release_tree(
    tree: Tree, privacy: PrivacyStatement, scores: Scores | None = None
) -> ClassTreeRelease | NumberTreeRelease:
    """Return the release of a tree, by what it predicts."""
    kind = ClassTreeRelease if tree.schema.target is None else NumberTreeRelease
    return kind(tree.schema, tree, privacy, scores)


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
    check_holdout(privacy)
    if epsilon > privacy.model_epsilon:
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
