"""A tree as SQL: one CASE expression that runs unchanged in SQLite, DuckDB and PostgreSQL.

Nested CASE expressions would be natural, but SQLite's parser gives up some twenty levels down. So
there is one flat list, read from top to bottom: at each split the side with fewer leaves comes
first, with the split's condition, and the other side follows without it, being what is left. A
leaf then has at most as many conditions as its tree's number of leaves can be halved, however
deep it lies.

What a condition must be for all databases at once:

- TRUE exactly if the record takes that side. NULL is not TRUE, so a comparison sends a missing
  value the other way; ``(...) IS NOT TRUE`` is the complement, missing values included.
- NaN is greater than every number in DuckDB and PostgreSQL (SQLite has NULL in its place), and
  stays so when its sign changes: ``x <= t`` is not TRUE for it, and neither is ``-x < -t``, which
  says ``x > t`` of every number.
- Numbers are compared as doubles, as in :mod:`privatree.tree`. A literal is written so that no
  database rounds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from privatree.errors import ParameterError
from privatree.export.reading import goes_left, missing_goes_left, released_tree
from privatree.schema import Categorical, Label
from privatree.tree import Tree

_MOST_FIGURES = 100_000
"""Probabilities in a query."""
_EXACT_DIGITS = 15
"""A number that so many digits give exactly is read without an error by every database."""
_LARGEST_SHIFT = 62
"""The largest power of two that is a whole number of 64 bits everywhere."""
_UNIQUE_WHOLE = 2**53
"""Below it no two whole numbers are the same double."""
_BEYOND_WHOLE = 2**63
"""The first whole number without a type in SQLite."""


def export_sql(model: Any, *, table: str | None = None, proba: bool = False) -> str:
    """Write a tree as SQL for SQLite, DuckDB or PostgreSQL.

    Parameters
    ----------
    model : Tree, Model or fitted classifier
        Whose tree to write.
    table : str, optional
        The name of the table with the records. Then the result is a whole query.
    proba : bool, default=False
        Whether to give the probability of each class as well. Without released probabilities they
        are 1 for the predicted class and 0 for the others.

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
        the character NUL, or a number beyond 64 bits.

    Notes
    -----
    Each record gets the label that ``predict`` gives it: with NULL, NaN, infinities, unknown
    categories and numbers out of range, and down to the last bit of a threshold: so ``x > 37`` is
    written as ``-x < -37``, which is not true of NaN, and 0.1 as a fraction. Columns must have
    the types that ``predict`` takes: numbers (or booleans) for numeric features and for categories
    that are numbers, text for those that are text. PostgreSQL casts no booleans to numbers, and
    SQLite has 1 and 0 for boolean labels. In a SQLite column declared ``COLLATE NOCASE`` categories
    are compared that way.

    SQLite takes the quoted name of a column that does not exist for a text. Give the `table` to
    get an error instead.

    Examples
    --------
    >>> from privatree.schema import Numeric, Schema
    >>> from privatree.tree_building import TreeBuilder
    >>> builder = TreeBuilder(Schema({"age": Numeric(17, 90, integer=True)}, ["no", "yes"]))
    >>> young, old = builder.split_numeric(builder.root, 0, 37.0)
    >>> builder.leaf(young, 0)
    >>> builder.leaf(old, 1)
    >>> print(export_sql(builder.build()))
    CASE
      WHEN -CAST("age" AS DOUBLE PRECISION) < -37 THEN 'yes'
      ELSE 'no'
    END
    """
    tree = released_tree(model)
    _check_names(tree.schema.names)
    source = None if table is None else _name(table)
    cases = list(_cases(tree, source))
    labels = _label_literals(tree.schema.classes)
    prediction = _case((conditions, labels[tree.label[leaf]]) for conditions, leaf in cases)
    if source is None and not proba:
        return prediction
    columns = [f'{prediction} AS "prediction"']
    if proba:
        _check_size(len(cases) * len(tree.schema.classes))
        for code, label in enumerate(tree.schema.classes):
            shares = ((conditions, _share(tree, leaf, code)) for conditions, leaf in cases)
            columns.append(f"{_case(shares)} AS {_name(_title(label))}")
    listed = ",\n".join(columns)
    return listed if source is None else f"SELECT {source}.*,\n{listed}\nFROM {source}"


def _cases(tree: Tree, source: str | None) -> Iterator[tuple[tuple[str, ...], int]]:
    """The leaves with their conditions, in the order to test them; the last one has none left."""
    features = list(tree.schema.features.items())
    n_leaves = _leaves_below(tree)
    waiting: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    while waiting:
        node, conditions = waiting.pop()
        if tree.feature[node] < 0:
            yield conditions, node
            continue
        name, feature = features[tree.feature[node]]
        column = _name(name) if source is None else f"{source}.{_name(name)}"
        to_left = not missing_goes_left(tree, node, feature)  # where the condition leads
        if isinstance(feature, Categorical):
            codes = np.flatnonzero(goes_left(tree, node, feature) == to_left).tolist()
            condition = _is_one_of(column, [feature.categories[code] for code in codes])
        else:
            condition = _is_beside(column, float(tree.threshold[node]), to_left)
        left, right = int(tree.left[node]), int(tree.right[node])
        there, elsewhere = (left, right) if to_left else (right, left)
        if not condition:  # nothing leads there
            waiting.append((elsewhere, conditions))
        elif n_leaves[there] <= n_leaves[elsewhere]:
            waiting += [(elsewhere, conditions), (there, (*conditions, condition))]
        else:
            complement = f"({condition}) IS NOT TRUE"
            waiting += [(there, conditions), (elsewhere, (*conditions, complement))]


def _leaves_below(tree: Tree) -> list[int]:
    below = [1] * tree.n_nodes
    for node in reversed(np.flatnonzero(tree.feature >= 0).tolist()):  # children come after parents
        below[node] = below[tree.left[node]] + below[tree.right[node]]
    return below


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


# --- conditions that are TRUE on one side of a split, and for missing values never ---------------


def _is_beside(column: str, threshold: float, to_left: bool) -> str:
    number = f"CAST({column} AS DOUBLE PRECISION)"
    if to_left:
        return f"{number} <= {_double(threshold)}"
    return f"-{number} < {_double(-threshold)}"


def _is_one_of(column: str, categories: Sequence[Label]) -> str:
    """An empty text if there are none."""
    if not categories:
        return ""
    if isinstance(categories[0], str):
        return _is_in(column, [_text(str(category)) for category in categories])
    if isinstance(categories[0], bool):
        return _is_in(column, [_boolean(bool(category)) for category in categories])
    numbers = [category for category in categories if not isinstance(category, str)]
    doubles = [_double(float(n)) for n in numbers if abs(n) < _UNIQUE_WHOLE]
    found = [_is_in(f"CAST({column} AS DOUBLE PRECISION)", doubles)] if doubles else []
    found += [_is_large(column, int(n)) for n in numbers if abs(n) >= _UNIQUE_WHOLE]
    return found[0] if len(found) == 1 else f"({' OR '.join(found)})"


def _is_in(value: str, literals: Sequence[str]) -> str:
    if len(literals) == 1:
        return f"{value} = {literals[0]}"
    return f"{value} IN ({', '.join(literals)})"


def _is_large(column: str, number: int) -> str:
    """Of a column of whole numbers, where other numbers are the same double; or of doubles."""
    try:
        nearest = int(float(number))
    except OverflowError:
        raise _too_large("categories", number) from None
    is_nearest = f"CAST({column} AS DOUBLE PRECISION) = {_double(float(nearest))}"
    if abs(number) < _BEYOND_WHOLE:
        if number == nearest:
            return f"({column} = {number} AND {is_nearest})"
        return f"({column} = {number} AND {column} <> {nearest})"  # no double is this number
    if number == nearest:
        return is_nearest
    raise _too_large("categories", number)


def _check_size(n_figures: int) -> None:
    if n_figures > _MOST_FIGURES:
        raise ParameterError(
            f"SQL with probabilities must have at most {_MOST_FIGURES:,} of them, one for each "
            "leaf and class. Leave them out, or export to ONNX."
        )


# --- names and literals -------------------------------------------------------------------------


def _check_names(names: Iterable[str]) -> None:
    """SQLite and DuckDB take names that differ in case for the same column."""
    seen: dict[str, str] = {}
    for name in names:
        if (other := seen.setdefault(name.casefold(), name)) != name:
            raise ParameterError(
                f"SQL needs names that differ in more than case, got {other!r} and {name!r}."
            )


def _name(name: str) -> str:
    if not name:
        raise ParameterError("SQL needs names of at least one character, got an empty one.")
    return '"' + _without_nul(name).replace('"', '""') + '"'


def _title(label: Label) -> str:
    """What ``privatree predict --proba`` calls the column, too."""
    return f"probability of {str(label).lower() if isinstance(label, bool) else label}"


def _text(text: str) -> str:
    return "'" + _without_nul(text).replace("'", "''") + "'"


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ParameterError(f"SQL cannot hold the character NUL, got it in {text!r}.")
    return text


def _boolean(truth: bool) -> str:
    return "TRUE" if truth else "FALSE"


def _double(number: float) -> str:
    """An expression whose value is exactly this number, whoever computes it."""
    exact = Decimal(number)
    if exact.adjusted() < _EXACT_DIGITS and len(exact.as_tuple().digits) <= _EXACT_DIGITS:
        return f"{exact:f}" if number else "0"
    numerator, denominator = number.as_integer_ratio()
    shift = 0
    while numerator % 2 == 0:
        numerator, shift = numerator // 2, shift + 1
    parts = [f"CAST({numerator} AS DOUBLE PRECISION)"]
    for sign, exponent in (("*", shift), ("/", denominator.bit_length() - 1)):
        full, rest = divmod(exponent, _LARGEST_SHIFT)
        powers = [_LARGEST_SHIFT] * full + [rest] * (rest > 0)
        parts += [f"{sign} {2**power}" for power in powers]
    return f"{' '.join(parts)} /* {number!r} */"


def _label_literals(labels: Sequence[Label]) -> list[str]:
    if isinstance(labels[0], str):
        return [_text(str(label)) for label in labels]
    if isinstance(labels[0], bool):
        return [_boolean(bool(label)) for label in labels]
    if all(isinstance(label, int) for label in labels):
        for label in labels:
            if abs(int(label)) >= _BEYOND_WHOLE:
                raise _too_large("labels", int(label))
        return [str(label) for label in labels]
    for label in labels:
        if isinstance(label, int) and not _is_double(label):
            raise _too_large("labels beside fractions", label)
    return [_as_double(float(label)) for label in labels]


def _as_double(number: float) -> str:
    """The same for a result, of which the type matters too."""
    literal = _double(number)
    return literal if literal.startswith("CAST") else f"CAST({literal} AS DOUBLE PRECISION)"


def _share(tree: Tree, leaf: int, code: int) -> str:
    sure = float(tree.label[leaf] == code)
    return _as_double(sure if tree.probability is None else float(tree.probability[leaf, code]))


def _is_double(number: int) -> bool:
    try:
        return int(float(number)) == number
    except OverflowError:
        return False


def _too_large(what: str, number: int) -> ParameterError:
    digits = f"{number:.6g}" if abs(number) < 10**300 else "one of hundreds of digits"
    return ParameterError(f"SQL needs {what} of at most 63 bits, got {digits}. Use text instead.")
