"""Find columns that determine the label, such as one derived from the label. **This leaks.**

A column that is known only after the outcome, or that encodes the outcome, makes a tree accurate
in training and useless in practice. Its values look like those of any other column. But a rule that
uses this column alone is nearly always right, and this can be tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.tables import (
    CodedColumn,
    Column,
    NumberColumn,
    column_to_numbers,
    is_missing_value,
    plain_python_values,
)

_MIN_ACCURACY = 0.985
"""Smallest accuracy of a rule that determines the label. Legitimate columns of public datasets
reach 0.98: the smell of a mushroom, for example, tells whether it is poisonous."""
_MAX_RECORDS = 10_000
"""Largest number of records that are used. More would take longer and change nothing."""
_MIN_OF_A_CLASS = 10
"""Smallest size of a class. Smaller classes are ignored: some folds would have no record."""
_MAX_CLASSES = 100
_N_FOLDS = 5


class LabelRules:
    """Rules that predict the label from one column. `labels` are class codes; -1 means no label.

    Notes
    -----
    A rule is measured by its balanced accuracy: if 99% of the records have one class, a rule that
    always predicts this class is right for 99% of the records, but says nothing.

    A rule that lists all values is measured by cross-validation. On its own training records it
    would always be right if no two records share a value, as identifiers do.

    If there are few records, a perfect accuracy may be chance. So the accuracy is moved towards one
    half, as if there were two more records, one of them wrong (Laplace's rule of succession). Fewer
    than about 65 records are never enough.
    """

    def __init__(self, labels: NDArray[Any]) -> None:
        generator = np.random.default_rng(0)  # shuffled, because records can be sorted
        rows = generator.permutation(np.flatnonzero(labels >= 0))
        rows = rows[np.argsort(labels[rows], kind="stable")]
        _, classes, sizes = np.unique(labels[rows], return_inverse=True, return_counts=True)
        place_in_class = np.arange(len(rows)) - (np.cumsum(sizes) - sizes)[classes]
        # The same number of records per class, so that there are enough of a rare class.
        is_kept = place_in_class < _MAX_RECORDS // max(len(sizes), 1)
        is_kept &= sizes[classes] >= _MIN_OF_A_CLASS
        self._rows = rows[is_kept]
        self._folds = place_in_class[is_kept] % _N_FOLDS
        _, self._labels, self._sizes = np.unique(
            classes[is_kept], return_inverse=True, return_counts=True
        )

    def column_determines_label(self, column: Column) -> bool:
        """Tell whether a list of values or, for numbers, a few cuts predict nearly all labels.

        A missing value counts as a value. Return False for too few records or very many classes.
        """
        if not 2 <= len(self._sizes) <= _MAX_CLASSES:
            return False
        _, values = np.unique(_rule_values(column, self._rows), return_inverse=True)
        is_ordered = isinstance(column, NumberColumn)
        rules = [self._predict_by_value] + ([self._predict_by_cuts] if is_ordered else [])
        return any(self._cautious_accuracy(rule(values)) >= _MIN_ACCURACY for rule in rules)

    def _cautious_accuracy(self, answers: NDArray[Any]) -> float:
        right = np.bincount(self._labels[answers == self._labels], minlength=len(self._sizes))
        balanced = np.mean(right / self._sizes)
        # So many records of a single class would give an accuracy of the same precision.
        n_effective = len(self._sizes) ** 2 / np.sum(1 / self._sizes)
        return float((balanced * n_effective + 1) / (n_effective + 2))

    def _predict_by_value(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the most frequent class of each value in the other folds; -1 for a new value."""
        answers = np.full(len(values), -1)
        shape = (int(values.max()) + 1, len(self._sizes))
        for fold in range(_N_FOLDS):
            is_here = self._folds == fold
            keys = values[~is_here] * shape[1] + self._labels[~is_here]
            counts = np.bincount(keys, minlength=shape[0] * shape[1]).reshape(shape)
            usual = np.where(counts.any(axis=1), (counts / self._sizes).argmax(axis=1), -1)
            answers[is_here] = usual[values[is_here]]
        return answers

    def _predict_by_cuts(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the predictions of a small tree that is trained on all records.

        Cross-validation is not needed: so few cut points cannot overfit. And a rule from a
        small fold would make mistakes near cut points, whose exact position the fold does not show.
        """
        from sklearn.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(
            class_weight="balanced", max_leaf_nodes=len(self._sizes) + 2, random_state=0
        )
        column = values[:, np.newaxis]
        answers: NDArray[Any] = tree.fit(column, self._labels).predict(column)
        return answers


def _rule_values(column: Column, rows: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers of a column (NaN if missing), or codes of other values (-1 if missing)."""
    if isinstance(column, NumberColumn):
        return np.take(column_to_numbers(column), rows)
    if isinstance(column, CodedColumn):
        return np.take(np.append(_rule_codes(column.values), -1), np.take(column.codes, rows))
    return _rule_codes([column.values[row] for row in rows.tolist()])


def _rule_codes(values: Sequence[Any]) -> NDArray[np.int64]:
    plain = [None if is_missing_value(value) else value for value in plain_python_values(values)]
    number_of = {value: number for number, value in enumerate(dict.fromkeys(plain))} | {None: -1}
    return np.array([number_of[value] for value in plain], dtype=np.int64)
