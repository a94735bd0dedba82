"""Features of a schema: numbers within a range, and categories from a list."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from privatree.errors import SchemaError
from privatree.schema._value_checks import (
    Label,
    check_schema_bool,
    check_schema_keys,
    check_schema_label,
    check_schema_labels,
    check_schema_number,
    check_unconfirmed_names,
    shorten_value,
)

_NUMERIC_KEYS = ("kind", "low", "high", "integer", "cuts", "missing")
_CATEGORICAL_KEYS = ("kind", "categories", "missing")
"""Keys of a feature in a schema file. Each of them can be unconfirmed."""
_INFERRED_NUMERIC_KEYS = ("kind", "low", "high", "integer")
_INFERRED_CATEGORICAL_KEYS = ("kind", "categories")
"""Keys whose values can be inferred from records."""
_SEPARATE: Literal["separate"] = "separate"
"""Value of ``missing`` that keeps missing values apart from all other values."""


@dataclass(frozen=True)
class Numeric:
    """A numeric feature with a public range.

    Parameters
    ----------
    low, high : float
        Public range, both ends included. A value outside the range counts as the nearer end.
    integer : bool, default=False
        Whether the feature has whole numbers only.
    cuts : sequence of float, optional
        Public cut points to split at, strictly increasing, ``low <= cut < high``. A value equal
        to a cut point goes left. By default the learner derives cut points from the range.
    missing : float or "separate", optional
        Value that stands for a missing value; by default ``low``. With ``"separate"``, a missing
        value counts as smaller than all numbers: a tree can ask whether a value is missing, and at
        any other split missing values go left, with the low numbers.
    unconfirmed : sequence of str, optional
        Names of the parameters that were read from the records and are not confirmed to be public.
        ``"kind"`` stands for the fact that the feature is numeric.

    Examples
    --------
    >>> from privatree import Numeric
    >>> age = Numeric(0, 120, integer=True, missing=40)
    >>> age.missing_place
    40
    >>> Numeric(0, 120, integer=True, missing="separate").missing_place
    -inf
    """

    low: float
    high: float
    integer: bool = False
    cuts: Sequence[float] | None = None
    missing: float | Literal["separate"] | None = None
    unconfirmed: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Raise a SchemaError if the parameters contradict each other."""
        for name in ("low", "high"):
            object.__setattr__(self, name, check_schema_number(name, getattr(self, name)))
        if self.low > self.high:
            raise SchemaError(
                f"low must be <= high, got low={self.low} and high={self.high}. Swap them."
            )
        if not math.isfinite(float(self.high) - float(self.low)):
            raise SchemaError(
                f"high - low must be a finite number, got low={self.low} and high={self.high}. "
                "Choose a narrower range."
            )
        check_schema_bool("integer", self.integer)
        if self.integer and not (float(self.low).is_integer() and float(self.high).is_integer()):
            raise SchemaError(
                f"low and high of an integer feature must be whole numbers, "
                f"got {self.low} and {self.high}."
            )
        self._check_cuts()
        marks = check_unconfirmed_names(self.unconfirmed, _NUMERIC_KEYS)
        object.__setattr__(self, "unconfirmed", marks)
        self._check_missing()

    def _check_missing(self) -> None:
        if isinstance(self.missing, str):
            if self.missing != _SEPARATE:
                raise SchemaError(
                    f'missing must be a number or "separate", got {shorten_value(self.missing)}.'
                )
            object.__setattr__(self, "missing", _SEPARATE)
        elif self.missing is not None:
            missing = check_schema_number("missing", self.missing)
            if not self.low <= missing <= self.high:
                raise SchemaError(f"missing must lie in [{self.low}, {self.high}], got {missing}.")
            object.__setattr__(self, "missing", missing)

    def _check_cuts(self) -> None:
        if self.cuts is None:
            return
        if isinstance(self.cuts, (str, bytes)) or not isinstance(self.cuts, Iterable):
            raise SchemaError(f"cuts must be a list of numbers, got {shorten_value(self.cuts)}.")
        cuts = tuple(check_schema_number("cuts", cut) for cut in self.cuts)
        if any(a >= b for a, b in pairwise(cuts)):
            raise SchemaError(f"cuts must be strictly increasing, got {shorten_value(cuts)}.")
        if any(not self.low <= cut < self.high for cut in cuts):
            raise SchemaError(
                f"cuts must lie in [{self.low}, {self.high}) (high excluded), "
                f"got {shorten_value(cuts)}."
            )
        object.__setattr__(self, "cuts", cuts)

    @property
    def separates_missing(self) -> bool:
        """Whether a missing value counts as smaller than all numbers."""
        return self.missing == _SEPARATE

    @property
    def missing_place(self) -> float:
        """Value that stands for a missing value; minus infinity if missing values are separate."""
        if isinstance(self.missing, str):
            return -math.inf
        return self.low if self.missing is None else self.missing


@dataclass(frozen=True)
class Categorical:
    """A categorical feature with a public list of categories.

    Parameters
    ----------
    categories : sequence of str, or of numbers, or of bool
        Every value that the feature can have. The order is kept.
    missing : a category or "separate", optional
        Category that stands for a missing or unknown value; by default the first category. With
        ``"separate"``, a missing or unknown value is one more category, which has no name. (If a
        category is called "separate", ``"separate"`` means this category.)
    unconfirmed : sequence of str, optional
        Names of the parameters that were read from the records and are not confirmed to be public.
        ``"kind"`` stands for the fact that the feature is categorical.

    Examples
    --------
    >>> from privatree import Categorical
    >>> ward = Categorical(["east", "west", "unknown"], missing="unknown")
    >>> ward.missing_place
    2
    >>> Categorical(["east", "west"], missing="separate").n_codes
    3
    """

    categories: Sequence[Label]
    missing: Label | None = None
    unconfirmed: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Raise a SchemaError unless the categories are distinct and all of the same type."""
        categories = check_schema_labels("categories", self.categories, at_least=1)
        object.__setattr__(self, "categories", categories)
        marks = check_unconfirmed_names(self.unconfirmed, _CATEGORICAL_KEYS)
        object.__setattr__(self, "unconfirmed", marks)
        if self.missing is not None:
            object.__setattr__(self, "missing", check_schema_label("missing", self.missing))
            if self.missing not in self.categories and self.missing != _SEPARATE:
                raise SchemaError(
                    f'missing must be one of the categories or "separate", got {self.missing!r}.'
                )

    @cached_property
    def separates_missing(self) -> bool:
        """Whether a missing or unknown value is a category of its own."""
        return self.missing == _SEPARATE and _SEPARATE not in self.categories

    @property
    def n_codes(self) -> int:
        """Number of category codes, including the code of missing values if they are separate."""
        return len(self.categories) + self.separates_missing

    @cached_property
    def missing_place(self) -> int:
        """Code that stands for a missing or unknown value; the last code if these are separate."""
        if self.separates_missing:
            return len(self.categories)
        return 0 if self.missing is None else self.categories.index(self.missing)


Feature: TypeAlias = Numeric | Categorical


# --- dictionary -----------------------------------------------------------------------------------


def entries_read_from_records(feature: Feature) -> tuple[str, ...]:
    return _INFERRED_NUMERIC_KEYS if isinstance(feature, Numeric) else _INFERRED_CATEGORICAL_KEYS


def feature_to_dict(feature: Feature) -> dict[str, Any]:
    entry: dict[str, Any]
    if isinstance(feature, Categorical):
        entry = {"kind": "categorical", "categories": list(feature.categories)}
    else:
        entry = {"kind": "numeric", "low": feature.low, "high": feature.high}
        if feature.integer or "integer" in feature.unconfirmed:
            entry["integer"] = feature.integer
        if feature.cuts is not None:
            entry["cuts"] = list(feature.cuts)
    if feature.missing is not None:
        entry["missing"] = feature.missing
    if feature.unconfirmed:
        entry["unconfirmed"] = list(feature.unconfirmed)
    return entry


def feature_from_dict(name: str, entry: Any) -> Feature:
    where = f"feature {name!r}"
    if not isinstance(entry, dict) or entry.get("kind") not in ("numeric", "categorical"):
        raise SchemaError(f'{where} must have kind = "numeric" or kind = "categorical".')
    arguments = {key: value for key, value in entry.items() if key != "kind"}
    for key in ("categories", "cuts"):
        if isinstance(arguments.get(key), Mapping):  # iterating over a table gives its keys
            raise SchemaError(f"{where}: {key} must be a list, not a table.")
    is_numeric = entry["kind"] == "numeric"
    known = {*(_NUMERIC_KEYS if is_numeric else _CATEGORICAL_KEYS), "unconfirmed"} - {"kind"}
    needed = {"low", "high"} if is_numeric else {"categories"}
    try:
        check_schema_keys(where, arguments, known, needed)
        return Numeric(**arguments) if is_numeric else Categorical(**arguments)
    except SchemaError as error:
        message = str(error)
        raise SchemaError(message if message.startswith(where) else f"{where}: {message}") from None
