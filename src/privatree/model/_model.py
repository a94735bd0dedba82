"""What was released, as a fitted classifier of scikit-learn, and how to load it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin

from privatree._support.json_files import read_json
from privatree.errors import ParameterError
from privatree.model._release import MODEL_FILE, Release
from privatree.model._tree import Tree


class Model(Release, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A trained tree that can be shown, saved and used, without the data it came from.

    It is a fitted classifier of scikit-learn: inspection, calibration, pipelines and scorers take
    it. It cannot be trained, it has no parameters, and ``sklearn.base.clone`` returns it as it is.
    Wrap it in :class:`sklearn.frozen.FrozenEstimator` where something would train it again.

    Parameters
    ----------
    schema_ : Schema
        What was declared public before training. Entries that were read from the records instead
        are marked, and epsilon is infinite.
    tree_ : Tree
        The tree, of the same schema.
    privacy_ : PrivacyStatement
        What is guaranteed, on what assumptions, and how it was spent.

    Attributes
    ----------
    classes_ : ndarray
        The class labels, in the order of the schema.
    n_features_in_ : int
        The number of columns of the schema.
    feature_names_in_ : ndarray of str
        The names of the columns, in the order of the schema.

    Notes
    -----
    What scikit-learn computes from a model and records is about those records, exactly, and outside
    the guarantee: permutation importance, partial dependence and calibration belong on public or
    held-out data.
    """

    # --- as scikit-learn's trees ------------------------------------------------------------------

    def predict_log_proba(
        self, X: Any, *, names: Sequence[str] | None = None
    ) -> NDArray[np.float64]:
        """The logarithms of :meth:`predict_proba`; minus infinity where that is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, names=names))

    def decision_path(self, X: Any, *, names: Sequence[str] | None = None) -> csr_matrix[Any]:
        """The nodes that each record passes; the arguments are those of :meth:`predict`.

        Returns
        -------
        sparse matrix of shape (n_records, n_nodes)
            1 where a record passes a node, from the root to its leaf.
        """
        leaves, places = np.unique(self.apply(X, names=names), return_inverse=True)
        return _paths(self.tree_, leaves.tolist())[places]

    def get_depth(self) -> int:
        """The number of questions on the longest path."""
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> NoReturn:
        """Not there: see :func:`refuse_importances`."""
        refuse_importances(self)

    # --- as an estimator that was trained before --------------------------------------------------

    def fit(self, X: Any = None, y: Any = None, **_: Any) -> NoReturn:
        """Refuse: a released model has no learner to train it again with."""
        raise ParameterError(
            "a released model cannot be trained again. Train a classifier of privatree; or wrap "
            "the model in sklearn.frozen.FrozenEstimator, whose fit changes nothing."
        )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """No parameters: what was trained is fixed."""
        return {}

    def set_params(self, **params: Any) -> Self:
        """Refuse any parameter: there are none."""
        if params:
            raise ParameterError(
                f"a released model has no parameters, got {', '.join(map(repr, params))}. "
                "Set those of the classifier that trains one."
            )
        return self

    def __sklearn_clone__(self) -> Self:
        """The same: it never changes."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        return tags_of_trees(super().__sklearn_tags__())

    # --- in a notebook ----------------------------------------------------------------------------

    def _repr_html_(self) -> str | None:
        """Tree and statement, unless scikit-learn was told to display text."""
        from privatree.export import notebook_html

        return notebook_html(self) if get_config()["display"] == "diagram" else None

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return mimebundle(self)


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model that :meth:`Model.save` wrote.

    Parameters
    ----------
    path : path
        The JSON file.

    Returns
    -------
    Model
        A fitted classifier of scikit-learn. It was checked in full; nothing in the file is
        executed.

    Raises
    ------
    ModelFormatError
        If the file is not a model, in one line that starts with the path.
    OSError
        If the file cannot be read, as :class:`FileNotFoundError` if there is none.
    """
    return read_json(path, MODEL_FILE, Model.from_dict)


# --- what models and the classifiers that train them share ----------------------------------------


def refuse_importances(model: Any) -> NoReturn:
    """Say why there are no importances; as an AttributeError, so that ``hasattr`` is False."""
    raise AttributeError(
        f"{type(model).__name__} has no feature_importances_: impurity decreases come from exact "
        "counts of records, which are never released. Use "
        "sklearn.inspection.permutation_importance on public or held-out data."
    )


def tags_of_trees(tags: Any) -> Any:
    """What scikit-learn may expect: missing values, text and categories are fine."""
    tags.input_tags.allow_nan = True
    tags.input_tags.categorical = True
    tags.input_tags.string = True
    return tags


def mimebundle(estimator: Any) -> dict[str, str]:
    """What a notebook shows: text, and HTML unless scikit-learn was told to display text."""
    html = estimator._repr_html_()
    return {"text/plain": repr(estimator)} | ({} if html is None else {"text/html": html})


def _paths(tree: Tree, leaves: list[int]) -> csr_matrix[Any]:
    """For each leaf the nodes from the root to it, itself included."""
    passed, ends = list[int](), [0]
    for path in tree.paths(leaves):
        passed += path
        ends.append(len(passed))
    ones = np.ones(len(passed), dtype=np.int64)
    return csr_matrix((ones, passed, ends), shape=(len(leaves), tree.n_nodes))
