"""Released trees and ensembles from files, and from models and fitted classifiers."""

from __future__ import annotations

import os
from typing import Any

from privatree._support.json_files import read_json
from privatree.model._ensemble_release import (
    ClassEnsembleRelease,
    EnsembleRelease,
    NumberEnsembleRelease,
    release_ensemble,
)
from privatree.model._release import MODEL_FILE, Scores, check_format
from privatree.model._tree_release import (
    ClassTreeRelease,
    NumberTreeRelease,
    TreeRelease,
    release_tree,
)
from privatree.model.ensemble import Ensemble
from privatree.model.tree import Tree
from privatree.privacy import PrivacyStatement


def release_from_dict(written: Any) -> TreeRelease | EnsembleRelease:
    """Return the tree or ensemble that a model file has; raise a ModelFormatError for mistakes."""
    check_format(written)
    if "ensemble" in written:
        return (NumberEnsembleRelease if has_target(written) else ClassEnsembleRelease).from_dict(
            written
        )
    return (NumberTreeRelease if has_target(written) else ClassTreeRelease).from_dict(written)


def has_target(written: dict[str, Any]) -> bool:
    """Return whether the content of a model file has a schema with a target."""
    return isinstance(written.get("schema"), dict) and "target" in written["schema"]


def read_release(path: str | os.PathLike[str]) -> TreeRelease | EnsembleRelease:
    """Read a model file as :func:`privatree.load` does, but without importing scikit-learn."""
    return read_json(path, MODEL_FILE, release_from_dict)


def released_predictor(model: Any) -> Tree | Ensemble:
    """Return the tree or ensemble of a model or fitted classifier, or of its kind itself."""
    for found in (model, getattr(model, "tree_", None), getattr(model, "ensemble_", None)):
        if isinstance(found, Tree | Ensemble):
            return found
    _check_is_fitted(model)
    raise TypeError(
        f"model must be a privatree.Model or a fitted classifier of privatree, "
        f"got {_type_name(model)}. privatree.load reads a saved model."
    )


def released_tree(model: Any) -> Tree:
    """Return the tree of a Tree, Model or fitted classifier, or raise an error with the reason."""
    found = released_predictor(model)
    if isinstance(found, Tree):
        return found
    raise TypeError(
        "model must be one tree, got an ensemble of many rounds. export_text, export_sql, "
        "export_onnx and export_json of privatree.export take ensembles."
    )


def released_model(model: Any) -> TreeRelease:
    """Return tree, schema and privacy statement of a Model or fitted classifier."""
    if isinstance(model, TreeRelease):
        return model
    return release_tree(released_tree(model), _statement_of(model), _scores_of(model))


def released_any(model: Any) -> TreeRelease | EnsembleRelease:
    """Return the tree or ensemble of a model or fitted classifier, with schema and statement."""
    if isinstance(model, TreeRelease | EnsembleRelease):
        return model
    found = released_predictor(model)
    if isinstance(found, Ensemble):
        return release_ensemble(found, _statement_of(model), _scores_of(model))
    return release_tree(found, _statement_of(model), _scores_of(model))


def _statement_of(model: Any) -> PrivacyStatement:
    privacy = getattr(model, "privacy_", None)
    if not isinstance(privacy, PrivacyStatement):
        raise TypeError(
            f"model must have a privacy statement, got {_type_name(model)}. Pass a privatree.Model "
            "or a fitted classifier."
        )
    return privacy


def _scores_of(model: Any) -> Scores | None:
    scores: Scores | None = getattr(model, "scores_", None)
    return scores


def _check_is_fitted(model: Any) -> None:
    if hasattr(model, "fit") and not isinstance(model, type):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(
            model, msg="This %(name)s is not fitted yet: it has no model. Call fit(X, y) first."
        )


def _type_name(model: Any) -> str:
    return f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
