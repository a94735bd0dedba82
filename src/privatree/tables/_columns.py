"""One column of any container, and its conversion to numbers or category codes.

A container states the *type* of each column and gives its content in one of three forms: numbers,
codes of a dictionary, or Python objects. Errors depend on the type alone; reading the content
cannot fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from privatree.errors import SchemaError
from privatree.schema import Categorical, Feature, Label, Numeric, Schema
from privatree.tables._python_values import plain_python_values, python_values_to_numbers

_FEW_LABELS = 4
"""With at most this many labels, comparing all values with each label beats a search."""

Kind: TypeAlias = Literal["number", "bool", "string", "object", "other"]


@dataclass(frozen=True)
class ColumnType:
    """The type of a column, which does not depend on its content.

    An ``"object"`` column is read value by value. An ``"other"`` column (dates, lists, bytes, ...)
    cannot be read. `name` is the type's name in messages. `is_category` means that the type lists
    its values; `kind` and `is_integer` are then about the listed values.
    """

    kind: Kind
    name: str
    is_integer: bool = False
    is_category: bool = False


@dataclass(frozen=True)
class NumberColumn:
    """Numbers or booleans, with a mask of missing values.

    ``is_fresh`` means that the array is not the user's, so it may be overwritten.
    """

    values: NDArray[Any]
    missing: NDArray[np.bool_] | None = None
    is_fresh: bool = False


@dataclass(frozen=True)
class CodedColumn:
    """Positions in a list of values; -1 means missing. The same value can be listed twice."""

    codes: NDArray[Any]
    values: Sequence[Any]


@dataclass(frozen=True)
class ValueColumn:
    """A column of Python objects of any kind."""

    values: Sequence[Any]


Column: TypeAlias = NumberColumn | CodedColumn | ValueColumn


@dataclass(frozen=True)
class LazyColumn:
    """The type of a column and a function that reads the content."""

    type: ColumnType
    read: Callable[[], Column]


# --- checks of types ----------------------------------------------------------------------------


def check_feature_type(name: str, found: ColumnType, feature: Feature, *, of_a_frame: bool) -> None:
    """Raise a SchemaError if the type of a column cannot hold the values of its feature.

    `of_a_frame` is False if the column is part of one array, whose columns all have the same type.
    The error message uses only the types, so it reveals nothing about any record.
    """
    if isinstance(feature, Categorical):
        if not of_a_frame or not _column_can_be_all_missing(found):
            _check_column_holds_labels(f"column {name!r}", "categories", found, feature.categories)
    elif found.kind not in ("number", "bool", "object"):
        raise SchemaError(
            f"column {name!r} has type {found.name}, but the schema declares it numeric. "
            "Convert the column to numbers or declare it Categorical."
        )


def are_class_codes(found: ColumnType, classes: Sequence[Label]) -> bool:
    """Tell whether labels of this type are numbers 0, 1, ... that stand for text classes.

    Classes such as "1" and "2" do not count as text here: an integer label can mean such a class.
    """

    is_number = found.kind == "number" and found.is_integer and not found.is_category
    return is_number and all(
        isinstance(label, str) and not label.strip().lstrip("+-").replace(".", "").isdecimal()
        for label in classes
    )


def check_class_type(where: str, found: ColumnType, classes: Sequence[Label]) -> None:
    """Raise a SchemaError if the type of a label column cannot hold the classes.

    The error message uses only the types, so it reveals nothing about any record.
    """
    if not _column_can_be_all_missing(found):
        _check_column_holds_labels(where, "classes", found, classes)


def check_target_type(where: str, found: ColumnType) -> None:
    """Raise a SchemaError if the type of a column cannot hold a numeric target.

    The error message uses only the type, so it reveals nothing about any record.
    """
    if found.kind not in ("number", "bool", "object"):
        raise SchemaError(
            f"{where} has type {found.name}, but the schema declares a numeric target. Convert "
            "the column to numbers, or declare classes in the schema."
        )


def check_label_type(where: str, found: ColumnType, schema: Schema) -> None:
    """Raise a SchemaError if the type of a column can hold no class, or no numeric target."""
    if schema.target is None:
        check_class_type(where, found, schema.classes)
    else:
        check_target_type(where, found)


def _column_can_be_all_missing(found: ColumnType) -> bool:
    """Tell whether a text column gets this type if all of its values are missing.

    pandas and numpy give a floating type to a text column without any values, and to an array
    without rows. A floating type must therefore be accepted for text: an error would reveal that
    all values are missing.
    """
    return found.kind == "number" and not found.is_integer


def _check_column_holds_labels(
    where: str, what: str, found: ColumnType, labels: Sequence[Label]
) -> None:
    """Raise a SchemaError if a column of this type can hold none of the labels."""
    is_text = isinstance(labels[0], str)
    if found.kind not in (("string", "object") if is_text else ("number", "bool", "object")):
        declared = "string" if is_text else "boolean" if isinstance(labels[0], bool) else "number"
        raise SchemaError(
            f"{where} has type {found.name}, but the schema declares {declared} {what}. "
            "Convert the column, or change the schema."
        )


# --- content to numbers and codes ---------------------------------------------------------------


def column_to_numbers(column: Column) -> NDArray[np.float64]:
    """Read a column as numbers; a missing value or a value that is not a number becomes NaN.

    The result can share memory with the user's data: do not write into it.
    """
    if isinstance(column, ValueColumn):
        return python_values_to_numbers(column.values)
    if isinstance(column, CodedColumn):
        return np.take(np.append(python_values_to_numbers(column.values), np.nan), column.codes)
    with np.errstate(all="ignore"):  # floats wider than 64 bits may overflow to infinity
        numbers = column.values.astype(np.float64, copy=False)
    if column.missing is None:
        return numbers
    return np.where(column.missing, np.nan, numbers)


def column_to_clipped_numbers(column: Column, feature: Numeric) -> NDArray[np.float64]:
    """Read a column as numbers clipped to the range of a feature.

    Missing values become ``feature.missing_place``, which is minus infinity if they are separate.
    """
    numbers = column_to_numbers(column)
    is_shared = isinstance(column, NumberColumn) and not column.is_fresh
    target = None if is_shared or not numbers.flags.c_contiguous else numbers
    with np.errstate(all="ignore"):
        placed = np.clip(numbers, float(feature.low), float(feature.high), out=target)
    np.copyto(placed, float(feature.missing_place), where=np.isnan(placed))
    return placed


def column_to_codes(
    column: Column, labels: Sequence[Label], place: int, dtype: DTypeLike
) -> NDArray[Any]:
    """Read a column as positions in a list of labels; unknown and missing values become `place`."""
    if isinstance(column, NumberColumn):
        codes = _number_column_to_codes(column.values, labels, place, dtype)
        if column.missing is not None:
            codes[column.missing] = place
        return codes
    code_of = {label: code for code, label in enumerate(labels)}
    plain = plain_python_values(column.values)
    found = np.array([code_of.get(value, place) for value in plain], dtype=dtype)
    if isinstance(column, ValueColumn):
        return found
    return np.take(np.append(found, np.array([place], dtype=dtype)), column.codes)


def label_codes(column: Column, schema: Schema) -> NDArray[np.signedinteger[Any]]:
    """Read labels as positions in the classes of a schema, and numeric targets as their codes.

    Missing values, unknown labels and values that are no number become -1: their records are left
    out.
    """
    if schema.target is not None:
        return schema.target.code_of(column_to_numbers(column))
    return column_to_codes(column, schema.classes, -1, np.min_scalar_type(-len(schema.classes)))


def category_code_dtype(feature: Categorical) -> np.dtype[Any]:
    """Return the smallest unsigned integer type that can hold every category code."""
    return np.min_scalar_type(feature.n_codes - 1)


def _number_column_to_codes(
    values: NDArray[Any], labels: Sequence[Label], place: int, dtype: DTypeLike
) -> NDArray[Any]:
    """Return the position of each number in `labels`, or `place` if no label equals it."""
    if values.dtype.kind == "b":
        values = values.view(np.uint8)
    elif values.dtype.kind == "f":
        with np.errstate(all="ignore"):
            values = values.astype(np.float64, copy=False)
    known = sorted(
        (exact, code)
        for code, label in enumerate(labels)
        if (exact := _label_as_column_number(label, values.dtype)) is not None
    )
    if len(known) <= _FEW_LABELS:
        few: NDArray[Any] = np.full(values.shape, place, dtype=dtype)
        for key, code in known:
            # A product, so that no branch depends on a value. Unsigned types wrap around as wanted.
            few += (values == key) * np.array(code - place).astype(dtype)
        return few
    keys = np.array([key for key, _ in known], dtype=values.dtype)
    codes = np.array([code for _, code in known], dtype=dtype)
    nearest = np.minimum(np.searchsorted(keys, values), len(keys) - 1)
    found: NDArray[Any] = codes[nearest]
    found[keys[nearest] != values] = place
    return found


def _label_as_column_number(label: Any, dtype: np.dtype[Any]) -> float | None:
    """Return the label as a number of this type, or None if the type cannot hold it."""
    if isinstance(label, str):
        return None
    if dtype.kind == "f":
        try:
            return float(label) if float(label) == label else None
        except OverflowError:
            return None
    limits = np.iinfo(dtype)
    return int(label) if label == int(label) and limits.min <= label <= limits.max else None
