"""A publisher's description of a model: title, target, description, use, owner and date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime
from textwrap import TextWrapper
from typing import Any

from privatree._support.escape import escape_to_one_line
from privatree._support.suggestions import did_you_mean
from privatree.errors import SchemaError
from privatree.schema._value_checks import check_schema_text, shorten_value

__all__ = ["About"]

_LINE_LENGTHS = {"title": 200, "target": 200, "owner": 200}
"""Largest number of characters of each text that must be one line."""
_MAX_LENGTHS = {**_LINE_LENGTHS, "description": 5000, "intended_use": 5000}
"""Largest number of characters of each text."""
_CALLED = {"target": "predicts", "intended_use": "intended use"}
"""Names under which ``str`` shows some texts, if they are not the names of the fields."""


@dataclass(frozen=True)
class About:
    """A publisher's description of a model, which is part of the schema and of the model.

    Every text is published with the model, so it must not come from the records. An empty text
    counts as None.

    Parameters
    ----------
    title : str, optional
        Name of the model, at most 200 characters on one line.
    target : str, optional
        Name of the column that is predicted, at most 200 characters on one line. If it is
        None and the labels have a name, ``fit`` uses this name.
    description : str, optional
        What the records are, at most 5,000 characters.
    intended_use : str, optional
        What the model is for, and what it is not for, at most 5,000 characters.
    owner : str, optional
        Person or institution that answers for the model, at most 200 characters on one line.
    date : str, optional
        Date of the model or of its records, such as ``"2026-11-18"``.

    Examples
    --------
    >>> from privatree import About, Numeric, Schema
    >>> about = About(title="Readmission within 30 days", owner="Quality office", date="2026-11-18")
    >>> Schema({"age": Numeric(0, 120)}, ["no", "yes"], about=about).about.title
    'Readmission within 30 days'
    """

    title: str | None = None
    target: str | None = None
    description: str | None = None
    intended_use: str | None = None
    owner: str | None = None
    date: str | None = None

    def __post_init__(self) -> None:
        """Raise a SchemaError if a text is too long or the date is invalid."""
        for name, length in _MAX_LENGTHS.items():
            object.__setattr__(self, name, _check_about_text(name, getattr(self, name), length))
        object.__setattr__(self, "date", _check_about_date(self.date))

    def __str__(self) -> str:
        """Return the texts as lines for a terminal, the title first."""
        lines = [] if self.title is None else [escape_to_one_line(self.title)]
        for name, text in self.to_dict().items():
            if name != "title":
                called = f"{_CALLED.get(name, name):<14}"
                wrapper = TextWrapper(96, initial_indent=called, subsequent_indent=" " * 14)
                lines.append(wrapper.fill(escape_to_one_line(text)))
        return "\n".join(lines)

    def to_dict(self) -> dict[str, str]:
        """Return the texts that are not None, as a schema file stores them."""
        texts = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: text for name, text in texts.items() if text is not None}

    @classmethod
    def from_dict(cls, written: Any) -> About:
        """Read the texts from the dictionary that :meth:`to_dict` wrote.

        A :class:`SchemaError` is raised if a key is unknown or a value is invalid.
        """
        names = tuple(field.name for field in fields(cls))
        if not isinstance(written, Mapping):
            raise SchemaError(
                f"'about' must be a table of {', '.join(names)}, got {shorten_value(written)}."
            )
        if unknown := sorted(str(key) for key in written.keys() - set(names)):
            meant = did_you_mean(unknown[0], names)
            raise SchemaError(
                f"'about' has the unknown key {shorten_value(unknown[0])}; known keys are "
                f"{', '.join(names)}.{meant}"
            )
        try:
            return cls(**written)
        except SchemaError as error:
            raise SchemaError(f"about: {error}") from None


def _check_about_text(name: str, value: Any, length: int) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise SchemaError(f"{name} must be text, got {shorten_value(value)}.")
    text = check_schema_text(name, value).strip()
    if len(text) > length:
        raise SchemaError(
            f"{name} must have at most {length} characters, got {len(text)}. Shorten it."
        )
    if name in _LINE_LENGTHS and len(text.splitlines()) > 1:
        raise SchemaError(f"{name} must be one line, got {shorten_value(text)}.")
    return text or None


def _check_about_date(value: Any) -> str | None:
    """Return a date as text such as 2026-11-18. In TOML files, the date needs no quotes."""
    if value is None or value == "":
        return None
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str):
        try:
            if date.fromisoformat(value).isoformat() == value:
                return value
        except ValueError:
            pass
    raise SchemaError(f"date must be a day such as 2026-11-18, got {shorten_value(value)}.")
