"""What is public about the data: feature kinds, ranges, categories and class labels.

A person writes a :class:`Schema` from public knowledge (a codebook, a law, a unit of measurement).
It is never silently read from the records. The types of columns are public too: pass a frame whose
types were fixed before the records were read.

Every value is treated in a fixed, public way, the same in training and in prediction:

- a number below (above) its range counts as the lower (upper) end, infinities included;
- a missing number (NaN, null or text that is not a number) counts as ``Numeric.missing``, by
  default the lower end;
- a missing or unknown category counts as ``Categorical.missing``, by default the first category;
- a record whose label is missing or not among the classes is left out of training.

A value that *was* read from the records (:meth:`Schema.infer`, ``privatree schema draft``) is
marked as ``unconfirmed``, in memory and in files, until a person removes the mark. A model that was
trained with an unconfirmed schema has no finite epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from privatree._support.toml_files import read_toml, write_toml
from privatree.errors import SchemaError
from privatree.schema._csv_dialect import CsvDialect
from privatree.schema._value_checks import (
    Label,
    check_schema_bool,
    check_schema_label,
    check_schema_labels,
    check_schema_number,
    check_schema_text,
    check_unconfirmed_names,
    shorten_value,
)

if TYPE_CHECKING:
    from privatree.inspection import SchemaCheck

__all__ = ["Categorical", "Feature", "Label", "Numeric", "Schema"]

_NUMERIC_KEYS = ("kind", "low", "high", "integer", "cuts", "missing")
_CATEGORICAL_KEYS = ("kind", "categories", "missing")
"""Keys of a feature in a schema file. Each of them can be unconfirmed."""
_INFERRED_NUMERIC_KEYS = ("kind", "low", "high", "integer")
_INFERRED_CATEGORICAL_KEYS = ("kind", "categories")
"""Keys that can be read from records."""
_MAX_NAMED = 30
"""Most columns that a message names."""
_MAX_NAME_LENGTH = 60
"""Most characters of a column name in a message."""
_MAX_IN_REPR = 6
"""Most columns, and most classes, that ``repr`` of a schema shows."""


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
    missing : float, optional
        Value that stands for a missing value; by default ``low``.
    unconfirmed : sequence of str, optional
        Names of the parameters that were read from the records and are not confirmed to be public.
        ``"kind"`` means: that the feature is numeric.

    Examples
    --------
    >>> from privatree import Numeric
    >>> age = Numeric(0, 120, integer=True, missing=40)
    >>> age.missing_place
    40
    """

    low: float
    high: float
    integer: bool = False
    cuts: Sequence[float] | None = None
    missing: float | None = None
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
        if self.missing is not None:
            object.__setattr__(self, "missing", check_schema_number("missing", self.missing))
            if not self.low <= self.missing <= self.high:
                raise SchemaError(
                    f"missing must lie in [{self.low}, {self.high}], got {self.missing}."
                )

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
    def missing_place(self) -> float:
        """Value that stands for a missing value."""
        return self.low if self.missing is None else self.missing


@dataclass(frozen=True)
class Categorical:
    """A categorical feature with a public list of categories.

    Parameters
    ----------
    categories : sequence of str, or of numbers, or of bool
        Every value that the feature can have. The order is kept.
    missing : a category, optional
        Category that stands for a missing or unknown value; by default the first category.
    unconfirmed : sequence of str, optional
        Names of the parameters that were read from the records and are not confirmed to be public.
        ``"kind"`` means: that the feature is categorical.

    Examples
    --------
    >>> from privatree import Categorical
    >>> ward = Categorical(["east", "west", "unknown"], missing="unknown")
    >>> ward.missing_place
    2
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
            if self.missing not in self.categories:
                raise SchemaError(f"missing must be one of the categories, got {self.missing!r}.")

    @cached_property
    def missing_place(self) -> int:
        """Code of the category that stands for a missing or unknown value."""
        return 0 if self.missing is None else self.categories.index(self.missing)


Feature: TypeAlias = Numeric | Categorical


@dataclass(frozen=True, repr=False)
class Schema:
    """The public description of a dataset: its features, in order, and its class labels.

    Parameters
    ----------
    features : mapping of str to Numeric or Categorical
        Column names and their features, in order.
    classes : sequence of str, or of numbers, or of bool
        Labels that can be predicted, at least two.
    classes_confirmed : bool, default=True
        False if the classes were read from the records and are not confirmed to be public. For
        features, see their parameter ``unconfirmed``.
    csv : CsvDialect, optional
        Dialect of the CSV files that hold the records; by default ``CsvDialect()``.

    Examples
    --------
    >>> from privatree import Categorical, Numeric, Schema
    >>> schema = Schema(
    ...     features={"age": Numeric(17, 90, integer=True), "sex": Categorical(["F", "M"])},
    ...     classes=["no", "yes"],
    ... )
    >>> list(schema.features)
    ['age', 'sex']
    """

    features: Mapping[str, Feature]
    classes: Sequence[Label]
    classes_confirmed: bool = True
    csv: CsvDialect | None = None

    def __post_init__(self) -> None:
        """Raise a SchemaError if a name, a feature, the classes or the dialect are invalid."""
        if not isinstance(self.features, Mapping) or not self.features:
            raise SchemaError(
                "features must be a dictionary with at least one column name and its Numeric or "
                "Categorical."
            )
        for name, feature in self.features.items():
            if not isinstance(name, str):
                raise SchemaError(f"feature names must be strings, got {name!r}.")
            if not isinstance(feature, (Numeric, Categorical)):
                raise SchemaError(
                    f"feature {name!r} must be Numeric or Categorical, "
                    f"got {type(feature).__name__}."
                )
        features = {
            check_schema_text("feature names", name): f for name, f in self.features.items()
        }
        object.__setattr__(self, "features", MappingProxyType(features))
        object.__setattr__(
            self, "classes", check_schema_labels("classes", self.classes, at_least=2)
        )
        check_schema_bool("classes_confirmed", self.classes_confirmed)
        if self.csv is not None and not isinstance(self.csv, CsvDialect):
            raise SchemaError(f"csv must be a CsvDialect or None, got {shorten_value(self.csv)}.")

    def __eq__(self, other: object) -> bool:
        """Compare features, their order, classes, dialect, and what is marked as unconfirmed."""
        return isinstance(other, Schema) and self._identity == other._identity

    def __repr__(self) -> str:
        """Return the first columns and classes, as an estimator shows its schema in its repr."""
        kinds = [
            f"{shorten_value(name)}: {type(kind).__name__}" for name, kind in self.features.items()
        ]
        marks = ", some of it unconfirmed" if self.unconfirmed else ""
        return (
            f"Schema(features={{{_schema_entries_for_repr(kinds)}}}, "
            f"classes=[{_schema_entries_for_repr(list(map(shorten_value, self.classes)))}]{marks})"
        )

    def __hash__(self) -> int:
        """Hash everything that ``==`` compares; a mapping proxy itself cannot be hashed."""
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[Any, ...]:
        return tuple(self.features.items()), self.classes, self.classes_confirmed, self.csv

    def __reduce__(self) -> tuple[type[Schema], tuple[Any, ...]]:
        """Pickle by the constructor: a mapping proxy cannot be pickled."""
        return Schema, (dict(self.features), self.classes, self.classes_confirmed, self.csv)

    @property
    def names(self) -> tuple[str, ...]:
        """Column names, in order."""
        return tuple(self.features)

    # --- unconfirmed entries ------------------------------------------------------------------

    @property
    def unconfirmed(self) -> tuple[tuple[str, ...], ...]:
        """Entries that were read from the records and are not confirmed to be public.

        Each entry is a path of keys in the schema file: ``("classes",)`` or
        ``("features", "age", "low")``. A model has no finite epsilon if there is any such entry.
        """
        of_classes = () if self.classes_confirmed else (("classes",),)
        of_csv = () if self.csv is None else tuple(("csv", mark) for mark in self.csv.unconfirmed)
        of_features = (
            ("features", name, mark)
            for name, feature in self.features.items()
            for mark in feature.unconfirmed
        )
        return (*of_classes, *of_csv, *of_features)

    def shown_unconfirmed(self) -> str:
        """Return the unconfirmed entries as text, without values: ``classes; 'age': low, high``.

        A column of which every entry is unconfirmed is shown by its name alone. A long list is cut.
        """
        marked = {name: f for name, f in self.features.items() if f.unconfirmed}
        entries = [] if self.classes_confirmed else ["classes"]
        if self.csv is not None and self.csv.unconfirmed:
            entries.append(f"csv: {', '.join(self.csv.unconfirmed)}")
        for name, feature in list(marked.items())[:_MAX_NAMED]:
            named = repr(name)
            named = named if len(named) <= _MAX_NAME_LENGTH else f"{named[: _MAX_NAME_LENGTH - 1]}…"
            some = set(_entries_read_from_records(feature)) - set(feature.unconfirmed)
            entries.append(f"{named}: {', '.join(feature.unconfirmed)}" if some else named)
        if len(marked) > _MAX_NAMED:
            entries.append(f"and {len(marked) - _MAX_NAMED} more columns")
        return "; ".join(entries)

    def confirmed(self) -> Schema:
        """Return a copy in which nothing is marked as unconfirmed.

        Call this only if every value in the schema is public knowledge, that is, if it would be
        the same for any other records.
        """
        features = {name: replace(f, unconfirmed=()) for name, f in self.features.items()}
        csv = None if self.csv is None else replace(self.csv, unconfirmed=())
        return Schema(features, self.classes, csv=csv)

    def all_unconfirmed(self) -> Schema:
        """Return a copy in which everything is marked as read from the records."""
        features = {
            name: replace(f, unconfirmed=(*f.unconfirmed, *_entries_read_from_records(f)))
            for name, f in self.features.items()
        }
        csv = None if self.csv is None else self.csv.all_unconfirmed()
        return Schema(features, self.classes, classes_confirmed=False, csv=csv)

    # --- dictionary and TOML ------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries and lists, as in a schema's TOML file and a model's JSON."""
        return {
            "classes": list(self.classes),
            **({} if self.classes_confirmed else {"unconfirmed": ["classes"]}),
            **({} if self.csv is None else {"csv": self.csv.to_dict()}),
            "features": {name: _feature_to_dict(f) for name, f in self.features.items()},
        }

    @classmethod
    def from_dict(cls, written: Any) -> Schema:
        """Read a schema from the dictionary that :meth:`to_dict` wrote.

        A :class:`SchemaError` is raised if a key is missing or unknown, or a value is invalid.
        """
        if not isinstance(written, dict):
            raise SchemaError("a schema must be a table with 'classes' and 'features'.")
        needed = {"classes", "features"}
        _check_schema_keys("the schema", written, {*needed, "unconfirmed", "csv"}, needed=needed)
        features = written["features"]
        if not isinstance(features, dict):
            raise SchemaError("'features' must be a table of columns.")
        if not isinstance(written["classes"], list):
            raise SchemaError("'classes' must be a list of labels.")
        return cls(
            {name: _feature_from_dict(name, entry) for name, entry in features.items()},
            tuple(written["classes"]),
            classes_confirmed=not check_unconfirmed_names(
                written.get("unconfirmed", ()), ("classes",)
            ),
            csv=CsvDialect.from_dict(written["csv"]) if "csv" in written else None,
        )

    def to_toml(self, path: str | Path) -> None:
        """Write the schema as a TOML file that a person can read and edit.

        A :class:`SchemaError` is raised if the file would be too large for :meth:`from_toml`.
        """
        write_toml(path, self.to_dict())

    @classmethod
    def from_toml(cls, path: str | Path) -> Schema:
        """Read a schema from a TOML file.

        A :class:`SchemaError` that names the file is raised if the file is not a valid schema.
        """
        return read_toml(path, cls.from_dict)

    @classmethod
    def infer(cls, X: Any, y: Any) -> Schema:
        """Read a schema from the records themselves. **This leaks**, and issues a warning.

        Ranges are the smallest and largest finite values. Categories and classes are the values
        that occur. Everything is marked as unconfirmed, so a model trained with this schema has no
        finite epsilon. Use it to draft a schema that a person then checks against public knowledge.
        A :class:`PrivacyLeakWarning` is always issued.
        """
        from privatree.inspection import infer_schema

        return infer_schema(X, y)

    # --- not private: for the owner of the records --------------------------------------------

    def check(self, X: Any, y: Any = None) -> SchemaCheck:
        """Find the values in the records that do not fit this schema. **This leaks.**

        Training never reports such values, because an error would reveal something about a record:
        a number is clipped to its range, an unknown category counts as the first one, and a record
        with an unknown label is left out. This method counts them, shows examples of values, and
        lists the columns that ``fit`` would refuse. The result is about single records: keep it to
        yourself, and do not narrow the schema to what you see. ``fit`` never calls this method.

        Parameters
        ----------
        X : frame
            Records in memory, in any container that ``fit`` accepts. For files, use the command
            ``privatree schema check``.
        y : labels, optional
            One label per record. By default only the features are checked.

        Returns
        -------
        SchemaCheck
            The misfits. It is True if every value fits; print it to read them.

        Raises
        ------
        SchemaError
            If no column of X is in the schema, or if X has no column names and the number of its
            columns differs from the schema.
        TypeError, ValueError
            If X is not a frame, y is not one column, or X and y have different lengths.

        Examples
        --------
        >>> schema = Schema({"age": Numeric(0, 120), "sex": Categorical(["F", "M"])}, ["no", "yes"])
        >>> schema.check([[34, "F"], [199, "m"]], ["no", "Yes"])
        Not private: this output reveals single records. Keep it to yourself.
        <BLANKLINE>
        2 records
          'age'  1  above the range, such as 199
          'sex'  1  not a category, such as 'm'
          'y'    1  not a class: left out, such as 'Yes'
        Everything else fits.
        """
        from privatree.inspection import check_frame_against_schema

        return check_frame_against_schema(X, y, self)


# --- dictionary and TOML -------------------------------------------------------------------------


def _check_schema_keys(
    where: str, table: dict[Any, Any], allowed: set[str], needed: set[str]
) -> None:
    if unknown := sorted(str(key) for key in table.keys() - allowed):
        raise SchemaError(
            f"{where} has the unknown key {unknown[0]!r}; known keys are {sorted(allowed)}."
        )
    if absent := sorted(needed - table.keys()):
        raise SchemaError(f"{where} must have the key {absent[0]!r}, but lacks it. Add it.")


def _schema_entries_for_repr(entries: Sequence[str]) -> str:
    more = len(entries) - _MAX_IN_REPR
    return ", ".join([*entries[:_MAX_IN_REPR], *([f"… {more} more"] if more > 0 else [])])


def _entries_read_from_records(feature: Feature) -> tuple[str, ...]:
    return _INFERRED_NUMERIC_KEYS if isinstance(feature, Numeric) else _INFERRED_CATEGORICAL_KEYS


def _feature_to_dict(feature: Feature) -> dict[str, Any]:
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


def _feature_from_dict(name: str, entry: Any) -> Feature:
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
        _check_schema_keys(where, arguments, known, needed)
        return Numeric(**arguments) if is_numeric else Categorical(**arguments)
    except SchemaError as error:
        message = str(error)
        raise SchemaError(message if message.startswith(where) else f"{where}: {message}") from None
