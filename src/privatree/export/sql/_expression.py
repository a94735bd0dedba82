"""A tree as SQL: one CASE expression, for several databases.

Nested CASE expressions would be natural, but SQLite's parser gives up some twenty levels down, and
SQL Server's at ten. So there is one flat list, read from top to bottom: at each split the side with
fewer leaves comes first, with the split's condition, and the other side follows without it, being
what is left. A leaf then has at most as many conditions as its tree's number of leaves can be
halved, however deep it lies.

What a condition must be for all databases:

- TRUE exactly if the record takes that side. NULL is not TRUE, so a comparison sends a missing
  value the other way; ``(x IS NULL OR NOT (...))`` is the complement, missing values included.
- NaN is greater than every number in some databases, and stays so when its sign changes:
  ``x <= t`` is not TRUE for it, and neither is ``-x < -t``, which says ``x > t`` of every number.
- Numbers are compared as doubles, as the tree does. A literal is written so that no database
  rounds it.

What they write differently is in :mod:`privatree.export.sql._dialects`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from privatree.errors import ParameterError
from privatree.export.sql._conditions import (
    BEYOND_WHOLE,
    check_categories,
    is_beside,
    is_one_of,
    too_large,
)
from privatree.export.sql._dialect import Dialect
from privatree.export.sql._dialects import chosen_dialect
from privatree.export.sql._names import check_names, probability_titles, table_name
from privatree.model import Tree, released_tree
from privatree.schema import Categorical, Label

_MAX_FIGURES = 100_000
"""Probabilities in a query."""
_BEYOND_SMALL = 2**31
"""The first whole number whose digits have no type of whole numbers in SQL Server."""


def export_sql(
    model: Any, *, table: str | None = None, proba: bool = False, dialect: str | None = None
) -> str:
    """Write a tree as SQL.

    Parameters
    ----------
    model : Tree, Model or fitted classifier
        Whose tree to write.
    table : str, optional
        The name of the table with the records. Then the result is a whole query. The parts of a
        name have dots between: ``clinic.patients``. A part that has a dot itself stands in double
        quotes, with those in it doubled: ``clinic."patients.2024"``.
    proba : bool, default=False
        Whether to give the probability of each class as well. Without released probabilities they
        are 1 for the predicted class and 0 for the others.
    dialect : str, optional
        The database: ``"postgresql"``, ``"mysql"``, ``"mariadb"``, ``"sqlite"``, ``"duckdb"``,
        ``"sqlserver"``, ``"bigquery"`` or ``"snowflake"``. Without it the result is SQL that
        SQLite, DuckDB and PostgreSQL all read.

    Returns
    -------
    str
        Without `table` and `proba`: an expression for the predicted label, to be used wherever
        the columns of the schema can be. With `proba`: a list of columns for ``SELECT``, named
        ``prediction`` and ``probability of LABEL``. With `table`: a query that gives these beside
        all columns of the table.

    Raises
    ------
    ParameterError
        If a name, category or label cannot be written in SQL: one without a character, one with
        the character NUL, or a number beyond 64 bits; and what the database cannot tell apart.

    Notes
    -----
    Each record gets the label that ``predict`` gives it: with NULL, NaN, infinities, unknown
    categories and numbers out of range, and down to the last bit of a threshold: so ``x > 37`` is
    written as ``-x < -37`` where NaN is greater than every number, and 0.1 as a fraction where a
    database could round it. Columns must have the types that ``predict`` takes: numbers (or
    booleans) for numeric features and for categories that are numbers, text for those that are
    text, booleans or their numbers 0 and 1 for those that are booleans. PostgreSQL, BigQuery and
    Snowflake do not take booleans for numbers. Boolean labels are 1 and 0 where there are no
    booleans.

    With a `dialect`, text is compared as it is, in upper and lower case, whatever the collation of
    its column; in BigQuery and Snowflake a column must have none. SQL Server never compares blanks
    at the end. Without a dialect, a column's own collation counts.

    SQLite takes the quoted name of a column that does not exist for a text. Give the `table` to
    get an error instead.

    Examples
    --------
    >>> from privatree.schema import Numeric, Schema
    >>> from privatree.model import TreeBuilder
    >>> builder = TreeBuilder(Schema({"age": Numeric(17, 90, integer=True)}, ["no", "yes"]))
    >>> young, old = builder.split_numeric(builder.root, 0, 37.0)
    >>> builder.leaf(young, 0)
    >>> builder.leaf(old, 1)
    >>> print(export_sql(builder.build()))
    CASE
      WHEN -CAST("age" AS DOUBLE PRECISION) < -37 THEN 'yes'
      ELSE 'no'
    END
    >>> print(export_sql(builder.build(), dialect="mysql"))
    CASE
      WHEN CAST(`age` AS DOUBLE) > 37 THEN 'yes'
      ELSE 'no'
    END
    """
    written = chosen_dialect(dialect)
    tree = released_tree(model)
    check_names(tree.schema.names, written)
    place, source = (None, None) if table is None else table_name(table, written)
    cases = list(_cases(tree, source, written))
    labels = _label_literals(tree.schema.classes, written)
    prediction = _case((conditions, labels[tree.label[leaf]]) for conditions, leaf in cases)
    if source is None and not proba:
        return prediction
    columns = [f"{prediction} AS {written.name('prediction')}"]
    if proba:
        _check_size(len(cases) * len(tree.schema.classes))
        for code, title in enumerate(probability_titles(tree.schema.classes, written)):
            shares = ((conditions, _share(tree, leaf, code, written)) for conditions, leaf in cases)
            columns.append(f"{_case(shares)} AS {title}")
    listed = ",\n".join(columns)
    return listed if source is None else f"SELECT {source}.*,\n{listed}\nFROM {place}"


def _cases(
    tree: Tree, source: str | None, dialect: Dialect
) -> Iterator[tuple[tuple[str, ...], int]]:
    """The leaves with their conditions, in the order to test them; the last one has none left."""
    features = list(tree.schema.features.items())
    n_leaves = tree.leaf_counts()
    waiting: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    while waiting:
        node, conditions = waiting.pop()
        if tree.feature[node] < 0:
            yield conditions, node
            continue
        name, feature = features[tree.feature[node]]
        column = dialect.quoted(name) if source is None else f"{source}.{dialect.quoted(name)}"
        to_left = not tree.missing_goes_left(node)  # where the condition leads
        if isinstance(feature, Categorical):
            check_categories(feature, dialect)
            codes = np.flatnonzero(tree.left_mask(node) == to_left).tolist()
            condition = is_one_of(column, [feature.categories[code] for code in codes], dialect)
        else:
            condition = is_beside(column, float(tree.threshold[node]), to_left, dialect)
        there, elsewhere = tree.children(node)[:: 1 if to_left else -1]
        if not condition:  # nothing leads there
            waiting.append((elsewhere, conditions))
        elif n_leaves[there] <= n_leaves[elsewhere]:
            waiting += [(elsewhere, conditions), (there, (*conditions, condition))]
        else:
            complement = f"({column} IS NULL OR NOT ({condition}))"
            waiting += [(there, conditions), (elsewhere, (*conditions, complement))]


def _case(cases: Iterable[tuple[tuple[str, ...], str]]) -> str:
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


def _label_literals(labels: Sequence[Label], dialect: Dialect) -> list[str]:
    if isinstance(labels[0], str):
        return dialect.text_literals([str(label) for label in labels])
    if isinstance(labels[0], bool):
        return [dialect.booleans[bool(label)] for label in labels]
    if all(isinstance(label, int) for label in labels):
        return _whole_literals([int(label) for label in labels], dialect)
    for label in labels:
        if isinstance(label, int) and not _is_double(label):
            raise too_large("labels beside fractions", label)
        if not dialect.holds(float(label)):
            raise ParameterError(
                f"{dialect.title} needs labels of at least {dialect.min_positive!r} or 0, got "
                f"{label!r}. Use text instead."
            )
    return [dialect.typed_double(float(label)) for label in labels]


def _is_double(number: int) -> bool:
    try:
        return int(float(number)) == number
    except OverflowError:
        return False


def _whole_literals(labels: Sequence[int], dialect: Dialect) -> list[str]:
    for label in labels:
        if abs(label) >= BEYOND_WHOLE:
            raise too_large("labels", label)
    if dialect.whole_type is not None and max(map(abs, labels)) >= _BEYOND_SMALL:
        return [f"CAST({label} AS {dialect.whole_type})" for label in labels]
    return [str(label) for label in labels]


def _share(tree: Tree, leaf: int, code: int, dialect: Dialect) -> str:
    share = float(tree.label[leaf] == code)
    if tree.probability is not None:
        share = float(tree.probability[leaf, code])
    return dialect.typed_double(share if dialect.holds(share) else 0.0)


def _check_size(n_figures: int) -> None:
    if n_figures > _MAX_FIGURES:
        raise ParameterError(
            f"SQL with probabilities must have at most {_MAX_FIGURES:,} of them, one for each "
            "leaf and class. Leave them out, or export to ONNX."
        )
