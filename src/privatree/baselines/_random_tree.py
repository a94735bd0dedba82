"""A tree of random splits with noisy labels: DiffPrivLib's decision tree, as the paper ran it.

Every node splits on a uniformly random feature, at a uniformly random threshold in the range that
the feature still has at the node, down to full depth. The splits do not depend on the records. Then
the records are counted in the leaves, and all of epsilon is spent on labels, by permute-and-flip.
Categories are the whole numbers 0, 1, ... in the order of the schema: those up to the threshold go
left.

The tree has the same distribution as ``DecisionTreeClassifier`` of diffprivlib 0.6.6 with given
bounds and classes [HBML19]; ``benchmarks/random_tree_law.py`` compares the two. The idea is from
[FI17].
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.validation import check_same_length
from privatree.baselines._published_tree import BaselineClassifier
from privatree.counting import BinnedRecords
from privatree.estimators import MAX_DEPTH, PUBLIC_PARAMETERS, PUBLIC_SCHEMA, schema_leaks
from privatree.model import Model, Tree, TreeBuilder
from privatree.privacy import Ledger, PrivacyStatement, Randomness, positive_fraction, shown_amount
from privatree.privacy.mechanisms import PermuteAndFlip
from privatree.schema import Categorical, Feature, Schema
from privatree.tables import Table, prediction_matrix, read_labels

_Range = tuple[float, float]


class RandomTreeClassifier(BaselineClassifier):
    """DiffPrivLib's decision tree, with random splits and noisy labels.

    This class is a baseline to compare with. Its epsilon holds for whole records.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget. All of it is spent on the labels of the leaves.
    max_depth : int, default=4
        Depth of the tree, 1 to 16. A path is shorter by one for every constant feature drawn.
    schema : Schema, optional
        Public knowledge about the columns. Without a schema, one is inferred from the data, which
        is a leak and causes a warning. Declared ``cuts`` are not used.
    random_state : int, numpy generator or None, default=None
        Seed of the noise, for tests and papers only. None draws fresh noise.

    Attributes
    ----------
    tree_ : Tree
        The released tree.
    privacy_ : PrivacyStatement
        Epsilon, the assumptions about what is public, and every spend.
    schema_ : Schema
        The schema that the tree was trained with.
    classes_ : ndarray
        The labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if they had names.

    Notes
    -----
    Neighbours: datasets that differ by one record added or removed.
    Sensitivity: one class count of one leaf changes by 1, and no other count changes.
    Guarantee: epsilon-DP for a whole record. Leaves have disjoint records, and the splits are
    drawn from the schema alone.
    Cost: epsilon.

    Examples
    --------
    >>> from privatree import datasets
    >>> from privatree.baselines import RandomTreeClassifier
    >>> frame, labels, schema = datasets.load("breast-w")
    >>> model = RandomTreeClassifier(1.0, schema=schema, random_state=0).fit(frame, labels)
    >>> model.tree_.n_leaves, model.privacy_.epsilon
    (16, 1.0)
    """

    _max_depth = MAX_DEPTH

    def _train_model(self, X: Any, y: Any) -> Model:
        epsilon = positive_fraction("epsilon", self.epsilon)
        # The splits have their own source of randomness: the ledger's is for draws that cost.
        for_splits, for_labels = Randomness.from_random_state(self.random_state).spawn(2)
        table, target, schema = self._open_frame(X, y, stacklevel=5)
        splits = draw_random_tree_splits(schema, self.max_depth, for_splits)
        exact_counts = _count_in_random_tree(splits, table, target)
        ledger = Ledger(epsilon, for_labels)
        tree = _draw_random_tree_labels(splits, exact_counts, ledger, epsilon)
        leaks = schema_leaks(schema)
        privacy = PrivacyStatement(
            learner="RandomTreeClassifier",
            epsilon=math.inf if leaks else float(self.epsilon),
            public=(PUBLIC_SCHEMA, PUBLIC_PARAMETERS),
            leaks=leaks,
            notes=(
                "The splits were drawn from the schema alone, without a look at the records, and "
                "cost nothing. All of epsilon was spent on the labels of the leaves.",
                "For tables of the same size with one record replaced, twice the epsilon holds: "
                f"{shown_amount(2 * float(self.epsilon))}.",
            ),
            seeded=for_labels.seeded,
            spends=tuple(ledger.spends()),
        )
        return Model(schema_=schema, tree_=tree, privacy_=privacy)


def draw_random_tree_splits(schema: Schema, max_depth: int, randomness: Randomness) -> Tree:
    """Draw a tree of random splits, without labels yet: every leaf has the first class.

    A :class:`Tree` cannot split on a feature with a single value. If such a feature is drawn, the
    node is not split on this level, and the path becomes shorter by one.
    """
    features = list(schema.features.values())
    ranges = [random_tree_range(feature) for feature in features]
    builder = TreeBuilder(schema)
    level = [(builder.root, ranges)]  # each node with the range of every feature that is left
    for _ in range(max_depth):
        next_level = []
        for node, left_over in level:
            feature = randomness.below(len(features))
            if ranges[feature][0] == ranges[feature][1]:
                next_level.append((node, left_over))
                continue
            low, high = left_over[feature]
            highest = math.nextafter(ranges[feature][1], -math.inf)  # rounding may reach the end
            threshold = min(_draw_random_tree_threshold(low, high, randomness), highest)
            if isinstance(features[feature], Categorical):
                left_codes = range(math.floor(threshold) + 1)
                children = builder.split_categories(node, feature, left_codes)
            else:
                children = builder.split_numeric(node, feature, threshold)
            for child, part in zip(children, ((low, threshold), (threshold, high)), strict=True):
                next_level.append((child, _narrow_random_tree_range(left_over, feature, part)))
        level = next_level
    for node, _ in level:
        builder.leaf(node, 0)
    return builder.build()


def _narrow_random_tree_range(ranges: list[_Range], feature: int, part: _Range) -> list[_Range]:
    return [*ranges[:feature], part, *ranges[feature + 1 :]]


def random_tree_range(feature: Feature) -> _Range:
    if isinstance(feature, Categorical):
        return 0.0, len(feature.categories) - 1.0
    return float(feature.low), float(feature.high)


def _draw_random_tree_threshold(low: float, high: float, randomness: Randomness) -> float:
    """Return a uniformly random number from [low, high), on a grid of 2^53 points."""
    return low + (high - low) * math.ldexp(randomness.bits(53), -53)


def _count_in_random_tree(splits: Tree, table: Table, target: Table) -> NDArray[np.int64]:
    """Return an array (leaf, class) of exact counts, with the leaves in the order of their ids."""
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


def _draw_random_tree_labels(
    splits: Tree, exact_counts: NDArray[np.int64], ledger: Ledger, epsilon: Fraction
) -> Tree:
    """Return the tree with labels drawn by permute-and-flip on the class counts of each leaf.

    In an empty leaf all counts are 0, so every class is equally likely.
    """
    label = splits.label.copy()
    leaves = splits.leaves.tolist()
    mechanism = PermuteAndFlip(epsilon, monotone=True)
    for node, counts, part in zip(leaves, exact_counts, ledger.parallel(len(leaves)), strict=True):
        label[node] = part.release(mechanism, counts, purpose="leaf label", node=node)
    return replace(splits, label=label)
