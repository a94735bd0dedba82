"""What every export reads: the released parts of whatever it was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from privatree.model._tree import Tree

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


def _kind(model: Any) -> str:
    return f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
