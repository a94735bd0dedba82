"""Infer a schema from the records themselves. **This leaks**, and issues a warning.

This module is used only if the user passes no schema. So it raises the usual errors of
scikit-learn, which can depend on the content of records.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite

from privatree._support.validation import list_some_names
from privatree.errors import PrivacyLeakWarning
from privatree.schema import Categorical, Feature, Label, Numeric, Schema, Target
from privatree.tables import (
    CodedColumn,
    Column,
    ColumnType,
    LazyColumn,
    NumberColumn,
    column_to_numbers,
    is_missing_value,
    open_frame,
    open_labels,
    plain_python_values,
)

_UNUSABLE = Numeric(0, 0)  # a feature that cannot be split


def infer_schema(
    X: Any,
    y: Any,
    names: Sequence[str] | None = None,
    *,
    numeric_target: bool = False,
    stacklevel: int = 3,
) -> Schema:
    """Infer a schema from the records. **This leaks**, and issues a PrivacyLeakWarning.

    The range of numbers is their smallest and largest finite value. A column of a category type
    keeps its categories; other text gets the sorted values that occur. A column without any
    values gets the range [0, 0]. Classes are the sorted labels that occur; with `numeric_target`, y
    is a number instead, with a range. Every entry is marked as unconfirmed.

    `names` are column names for a frame without names; by default ``x0``, ``x1``, ... `stacklevel`
    is that of :func:`warnings.warn`: 3 is the caller of the function that calls this one.
    """
    table = open_frame(X, names)
    (labels,) = open_labels(y).columns
    for where, column in [*(("X", column) for column in table.columns), ("y", labels)]:
        _refuse_complex_numbers(where, column.type)
    known = table.names or [f"x{i}" for i in range(len(table.columns))]
    features = {
        name: infer_feature(column) for name, column in zip(known, table.columns, strict=True)
    }
    if numeric_target:
        schema = Schema(features, target=infer_target(labels))
    else:
        schema = Schema(features, infer_classes(labels))
    schema = schema.all_unconfirmed()
    warnings.warn(_infer_warning(schema), PrivacyLeakWarning, stacklevel=stacklevel)
    return schema


def check_data_to_infer_from(X: Any, y: Any) -> None:
    """Raise the errors that scikit-learn's estimators raise for malformed data.

    X must have rows and columns, and y one label per row, none of them missing. NaN and infinities
    in X are allowed: a schema says how they count.
    """
    table = open_frame(X)
    for column in table.columns:
        _refuse_complex_numbers("X", column.type)
    shape = (table.n_rows, len(table.columns))
    for count, what in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required."
            )
    opened = open_labels(y)
    if opened.n_rows != table.n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"{[table.n_rows, opened.n_rows]}. Pass one label per row."
        )
    (labels,) = opened.columns
    _refuse_complex_numbers("y", labels.type)
    _refuse_to_infer_labels(labels.read())


# --- features -----------------------------------------------------------------------------------


def infer_feature(column: LazyColumn) -> Feature:
    """Return a feature inferred from the values of a column, not marked as unconfirmed yet."""
    if column.type.kind == "other":
        _refuse_to_infer(f"a column of type {column.type.name}")
    content = column.read()
    if isinstance(content, NumberColumn):
        return _infer_numbers(content, column.type)
    if column.type.is_category and isinstance(content, CodedColumn):
        return _infer_categories(_distinct_to_infer(content.values))
    values = _distinct_to_infer(_values_to_infer(content))
    if not values or isinstance(values[0], str):
        return _infer_categories(sorted(values))
    if all(isinstance(value, bool) for value in values):
        return Categorical([False, True])
    return _infer_range(values, all(isinstance(value, int) for value in values))


def _infer_numbers(content: NumberColumn, found: ColumnType) -> Feature:
    if found.kind == "bool":
        return Categorical([False, True])
    if found.is_integer and content.values.dtype.kind in "iu":
        present = content.values if content.missing is None else content.values[~content.missing]
    else:
        present = column_to_numbers(content)
        present = present[np.isfinite(present)]
    ends = [present.min().item(), present.max().item()] if present.size else []
    return _infer_range(ends, found.is_integer)


def _infer_range(values: Sequence[Any], is_integer: bool) -> Feature:
    widest = sys.float_info.max / 4  # a range must have a finite width
    finite = [max(-widest, min(widest, value)) for value in values if abs(value) < math.inf]
    if not finite:
        return _UNUSABLE
    return Numeric(min(finite), max(finite), integer=is_integer)


def _infer_categories(values: Sequence[Any]) -> Feature:
    kept = [value for value in values if isinstance(value, str) or math.isfinite(value)]
    return Categorical(kept) if kept else _UNUSABLE


def _distinct_to_infer(values: Sequence[Any]) -> list[Any]:
    """Return the distinct values without missing ones: all text, all booleans or all numbers."""
    present = [value for value in values if not is_missing_value(value)]
    python = (v.item() if isinstance(v, np.generic) else v for v in plain_python_values(present))
    plain = list(dict.fromkeys(python))
    if any(value is None for value in plain):
        _refuse_to_infer("a column of other objects")
    texts = sum(isinstance(value, str) for value in plain)
    if 0 < texts < len(plain):
        _refuse_to_infer("both in one column")
    booleans = sum(isinstance(value, bool) for value in plain)
    if 0 < booleans < len(plain):  # beside other numbers a boolean is a number
        plain = list(dict.fromkeys(v if isinstance(v, float) else int(v) for v in plain))
    return plain


def _values_to_infer(content: Column) -> Sequence[Any]:
    if isinstance(content, CodedColumn):
        return [content.values[code] for code in np.unique(content.codes) if code >= 0]
    if isinstance(content, NumberColumn):
        present = content.values if content.missing is None else content.values[~content.missing]
        values: list[Any] = np.unique(present).tolist()
        return values
    return content.values


# --- labels -------------------------------------------------------------------------------------


def infer_classes(labels: LazyColumn) -> list[Label]:
    """Return the sorted labels that occur. Raise a ValueError if there are fewer than two."""
    if labels.type.kind == "other":
        raise ValueError(
            f"Unknown label type: {labels.type.name}. Labels must be strings, numbers or booleans."
        )
    try:
        found = sorted(_distinct_to_infer(_values_to_infer(labels.read())))
    except TypeError:
        raise ValueError(
            "Unknown label type: unknown. Labels must be all strings, all numbers or all booleans."
        ) from None
    if any(isinstance(value, float) and not value.is_integer() for value in found):
        check_classification_targets(np.array(found, dtype=np.float64))
    if len(found) < 2:
        raise ValueError(
            f"y must hold at least two classes, got {len(found)} class. Pass more records, or a "
            "schema that declares every class."
        )
    return found


def infer_target(labels: LazyColumn) -> Target:
    """Return a numeric target with the range of the values that occur.

    As scikit-learn demands, the same numbers of another type have the same range. Raise a
    ValueError if they are not numbers.
    """
    feature = None if labels.type.kind == "other" else infer_feature(labels)
    if feature == Categorical([False, True]) and isinstance(feature.categories[0], bool):
        feature = Numeric(0, 1)
    if not isinstance(feature, Numeric):
        raise ValueError(f"Unknown label type: y must be numbers, got type {labels.type.name}.")
    return target_of_range(replace(feature, integer=False))


def target_of_range(feature: Numeric) -> Target:
    """Return a target with the range of a feature, or with a wider one if it is a single value."""
    low, high = feature.low, feature.high
    if not float(low) < float(high):
        low, high = (0, 1) if low == 0 else sorted((0, 2 * low))
    return Target(low, high, integer=feature.integer)


def _refuse_to_infer_labels(content: Column) -> None:
    if isinstance(content, NumberColumn):
        if content.values.dtype.kind == "f":
            assert_all_finite(content.values, input_name="y")
        has_missing = content.missing is not None and bool(content.missing.any())
    elif isinstance(content, CodedColumn):
        has_missing = bool((content.codes < 0).any())
    else:
        has_missing = False
    if has_missing or any(is_missing_value(value) for value in _values_to_infer(content)):
        raise ValueError("Input y contains NaN. Remove the records without a label.")


# --- messages -----------------------------------------------------------------------------------


def _refuse_to_infer(found: str) -> NoReturn:
    # scikit-learn's estimator checks expect the words "argument must be .* string.* number".
    raise TypeError(
        f"each column of the X argument must be all strings or all numbers, got {found}. Convert "
        "the column."
    )


def _refuse_complex_numbers(where: str, found: ColumnType) -> None:
    if found.name.startswith("complex"):
        raise ValueError(f"Complex data not supported, got {where} of type {found.name}.")


def _infer_warning(schema: Schema) -> str:
    numeric = [name for name, f in schema.features.items() if isinstance(f, Numeric)]
    categorical = [name for name in schema.names if name not in numeric]
    read = [f"the ranges of {list_some_names(numeric, 5, 'more columns')}"] if numeric else []
    read += (
        [f"the categories of {list_some_names(categorical, 5, 'more columns')}"]
        if categorical
        else []
    )
    predicted = "the class labels" if schema.target is None else "the range of the target"
    return (
        f"No schema was given, so {', '.join(read)} and {predicted} were read from the "
        "records. They are outside the privacy guarantee: no finite epsilon holds. Write a Schema "
        "from public knowledge and pass it."
    )
