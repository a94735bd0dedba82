"""Which columns tell the label alone, as one does that was made from the answer. **This leaks.**

A tree that has a column which is known only after the outcome, or is a code of it, is right in
training and useless afterwards. The values of such a column look like any others. But a rule on it
alone is right nearly always, and that can be tried.
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
"""Of a rule that tells the label. Honest columns of public datasets reach 0.98: a bad smell does
for a poisonous mushroom."""
_MAX_RECORDS = 10_000
"""More would take longer, and change nothing."""
_MIN_OF_A_CLASS = 10
"""Records. A class that has fewer does not count: parts of it would be empty."""
_MAX_CLASSES = 100
_N_FOLDS = 5


class LabelRules:
    """Rules that tell the label from a single column.

    Parameters
    ----------
    labels : ndarray of int
        The class of each record, -1 where it has none.

    Notes
    -----
    A rule is measured by its balanced accuracy: where 99% of the records are of one class, a rule
    that always names it is right for 99%, and tells nothing.

    A rule that lists all values is measured on records that it was not made from. On its own it is
    always right if no two records share a value, as with identifiers.

    If few records are all right, that may be chance. So the accuracy is drawn towards one half, as
    if two more records had been seen, one of them wrong (Laplace's rule of succession): fewer than
    some 65 records are never enough.
    """

    def __init__(self, labels: NDArray[Any]) -> None:
        generator = np.random.default_rng(0)  # shuffled, for a table can be sorted by anything
        rows = generator.permutation(np.flatnonzero(labels >= 0))
        rows = rows[np.argsort(labels[rows], kind="stable")]
        _, classes, sizes = np.unique(labels[rows], return_inverse=True, return_counts=True)
        place_in_class = np.arange(len(rows)) - (np.cumsum(sizes) - sizes)[classes]
        # Of each class alike, so that there are enough of a rare one.
        is_kept = place_in_class < _MAX_RECORDS // max(len(sizes), 1)
        is_kept &= sizes[classes] >= _MIN_OF_A_CLASS
        self._rows = rows[is_kept]
        self._folds = place_in_class[is_kept] % _N_FOLDS
        _, self._labels, self._sizes = np.unique(
            classes[is_kept], return_inverse=True, return_counts=True
        )

    def is_told_by(self, column: Column) -> bool:
        """Whether the label of nearly every record follows from a column alone.

        Parameters
        ----------
        column : Column
            As long as the labels. That a value is missing counts as a value.

        Returns
        -------
        bool
            By a list of values with their labels or, of numbers, by a few cuts. False if there are
            too few records to say, or very many classes.
        """
        if not 2 <= len(self._sizes) <= _MAX_CLASSES:
            return False
        _, values = np.unique(_values_at(column, self._rows), return_inverse=True)
        is_ordered = isinstance(column, NumberColumn)
        rules = [self._by_value, self._by_cuts] if is_ordered else [self._by_value]
        return any(self._accuracy(rule(values)) >= _MIN_ACCURACY for rule in rules)

    def _accuracy(self, answers: NDArray[Any]) -> float:
        right = np.bincount(self._labels[answers == self._labels], minlength=len(self._sizes))
        balanced = np.mean(right / self._sizes)
        # So many records of a single class would tell their share right as precisely.
        n_effective = len(self._sizes) ** 2 / np.sum(1 / self._sizes)
        return float((balanced * n_effective + 1) / (n_effective + 2))

    def _by_value(self, values: NDArray[Any]) -> NDArray[Any]:
        """For each record the class most usual in other parts at its value; -1 if none has it."""
        answers = np.full(len(values), -1)
        shape = (int(values.max()) + 1, len(self._sizes))
        for fold in range(_N_FOLDS):
            is_here = self._folds == fold
            keys = values[~is_here] * shape[1] + self._labels[~is_here]
            counts = np.bincount(keys, minlength=shape[0] * shape[1]).reshape(shape)
            usual = np.where(counts.any(axis=1), (counts / self._sizes).argmax(axis=1), -1)
            answers[is_here] = usual[values[is_here]]
        return answers

    def _by_cuts(self, values: NDArray[Any]) -> NDArray[Any]:
        """For each record what a small tree answers, made from all of them.

        Other parts are not needed: so few cuts cannot follow chance. And a small part would make
        mistakes beside every cut, as it does not show exactly where that is.
        """
        from sklearn.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(
            class_weight="balanced", max_leaf_nodes=len(self._sizes) + 2, random_state=0
        )
        answers: NDArray[Any] = tree.fit(values[:, np.newaxis], self._labels).predict(
            values[:, np.newaxis]
        )
        return answers


def _values_at(column: Column, rows: NDArray[Any]) -> NDArray[Any]:
    """Numbers as they are, NaN where one is missing; else a number for each value, -1 for none."""
    if isinstance(column, NumberColumn):
        return np.take(column_to_numbers(column), rows)
    if isinstance(column, CodedColumn):
        return np.take(np.append(_numbered(column.values), -1), np.take(column.codes, rows))
    return _numbered([column.values[row] for row in rows.tolist()])


def _numbered(values: Sequence[Any]) -> NDArray[np.int64]:
    plain = [None if is_missing_value(value) else value for value in plain_python_values(values)]
    number_of = {value: number for number, value in enumerate(dict.fromkeys(plain))} | {None: -1}
    return np.array([number_of[value] for value in plain], dtype=np.int64)
