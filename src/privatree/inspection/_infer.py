"""Reading a schema from the records themselves, which leaks and says so.

Only code that was asked to do without a written schema comes here, so the usual scikit-learn
errors apply and content may be what they are about.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite

from privatree._support.validation import list_some_names
from privatree.errors import PrivacyLeakWarning
from privatree.schema import Categorical, Feature, Label, Numeric, Schema
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

_NOTHING = Numeric(0, 0)  # a feature that cannot be split


def infer_schema(
    X: Any, y: Any, names: Sequence[str] | None = None, *, stacklevel: int = 3
) -> Schema:
    """Read a schema from the records. **This leaks**, and warns that it does.

    Parameters
    ----------
    X : frame
        Anything :func:`~privatree.tables._frames.open_frame` opens. Columns without names are
        called ``x0``, ``x1``, ...
    y : labels
        Anything :func:`~privatree.tables.read_labels` reads.
    names : sequence of str, optional
        Names of the columns of a frame that has none of its own.
    stacklevel : int, default=3
        Which caller the warning points at, counted as in :func:`warnings.warn` from this function;
        3 is the caller of the function that calls this one.

    Returns
    -------
    Schema
        Numbers get the smallest and largest finite value as range. Columns of a category type
        keep their categories; other text gets the sorted values that occur. A column without any
        value gets the range [0, 0]. Classes are the sorted labels that occur. Everything is
        marked as unconfirmed.

    Raises
    ------
    TypeError
        If a column holds neither text nor numbers, or both.
    ValueError
        If the labels are not two or more classes, or the data is complex.

    Warns
    -----
    PrivacyLeakWarning
        Always.
    """
    table = open_frame(X, names)
    (labels,) = open_labels(y).columns
    for where, column in [*(("X", column) for column in table.columns), ("y", labels)]:
        _refuse_complex(where, column.type)
    called = table.names
    if called is None:
        called = [f"x{i}" for i in range(len(table.columns))]
    features = {
        name: infer_feature(column) for name, column in zip(called, table.columns, strict=True)
    }
    schema = Schema(features, infer_classes(labels)).all_unconfirmed()
    warnings.warn(_message(schema), PrivacyLeakWarning, stacklevel=stacklevel)
    return schema


def check_data_to_infer_from(X: Any, y: Any) -> None:
    """Raise the errors that scikit-learn's estimators raise about malformed data.

    NaN and infinities in X are allowed: they have a fixed place.

    Parameters
    ----------
    X : frame
        Needs rows and columns.
    y : labels
        Needs as many as X has rows, none of them missing.

    Raises
    ------
    TypeError, ValueError
        If they are not as described.
    """
    table = open_frame(X)
    for column in table.columns:
        _refuse_complex("X", column.type)
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
    _refuse_complex("y", labels.type)
    _refuse_missing_labels(labels.read())


# --- features -----------------------------------------------------------------------------------


def infer_feature(column: LazyColumn) -> Feature:
    """What the values of a column look like; not yet marked as read from records."""
    if column.type.kind == "other":
        _refuse_kind(f"a column of type {column.type.name}")
    content = column.read()
    if isinstance(content, NumberColumn):
        return _number_feature(content, column.type)
    if column.type.is_category and isinstance(content, CodedColumn):
        return _categories(_one_kind(content.values))
    values = _one_kind(_occurring(content))
    if not values or isinstance(values[0], str):
        return _categories(sorted(values))
    if all(isinstance(value, bool) for value in values):
        return Categorical([False, True])
    return _range(values, all(isinstance(value, int) for value in values))


def _number_feature(content: NumberColumn, found: ColumnType) -> Feature:
    if found.kind == "bool":
        return Categorical([False, True])
    if found.is_integer and content.values.dtype.kind in "iu":
        present = content.values if content.missing is None else content.values[~content.missing]
    else:
        present = column_to_numbers(content)
        present = present[np.isfinite(present)]
    return _range([present.min().item(), present.max().item()] if present.size else [],
                  found.is_integer)  # fmt: skip


def _range(values: Sequence[Any], is_integer: bool) -> Feature:
    widest = sys.float_info.max / 4  # a range must have a finite width
    finite = [max(-widest, min(widest, value)) for value in values if abs(value) < math.inf]
    if not finite:
        return _NOTHING
    return Numeric(min(finite), max(finite), integer=is_integer)


def _categories(values: Sequence[Any]) -> Feature:
    kept = [value for value in values if isinstance(value, str) or math.isfinite(value)]
    return Categorical(kept) if kept else _NOTHING


def _one_kind(values: Sequence[Any]) -> list[Any]:
    """The distinct text, booleans or numbers among the values, in order; missing ones left out."""
    present = [value for value in values if not is_missing_value(value)]
    plain = list(dict.fromkeys(_python(value) for value in plain_python_values(present)))
    if any(value is None for value in plain):
        _refuse_kind("another object")
    texts = sum(isinstance(value, str) for value in plain)
    if 0 < texts < len(plain):
        _refuse_kind("both in one column")
    booleans = sum(isinstance(value, bool) for value in plain)
    if 0 < booleans < len(plain):  # beside other numbers a boolean is a number
        plain = list(dict.fromkeys(v if isinstance(v, float) else int(v) for v in plain))
    return plain


def _occurring(content: Column) -> Sequence[Any]:
    if isinstance(content, CodedColumn):
        return [content.values[code] for code in np.unique(content.codes) if code >= 0]
    if isinstance(content, NumberColumn):
        present = content.values if content.missing is None else content.values[~content.missing]
        values: list[Any] = np.unique(present).tolist()
        return values
    return content.values


def _python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


# --- labels -------------------------------------------------------------------------------------


def infer_classes(labels: LazyColumn) -> list[Label]:
    """The sorted labels that occur."""
    if labels.type.kind == "other":
        raise ValueError(
            f"Unknown label type: {labels.type.name}. Labels must be strings, numbers or booleans."
        )
    try:
        found = sorted(_one_kind(_occurring(labels.read())))
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


def _refuse_missing_labels(content: Column) -> None:
    if isinstance(content, NumberColumn):
        if content.values.dtype.kind == "f":
            assert_all_finite(content.values, input_name="y")
        has_missing = content.missing is not None and bool(content.missing.any())
    elif isinstance(content, CodedColumn):
        has_missing = bool((content.codes < 0).any())
    else:
        has_missing = False
    if has_missing or any(is_missing_value(value) for value in _occurring(content)):
        raise ValueError("Input y contains NaN. Leave out the records without a label.")


# --- messages -----------------------------------------------------------------------------------


def _refuse_kind(found: str) -> NoReturn:
    raise TypeError(f"argument must be a string or a number, got {found}. Convert the column.")


def _refuse_complex(where: str, found: ColumnType) -> None:
    if found.name.startswith("complex"):
        raise ValueError(f"Complex data not supported, got {where} of type {found.name}.")


def _message(schema: Schema) -> str:
    numeric = [name for name, f in schema.features.items() if isinstance(f, Numeric)]
    categorical = [name for name in schema.names if name not in numeric]
    read = [f"the ranges of {list_some_names(numeric, 5, 'more columns')}"] if numeric else []
    read += (
        [f"the categories of {list_some_names(categorical, 5, 'more columns')}"]
        if categorical
        else []
    )
    return (
        f"No schema was given, so {', '.join(read)} and the class labels were read from the "
        "records. They are outside the privacy guarantee: no finite epsilon holds. Write a Schema "
        "from public knowledge and pass it."
    )
