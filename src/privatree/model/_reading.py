"""What every export reads: the released parts of whatever it was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privatree.model._tree import Tree
from privatree.schema import Categorical, Feature

if TYPE_CHECKING:
    from privatree.model._release import Release


def released_tree(model: Any) -> Tree:
    """The tree of a model.

    Parameters
    ----------
    model : Tree, Model or fitted classifier
        Whose tree is wanted.

    Returns
    -------
    Tree
        As it was released.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If it is a classifier that was not fitted yet.
    TypeError
        If it is something else.
    """
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
        f"got {_kind(model)}. privatree.load reads a saved one."
    )


def released_model(model: Any) -> Release:
    """The tree of a model with its schema and its privacy statement.

    Parameters
    ----------
    model : Model or fitted classifier
        What to publish; a tree alone says nothing of privacy.

    Returns
    -------
    Release
        As it was released.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If it is a classifier that was not fitted yet.
    TypeError
        If it is something else.
    """
    from privatree.model._release import Release
    from privatree.privacy import PrivacyStatement

    if isinstance(model, Release):
        return model
    tree = released_tree(model)
    privacy = getattr(model, "privacy_", None)
    if not isinstance(privacy, PrivacyStatement):
        raise TypeError(
            f"model must have a privacy statement, got {_kind(model)}. Pass a privatree.Model or a "
            "fitted classifier."
        )
    return Release(tree.schema, tree, privacy)


def splits_by_feature(tree: Tree) -> dict[int, list[int]]:
    """The nodes that split on each feature that is used, by its position in the schema."""
    nodes = dict[int, list[int]]()
    for node, position in enumerate(tree.feature.tolist()):
        if position >= 0:
            nodes.setdefault(position, []).append(node)
    return nodes


def goes_left(tree: Tree, node: int, feature: Categorical) -> NDArray[np.bool_]:
    """For each category of the feature that a node splits on, whether it goes left."""
    start = tree.mask_start[node]
    return tree.goes_left[start : start + len(feature.categories)].astype(np.bool_)


def missing_goes_left(tree: Tree, node: int, feature: Feature) -> bool:
    """Whether a missing (or unknown) value of the feature that a node splits on goes left."""
    if isinstance(feature, Categorical):
        return bool(goes_left(tree, node, feature)[feature.missing_place])
    return bool(float(feature.missing_place) <= tree.threshold[node])


def _kind(model: Any) -> str:
    return f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
