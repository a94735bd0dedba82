"""Released models as fitted estimators of scikit-learn, and the function that loads one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NoReturn, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from privatree._support.json_files import read_json
from privatree.errors import ParameterError
from privatree.model._ensemble_release import ClassEnsembleRelease, NumberEnsembleRelease
from privatree.model._reading import has_target
from privatree.model._release import MODEL_FILE, check_format
from privatree.model._tree_release import ClassTreeRelease, NumberTreeRelease, TreeRelease
from privatree.model.tree import Tree, tree_importances


class FittedModelMixin:
    """The methods that released models and the classifiers that train them have in common."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        html = self._repr_html_()  # type: ignore[attr-defined]
        return {"text/plain": repr(self)} | ({} if html is None else {"text/html": html})


class FittedTreeMixin(FittedModelMixin):
    """The methods that released trees and the classifiers that train them have in common."""

    tree_: Tree

    def get_depth(self) -> int:
        """Return the number of splits on the longest path."""
        check_is_fitted(self, "tree_")
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self, "tree_")
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in all decreases of the impurity, in the order of the schema.

        The impurity is that of Gini for classes, and the variance for a numeric target. The shares
        follow from the released tree and cost no privacy: the decreases of scikit-learn's trees,
        computed from the noisy numbers of records of the leaves and what the leaves predict. A
        share is as rough as these numbers: rely on it where the leaves have many more records than
        ``tree_.support_error``, and the feature more than a few percent. Like all importances, it
        is about this tree: another training can choose another one of two features that tell the
        same.

        If the counts of the leaves were not released, as with ``probability_share=0``, access
        raises an AttributeError.
        """
        check_is_fitted(self, "tree_")
        found = tree_importances(self.tree_)
        if found is None:
            raise AttributeError(  # so that hasattr is False
                f"{type(self).__name__} has no feature_importances_: they come from noisy counts "
                "of the leaves, which were not released with this tree. Train "
                "PrivaTreeClassifier with a probability_share above 0, or use "
                "sklearn.inspection.permutation_importance on public or held-out data."
            )
        return found


class ReleasedEstimator(BaseEstimator):  # type: ignore[misc]
    """What makes a released model a fitted estimator of scikit-learn."""

    def fit(self, X: Any = None, y: Any = None, **_: Any) -> NoReturn:
        """Raise an error: a released model has no learner that could train it again."""
        raise ParameterError(
            "a released model cannot be trained again. Call fit of a learner such as "
            "PrivaTreeClassifier, or wrap the model in sklearn.frozen.FrozenEstimator, whose fit "
            "changes nothing."
        )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return an empty dictionary: a released model has no parameters."""
        return {}

    def set_params(self, **params: Any) -> Self:
        """Raise an error for any parameter: a released model has none."""
        if params:
            raise ParameterError(
                f"a released model has no parameters, got {', '.join(map(repr, params))}. "
                "Set the parameters of a learner before its fit."
            )
        return self

    def __sklearn_clone__(self) -> Self:
        """Return the model itself, which never changes."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _repr_html_(self) -> str | None:
        """Return tree and statement as HTML; None if scikit-learn is set to display text."""
        from privatree.export import notebook_html

        return notebook_html(self) if get_config()["display"] == "diagram" else None


class ReleasedClassifier(ClassifierMixin, ReleasedEstimator):  # type: ignore[misc]
    """What makes a released model a fitted classifier of scikit-learn."""

    def predict_log_proba(
        self, X: Any, *, names: Sequence[str] | None = None
    ) -> NDArray[np.float64]:
        """Return the logarithms of :meth:`predict_proba`; minus infinity for a probability of 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X, names=names)))


class ReleasedRegressor(RegressorMixin, ReleasedEstimator):  # type: ignore[misc]
    """What makes a released model a fitted regressor of scikit-learn."""


class _TreeModel(TreeRelease, FittedTreeMixin):
    """What released trees of classes and of numbers have in common."""

    def decision_path(self, X: Any, *, names: Sequence[str] | None = None) -> csr_matrix[Any]:
        """Return a sparse matrix (records, nodes) with 1 where a record passes a node.

        The arguments are those of :meth:`predict`. A path includes the root and the leaf.
        """
        leaves, places = np.unique(self.apply(X, names=names), return_inverse=True)
        return _path_matrix(self.tree_, leaves.tolist())[places]


class Model(ClassTreeRelease, _TreeModel, ReleasedClassifier):
    """A trained tree with its schema and privacy statement, to show, save and predict with.

    A model is a fitted classifier of scikit-learn and works in pipelines, scorers, inspection and
    calibration. It cannot be trained, it has no parameters, and ``sklearn.base.clone`` returns the
    same model. Wrap it in :class:`sklearn.frozen.FrozenEstimator` where scikit-learn calls ``fit``.

    Parameters
    ----------
    schema_ : Schema
        Columns and classes that were declared public before training. If entries were read from the
        records instead, they are marked, and epsilon is infinite.
    tree_ : Tree
        The tree, which must have the same schema.
    privacy_ : PrivacyStatement
        The guarantee, its assumptions, and every spend.
    scores_ : PrivateScores, optional
        Private scores of the held-out part, if it was trained with one.

    Attributes
    ----------
    classes_ : ndarray
        Class labels, in the order of the schema.
    n_features_in_ : int
        Number of columns of the schema.
    feature_names_in_ : ndarray of str
        Names of the columns, in the order of the schema.

    Notes
    -----
    Figures that scikit-learn computes from a model and records are exact figures about the records,
    outside the guarantee. Compute permutation importance, partial dependence and calibration on
    public or held-out data.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> frame, labels, schema = datasets.load("vote")
    >>> learner = PrivaTreeClassifier(1.0, max_depth=2, schema=schema, random_state=0)
    >>> model = learner.fit(frame, labels).model_
    >>> model
    <Model: a tree by PrivaTreeClassifier, epsilon 1, 16 features, 2 classes, depth 1, 2 leaves>
    >>> model.predict(frame[:3]).tolist()
    ['democrat', 'republican', 'democrat']
    """


class RegressionModel(NumberTreeRelease, _TreeModel, ReleasedRegressor):
    """A trained tree that predicts a number, with its schema and privacy statement.

    Like :class:`Model`, it is fitted and cannot be trained; it is a regressor of scikit-learn.

    Parameters
    ----------
    schema_ : Schema
        Columns and target that were declared public before training.
    tree_ : Tree
        The tree, which must have the same schema.
    privacy_ : PrivacyStatement
        The guarantee, its assumptions, and every spend.
    scores_ : PrivateScores, optional
        Private scores of the held-out part, if it was trained with one.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns of the schema.
    feature_names_in_ : ndarray of str
        Names of the columns, in the order of the schema.

    Examples
    --------
    >>> from privatree import PrivaTreeRegressor, Schema, Target, datasets
    >>> frame, _, schema = datasets.load("adult")
    >>> age = frame.pop("age")
    >>> features = {name: schema.features[name] for name in frame}
    >>> schema = Schema(features, target=Target(0, 100, integer=True))
    >>> learner = PrivaTreeRegressor(1.0, max_depth=2, schema=schema, random_state=0)
    >>> model = learner.fit(frame, age).model_
    >>> model.get_n_leaves(), model.schema_.target.high
    (4, 100)
    >>> model.predict(frame[:3]).round(1).tolist()
    [31.7, 42.7, 42.7]
    """


class EnsembleModel(ClassEnsembleRelease, FittedModelMixin, ReleasedClassifier):
    """A trained ensemble with its schema and privacy statement, to save and predict with.

    Like :class:`Model`, it is a fitted classifier of scikit-learn that cannot be trained.

    Parameters
    ----------
    schema_ : Schema
        Columns and classes that were declared public before training.
    ensemble_ : Ensemble
        The ensemble, which must have the same schema.
    privacy_ : PrivacyStatement
        The guarantee, its assumptions, and every spend.
    scores_ : PrivateScores, optional
        Private scores of the held-out part, if it was trained with one.

    Attributes
    ----------
    classes_ : ndarray
        Class labels, in the order of the schema.
    n_features_in_ : int
        Number of columns of the schema.
    feature_names_in_ : ndarray of str
        Names of the columns, in the order of the schema.

    Examples
    --------
    >>> from privatree import PrivaBoostClassifier, datasets
    >>> frame, labels, schema = datasets.load("vote")
    >>> learner = PrivaBoostClassifier(1.0, schema=schema, random_state=0)
    >>> model = learner.fit(frame, labels).model_
    >>> model.predict(frame[:3]).tolist()
    ['democrat', 'republican', 'democrat']
    """


class RegressionEnsembleModel(NumberEnsembleRelease, FittedModelMixin, ReleasedRegressor):
    """A trained ensemble that predicts a number, with its schema and privacy statement.

    Like :class:`Model`, it is fitted and cannot be trained; it is a regressor of scikit-learn.

    Parameters
    ----------
    schema_ : Schema
        Columns and target that were declared public before training.
    ensemble_ : Ensemble
        The ensemble, which must have the same schema.
    privacy_ : PrivacyStatement
        The guarantee, its assumptions, and every spend.
    scores_ : PrivateScores, optional
        Private scores of the held-out part, if it was trained with one.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns of the schema.
    feature_names_in_ : ndarray of str
        Names of the columns, in the order of the schema.

    Examples
    --------
    >>> from privatree import PrivaBoostRegressor, Schema, Target, datasets
    >>> frame, _, schema = datasets.load("adult")
    >>> age = frame.pop("age")
    >>> features = {name: schema.features[name] for name in frame}
    >>> schema = Schema(features, target=Target(0, 100, integer=True))
    >>> learner = PrivaBoostRegressor(1.0, rounds=20, schema=schema, random_state=0)
    >>> model = learner.fit(frame, age).model_
    >>> len(model.ensemble_.rounds), model.predict(frame[:3]).round(1).tolist()
    (20, [24.8, 61.0, 38.4])
    """


AnyModel: TypeAlias = Model | RegressionModel | EnsembleModel | RegressionEnsembleModel
"""A released model, of any kind."""


def load(path: str | os.PathLike[str]) -> AnyModel:
    """Read a tree or an ensemble that ``save`` of a model or learner wrote.

    Parameters
    ----------
    path : path
        The JSON file. Everything in it is checked, and nothing is executed.

    Returns
    -------
    Model, RegressionModel, EnsembleModel or RegressionEnsembleModel
        A fitted classifier or regressor of scikit-learn.

    Raises
    ------
    ModelFormatError
        If the file is not a model. The message is one line that starts with the path.
    OSError
        If the file cannot be read: :class:`FileNotFoundError` if there is no such file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import privatree
    >>> frame, labels, schema = privatree.datasets.load("vote")
    >>> learner = privatree.PrivaTreeClassifier(1.0, schema=schema, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     learner.fit(frame, labels).save(Path(folder) / "model.json")
    ...     model = privatree.load(Path(folder) / "model.json")
    >>> model.tree_ == learner.tree_
    True
    """
    return read_json(path, MODEL_FILE, _model_from_dict)


def _model_from_dict(written: Any) -> AnyModel:
    check_format(written)
    if "ensemble" in written:
        ensemble = RegressionEnsembleModel if has_target(written) else EnsembleModel
        return ensemble.from_dict(written)
    return (RegressionModel if has_target(written) else Model).from_dict(written)


def _path_matrix(tree: Tree, leaves: list[int]) -> csr_matrix[Any]:
    """Return a matrix with a row for each leaf, with 1 at every node from the root to the leaf."""
    passed, ends = list[int](), [0]
    for path in tree.paths(leaves):
        passed += path
        ends.append(len(passed))
    ones = np.ones(len(passed), dtype=np.int64)
    return csr_matrix((ones, passed, ends), shape=(len(leaves), tree.n_nodes))
