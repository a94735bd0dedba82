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
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from privatree.errors import SchemaError
from privatree.toml_files import read_toml, write_toml

Label: TypeAlias = str | bool | int | float
"""A category or class label: what TOML and JSON can both write down."""

_LONGEST_SHOWN = 80
_LARGEST_LABEL = 10**4000
"""Python neither prints nor reads much larger ones."""


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
    """

    low: float
    high: float
    integer: bool = False
    cuts: Sequence[float] | None = None
    missing: float | None = None

    def __post_init__(self) -> None:
        """Refuse a range that contradicts itself."""
        for name in ("low", "high"):
            object.__setattr__(self, name, _finite_number(name, getattr(self, name)))
        if self.low > self.high:
            raise SchemaError(
                f"low must be <= high, got low={self.low} and high={self.high}. Swap them."
            )
        if not math.isfinite(float(self.high) - float(self.low)):
            raise SchemaError("high - low must be a finite number. Choose a narrower range.")
        if not isinstance(self.integer, bool):
            raise SchemaError(f"integer must be True or False, got {_shown(self.integer)}.")
        if self.integer and not (_is_whole(self.low) and _is_whole(self.high)):
            raise SchemaError(
                f"low and high of an integer feature must be whole numbers, "
                f"got {self.low} and {self.high}."
            )
        self._check_cuts()
        if self.missing is not None:
            object.__setattr__(self, "missing", _finite_number("missing", self.missing))
            if not self.low <= self.missing <= self.high:
                raise SchemaError(
                    f"missing must lie in [{self.low}, {self.high}], got {self.missing}."
                )

    def _check_cuts(self) -> None:
        if self.cuts is None:
            return
        if isinstance(self.cuts, (str, bytes)) or not isinstance(self.cuts, Iterable):
            raise SchemaError(f"cuts must be a list of numbers, got {_shown(self.cuts)}.")
        cuts = tuple(_finite_number("cuts", cut) for cut in self.cuts)
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
    """

    categories: Sequence[Label]
    missing: Label | None = None

    def __post_init__(self) -> None:
        """Refuse an empty, repeated or mixed list of categories."""
        object.__setattr__(self, "categories", _labels("categories", self.categories, at_least=1))
        if self.missing is not None:
            object.__setattr__(self, "missing", _label("missing", self.missing))
            if self.missing not in self.categories:
                raise SchemaError(f"missing must be one of the categories, got {self.missing!r}.")

    @cached_property
    def missing_place(self) -> int:
        """The code of the category that a missing or unknown value counts as."""
        return 0 if self.missing is None else self.categories.index(self.missing)


Feature: TypeAlias = Numeric | Categorical


@dataclass(frozen=True)
class Schema:
    """The public description of a table: its features, in order, and its class labels.

    Parameters
    ----------
    features : mapping of str to Numeric or Categorical
        The columns, in order.
    classes : sequence of str, or of numbers, or of bool
        The labels that can be predicted, at least two.

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

    def __post_init__(self) -> None:
        """Refuse a schema that contradicts itself."""
        if not isinstance(self.features, Mapping) or not self.features:
            raise SchemaError("features must map at least one column name to Numeric/Categorical.")
        for name, feature in self.features.items():
            if not isinstance(name, str):
                raise SchemaError(f"feature names must be strings, got {name!r}.")
            if not isinstance(feature, (Numeric, Categorical)):
                raise SchemaError(f"feature {name!r} must be Numeric or Categorical.")
        features = {_text("feature names", name): f for name, f in self.features.items()}
        object.__setattr__(self, "features", MappingProxyType(features))
        object.__setattr__(self, "classes", _labels("classes", self.classes, at_least=2))

    def __eq__(self, other: object) -> bool:
        """Tell whether features, their order and classes are the same."""
        return isinstance(other, Schema) and self._identity == other._identity

    def __hash__(self) -> int:
        """Agree with equality; a mapping proxy cannot be hashed."""
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[Any, ...]:
        return tuple(self.features.items()), self.classes

    def __reduce__(self) -> tuple[type[Schema], tuple[dict[str, Feature], Sequence[Label]]]:
        """Pickle by the constructor: a mapping proxy cannot be pickled."""
        return Schema, (dict(self.features), self.classes)

    @property
    def names(self) -> tuple[str, ...]:
        """The column names in order."""
        return tuple(self.features)

    # --- written form -------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries and lists, as in the TOML file and in a model's JSON."""
        return {
            "classes": list(self.classes),
            "features": {name: _feature_to_dict(f) for name, f in self.features.items()},
        }

    @classmethod
    def from_dict(cls, written: Any) -> Schema:
        """Read what :meth:`to_dict` wrote; every mistake is a :class:`SchemaError`."""
        if not isinstance(written, dict):
            raise SchemaError("a schema must be a table with 'classes' and 'features'.")
        _only_keys("the schema", written, {"classes", "features"}, needed={"classes", "features"})
        features = written["features"]
        if not isinstance(features, dict):
            raise SchemaError("'features' must be a table of columns.")
        if not isinstance(written["classes"], list):
            raise SchemaError("'classes' must be a list of labels.")
        return cls(
            {name: _feature_from_dict(name, entry) for name, entry in features.items()},
            tuple(written["classes"]),
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
        occur. A model trained with such a schema has no finite epsilon. Use it to draft a schema
        that a person then checks against public knowledge.

        Warns
        -----
        PrivacyLeakWarning
            Always.
        """
        from privatree.sources.inference import infer_schema

        return infer_schema(X, y)


# --- small checks -------------------------------------------------------------------------------


def _is_whole(value: float) -> bool:
    return float(value).is_integer()


def _plain(value: Any) -> Any:
    """A numpy scalar as the Python value it stands for."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "shape", None) == () else value


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # beyond the floats
        return False


def _shown(value: Any) -> str:
    """A wrong value for a message, cut if it is long."""
    try:
        text = repr(value)
    except ValueError:  # of more digits than Python prints
        return "a number of thousands of digits"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def _finite_number(name: str, value: Any) -> float:
    value = _plain(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SchemaError(f"{name} must be a number, got {_shown(value)}.")
    if not _is_finite(value):
        raise SchemaError(f"{name} must be a finite number, got {_shown(value)}.")
    return int(value) if isinstance(value, int) else float(value)


def _text(name: str, value: str) -> str:
    text = str.__str__(value)  # not str(): an enumeration prints its name there
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise SchemaError(f"{name} must be valid Unicode, got {text!r}.") from None
    return text


def _label(name: str, value: Any) -> Label:
    value = _plain(value)
    if isinstance(value, str):
        return _text(name, value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if abs(value) > _LARGEST_LABEL:
            raise SchemaError(f"{name} must not be numbers of thousands of digits.")
        return int(value)
    if isinstance(value, numbers.Real) and _is_finite(value):
        return float(value)
    raise SchemaError(f"{name} must be strings, whole or finite numbers, or booleans.")


def _labels(name: str, values: Any, at_least: int) -> tuple[Label, ...]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise SchemaError(f"{name} must be a list, got {_shown(values)}.")
    labels = tuple(_label(name, value) for value in values)
    if len(labels) < at_least:
        raise SchemaError(f"{name} must list at least {at_least}, got {len(labels)}.")
    kinds = {"string" if isinstance(v, str) else "bool" if isinstance(v, bool) else "number"
             for v in labels}  # fmt: skip
    if len(kinds) > 1:
        raise SchemaError(f"{name} must be all of one kind, got {' and '.join(sorted(kinds))}.")
    seen: set[Label] = set()
    for label in labels:
        if label in seen:
            raise SchemaError(f"{name} must be distinct, got {label!r} twice.")
        seen.add(label)
    return labels


def _only_keys(where: str, table: dict[Any, Any], allowed: set[str], needed: set[str]) -> None:
    if unknown := sorted(str(key) for key in table.keys() - allowed):
        raise SchemaError(f"{where}: unknown key {unknown[0]!r}; known are {sorted(allowed)}.")
    if absent := sorted(needed - table.keys()):
        raise SchemaError(f"{where}: key {absent[0]!r} is needed.")


def _feature_to_dict(feature: Feature) -> dict[str, Any]:
    entry: dict[str, Any]
    if isinstance(feature, Categorical):
        entry = {"kind": "categorical", "categories": list(feature.categories)}
    else:
        entry = {"kind": "numeric", "low": feature.low, "high": feature.high}
        if feature.integer:
            entry["integer"] = True
        if feature.cuts is not None:
            entry["cuts"] = list(feature.cuts)
    if feature.missing is not None:
        entry["missing"] = feature.missing
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
            _only_keys(where, arguments, {"low", "high", "integer", "cuts", "missing"},
                       needed={"low", "high"})  # fmt: skip
            return Numeric(**arguments)
        _only_keys(where, arguments, {"categories", "missing"}, needed={"categories"})
        return Categorical(**arguments)
    except SchemaError as error:
        message = str(error)
        raise SchemaError(message if message.startswith(where) else f"{where}: {message}") from None
