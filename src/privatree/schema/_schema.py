"""What is public about the data: feature kinds, ranges, categories and class labels.

A :class:`Schema` is written by a person from public knowledge (a codebook, a law, a unit of
measurement), never silently read from the records. Types of columns are public too: pass a frame
whose types were fixed before it was read.

Every value has a fixed public place, the same at training and at prediction:

- a number below (above) its range counts as the lower (upper) end, infinities included;
- a missing number (NaN, null, not a number at all) counts as ``Numeric.missing``, by default the
  lower end;
- a missing or unknown category counts as ``Categorical.missing``, by default the first category;
- a record whose label is missing or not among the classes is left out of training.

A value that *was* read from the records (:meth:`Schema.infer`, ``privatree schema draft``) is
marked ``unconfirmed`` beside where it stands, in memory and in files, until a person takes the mark
away. No model of a schema with such a mark has a finite epsilon.
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
    finite_number,
    is_whole,
    label_of,
    labels_of,
    marks_of,
    shown,
    text_of,
)

if TYPE_CHECKING:
    from privatree.inspection import SchemaCheck

__all__ = ["Categorical", "Feature", "Label", "Numeric", "Schema"]

_OF_NUMERIC = ("kind", "low", "high", "integer", "cuts", "missing")
_OF_CATEGORICAL = ("kind", "categories", "missing")
"""What can be unconfirmed, as the keys of the written form."""
_READ_OF_NUMERIC = ("kind", "low", "high", "integer")
_READ_OF_CATEGORICAL = ("kind", "categories")
"""What records show of a feature."""
_MAX_NAMED = 30
_MAX_NAME_LENGTH = 60
"""Of columns in a message."""
_MAX_IN_REPR = 6
"""Columns, and classes, that ``repr`` of a schema shows."""


@dataclass(frozen=True)
class Numeric:
    """A numeric feature with a public range.

    Parameters
    ----------
    low, high : float
        The public range, both ends included. Values outside count as the nearer end.
    integer : bool, default=False
        Whether the feature takes whole numbers only.
    cuts : sequence of float, optional
        Public cut points to split at, strictly increasing, ``low <= cut < high``. A value equal
        to a cut belongs to its left. Without them the learner chooses its own.
    missing : float, optional
        Where a missing value counts; ``low`` if not given.
    unconfirmed : sequence of str, optional
        Which of these (and ``"kind"``: that it is numeric) were read from the records, and nobody
        has confirmed that they are public.
    """

    low: float
    high: float
    integer: bool = False
    cuts: Sequence[float] | None = None
    missing: float | None = None
    unconfirmed: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Refuse a range that contradicts itself."""
        for name in ("low", "high"):
            object.__setattr__(self, name, finite_number(name, getattr(self, name)))
        if self.low > self.high:
            raise SchemaError(
                f"low must be <= high, got low={self.low} and high={self.high}. Swap them."
            )
        if not math.isfinite(float(self.high) - float(self.low)):
            raise SchemaError("high - low must be a finite number. Choose a narrower range.")
        if not isinstance(self.integer, bool):
            raise SchemaError(f"integer must be True or False, got {shown(self.integer)}.")
        if self.integer and not (is_whole(self.low) and is_whole(self.high)):
            raise SchemaError(
                f"low and high of an integer feature must be whole numbers, "
                f"got {self.low} and {self.high}."
            )
        self._check_cuts()
        object.__setattr__(self, "unconfirmed", marks_of(self.unconfirmed, _OF_NUMERIC))
        if self.missing is not None:
            object.__setattr__(self, "missing", finite_number("missing", self.missing))
            if not self.low <= self.missing <= self.high:
                raise SchemaError(
                    f"missing must lie in [{self.low}, {self.high}], got {self.missing}."
                )

    def _check_cuts(self) -> None:
        if self.cuts is None:
            return
        if isinstance(self.cuts, (str, bytes)) or not isinstance(self.cuts, Iterable):
            raise SchemaError(f"cuts must be a list of numbers, got {shown(self.cuts)}.")
        cuts = tuple(finite_number("cuts", cut) for cut in self.cuts)
        if any(a >= b for a, b in pairwise(cuts)):
            raise SchemaError("cuts must be strictly increasing.")
        if any(not self.low <= cut < self.high for cut in cuts):
            raise SchemaError(f"cuts must lie in [{self.low}, {self.high}) (high excluded).")
        object.__setattr__(self, "cuts", cuts)

    @property
    def missing_place(self) -> float:
        """The value that a missing one counts as."""
        return self.low if self.missing is None else self.missing


@dataclass(frozen=True)
class Categorical:
    """A feature with a public list of categories.

    Parameters
    ----------
    categories : sequence of str, or of numbers, or of bool
        Every value the feature can take. Their order is kept.
    missing : a category, optional
        Where a missing or unknown value counts; the first category if not given.
    unconfirmed : sequence of str, optional
        Which of these (and ``"kind"``: that it is categorical) were read from the records, and
        nobody has confirmed that they are public.
    """

    categories: Sequence[Label]
    missing: Label | None = None
    unconfirmed: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Refuse an empty, repeated or mixed list of categories."""
        object.__setattr__(self, "categories", labels_of("categories", self.categories, at_least=1))
        object.__setattr__(self, "unconfirmed", marks_of(self.unconfirmed, _OF_CATEGORICAL))
        if self.missing is not None:
            object.__setattr__(self, "missing", label_of("missing", self.missing))
            if self.missing not in self.categories:
                raise SchemaError(f"missing must be one of the categories, got {self.missing!r}.")

    @cached_property
    def missing_place(self) -> int:
        """The code of the category that a missing or unknown value counts as."""
        return 0 if self.missing is None else self.categories.index(self.missing)


Feature: TypeAlias = Numeric | Categorical


@dataclass(frozen=True, repr=False)
class Schema:
    """The public description of a table: its features, in order, and its class labels.

    Parameters
    ----------
    features : mapping of str to Numeric or Categorical
        The columns, in order.
    classes : sequence of str, or of numbers, or of bool
        The labels that can be predicted, at least two.
    classes_confirmed : bool, default=True
        False if the classes were read from the records, and nobody has confirmed that they are
        public. Features carry such marks themselves.
    csv : CsvDialect, optional
        How CSV files of the records are written, if not in the usual way.

    Examples
    --------
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
        """Refuse a schema that contradicts itself."""
        if not isinstance(self.features, Mapping) or not self.features:
            raise SchemaError("features must map at least one column name to Numeric/Categorical.")
        for name, feature in self.features.items():
            if not isinstance(name, str):
                raise SchemaError(f"feature names must be strings, got {name!r}.")
            if not isinstance(feature, (Numeric, Categorical)):
                raise SchemaError(f"feature {name!r} must be Numeric or Categorical.")
        features = {text_of("feature names", name): f for name, f in self.features.items()}
        object.__setattr__(self, "features", MappingProxyType(features))
        object.__setattr__(self, "classes", labels_of("classes", self.classes, at_least=2))
        if not isinstance(self.classes_confirmed, bool):
            raise SchemaError(
                f"classes_confirmed must be True or False, got {shown(self.classes_confirmed)}."
            )
        if self.csv is not None and not isinstance(self.csv, CsvDialect):
            raise SchemaError(f"csv must be a CsvDialect or None, got {shown(self.csv)}.")

    def __eq__(self, other: object) -> bool:
        """Tell whether features, their order, classes and what is unconfirmed are the same."""
        return isinstance(other, Schema) and self._identity == other._identity

    def __repr__(self) -> str:
        """The first columns and classes: an estimator shows its schema among its parameters."""
        kinds = [f"{shown(name)}: {type(kind).__name__}" for name, kind in self.features.items()]
        marks = ", some of it unconfirmed" if self.unconfirmed else ""
        return (
            f"Schema(features={{{_some(kinds)}}}, "
            f"classes=[{_some(list(map(shown, self.classes)))}]{marks})"
        )

    def __hash__(self) -> int:
        """Agree with equality; a mapping proxy cannot be hashed."""
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[Any, ...]:
        return tuple(self.features.items()), self.classes, self.classes_confirmed, self.csv

    def __reduce__(self) -> tuple[type[Schema], tuple[Any, ...]]:
        """Pickle by the constructor: a mapping proxy cannot be pickled."""
        return Schema, (dict(self.features), self.classes, self.classes_confirmed, self.csv)

    @property
    def names(self) -> tuple[str, ...]:
        """The column names in order."""
        return tuple(self.features)

    # --- what was read from the records -------------------------------------------------------

    @property
    def unconfirmed(self) -> tuple[tuple[str, ...], ...]:
        """The entries that were read from the records, and that nobody has confirmed.

        Each is the keys that lead to it in the written form: ``("classes",)`` or
        ``("features", "age", "low")``. While there is one, no model has a finite epsilon.
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
        """The unconfirmed entries in words, without any value; a long list is cut.

        A column that has nothing else is named alone: ``classes; 'age'; 'income': high``.
        """
        marked = {name: f for name, f in self.features.items() if f.unconfirmed}
        entries = [] if self.classes_confirmed else ["classes"]
        if self.csv is not None and self.csv.unconfirmed:
            entries.append(f"csv: {', '.join(self.csv.unconfirmed)}")
        for name, feature in list(marked.items())[:_MAX_NAMED]:
            named = repr(name)
            named = named if len(named) <= _MAX_NAME_LENGTH else f"{named[: _MAX_NAME_LENGTH - 1]}…"
            some = set(_marks_read(feature)) - set(feature.unconfirmed)
            entries.append(f"{named}: {', '.join(feature.unconfirmed)}" if some else named)
        if len(marked) > _MAX_NAMED:
            entries.append(f"and {len(marked) - _MAX_NAMED} more columns")
        return "; ".join(entries)

    def confirmed(self) -> Schema:
        """The same schema without marks.

        Whoever calls this vouches that every value in the schema is public knowledge: that it
        would be the same whatever the records are.
        """
        features = {name: replace(f, unconfirmed=()) for name, f in self.features.items()}
        csv = None if self.csv is None else replace(self.csv, unconfirmed=())
        return Schema(features, self.classes, csv=csv)

    def all_unconfirmed(self) -> Schema:
        """The same schema, everything in it marked as read from the records."""
        features = {
            name: replace(f, unconfirmed=(*f.unconfirmed, *_marks_read(f)))
            for name, f in self.features.items()
        }
        csv = None if self.csv is None else self.csv.all_unconfirmed()
        return Schema(features, self.classes, classes_confirmed=False, csv=csv)

    # --- written form -------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries and lists, as in the TOML file and in a model's JSON."""
        return {
            "classes": list(self.classes),
            **({} if self.classes_confirmed else {"unconfirmed": ["classes"]}),
            **({} if self.csv is None else {"csv": self.csv.to_dict()}),
            "features": {name: _feature_to_dict(f) for name, f in self.features.items()},
        }

    @classmethod
    def from_dict(cls, written: Any) -> Schema:
        """Read what :meth:`to_dict` wrote; every mistake is a :class:`SchemaError`."""
        if not isinstance(written, dict):
            raise SchemaError("a schema must be a table with 'classes' and 'features'.")
        needed = {"classes", "features"}
        _only_keys("the schema", written, {*needed, "unconfirmed", "csv"}, needed=needed)
        features = written["features"]
        if not isinstance(features, dict):
            raise SchemaError("'features' must be a table of columns.")
        if not isinstance(written["classes"], list):
            raise SchemaError("'classes' must be a list of labels.")
        return cls(
            {name: _feature_from_dict(name, entry) for name, entry in features.items()},
            tuple(written["classes"]),
            classes_confirmed=not marks_of(written.get("unconfirmed", ()), ("classes",)),
            csv=CsvDialect.from_dict(written["csv"]) if "csv" in written else None,
        )

    def to_toml(self, path: str | Path) -> None:
        """Write the schema as a TOML file that a person can read and edit.

        One that would be too large for :meth:`from_toml` is a :class:`SchemaError`.
        """
        write_toml(path, self.to_dict())

    @classmethod
    def from_toml(cls, path: str | Path) -> Schema:
        """Read a TOML file; every mistake in it is a :class:`SchemaError` that names the file."""
        return read_toml(path, cls.from_dict)

    @classmethod
    def infer(cls, X: Any, y: Any) -> Schema:
        """Read a schema from the records themselves. **This leaks**, and warns that it does.

        Ranges are the smallest and largest finite values, categories and classes the values that
        occur. All of it is marked unconfirmed: a model trained with such a schema has no finite
        epsilon. Use it to draft a schema that a person then checks against public knowledge.

        Warns
        -----
        PrivacyLeakWarning
            Always.
        """
        from privatree.inspection import infer_schema

        return infer_schema(X, y)

    # --- for the owner's eyes -----------------------------------------------------------------

    def check(self, X: Any, y: Any = None) -> SchemaCheck:
        """Look for what in the records does not fit this schema. **This leaks.**

        Training takes what does not fit without a word, because an error would tell of a record:
        a number is clipped to its range, an unknown category counts as the first one, a record
        with an unknown label is left out. Here all of it is counted, with examples of values, and
        with the columns that ``fit`` would refuse. It is about single records: look, keep it to
        yourself, and do not narrow the schema to what you see. ``fit`` never calls it.

        Parameters
        ----------
        X : frame
            Records in memory, of any kind that ``fit`` takes. For files there is the command
            ``privatree schema check``.
        y : labels, optional
            One label per record. Without them only the columns are checked.

        Returns
        -------
        SchemaCheck
            True if every value fits. Print it.

        Raises
        ------
        SchemaError
            If X has no column of the schema or, without names of columns, not as many.
        TypeError, ValueError
            If X is not a frame, y not one column, or they have not equally many rows.

        Examples
        --------
        >>> schema = Schema({"age": Numeric(0, 120), "sex": Categorical(["F", "M"])}, ["no", "yes"])
        >>> schema.check([[34, "F"], [199, "m"]], ["no", "Yes"])
        Not private: this tells of single records. Keep it to yourself.
        <BLANKLINE>
        2 records
          'age'  1  above the range, such as 199
          'sex'  1  not a category, such as 'm'
          'y'    1  not a class: left out, such as 'Yes'
        Everything else fits.
        """
        from privatree.inspection import check_frame_against_schema

        return check_frame_against_schema(X, y, self)


# --- written form --------------------------------------------------------------------------------


def _only_keys(where: str, table: dict[Any, Any], allowed: set[str], needed: set[str]) -> None:
    if unknown := sorted(str(key) for key in table.keys() - allowed):
        raise SchemaError(f"{where}: unknown key {unknown[0]!r}; known are {sorted(allowed)}.")
    if absent := sorted(needed - table.keys()):
        raise SchemaError(f"{where}: key {absent[0]!r} is needed.")


def _some(entries: Sequence[str]) -> str:
    more = len(entries) - _MAX_IN_REPR
    return ", ".join([*entries[:_MAX_IN_REPR], *([f"… {more} more"] if more > 0 else [])])


def _marks_read(feature: Feature) -> tuple[str, ...]:
    return _READ_OF_NUMERIC if isinstance(feature, Numeric) else _READ_OF_CATEGORICAL


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
        raise SchemaError(f'{where}: needs kind = "numeric" or kind = "categorical".')
    arguments = {key: value for key, value in entry.items() if key != "kind"}
    for key in ("categories", "cuts"):
        if isinstance(arguments.get(key), Mapping):  # whose keys would pass for a list
            raise SchemaError(f"{where}: {key} must be a list, not a table.")
    try:
        if entry["kind"] == "numeric":
            known = {*_OF_NUMERIC, "unconfirmed"} - {"kind"}
            _only_keys(where, arguments, known, needed={"low", "high"})
            return Numeric(**arguments)
        known = {*_OF_CATEGORICAL, "unconfirmed"} - {"kind"}
        _only_keys(where, arguments, known, needed={"categories"})
        return Categorical(**arguments)
    except SchemaError as error:
        message = str(error)
        raise SchemaError(message if message.startswith(where) else f"{where}: {message}") from None
