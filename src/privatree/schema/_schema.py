"""What is public about the data: feature kinds, ranges, categories, and class labels or a target.

A person writes a :class:`Schema` from public knowledge (a codebook, a law, a unit of measurement).
It is never silently read from the records. The types of columns are public too: pass a frame whose
types were fixed before the records were read.

Every value is treated in a fixed, public way, the same in training and in prediction:

- a number below (above) its range counts as the lower (upper) end, infinities included;
- a missing number (NaN, null or text that is not a number) counts as ``Numeric.missing``, by
  default the lower end;
- a missing or unknown category counts as ``Categorical.missing``, by default the first category;
- with ``missing="separate"``, a missing number counts as smaller than all numbers, and a missing or
  unknown category is one more category, so that a tree can ask whether a value is missing;
- a record whose label is missing or not among the classes is left out of training;
- a numeric target outside its range counts as the nearer end, and a record whose target is missing
  or not a number is left out of training.

A value that *was* read from the records (:meth:`Schema.infer`, ``privatree schema draft``) is
marked as ``unconfirmed``, in memory and in files, until a person removes the mark. A model that was
trained with an unconfirmed schema has no finite epsilon.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from privatree._support.toml_files import read_toml, write_toml
from privatree.errors import SchemaError
from privatree.schema._about import About
from privatree.schema._csv_dialect import CsvDialect
from privatree.schema._features import (
    Categorical,
    Feature,
    Numeric,
    entries_read_from_records,
    feature_from_dict,
    feature_to_dict,
)
from privatree.schema._target import INFERRED_TARGET_KEYS, Target
from privatree.schema._value_checks import (
    Label,
    check_min_records,
    check_schema_bool,
    check_schema_keys,
    check_schema_labels,
    check_schema_text,
    check_unconfirmed_names,
    shorten_value,
)

if TYPE_CHECKING:
    from privatree.inspection import SchemaCheck

_MARKED_KEYS = ("classes", "unit", "min_records")
"""Keys of the schema itself that can be unconfirmed."""
_MAX_NAMED = 30
"""Largest number of columns that a message names."""
_MAX_NAME_LENGTH = 60
"""Largest number of characters of a column name in a message."""
_MAX_IN_REPR = 6
"""Largest number of columns, and of classes, that ``repr`` of a schema shows."""


@dataclass(frozen=True, repr=False)
class Schema:
    """The public description of a dataset: its features, in order, and its class labels or target.

    Parameters
    ----------
    features : mapping of str to Numeric or Categorical
        Column names and their features, in order.
    classes : sequence of str, or of numbers, or of bool
        Labels that can be predicted, at least two. Give either `classes`, for a classifier, or
        `target`, for a regressor.
    classes_confirmed : bool, default=True
        False if the classes were read from the records and are not confirmed to be public. For
        features, see their parameter ``unconfirmed``.
    csv : CsvDialect, optional
        Dialect of the CSV files that hold the records; by default ``CsvDialect()``.
    min_records : int, optional
        Smallest plausible number of records with a known label, from public knowledge. Fewer
        records mean a mistake: a misspelt class, the wrong column, an empty file. ``fit`` first
        draws the noisy number of records. If it is smaller than `min_records`, ``fit`` raises a
        :class:`TooFewRecordsError` and does not spend the rest of epsilon. By default ``fit`` does
        not test the number.
    about : About, optional
        Title, target, description, intended use, owner and date, which the model publishes.
    unit : str, optional
        Name of the column that says who a row is about, such as ``"patient_id"``. Epsilon then
        holds for all records of a unit together. The column must not be a feature. The name is
        public; the ids in the column are not, and are never published.
    min_records_confirmed : bool, default=True
        False if `min_records` was read from the records and is not confirmed to be public.
    unit_confirmed : bool, default=True
        False if `unit` was guessed from the records and nobody has confirmed it.
    target : Target, optional
        Range of the number that is predicted. Then `classes` is empty.

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
    classes: Sequence[Label] = ()
    classes_confirmed: bool = True
    csv: CsvDialect | None = None
    min_records: int | None = None
    about: About | None = None
    min_records_confirmed: bool = True
    unit: str | None = None
    unit_confirmed: bool = True
    target: Target | None = None

    def __post_init__(self) -> None:
        """Raise a SchemaError if a name, a feature, the classes or another entry is invalid."""
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
        self._check_predicted()
        if self.csv is not None and not isinstance(self.csv, CsvDialect):
            raise SchemaError(f"csv must be a CsvDialect or None, got {shorten_value(self.csv)}.")
        self._check_min_records()
        self._check_unit()
        if self.about is not None and not isinstance(self.about, About):
            raise SchemaError(f"about must be an About or None, got {shorten_value(self.about)}.")
        if self.about == About():
            object.__setattr__(self, "about", None)
        if self.target is not None and self.target.name is not None:
            self._check_target_name(self.target.name)

    def _check_predicted(self) -> None:
        """Check that there are either classes or a numeric target."""
        check_schema_bool("classes_confirmed", self.classes_confirmed)
        has_classes = self.classes is not None and self.classes != ()
        if self.target is None and not has_classes:
            raise SchemaError(
                "a schema must have classes, or a target that is a number, but has neither. Add "
                "classes, or a target with low and high."
            )
        if self.target is None:
            labels = check_schema_labels("classes", self.classes, at_least=2)
            object.__setattr__(self, "classes", labels)
            return
        if not isinstance(self.target, Target):
            raise SchemaError(
                f"target must be a Target or None, got {shorten_value(self.target)}. The name of "
                "the column belongs to about."
            )
        if has_classes:
            raise SchemaError(
                "a schema must have either classes or a target, but has both. Remove the classes "
                "if the target is a number."
            )
        if not self.classes_confirmed:
            raise SchemaError(
                "classes must be given where they are marked as unconfirmed. Delete the mark."
            )
        object.__setattr__(self, "classes", ())

    def _check_target_name(self, name: str) -> None:
        """Make the name of the target the one that is published with the model."""
        about = self.about or About()
        if about.target not in (None, name.strip()):
            raise SchemaError(
                f"the target must have one name, got {shorten_value(name)} and, in about, "
                f"{shorten_value(about.target)}."
            )
        object.__setattr__(self, "about", replace(about, target=name))

    def _check_unit(self) -> None:
        check_schema_bool("unit_confirmed", self.unit_confirmed)
        if self.unit is None and not self.unit_confirmed:
            raise SchemaError(
                "unit must be given where it is marked as unconfirmed. Delete the mark."
            )
        if self.unit is None:
            return
        if not isinstance(self.unit, str) or not self.unit.strip():
            raise SchemaError(
                f"unit must be the name of a column, or None, got {shorten_value(self.unit)}."
            )
        object.__setattr__(self, "unit", check_schema_text("unit", self.unit))
        if self.unit in self.features:
            raise SchemaError(
                f"the unit {shorten_value(self.unit)} must not be a feature of the schema: a model "
                "must not know persons by their ids. Remove it from the features."
            )

    def _check_min_records(self) -> None:
        check_schema_bool("min_records_confirmed", self.min_records_confirmed)
        if self.min_records is not None:
            object.__setattr__(self, "min_records", check_min_records(self.min_records))
        elif not self.min_records_confirmed:
            raise SchemaError(
                "min_records must be given where it is marked as unconfirmed. Delete the mark."
            )

    def __eq__(self, other: object) -> bool:
        """Return whether two schemas are equal, also in feature order and unconfirmed marks."""
        return isinstance(other, Schema) and self._identity == other._identity

    def __repr__(self) -> str:
        """Return a short text with the first columns and the classes or target."""
        kinds = [
            f"{shorten_value(name)}: {type(kind).__name__}" for name, kind in self.features.items()
        ]
        marks = ", some of it unconfirmed" if self.unconfirmed else ""
        if self.target is None:
            labels = _schema_entries_for_repr(list(map(shorten_value, self.classes)))
            predicted = f"classes=[{labels}]"
        else:
            predicted = f"target=Target({self.target.low}, {self.target.high})"
        return f"Schema(features={{{_schema_entries_for_repr(kinds)}}}, {predicted}{marks})"

    def __hash__(self) -> int:
        """Return a hash of everything that ``==`` compares."""
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[Any, ...]:
        return tuple(self.features.items()), *self._entries_after_features

    @property
    def _entries_after_features(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field.name) for field in fields(self)[1:])

    def __reduce__(self) -> tuple[type[Schema], tuple[Any, ...]]:
        """Pickle the arguments of the constructor, because `features` cannot be pickled."""
        return Schema, (dict(self.features), *self._entries_after_features)

    @property
    def names(self) -> tuple[str, ...]:
        """Column names, in order."""
        return tuple(self.features)

    def with_target(self, target: str) -> Schema:
        """Return a copy with `target` as the name of the target in :class:`About`.

        A schema that names a target already is returned unchanged. So is every schema if
        :class:`About` does not accept the name, for example because it has several lines.
        """
        about = self.about or About()
        if about.target is not None:
            return self
        try:
            return replace(self, about=replace(about, target=target))
        except SchemaError:
            return self

    # --- unconfirmed entries ------------------------------------------------------------------

    @property
    def unconfirmed(self) -> tuple[tuple[str, ...], ...]:
        """Entries that were read from the records and are not confirmed to be public.

        Each entry is a path of keys in the schema file: ``("classes",)`` or
        ``("features", "age", "low")``. A model has no finite epsilon if there is any such entry.
        """
        of_schema = ((mark,) for mark in self._own_marks)
        of_csv = () if self.csv is None else tuple(("csv", mark) for mark in self.csv.unconfirmed)
        of_target = () if self.target is None else self.target.unconfirmed
        of_features = (
            ("features", name, mark)
            for name, feature in self.features.items()
            for mark in feature.unconfirmed
        )
        return (*of_schema, *(("target", mark) for mark in of_target), *of_csv, *of_features)

    @property
    def _own_marks(self) -> list[str]:
        """Unconfirmed entries that are neither in a feature nor in the dialect."""
        confirmed = {
            "classes": self.classes_confirmed,
            "unit": self.unit_confirmed,
            "min_records": self.min_records_confirmed,
        }
        return [name for name in _MARKED_KEYS if not confirmed[name]]

    def shown_unconfirmed(self) -> str:
        """Return the unconfirmed entries as text, without values: ``classes; 'age': low, high``.

        A column of which every entry is unconfirmed is shown by its name alone. A long list is cut.
        """
        marked = {name: f for name, f in self.features.items() if f.unconfirmed}
        entries = self._own_marks
        if self.target is not None and self.target.unconfirmed:
            entries.append(f"target: {', '.join(self.target.unconfirmed)}")
        if self.csv is not None and self.csv.unconfirmed:
            entries.append(f"csv: {', '.join(self.csv.unconfirmed)}")
        for name, feature in list(marked.items())[:_MAX_NAMED]:
            named = repr(name)
            named = named if len(named) <= _MAX_NAME_LENGTH else f"{named[: _MAX_NAME_LENGTH - 1]}…"
            some = set(entries_read_from_records(feature)) - set(feature.unconfirmed)
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
        target = None if self.target is None else replace(self.target, unconfirmed=())
        return replace(
            self,
            features=features,
            classes_confirmed=True,
            csv=csv,
            min_records_confirmed=True,
            unit_confirmed=True,
            target=target,
        )

    def all_unconfirmed(self) -> Schema:
        """Return a copy in which everything is marked as read from the records."""
        features = {
            name: replace(f, unconfirmed=(*f.unconfirmed, *entries_read_from_records(f)))
            for name, f in self.features.items()
        }
        csv = None if self.csv is None else self.csv.all_unconfirmed()
        target = self.target
        if target is not None:
            target = replace(target, unconfirmed=(*target.unconfirmed, *INFERRED_TARGET_KEYS))
        return replace(
            self,
            features=features,
            classes_confirmed=target is not None,
            csv=csv,
            min_records_confirmed=self.min_records is None,
            unit_confirmed=self.unit is None,
            target=target,
        )

    # --- dictionary and TOML ------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries and lists, as in a schema's TOML file and a model's JSON."""
        return {
            **({} if self.target is not None else {"classes": list(self.classes)}),
            **({} if self.unit is None else {"unit": self.unit}),
            **({} if self.min_records is None else {"min_records": self.min_records}),
            **({"unconfirmed": self._own_marks} if self._own_marks else {}),
            **({} if self.about is None else {"about": self.about.to_dict()}),
            **({} if self.target is None else {"target": self.target.to_dict()}),
            **({} if self.csv is None else {"csv": self.csv.to_dict()}),
            "features": {name: feature_to_dict(f) for name, f in self.features.items()},
        }

    @classmethod
    def from_dict(cls, written: Any) -> Schema:
        """Read a schema from the dictionary that :meth:`to_dict` wrote.

        A :class:`SchemaError` is raised if a key is missing or unknown, or a value is invalid.
        """
        if not isinstance(written, dict):
            raise SchemaError(
                "a schema must be a table with 'features', and 'classes' or a 'target'."
            )
        allowed = {"classes", "target", "features"}
        allowed |= {"unconfirmed", "csv", "min_records", "about", "unit"}
        check_schema_keys("the schema", written, allowed, needed={"features"})
        features = written["features"]
        if not isinstance(features, dict):
            raise SchemaError("'features' must be a table of columns.")
        if not isinstance(written.get("classes", []), list):
            raise SchemaError("'classes' must be a list of labels.")
        marks = check_unconfirmed_names(written.get("unconfirmed", ()), _MARKED_KEYS)
        return cls(
            {name: feature_from_dict(name, entry) for name, entry in features.items()},
            tuple(written.get("classes", ())),
            classes_confirmed="classes" not in marks,
            csv=CsvDialect.from_dict(written["csv"]) if "csv" in written else None,
            min_records=written.get("min_records"),
            about=About.from_dict(written["about"]) if "about" in written else None,
            min_records_confirmed="min_records" not in marks,
            unit=written.get("unit"),
            unit_confirmed="unit" not in marks,
            target=Target.from_dict(written["target"]) if "target" in written else None,
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
    def infer(cls, X: Any, y: Any, *, numeric_target: bool = False) -> Schema:
        """Read a schema from the records themselves. **This leaks**, and issues a warning.

        Ranges are the smallest and largest finite values. Categories and classes are the values
        that occur. With `numeric_target`, y is a number to predict, and the schema has its range in
        place of classes. Everything is marked as unconfirmed, so a model trained with this schema
        has no finite epsilon. Use it to draft a schema that a person then checks against public
        knowledge.
        A :class:`PrivacyLeakWarning` is always issued.
        """
        from privatree.inspection import infer_schema

        return infer_schema(X, y, numeric_target=numeric_target)

    # --- not private: for the owner of the records --------------------------------------------

    def check(self, X: Any, y: Any = None) -> SchemaCheck:
        """Find the values in the records that do not fit this schema. **This leaks.**

        Training never reports such values, because an error would reveal something about a record:
        a number is clipped to its range, an unknown category counts as missing, and a record with
        an unknown label, or a target that is no number, is left out. This method counts them, shows
        examples of values, and lists the columns that ``fit`` would refuse. The result is about
        single records: keep it to yourself, and do not narrow the schema to what you see. ``fit``
        never calls this method.

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
            Result of the check. It is True if every value fits. Print it to see which do not.

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


def _schema_entries_for_repr(entries: Sequence[str]) -> str:
    more = len(entries) - _MAX_IN_REPR
    return ", ".join([*entries[:_MAX_IN_REPR], *([f"… {more} more"] if more > 0 else [])])
