"""One column, whatever container it came from, and how it becomes numbers or codes.

A container only says what *type* each column has and hands out its content in one of three forms
(numbers, codes of a dictionary, Python objects). Errors are decided by the type alone; reading the
content cannot fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from privatree.errors import SchemaError
from privatree.schema import Categorical, Feature, Label, Numeric
from privatree.tables._python_values import plain_python_values, python_values_to_numbers

_FEW_LABELS = 4

Kind: TypeAlias = Literal["number", "bool", "string", "object", "other"]


@dataclass(frozen=True)
class ColumnType:
    """What the caller declared by the type of a column, never by its content.

    Parameters
    ----------
    kind : {"number", "bool", "string", "object", "other"}
        What the values are. An ``"object"`` column is read value by value; an ``"other"`` one
        (dates, lists, bytes, ...) cannot be read.
    name : str
        The type as the caller knows it, for messages.
    is_integer : bool
        Whether the type holds whole numbers only.
    is_category : bool
        Whether the type lists its values; `kind` is then theirs.
    """

    kind: Kind
    name: str
    is_integer: bool = False
    is_category: bool = False


@dataclass(frozen=True)
class NumberColumn:
    """Numbers or booleans, with a mask of the missing ones.

    ``is_fresh`` says that the array belongs to us and may be overwritten.
    """

    values: NDArray[Any]
    missing: NDArray[np.bool_] | None = None
    is_fresh: bool = False


@dataclass(frozen=True)
class CodedColumn:
    """Positions in a list of values, which may repeat; -1 stands for missing."""

    codes: NDArray[Any]
    values: Sequence[Any]


@dataclass(frozen=True)
class ValueColumn:
    """Python objects of any kind."""

    values: Sequence[Any]


Column: TypeAlias = NumberColumn | CodedColumn | ValueColumn


@dataclass(frozen=True)
class LazyColumn:
    """The type of a column, and a function that reads its content."""

    type: ColumnType
    read: Callable[[], Column]


# --- what the types allow -----------------------------------------------------------------------


def check_feature_type(name: str, found: ColumnType, feature: Feature, *, of_a_frame: bool) -> None:
    """Refuse a column whose type contradicts its feature.

    Parameters
    ----------
    name : str
        What the feature is called.
    found : ColumnType
        The type of its column.
    feature : Feature
        What was declared.
    of_a_frame : bool
        Whether each column has a type of its own, and not all the type of one array.

    Raises
    ------
    SchemaError
        From the types alone, so it says nothing about the records.
    """
    if isinstance(feature, Categorical):
        if not of_a_frame or not _can_be_all_missing(found):
            _check_holds(f"column {name!r}", "categories", found, feature.categories)
    elif found.kind not in ("number", "bool", "object"):
        raise SchemaError(
            f"column {name!r} has type {found.name}, but the schema declares it numeric. "
            "Convert the column to numbers or declare it Categorical."
        )


def are_class_codes(found: ColumnType, classes: Sequence[Label]) -> bool:
    """Tell by their type whether labels are numbers that stand for classes of text.

    Parameters
    ----------
    found : ColumnType
        Of the labels.
    classes : sequence
        Those of the schema.
    """
    is_number = found.kind == "number" and found.is_integer and not found.is_category
    return is_number and all(map(_is_a_name, classes))


def _is_a_name(label: Label) -> bool:
    """Text that no number can be meant by, unlike "1" and "2"."""
    return isinstance(label, str) and not label.strip().lstrip("+-").replace(".", "").isdecimal()


def check_class_type(where: str, found: ColumnType, classes: Sequence[Label]) -> None:
    """Refuse a column of labels whose type contradicts the classes.

    Raises
    ------
    SchemaError
        From the types alone, so it says nothing about the records.
    """
    if not _can_be_all_missing(found):
        _check_holds(where, "classes", found, classes)


def _can_be_all_missing(found: ColumnType) -> bool:
    """Whether a column can have got its type from having no value at all.

    Text in which every value is missing has a floating type in pandas and numpy, as has an array
    without rows. So floats must pass as text of which nothing is known: an error would tell that
    the last value was missing.
    """
    return found.kind == "number" and not found.is_integer


def _check_holds(where: str, what: str, found: ColumnType, labels: Sequence[Label]) -> None:
    """Refuse a column whose type can hold none of the labels."""
    is_text = isinstance(labels[0], str)
    if found.kind not in (("string", "object") if is_text else ("number", "bool", "object")):
        declared = "string" if is_text else "boolean" if isinstance(labels[0], bool) else "number"
        raise SchemaError(
            f"{where} has type {found.name}, but the schema declares {declared} {what}. "
            f"Convert one to the type of the other."
        )


# --- content to numbers and codes ---------------------------------------------------------------


def column_to_numbers(column: Column) -> NDArray[np.float64]:
    """Read a column as numbers; missing ones and what is not a number are NaN.

    The result can share memory with the caller's data: do not write into it.
    """
    if isinstance(column, ValueColumn):
        return python_values_to_numbers(column.values)
    if isinstance(column, CodedColumn):
        return np.take(np.append(python_values_to_numbers(column.values), np.nan), column.codes)
    with np.errstate(all="ignore"):  # wider floats can overflow to infinity, as they should
        numbers = column.values.astype(np.float64, copy=False)
    if column.missing is None:
        return numbers
    return np.where(column.missing, np.nan, numbers)


def column_to_clipped_numbers(column: Column, feature: Numeric) -> NDArray[np.float64]:
    """Read a column as numbers inside the range of its feature, missing ones at their place."""
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
    """Read a column as positions in a list of labels; unknown and missing values get `place`."""
    if isinstance(column, NumberColumn):
        codes = _codes_of_numbers(column.values, labels, place, dtype)
        if column.missing is not None:
            codes[column.missing] = place
        return codes
    code_of = {label: code for code, label in enumerate(labels)}
    plain = plain_python_values(column.values)
    found = np.array([code_of.get(value, place) for value in plain], dtype=dtype)
    if isinstance(column, ValueColumn):
        return found
    return np.take(np.append(found, np.array([place], dtype=dtype)), column.codes)


def category_code_dtype(feature: Categorical) -> np.dtype[Any]:
    """Return the smallest unsigned type that holds every code of a feature."""
    return np.min_scalar_type(len(feature.categories) - 1)


def _codes_of_numbers(
    values: NDArray[Any], labels: Sequence[Label], place: int, dtype: DTypeLike
) -> NDArray[Any]:
    """Find each number among the labels that its type can hold exactly."""
    if values.dtype.kind == "b":
        values = values.view(np.uint8)
    elif values.dtype.kind == "f":
        with np.errstate(all="ignore"):
            values = values.astype(np.float64, copy=False)
    known = sorted(
        (exact, code)
        for code, label in enumerate(labels)
        if (exact := _exactly(label, values.dtype)) is not None
    )
    if len(known) <= _FEW_LABELS:  # faster than a search, by far
        few: NDArray[Any] = np.full(values.shape, place, dtype=dtype)
        for key, code in known:
            # A product, as no branch depends on a value; modulo the type's range, if unsigned.
            few += (values == key) * np.array(code - place).astype(dtype)
        return few
    keys = np.array([key for key, _ in known], dtype=values.dtype)
    codes = np.array([code for _, code in known], dtype=dtype)
    nearest = np.minimum(np.searchsorted(keys, values), len(keys) - 1)
    found: NDArray[Any] = codes[nearest]
    found[keys[nearest] != values] = place
    return found


def _exactly(label: Any, dtype: np.dtype[Any]) -> float | None:
    """The label as a number of this type, or None if the type cannot hold it."""
    if isinstance(label, str):
        return None
    if dtype.kind == "f":
        try:
            return float(label) if float(label) == label else None
        except OverflowError:
            return None
    limits = np.iinfo(dtype)
    return int(label) if label == int(label) and limits.min <= label <= limits.max else None
