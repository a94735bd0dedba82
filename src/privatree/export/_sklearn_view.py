"""A tree as scikit-learn's own kind, for what was written for scikit-learn's trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from privatree.errors import ParameterError
from privatree.export._float32 import Rounding
from privatree.export._text import node_texts
from privatree.model import Tree, released_model
from privatree.schema import Categorical
from privatree.tables import read_features

if TYPE_CHECKING:
    import pandas as pd

_FIELDS = {"left_child", "right_child", "feature", "threshold", "impurity", "n_node_samples",
           "weighted_n_node_samples", "missing_go_to_left"}  # fmt: skip
"""What scikit-learn's tree keeps of a node."""
_NO_QUESTION = "(no question)"


def as_sklearn(model: Any) -> SklearnView:
    """Show a tree as a trained :class:`sklearn.tree.DecisionTreeClassifier`.

    Parameters
    ----------
    model : Model or fitted classifier
        Whose tree to show.

    Returns
    -------
    SklearnView
        Which ``sklearn.tree.export_text``, ``sklearn.tree.plot_tree`` and ``shap.TreeExplainer``
        accept. Records go through its ``transform`` first.

    Notes
    -----
    It is made of released values only, and **a model has no counts of records**: every split
    weighs both its sides alike. So what scikit-learn shows as samples are weights that halve from
    level to level, the values of an inner node are the mean of those of its children, and SHAP's
    explanations start from that, not from how frequent the sides were in the data.

    Examples
    --------
    ::

        view = as_sklearn(model)
        print(sklearn.tree.export_text(view, feature_names=view.get_feature_names_out()))
        shap.TreeExplainer(view).shap_values(view.transform(X))
    """
    released = released_model(model)
    tree = released.tree_
    columns = _Columns(tree)
    view = SklearnView()
    view.tree_ = _sklearn_tree(tree, columns)
    view.classes_, view.n_classes_, view.n_outputs_ = released.classes_, len(tree.schema.classes), 1
    view.feature_names_in_ = np.array(columns.names, dtype=object)
    view.n_features_in_ = view.max_features_ = len(columns.names)
    view.privacy_ = released.privacy_
    view.source_, view.columns_ = tree, columns
    return view


class SklearnView(DecisionTreeClassifier):  # type: ignore[misc]
    """A released tree in the form of a trained classifier of scikit-learn.

    Made by :func:`as_sklearn`; it cannot be trained. Numeric features are columns under their own
    names. Each different question about a category is a column, named like the question, that is
    1 where the answer is yes. Nodes have the numbers they have in the released tree; after a
    question about a category no is on the left.

    Attributes
    ----------
    tree_ : scikit-learn's tree
        With the values and weights that :func:`as_sklearn` tells about.
    feature_names_in_ : array of str
        The columns of the matrix that :meth:`transform` makes and the other methods take.
    classes_ : array
        The labels in the order of the schema.
    privacy_ : PrivacyStatement
        What the released tree guarantees.
    """

    def fit(self, X: Any, y: Any = None, **_: Any) -> NoReturn:
        """Refuse: this is a view of a tree that was trained already."""
        raise ParameterError(
            "a view of a tree cannot be trained. Train a classifier of privatree, and view that."
        )

    def transform(self, X: Any) -> pd.DataFrame:
        """Records as the matrix of numbers that scikit-learn's tree reads.

        Parameters
        ----------
        X : frame
            Whatever ``predict`` of the model takes.

        Returns
        -------
        pandas.DataFrame of float32
            With the columns `feature_names_in_`. Missing, unknown and outlying values are in their
            public places. Numbers are rounded to 32 bits, as scikit-learn would do it, but never
            across a threshold.
        """
        import pandas as pd

        features = read_features(X, self.source_.schema)
        matrix = np.zeros((len(features[0]), self.n_features_in_), dtype=np.float32)
        self.columns_.fill(matrix, features)
        return pd.DataFrame(matrix, columns=self.feature_names_in_)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns that :meth:`transform` makes."""
        names: NDArray[np.object_] = self.feature_names_in_
        return names

    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """The released label of each row of a transformed matrix.

        With noisy probabilities it need not be the likeliest class.
        """
        labels: NDArray[Any] = self.classes_[self.source_.label[self.apply(X, check_input)]]
        return labels


# --- columns ------------------------------------------------------------------------------------


class _Columns:
    """The columns of the matrix, and which of them each node asks about."""

    def __init__(self, tree: Tree) -> None:
        features = list(tree.schema.features.items())
        texts = node_texts(tree)
        self.names, self._taken = list[str](), set[str]()
        self.of_node = np.full(tree.n_nodes, -2)
        self.threshold = np.full(tree.n_nodes, -2.0)
        self._numbers = list[tuple[int, int, Rounding]]()
        self._questions = list[tuple[int, int, NDArray[np.bool_]]]()
        for position, nodes in sorted(tree.splits_by_feature().items()):
            name, feature = features[position]
            if isinstance(feature, Categorical):
                self._add_questions(tree, position, feature, nodes, texts)
            else:
                rounding = Rounding(tree.threshold[nodes])
                column = self._named(name)
                self._numbers.append((position, column, rounding))
                self.of_node[nodes] = column
                self.threshold[nodes] = rounding.of_thresholds(tree.threshold[nodes])
        if not self.names:  # scikit-learn has no tree without columns
            self._named(_NO_QUESTION)

    def _add_questions(
        self,
        tree: Tree,
        position: int,
        feature: Categorical,
        nodes: list[int],
        texts: tuple[str, ...],
    ) -> None:
        columns = dict[bytes, int]()
        for node in nodes:
            mask = tree.left_mask(node)
            if mask.tobytes() not in columns:
                columns[mask.tobytes()] = self._named(texts[node])
                self._questions.append((position, columns[mask.tobytes()], mask))
            self.of_node[node], self.threshold[node] = columns[mask.tobytes()], 0.5

    def _named(self, name: str) -> int:
        """Add a column; primes tell it from others of that name."""
        while name in self._taken:
            name += "'"
        self._taken.add(name)
        self.names.append(name)
        return len(self.names) - 1

    def fill(self, matrix: NDArray[np.float32], features: list[NDArray[Any]]) -> None:
        """Write the records into a matrix of zeros."""
        for position, column, rounding in self._numbers:
            matrix[:, column] = rounding(features[position])
        for position, column, mask in self._questions:
            matrix[:, column] = mask[features[position]]


# --- scikit-learn's tree ------------------------------------------------------------------------


def _sklearn_tree(tree: Tree, columns: _Columns) -> Any:
    """The tree in scikit-learn's own type, which is made the way it is unpickled."""
    n_classes = len(tree.schema.classes)
    smallest = DecisionTreeClassifier(max_depth=1)
    smallest.fit(np.zeros((n_classes, len(columns.names))), np.arange(n_classes))
    kind, arguments, state = smallest.tree_.__reduce__()
    if {*(state["nodes"].dtype.names or ())} != _FIELDS:
        raise ParameterError(
            "this release of scikit-learn keeps trees in another way. Please upgrade privatree."
        )
    inside = tree.splits
    values = _values(tree)
    weights = 2.0 ** (tree.depth - tree.depths())
    asks_category = (tree.mask_start >= 0)[inside]  # there yes is 1, and so on the right
    nodes = np.zeros(tree.n_nodes, dtype=state["nodes"].dtype)
    nodes["left_child"] = nodes["right_child"] = -1
    nodes["left_child"][inside] = np.where(asks_category, tree.right[inside], tree.left[inside])
    nodes["right_child"][inside] = np.where(asks_category, tree.left[inside], tree.right[inside])
    nodes["feature"], nodes["threshold"] = columns.of_node, columns.threshold
    nodes["impurity"] = 1.0 - (values**2).sum(axis=1)  # Gini's
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


def _values(tree: Tree) -> NDArray[np.float64]:
    """The class probabilities of each node: released ones, and above them their means."""
    if tree.probability is not None:
        values = tree.probability.copy()
    else:
        values = np.zeros((tree.n_nodes, len(tree.schema.classes)))
        leaves = tree.leaves
        values[leaves, tree.label[leaves]] = 1.0
    for node in tree.splits[::-1].tolist():  # children come after their parents
        values[node] = (values[tree.left[node]] + values[tree.right[node]]) / 2
    return values
