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

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from privatree.errors import ParameterError
from privatree.export.sql._conditions import (
    BEYOND_64_BITS,
    category_condition,
    check_sql_text_categories,
    complement_condition,
    is_number_condition,
    threshold_condition,
    unwritable_in_sql,
)
from privatree.export.sql._dialects import Dialect, find_dialect
from privatree.export.sql._names import (
    check_sql_column_names,
    quote_sql_table_name,
    sql_probability_names,
)
from privatree.model import Tree, released_tree
from privatree.schema import Categorical, Label

_MAX_PROBABILITIES = 100_000
_BEYOND_32_BITS = 2**31
"""The smallest positive integer that SQL Server does not read as an integer."""


def export_sql(
    model: Any, *, table: str | None = None, proba: bool = False, dialect: str | None = None
) -> str:
    """Write a tree as SQL.

    Parameters
    ----------
    model : Tree, Model or fitted classifier
        Model whose tree is written.
    table : str, optional
        Name of the table with the records. With a table, the result is a whole query. Separate the
        parts of a name by dots: ``clinic.patients``. Put a part that contains a dot in double
        quotes, and double the quotes inside it: ``clinic."patients.2024"``.
    proba : bool, default=False
        Whether to add the probability of each class. If the model has released no probabilities,
        they are 1 for the predicted class and 0 for the others.
    dialect : str, optional
        Name of the database: ``"postgresql"``, ``"mysql"``, ``"mariadb"``, ``"sqlite"``,
        ``"duckdb"``, ``"sqlserver"``, ``"bigquery"`` or ``"snowflake"``. By default the result is
        SQL that SQLite, DuckDB and PostgreSQL all read.

    Returns
    -------
    str
        Without `table` and `proba`: an expression for the predicted label, for use in any query on
        the columns of the schema. With `proba`: a list of columns for ``SELECT``, with the names
        ``prediction`` and ``probability of LABEL``. With `table`: a query that returns these
        columns and all columns of the table.

    Raises
    ------
    ParameterError
        If a name, category or label cannot be written in SQL, because it is empty, contains the
        character NUL or is a number beyond 64 bits; or if the database cannot tell two of them
        apart.

    Notes
    -----
    Each record gets the label that ``predict`` returns, also with NULL, NaN, infinities, unknown
    categories and numbers out of range. Thresholds are exact to the last bit: ``x > 37`` is written
    as ``-x < -37`` where NaN is greater than every number, and 0.1 as a fraction where a database
    could round it. Columns must have the types that ``predict`` takes: numbers (or booleans) for
    numeric features and number categories, text for text categories, and booleans or the numbers 0
    and 1 for boolean categories. PostgreSQL, BigQuery and Snowflake do not take booleans for
    numbers. Boolean labels are 1 and 0 in databases without booleans.

    With a `dialect`, text comparison is case-sensitive, whatever the collation of the column; in
    BigQuery and Snowflake the column must not have a collation. SQL Server always ignores blanks at
    the end. Without a dialect, the collation of the column applies.

    SQLite reads the quoted name of a column that does not exist as text. Pass `table` to get an
    error instead.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> X, y, schema = datasets.load("breast-w")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=1, schema=schema, random_state=0)
    >>> print(export_sql(model.fit(X, y), dialect="mysql"))
    CASE
      WHEN CAST(`Cell_Shape_Uniformity` AS DOUBLE) > 3.5e0 THEN 'malignant'
      ELSE 'benign'
    END
    """
    written = find_dialect(dialect)
    tree = released_tree(model)
    check_sql_column_names(tree.schema.names, written)
    place, source = (None, None) if table is None else quote_sql_table_name(table, written)
    cases = list(_leaves_of_expression(tree, source, written))
    labels = _labels_in_expression(tree.schema.classes, written)
    prediction = _case_expression((where, labels[tree.label[leaf]]) for where, leaf in cases)
    if source is None and not proba:
        return prediction
    columns = [f"{prediction} AS {written.quote_name('prediction')}"]
    if proba:
        if len(cases) * len(labels) > _MAX_PROBABILITIES:
            raise ParameterError(
                f"SQL must have at most {_MAX_PROBABILITIES:,} probabilities, one for each leaf "
                f"and class, got {len(cases) * len(labels):,}. Leave them out, or export to ONNX."
            )
        for code, name in enumerate(sql_probability_names(tree.schema.classes, written)):
            figures = ((where, _case_figure(tree, leaf, code, written)) for where, leaf in cases)
            columns.append(f"{_case_expression(figures)} AS {name}")
    listed = ",\n".join(columns)
    return listed if source is None else f"SELECT {source}.*,\n{listed}\nFROM {place}"


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


def _case_expression(cases: Iterable[tuple[tuple[str, ...], str]]) -> str:
    lines = [
        "  WHEN "
        + "\n   AND ".join(conditions)
        + ("\n  THEN " if conditions[1:] else " THEN ")
        + result
        if conditions
        else f"  ELSE {result}"
        for conditions, result in cases
    ]
    if len(lines) == 1:
        return lines[0].removeprefix("  ELSE ")
    return "\n".join(["CASE", *lines, "END"])


# --- results ------------------------------------------------------------------------------------


def _labels_in_expression(labels: Sequence[Label], dialect: Dialect) -> list[str]:
    if isinstance(labels[0], str):
        return dialect.text_literals([str(label) for label in labels])
    if isinstance(labels[0], bool):
        return [dialect.boolean_results[bool(label)] for label in labels]
    if all(isinstance(label, int) for label in labels):
        return _integers_in_expression([int(label) for label in labels], dialect)
    for label in labels:
        if isinstance(label, int) and (abs(label) > sys.float_info.max or float(label) != label):
            raise unwritable_in_sql(
                "integer labels that doubles can hold exactly, because other labels are fractions",
                label,
            )
        if not dialect.can_hold(float(label)):
            raise ParameterError(
                f"{dialect.title} needs labels that are 0 or at least {dialect.min_positive!r} in "
                f"size, got {label!r}. Use text instead."
            )
    return [dialect.double_result(float(label)) for label in labels]


def _integers_in_expression(labels: Sequence[int], dialect: Dialect) -> list[str]:
    for label in labels:
        if abs(label) >= BEYOND_64_BITS:
            raise unwritable_in_sql("integer labels of at most 63 bits", label)
    if dialect.integer_type is not None and max(map(abs, labels)) >= _BEYOND_32_BITS:
        return [f"CAST({label} AS {dialect.integer_type})" for label in labels]
    return [str(label) for label in labels]


def _case_figure(tree: Tree, leaf: int, code: int, dialect: Dialect) -> str:
    share = float(tree.label[leaf] == code)
    if tree.probability is not None:
        share = float(tree.probability[leaf, code])
    return dialect.double_result(share if dialect.can_hold(share) else 0.0)
