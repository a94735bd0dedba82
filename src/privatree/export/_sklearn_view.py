"""A tree as a fitted tree of scikit-learn, for tools that read its trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from privatree.errors import ParameterError
from privatree.export._float32_rounding import Float32Rounding
from privatree.export.text._tree_text import node_texts
from privatree.model import ClassPredictions, Tree, released_model
from privatree.privacy import PrivacyStatement
from privatree.schema import Categorical
from privatree.tables import read_features

if TYPE_CHECKING:
    import pandas as pd

_NODE_FIELDS = {"left_child", "right_child", "feature", "threshold", "impurity", "n_node_samples",
                "weighted_n_node_samples", "missing_go_to_left"}  # fmt: skip
"""Fields of a node in scikit-learn's tree."""
_NO_QUESTION = "(no question)"


def as_sklearn(model: Any) -> SklearnView | SklearnRegressorView:
    """Return a tree as a fitted decision tree of scikit-learn.

    Parameters
    ----------
    model : model or fitted learner
        Model whose tree is converted.

    Returns
    -------
    SklearnView or SklearnRegressorView
        A :class:`sklearn.tree.DecisionTreeClassifier`, or a
        :class:`sklearn.tree.DecisionTreeRegressor` if the tree predicts a number, which
        ``sklearn.tree.export_text``, ``sklearn.tree.plot_tree`` and ``shap.TreeExplainer`` accept.
        Pass records through its ``transform`` first.

    Notes
    -----
    **The view has no counts of records**. Instead it gives both sides of every split the same
    weight. The samples that scikit-learn shows are weights that halve from level to level.
    The values of an inner node are the mean of the values of its children. SHAP's explanations
    start from these values, not from the frequencies in the data, and the view's importances follow
    from these weights: use ``feature_importances_`` of the model.

    Examples
    --------
    >>> from sklearn.tree import export_text
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> X, y, schema = datasets.load("breast-w")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=1, schema=schema, random_state=0)
    >>> view = as_sklearn(model.fit(X, y))
    >>> print(export_text(view, feature_names=view.get_feature_names_out()))
    |--- Cell_Shape_Uniformity <= 3.50
    |   |--- class: benign
    |--- Cell_Shape_Uniformity >  3.50
    |   |--- class: malignant
    <BLANKLINE>
    """
    released = released_model(model)
    tree = released.tree_
    view: SklearnView | SklearnRegressorView
    if isinstance(released, ClassPredictions):
        view = SklearnView()
        view.classes_, view.n_classes_ = released.classes_, len(tree.schema.classes)
    else:
        view = SklearnRegressorView()
    columns = _SklearnColumns(tree)
    view.tree_, view.n_outputs_ = _sklearn_tree(tree, columns), 1
    view.feature_names_in_ = np.array([*columns.names], dtype=object)
    view.n_features_in_ = view.max_features_ = len(columns.names)
    view.privacy_ = released.privacy_
    view.source_, view.columns_ = tree, columns
    return view


class _View:
    """What the views of all trees have in common."""

    feature_names_in_: NDArray[np.object_]
    n_features_in_: int
    privacy_: PrivacyStatement
    source_: Tree
    columns_: _SklearnColumns

    def fit(self, X: Any, y: Any = None, **_: Any) -> NoReturn:
        """Raise ParameterError: a view shows a tree that is already trained."""
        raise ParameterError(
            "a view of a tree cannot be trained. Train a learner of privatree, and call as_sklearn."
        )

    def transform(self, X: Any) -> pd.DataFrame:
        """Convert records to the matrix of numbers that the scikit-learn tree reads.

        Parameters
        ----------
        X : frame
            Records in any form that ``predict`` of the model accepts.

        Returns
        -------
        pandas.DataFrame of float32
            One column for each name in `feature_names_in_`. Missing, unknown and out-of-range
            values are replaced as the schema says; missing numbers that are separate become -1e30.
            Numbers are rounded to 32 bits, but never across a threshold.
        """
        import pandas as pd

        features = read_features(X, self.source_.schema)
        matrix = np.zeros((len(features[0]), self.n_features_in_), dtype=np.float32)
        self.columns_.fill_matrix(matrix, features)
        return pd.DataFrame(matrix, columns=self.feature_names_in_)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns that :meth:`transform` returns."""
        names: NDArray[np.object_] = self.feature_names_in_
        return names


class SklearnView(_View, DecisionTreeClassifier):  # type: ignore[misc]
    """A released tree in the form of a fitted scikit-learn classifier.

    :func:`as_sklearn` returns it, and ``fit`` refuses to train it. A numeric feature is a column
    with the name of the feature. Each different question about categories or missing numbers
    becomes a column with the question as its name, and with 1 for the answer yes. At a split on
    such a column, the answer no is on the left. Node numbers are those of the released tree.

    Attributes
    ----------
    tree_ : sklearn.tree._tree.Tree
        The tree with the values and weights that :func:`as_sklearn` describes.
    feature_names_in_ : array of str
        Names of the columns that :meth:`transform` returns and the other methods expect.
    classes_ : array
        Labels in the order of the schema.
    privacy_ : PrivacyStatement
        Privacy guarantee of the released tree.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> X, y, schema = datasets.load("breast-w")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=1, schema=schema, random_state=0)
    >>> view = as_sklearn(model.fit(X, y))
    >>> view.transform(X[:2])
       Cell_Shape_Uniformity
    0                    1.0
    1                    4.0
    >>> view.predict(view.transform(X[:2])).tolist()
    ['benign', 'malignant']
    """

    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """Return the released label of each row of a transformed matrix.

        If the probabilities are noisy, the label can differ from the likeliest class.
        """
        labels: NDArray[Any] = self.classes_[self.source_.label[self.apply(X, check_input)]]
        return labels


class SklearnRegressorView(_View, DecisionTreeRegressor):  # type: ignore[misc]
    """A released tree that predicts a number, in the form of a fitted scikit-learn regressor.

    It is like :class:`SklearnView`, without ``classes_``. ``predict`` returns the values of the
    released tree for a matrix that ``transform`` made.

    Examples
    --------
    >>> from privatree import PrivaTreeRegressor, Schema, Target, datasets
    >>> frame, _, schema = datasets.load("adult")
    >>> age = frame.pop("age")
    >>> features = {name: schema.features[name] for name in frame}
    >>> schema = Schema(features, target=Target(0, 100, integer=True))
    >>> model = PrivaTreeRegressor(1.0, max_depth=2, schema=schema, random_state=0)
    >>> view = as_sklearn(model.fit(frame, age))
    >>> bool((view.predict(view.transform(frame)) == model.predict(frame)).all())
    True
    """


# --- columns ------------------------------------------------------------------------------------


class _SklearnColumns:
    """Positions of the matrix columns by name, and the column and threshold of each node."""

    def __init__(self, tree: Tree) -> None:
        features, texts = list(tree.schema.features.items()), node_texts(tree)
        self.names = dict[str, int]()
        self.of_node = np.full(tree.n_nodes, -2)
        self.threshold = np.full(tree.n_nodes, -2.0)
        self._numeric = list[tuple[int, int, Float32Rounding]]()
        self._missing = list[tuple[int, int]]()
        self._categorical = list[tuple[int, int, NDArray[np.bool_]]]()
        for position, nodes in sorted(tree.splits_by_feature().items()):
            name, feature = features[position]
            if isinstance(feature, Categorical):
                columns = dict[bytes, int]()
                for node in nodes:
                    mask = tree.left_mask(node)
                    if mask.tobytes() not in columns:
                        columns[mask.tobytes()] = self._add_column(texts[node])
                        self._categorical.append((position, columns[mask.tobytes()], mask))
                    self.of_node[node], self.threshold[node] = columns[mask.tobytes()], 0.5
            else:
                asks_missing = tree.threshold[nodes] == -np.inf
                self._add_thresholds(tree, position, name, np.array(nodes)[~asks_missing])
                if asks_missing.any():
                    about = np.array(nodes)[asks_missing]
                    column = self._add_column(texts[about[0]])
                    self._missing.append((position, column))
                    self.of_node[about], self.threshold[about] = column, 0.5
        if not self.names:  # scikit-learn requires at least one column
            self._add_column(_NO_QUESTION)

    def _add_thresholds(
        self, tree: Tree, position: int, name: str, nodes: NDArray[np.intp]
    ) -> None:
        """Add the column of a number if any of the nodes compares the number with a threshold."""
        if not len(nodes):
            return
        rounding = Float32Rounding(tree.threshold[nodes])
        column = self._add_column(name)
        self._numeric.append((position, column, rounding))
        self.of_node[nodes] = column
        self.threshold[nodes] = rounding.round_thresholds(tree.threshold[nodes])

    def _add_column(self, name: str) -> int:
        """Add a column and return its position. Primes make a repeated name unique."""
        while name in self.names:
            name += "'"
        return self.names.setdefault(name, len(self.names))

    def fill_matrix(self, matrix: NDArray[np.float32], features: list[NDArray[Any]]) -> None:
        """Write the records into a matrix of zeros."""
        for position, column, rounding in self._numeric:
            matrix[:, column] = rounding.round_numbers(features[position])
        for position, column in self._missing:
            matrix[:, column] = features[position] == -np.inf
        for position, column, mask in self._categorical:
            matrix[:, column] = mask[features[position]]


# --- scikit-learn's tree ------------------------------------------------------------------------


def _sklearn_tree(tree: Tree, columns: _SklearnColumns) -> Any:
    """Return scikit-learn's tree object, built in the way in which pickle restores one."""
    n_outcomes = max(1, len(tree.schema.classes))
    kind_of_tree = DecisionTreeClassifier if tree.value is None else DecisionTreeRegressor
    smallest = kind_of_tree(max_depth=1)
    smallest.fit(np.zeros((n_outcomes, len(columns.names))), np.arange(n_outcomes))
    kind, arguments, state = smallest.tree_.__reduce__()
    if {*(state["nodes"].dtype.names or ())} != _NODE_FIELDS:
        raise ParameterError(
            "this release of scikit-learn stores trees in a format that privatree cannot write. "
            "Upgrade privatree."
        )
    splits = tree.splits
    values = _sklearn_node_values(tree)
    weights = 2.0 ** (tree.depth - tree.depths())
    # The columns of questions without a threshold are 1 for yes, so yes is on the right.
    yes_is_right = ~np.isfinite(tree.threshold[splits])
    nodes = np.zeros(tree.n_nodes, dtype=state["nodes"].dtype)
    nodes["left_child"] = nodes["right_child"] = -1
    nodes["left_child"][splits] = np.where(yes_is_right, tree.right[splits], tree.left[splits])
    nodes["right_child"][splits] = np.where(yes_is_right, tree.left[splits], tree.right[splits])
    nodes["feature"], nodes["threshold"] = columns.of_node, columns.threshold
    nodes["impurity"] = _sklearn_impurity(tree, values)
    nodes["weighted_n_node_samples"] = weights
    nodes["n_node_samples"] = np.minimum(weights, 2.0**62)
    shown = kind(*arguments)
    shown.__setstate__(
        {
            "max_depth": tree.depth,
            "node_count": tree.n_nodes,
            "nodes": nodes,
            "values": values[:, np.newaxis, :],
        }
    )
    return shown


def _sklearn_node_values(tree: Tree) -> NDArray[np.float64]:
    """Return the probabilities, or the number, of each node; of a split, its children's mean."""
    if tree.value is not None:
        values = tree.value[:, np.newaxis].copy()
    elif tree.probability is not None:
        values = tree.probability.copy()
    else:
        values = np.zeros((tree.n_nodes, len(tree.schema.classes)))
        leaves = tree.leaves
        values[leaves, tree.label[leaves]] = 1.0
    for node in tree.splits[::-1].tolist():  # children come after their parents
        values[node] = values[tree.left[node]] / 2 + values[tree.right[node]] / 2
    return values


def _sklearn_impurity(tree: Tree, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Gini impurity of each node, or the variance of the numbers of its leaves."""
    if tree.value is None:
        return np.asarray(1.0 - (values**2).sum(axis=1))
    variance = np.zeros(tree.n_nodes)
    with np.errstate(over="ignore"):
        for node in tree.splits[::-1].tolist():
            sides = [*tree.children(node)]
            variance[node] = np.mean(variance[sides] + (values[sides, 0] - values[node, 0]) ** 2)
    return variance
