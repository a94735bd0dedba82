"""The result of a schema check, as fields, text and JSON. **This leaks.**"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from privatree.inspection._comments import count_in_words
from privatree.inspection._unit_sizes import UnitSizes
from privatree.schema import Schema

_NOT_PRIVATE = "Not private: this output reveals single records. Keep it to yourself."


@dataclass(frozen=True)
class Misfit:
    """A column, or values in it, that do not fit; :class:`SchemaCheck` describes the fields."""

    column: str
    what: str
    records: int | None = None
    examples: tuple[str, ...] = ()


@dataclass(repr=False)
class SchemaCheck:
    """The values of a dataset that do not fit a schema. **This leaks**: only for the data owner.

    :meth:`Schema.check <privatree.Schema.check>` returns it. Its repr is the text that
    ``privatree schema check`` prints.

    Parameters
    ----------
    schema : Schema
        Schema that the records were checked against.
    misfits : list of Misfit
        Columns and values that do not fit, in the order of the schema, labels last. A misfit has
        the name of a `column` (``"y"`` for labels in memory), the text `what` (``"above the
        range"``), the number of `records` (None for a whole column) and `examples` of values, the
        most frequent first.
    n_records : int
        Number of records, ragged rows included.
    n_ragged : int
        Number of rows in CSV files that have more or fewer values than the first row has names.
    ignored : list of str
        Columns that are neither in the schema nor the target.
    not_utf8 : list of str
        CSV files with bytes that are not text in their encoding.
    trimmed : dict of str to int
        Number of values, by column, that fit only after blanks around them are removed. Training
        removes blanks in CSV files, but not in frames.
    n_usable : int or None
        Number of records whose label is a class, or whose numeric target is a number, and that
        have an id, if the schema has a unit.
        Training uses only these records. None if the labels were not checked.
    units : UnitSizes or None
        Number of `units` in the `column` that the schema declares, and the `typical` (median) and
        the `largest` number of usable records of a unit. None if the schema has no unit, or if its
        column could not be read.
    possible_units : list of UnitSizes
        The same for columns that sound like ids of persons and have several records of an id, if
        the schema has no unit.

    Examples
    --------
    >>> from privatree import Numeric, Schema
    >>> schema = Schema({"age": Numeric(0, 120)}, ["no", "yes"])
    >>> checked = schema.check([[34], [199], [250]], ["no", "yes", "no"])
    >>> checked.ok
    False
    >>> checked.misfits[0].what, checked.misfits[0].records
    ('above the range', 2)
    """

    schema: Schema
    misfits: list[Misfit] = field(default_factory=list)
    n_records: int = 0
    n_ragged: int = 0
    ignored: list[str] = field(default_factory=list)
    not_utf8: list[str] = field(default_factory=list)
    trimmed: dict[str, int] = field(default_factory=dict)
    n_usable: int | None = None
    units: UnitSizes | None = None
    possible_units: list[UnitSizes] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether every value fits. Ignored columns and unconfirmed entries do not matter.

        A missing value fits only if the schema says ``missing="separate"``. It does not fit if it
        counts as another value.
        """
        return not self.misfits and not self.n_ragged

    def __bool__(self) -> bool:
        """Return :attr:`ok`."""
        return self.ok

    def __repr__(self) -> str:
        """Return :meth:`to_text`."""
        return self.to_text()

    def to_text(self, schema_name: str = "the schema") -> str:
        """Return the misfits as text, with examples of values. The text is not private.

        `schema_name` is the name of the schema in the text, such as its file name.
        """
        rows = [
            (
                repr(misfit.column),
                "all" if misfit.records is None else str(misfit.records),
                misfit.what
                + (f", such as {', '.join(misfit.examples)}" if misfit.examples else ""),
            )
            for misfit in self.misfits
        ]
        if self.n_ragged:
            what = "too few or too many values, or open quotes: left out"
            rows.append(("(rows)", str(self.n_ragged), what))
        names = max((len(name) for name, _, _ in rows), default=0)
        counts = max((len(count) for _, count, _ in rows), default=0)
        return "\n".join(
            [
                _NOT_PRIVATE,
                f"\n{count_in_words(self.n_records)}",
                *(f"  {name:<{names}}  {count:>{counts}}  {what}" for name, count, what in rows),
                "Every value fits." if self.ok else "Everything else fits.",
                *self._usable_notes(),
                *self._unit_notes(schema_name),
                *self._notes(schema_name),
            ]
        )

    def _usable_notes(self) -> list[str]:
        """Return a note if few records have a known label, or fewer than ``schema.min_records``."""
        if self.n_usable is None:
            return []
        notes, by_unit = [], self.units is not None
        if self.n_usable == 0 or 2 * self.n_usable < self.n_records:
            notes.append(
                f"But only {self.n_usable} of {self.n_records} records can be used: the others "
                f"have {self._lacking}{' or no id' * by_unit}. Check the {self._to_check}"
                f"{', and the unit' * by_unit}."
            )
        n_counted = self.n_usable if self.units is None else self.units.units
        if n_counted < (self.schema.min_records or 0):
            notes.append(
                f"The schema declares min_records = {self.schema.min_records}, and only "
                f"{n_counted} {'units' if by_unit else 'records'} can be used: fit will probably "
                "stop."
            )
        return notes

    @property
    def _lacking(self) -> str:
        is_number = self.schema.target is not None
        return "no number as their target" if is_number else "no class of the schema as their label"

    @property
    def _to_check(self) -> str:
        is_number = self.schema.target is not None
        return "name of the target" if is_number else "spelling of the classes and the target"

    def _unit_notes(self, schema_name: str) -> list[str]:
        """Return a line about the unit of the schema, or about each column that may be one."""
        if self.units is not None:
            found = self.units
            return [
                f"Unit {found.column!r}: {found.units} units, typically of "
                f"{count_in_words(found.typical)}, at most of {count_in_words(found.largest)}. "
                "Epsilon holds for all records of a unit together."
            ]
        return [
            f"{found.column!r} sounds like ids of persons, and some of them have several records: "
            f"typically {found.typical}, at most {found.largest}. If it says who a row is "
            f"about, write unit = {json.dumps(found.column, ensure_ascii=False)} in {schema_name}, "
            "or pass --unit: otherwise epsilon holds for each single record only."
            for found in self.possible_units
        ]

    def _notes(self, schema_name: str) -> list[str]:
        """Return the lines about ignored columns, blanks, encodings and unconfirmed entries."""
        notes = []
        if self.ignored:
            notes.append(f"Not in the schema, so ignored: {', '.join(map(repr, self.ignored))}.")
        if self.trimmed:
            counted = ", ".join(f"{name!r} ({count})" for name, count in self.trimmed.items())
            notes.append(f"Blanks around values of {counted}: trimmed here, not in Python frames.")
        notes += [
            f"{file}: has bytes that are not text in its encoding, so letters beyond a to z are "
            "damaged. Pass --encoding."
            for file in self.not_utf8
        ]
        if self.schema.unconfirmed:
            notes.append(
                f"Not yet confirmed in {schema_name}: {self.schema.shown_unconfirmed()}. Check "
                'each against public knowledge and delete its line "unconfirmed".'
            )
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries and lists, as ``privatree schema check --json`` prints."""
        return {
            "note": _NOT_PRIVATE,
            "records": self.n_records,
            "ragged_rows": self.n_ragged,
            "usable": self.n_usable,
            "misfits": [
                asdict(misfit) | {"examples": list(misfit.examples)} for misfit in self.misfits
            ],
            "ignored": self.ignored,
            "not_utf8": self.not_utf8,
            "trimmed": self.trimmed,
            "unit": None if self.units is None else asdict(self.units),
            "possible_units": [asdict(found) for found in self.possible_units],
            "unconfirmed": [list(place) for place in self.schema.unconfirmed],
        }
