"""A tree as one SQL CASE expression.

Nested CASE expressions would be natural, but SQLite's parser fails at about twenty levels and SQL
Server's at ten. So the expression is one flat list that is read from top to bottom. At each split,
the side with fewer leaves comes first, with the condition of the split. The other side follows
without a condition, because only its records are left. In a tree of n leaves, a leaf then has at
most log2(n) conditions, however deep the leaf is.

Every condition must follow these rules in all databases:

- It is TRUE exactly for the records that take its side. NULL is not TRUE, so a comparison sends a
  missing value to the other side. The complement that includes missing values is
  ``(x IS NULL OR NOT (...))``.
- NaN is greater than every number in some databases, whatever its sign. Neither ``x <= t`` nor
  ``-x < -t`` is TRUE for NaN, and ``-x < -t`` is equivalent to ``x > t`` for every number.
- To test that a value is a number, it is compared with 0: NULL and NaN are neither at most 0 nor
  above 0. In databases without NaN, ``IS NOT NULL`` is enough.
- Numbers are compared as doubles, as the tree does. Literals are written so that no database
  rounds them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from privatree.errors import ParameterError
from privatree.export.sql._conditions import (
    category_condition,
    check_sql_text_categories,
    complement_condition,
    is_number_condition,
    threshold_condition,
)
from privatree.export.sql._dialects import Dialect
from privatree.export.sql._results import case_expression, label_results
from privatree.model import Tree
from privatree.schema import Categorical

_MAX_PROBABILITIES = 100_000


class TreeExpression:
    """The expressions of a tree. `source` is the quoted table of the columns, if there is one."""

    def __init__(self, tree: Tree, source: str | None, dialect: Dialect) -> None:
        self._tree, self._dialect = tree, dialect
        self._cases = list(_leaves_of_expression(tree, source, dialect))
        self._labels = label_results(tree.schema.classes, dialect) if tree.value is None else []

    def prediction(self) -> str:
        """Return the expression of the predicted label or number."""
        if self._tree.value is not None:
            values = self._tree.value.tolist()
            return case_expression(
                (where, self._double(values[leaf])) for where, leaf in self._cases
            )
        label = self._tree.label
        return case_expression((where, self._labels[label[leaf]]) for where, leaf in self._cases)

    def probabilities(self) -> Iterator[str]:
        """Yield the expression of the probability of each class."""
        n_figures = len(self._cases) * len(self._labels)
        if n_figures > _MAX_PROBABILITIES:
            raise ParameterError(
                f"SQL must have at most {_MAX_PROBABILITIES:,} probabilities, one for each leaf "
                f"and class, got {n_figures:,}. Leave them out, or export to ONNX."
            )
        for code in range(len(self._labels)):
            yield case_expression((where, self._figure(leaf, code)) for where, leaf in self._cases)

    def _figure(self, leaf: int, code: int) -> str:
        share = float(self._tree.label[leaf] == code)
        if self._tree.probability is not None:
            share = float(self._tree.probability[leaf, code])
        return self._double(share)

    def _double(self, number: float) -> str:
        return self._dialect.double_result(number if self._dialect.can_hold(number) else 0.0)


def _leaves_of_expression(
    tree: Tree, source: str | None, dialect: Dialect
) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield each leaf with its conditions, in the order of the CASE. The last has none."""
    features = list(tree.schema.features.items())
    prefix = "" if source is None else f"{source}."
    n_leaves = tree.leaf_counts()
    waiting: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    while waiting:
        node, conditions = waiting.pop()
        if tree.feature[node] < 0:
            yield conditions, node
            continue
        name, feature = features[tree.feature[node]]
        column = f"{prefix}{dialect.quote_name(name)}"
        to_left = not tree.missing_goes_left(node)  # the side of the condition
        if isinstance(feature, Categorical):
            check_sql_text_categories(feature, dialect)
            codes = np.flatnonzero(tree.left_mask(node) == to_left).tolist()
            condition = category_condition(
                column, [feature.categories[code] for code in codes], dialect
            )
        elif tree.asks_missing(node):
            condition = is_number_condition(column, dialect)
        else:
            condition = threshold_condition(column, float(tree.threshold[node]), to_left, dialect)
        there, elsewhere = tree.children(node)[:: 1 if to_left else -1]
        if not condition:  # no value can take this side
            waiting.append((elsewhere, conditions))
        elif n_leaves[there] <= n_leaves[elsewhere]:
            waiting += [(elsewhere, conditions), (there, (*conditions, condition))]
        else:
            complement = complement_condition(column, condition)
            waiting += [(there, conditions), (elsewhere, (*conditions, complement))]
