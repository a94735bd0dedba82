"""The result of a schema check: what does not fit, as fields, text and JSON. **This leaks.**"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from privatree.schema import Schema

_NOT_PRIVATE = "Not private: this tells of single records. Keep it to yourself."


@dataclass(frozen=True)
class Misfit:
    """Something about a column that does not fit.

    Parameters
    ----------
    column : str
        Its name; ``"y"`` for labels that were passed on their own.
    what : str
        In words: ``"above the range"``.
    records : int or None
        How many records; None if it is about the whole column.
    examples : tuple of str
        Some of the values, the most frequent ones first. They are private.
    """

    column: str
    what: str
    records: int | None = None
    examples: tuple[str, ...] = ()


@dataclass(repr=False)
class SchemaCheck:
    """What of some records does not fit a schema. **This leaks**: it is for their owner's eyes.

    :meth:`Schema.check <privatree.Schema.check>` returns it. Printed, it is the text of
    ``privatree schema check``.

    Parameters
    ----------
    schema : Schema
        What the records were checked against.
    misfits : list of Misfit
        In the order of the schema, the labels last. Each has the name of a `column`, `what` is
        wrong, the number of `records` (None: the whole column) and `examples` of values.
    n_records : int
        How many records there are, the ragged ones included.
    n_ragged : int
        How many rows of CSV files have not as many values as the first row has names.
    ignored : list of str
        Columns that are neither in the schema nor the target.
    not_utf8 : list of str
        CSV files with bytes that are no text in their encoding.
    trimmed : dict
        By column, how many values of CSV files fit only without the blanks around them. Training
        on a file takes them off; frames in Python are taken as they are.
    """

    schema: Schema
    misfits: list[Misfit] = field(default_factory=list)
    n_records: int = 0
    n_ragged: int = 0
    ignored: list[str] = field(default_factory=list)
    not_utf8: list[str] = field(default_factory=list)
    trimmed: dict[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether every value fits. Ignored columns and unconfirmed entries do not count.

        A missing value does not fit, even if the schema says where it counts.
        """
        return not self.misfits and not self.n_ragged

    def __bool__(self) -> bool:
        """Return :attr:`ok`."""
        return self.ok

    def __repr__(self) -> str:
        """Return :meth:`to_text`."""
        return self.to_text()

    def to_text(self, schema_name: str = "the schema") -> str:
        """Say what does not fit, with examples of values.

        Parameters
        ----------
        schema_name : str, default="the schema"
            What the schema is called, such as the name of its file.

        Returns
        -------
        str
            Several lines; the first says that they are not private.
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
            rows.append(
                (
                    "(rows)",
                    str(self.n_ragged),
                    "too few or too many values, or open quotes: left out",
                )
            )
        names = max((len(name) for name, _, _ in rows), default=0)
        counts = max((len(count) for _, count, _ in rows), default=0)
        return "\n".join(
            [
                _NOT_PRIVATE,
                f"\n{self.n_records} record{'' if self.n_records == 1 else 's'}",
                *(f"  {name:<{names}}  {count:>{counts}}  {what}" for name, count, what in rows),
                "Every value fits." if self.ok else "Everything else fits.",
                *self._notes(schema_name),
            ]
        )

    def _notes(self, schema_name: str) -> list[str]:
        """Return a line for each thing that is not about values."""
        notes = []
        if self.ignored:
            notes.append(f"Not in the schema, so ignored: {', '.join(map(repr, self.ignored))}.")
        if self.trimmed:
            counted = ", ".join(f"{name!r} ({count})" for name, count in self.trimmed.items())
            notes.append(f"Blanks around values of {counted}: trimmed here, not in Python frames.")
        notes += [
            f"{file}: not in its encoding, so letters beyond a to z are damaged. Pass --encoding."
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
            "misfits": [
                {
                    "column": misfit.column,
                    "what": misfit.what,
                    "records": misfit.records,
                    "examples": list(misfit.examples),
                }
                for misfit in self.misfits
            ],
            "ignored": self.ignored,
            "not_utf8": self.not_utf8,
            "trimmed": self.trimmed,
            "unconfirmed": [list(place) for place in self.schema.unconfirmed],
        }
