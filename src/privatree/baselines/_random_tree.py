"""A tree of random splits with noisy labels: DiffPrivLib's decision tree, as the paper ran it.

Every node splits on a uniformly random feature at a uniformly random place of what is left of its
range, down to full depth, without a look at the records. They are then counted in the leaves, and
all of epsilon goes into choosing labels by permute-and-flip. Categories are the whole numbers
0, 1, ... in the order of the schema: those up to the threshold go left.

It has the law of ``DecisionTreeClassifier`` of diffprivlib 0.6.6 with bounds and classes given
(``benchmarks/random_tree_law.py`` compares the two) [HBML19]; the idea is that of [FI17].
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from privatree._support.validation import check_integer, check_same_length
from privatree.counting import BinnedRecords
from privatree.estimators import (
    MAX_DEPTH,
    TreeClassifier,
    check_epsilon,
    schema_leaks,
)
from privatree.model import Model, Tree, TreeBuilder
from privatree.privacy import Ledger, PrivacyStatement, Randomness, positive_fraction, shown_amount
from privatree.privacy.mechanisms import PermuteAndFlip
from privatree.schema import Categorical, Feature, Schema
from privatree.tables import Table, prediction_matrix, read_labels


class RandomTreeClassifier(TreeClassifier):
    """Random splits, noisy labels: DiffPrivLib's decision tree.

    It is here to be compared with. Epsilon holds for whole records.

    Parameters
    ----------
    epsilon : float, default=1.0
        The privacy budget; all of it is spent on the labels of the leaves.
    max_depth : int, default=4
        Depth of the tree, 1 to 16. A path is shorter by one for every constant feature drawn.
    schema : Schema, optional
        What is public. Without one it is read from the data, which leaks and warns. Declared
        ``cuts`` are not used.
    random_state : int, numpy generator or None, default=None
        None draws from the operating system. A seed is for tests and papers only.

    Attributes
    ----------
    tree_ : Tree
        The released tree.
    privacy_ : PrivacyStatement
        Epsilon, what is assumed public, and every spend.
    schema_ : Schema
        What was taken to be public.
    classes_ : ndarray
        The labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if they had any.

    Notes
    -----
    Neighbours: tables that differ by one record added or removed.
    Sensitivity: one class count of one leaf changes by 1, and no count in the other direction.
    Guarantee: epsilon-DP for a whole record. Leaves hold disjoint records, and their shape is
    drawn from the schema alone.
    Cost: epsilon.

    Examples
    --------
    >>> from privatree import datasets
    >>> from privatree.baselines._random_tree import RandomTreeClassifier
    >>> frame, labels, schema = datasets.load("breast-w")
    >>> model = RandomTreeClassifier(1.0, schema=schema, random_state=0).fit(frame, labels)
    >>> model.tree_.n_leaves, model.privacy_.epsilon
    (16, 1.0)
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        max_depth: int = 4,
        schema: Schema | None = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.schema = schema
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Train on records and their labels.

        Parameters
        ----------
        X : array, pandas, polars or Arrow frame of shape (n_records, n_features)
            The records. Columns that have names, and that the schema does not declare, are ignored.
        y : array-like of shape (n_records,)
            Their labels. Records whose label is not among the schema's classes are left out.

        Returns
        -------
        self

        Warns
        -----
        PrivacyLeakWarning
            If no schema was given, or one with unconfirmed entries.
        """
        check_epsilon(self.epsilon)
        check_integer("max_depth", self.max_depth, 1, MAX_DEPTH)
        epsilon = positive_fraction("epsilon", self.epsilon)
        # The splits come from a source of their own: the ledger's is for draws that cost.
        for_splits, for_labels = Randomness.from_random_state(self.random_state).spawn(2)
        table, target, schema = self._open(X, y, stacklevel=4)
        splits = draw_splits(schema, self.max_depth, for_splits)
        exact_counts = _leaf_counts(splits, table, target)
        ledger = Ledger(epsilon, for_labels)
        tree = _labelled(splits, exact_counts, ledger, epsilon)
        privacy = self._statement(schema, ledger, for_labels.seeded)
        return self._release(Model(schema_=schema, tree_=tree, privacy_=privacy))

    def _statement(self, schema: Schema, ledger: Ledger, seeded: bool) -> PrivacyStatement:
        epsilon = float(self.epsilon)
        leaks = schema_leaks(schema)
        return PrivacyStatement(
            learner="RandomTreeClassifier",
            epsilon=math.inf if leaks else epsilon,
            public=(
                "the schema: column names, ranges, categories and classes",
                "the parameters of the learner",
            ),
            leaks=leaks,
            notes=(
                "The splits were drawn from the schema alone, without a look at the records, and "
                "cost nothing. All of epsilon was spent on the labels of the leaves.",
                "For tables of the same size with one record replaced, twice the epsilon holds: "
                f"{shown_amount(2 * epsilon)}.",
            ),
            seeded=seeded,
            spends=tuple(ledger.spends()),
        )

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn not to expect accuracy: splits that ignore the records have little."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


# --- splits: no records here --------------------------------------------------------------------


class _Box(NamedTuple):
    """What is left of every feature's range at a node; categories are the numbers 0, 1, ..."""

    lows: tuple[float, ...]
    highs: tuple[float, ...]

    def below(self, feature: int, threshold: float) -> _Box:
        return self._replace(highs=_exchanged(self.highs, feature, threshold))

    def above(self, feature: int, threshold: float) -> _Box:
        return self._replace(lows=_exchanged(self.lows, feature, threshold))


def draw_splits(schema: Schema, max_depth: int, randomness: Randomness) -> Tree:
    """A tree of random splits, its labels still to come: every leaf has the first class.

    A feature with a single value cannot be split on in a :class:`Tree`, and need not be: all
    records would go left. Where it is drawn, the node stands for its own left child.
    """
    features = list(schema.features.values())
    bounds = [_bounds(feature) for feature in features]
    builder = TreeBuilder(schema)
    lows, highs = (tuple(ends) for ends in zip(*bounds, strict=True))
    level = [(builder.root, _Box(lows, highs))]
    for _ in range(max_depth):
        next_level = []
        for node, box in level:
            feature = randomness.below(len(features))
            low, high = bounds[feature]
            if low == high:
                next_level.append((node, box))
                continue
            threshold = _uniform(box.lows[feature], box.highs[feature], randomness)
            threshold = min(threshold, math.nextafter(high, -math.inf))  # if rounded up to it
            kind = features[feature]
            if isinstance(kind, Categorical):
                left_codes = range(math.floor(threshold) + 1)
                left, right = builder.split_categories(node, feature, left_codes)
            else:
                left, right = builder.split_numeric(node, feature, threshold)
            next_level.append((left, box.below(feature, threshold)))
            next_level.append((right, box.above(feature, threshold)))
        level = next_level
    for node, _ in level:
        builder.leaf(node, 0)
    return builder.build()


def _bounds(feature: Feature) -> tuple[float, float]:
    if isinstance(feature, Categorical):
        return 0.0, len(feature.categories) - 1.0
    return float(feature.low), float(feature.high)


def _uniform(low: float, high: float, randomness: Randomness) -> float:
    """Uniform in [low, high), on a grid of 2^53 points: it tells nothing about the records."""
    return low + (high - low) * math.ldexp(randomness.bits(53), -53)


def _exchanged(values: tuple[float, ...], place: int, value: float) -> tuple[float, ...]:
    return (*values[:place], value, *values[place + 1 :])


# --- labels -------------------------------------------------------------------------------------


def _leaf_counts(splits: Tree, table: Table, target: Table) -> NDArray[np.int64]:
    """An array (leaf, class) of exact counts, leaves in the order of their nodes."""
    matrix, columns = prediction_matrix(table, splits.schema, splits.used_features)
    labels = read_labels(target, splits.schema)
    check_same_length(len(matrix), len(labels))
    leaves = splits.leaves
    place_of_leaf = np.zeros(splits.n_nodes, dtype=np.min_scalar_type(len(leaves)))
    place_of_leaf[leaves] = np.arange(len(leaves))
    codes = place_of_leaf[splits.apply(matrix, columns)]
    known = labels >= 0  # a record without one of the classes is left out
    records = BinnedRecords(
        codes[known, np.newaxis], [len(leaves)], labels[known], len(splits.schema.classes)
    )
    (exact_counts,) = records.class_counts()
    return np.transpose(exact_counts)


def _labelled(
    splits: Tree, exact_counts: NDArray[np.int64], ledger: Ledger, epsilon: Fraction
) -> Tree:
    """The tree with a label in every leaf, by permute-and-flip on its class counts.

    An empty leaf needs no rule of its own: with all counts 0 every class is equally likely.
    """
    label = splits.label.copy()
    leaves = splits.leaves.tolist()
    mechanism = PermuteAndFlip(epsilon, monotone=True)
    for node, counts, part in zip(leaves, exact_counts, ledger.parallel(len(leaves)), strict=True):
        label[node] = part.release(mechanism, counts, purpose="leaf label", node=node)
    return replace(splits, label=label)
