"""How CSV files are written: what separates values, what quotes them, in which encoding.

A dialect decides where a row ends, so it is public: whoever trains declares it, in a schema file or
as options, and it is never guessed during training.

By default a physical line is a row, whatever stands in it, so one row cannot change how another is
read. ``multiline=True`` gives that up: a quote that is opened on one line and closed on another
makes one row of both.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

from privatree._support.suggestions import did_you_mean
from privatree.errors import SchemaError
from privatree.schema._value_checks import marks_of, shown

__all__ = ["CsvDialect"]

_DECIMALS = (".", ",")
_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
"""Names of delimiters, which are easier to type than some of the characters."""
_OPTIONAL = ("quote", "escape")
"""Characters that a dialect can be without."""
_UTF_16 = ("utf-16", "utf-16-le", "utf-16-be")


@dataclass(frozen=True)
class CsvDialect:
    """How CSV files are written.

    Parameters
    ----------
    delimiter : str or None, default=None
        What stands between values: one ASCII character, or ``"tab"``. None: a tab in files whose
        names end in ``.tsv``, a comma in others.
    decimal : {".", ","}, default="."
        The decimal mark of numbers.
    encoding : str, default="utf-8"
        The character encoding, such as ``"latin-1"`` or ``"utf-16"``. Encodings in which a line
        break is not a byte (or, in UTF-16, a unit) of its own are refused.
    quote : str or None, default='"'
        What encloses a value that contains a delimiter; doubled inside it stands for itself. None:
        no character does.
    escape : str or None, default=None
        What takes the meaning off the next character, such as the backslash of Spark's, Hive's and
        MySQL's writers.
    multiline : bool, default=False
        Whether a quoted value may contain line breaks. Then the quotes of one row decide where the
        next one starts, and the guarantee rests on every row closing its quotes.
    unconfirmed : sequence of str, optional
        Which of these were read from the files, and nobody has confirmed them.

    Examples
    --------
    >>> CsvDialect(delimiter=";", decimal=",", encoding="latin-1").decimal
    ','
    """

    delimiter: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    quote: str | None = '"'
    escape: str | None = None
    multiline: bool = False
    unconfirmed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a dialect in which text could be read in two ways."""
        delimiter = self.delimiter
        if isinstance(delimiter, str):
            object.__setattr__(self, "delimiter", _NAMED.get(delimiter.lower(), delimiter))
        for name in ("delimiter", "quote", "escape"):
            _check_character(name, getattr(self, name))
        marks = [mark for mark in (self.delimiter, self.quote, self.escape) if mark is not None]
        if len(set(marks)) < len(marks):
            raise SchemaError("delimiter, quote and escape must be different characters.")
        if self.decimal not in _DECIMALS:
            raise SchemaError(f'decimal must be "." or ",", got {shown(self.decimal)}.')
        object.__setattr__(self, "encoding", _encoding(self.encoding))
        if not isinstance(self.multiline, bool):
            raise SchemaError(f"multiline must be True or False, got {shown(self.multiline)}.")
        if self.multiline and self.quote is None:
            raise SchemaError("multiline must be used with a quote: values span lines in quotes.")
        object.__setattr__(self, "unconfirmed", marks_of(self.unconfirmed, _NAMES))

    def changed(self, **options: Any) -> CsvDialect:
        """The same dialect but for some options, which whoever gives them has confirmed.

        None is an option that is not given; an empty string as `quote` or `escape` is none.
        """
        given = {name: value for name, value in options.items() if value is not None}
        for name in _OPTIONAL:
            if given.get(name) == "":
                given[name] = None
        marks = tuple(mark for mark in self.unconfirmed if mark not in given)
        return replace(self, **given, unconfirmed=marks)

    def all_unconfirmed(self) -> CsvDialect:
        """The same dialect, whatever differs from the default marked as read from the files."""
        differing = [f.name for f in fields(self) if getattr(self, f.name) != f.default]
        return replace(self, unconfirmed=tuple(name for name in _NAMES if name in differing))

    def of_file(self, *, is_tab_separated: bool) -> CsvDialect:
        """The dialect with a delimiter, which the name of a file may decide."""
        if self.delimiter is not None:
            return self
        return replace(self, delimiter="\t" if is_tab_separated else ",")

    def to_dict(self) -> dict[str, Any]:
        """What differs from the default, as in a schema file; no quote and no escape are ""."""
        written = {
            field.name: "" if getattr(self, field.name) is None else getattr(self, field.name)
            for field in fields(self)
            if field.name != "unconfirmed" and getattr(self, field.name) != field.default
        }
        return written | ({"unconfirmed": list(self.unconfirmed)} if self.unconfirmed else {})

    @classmethod
    def from_dict(cls, written: Any) -> CsvDialect:
        """Read what :meth:`to_dict` wrote; every mistake is a :class:`SchemaError`."""
        if not isinstance(written, dict):
            raise SchemaError(f"'csv' must be a table of {', '.join(_NAMES)}.")
        if unknown := sorted(str(key) for key in written.keys() - {*_NAMES, "unconfirmed"}):
            meant = did_you_mean(unknown[0], _NAMES)
            raise SchemaError(
                f"csv: unknown key {unknown[0]!r}; known are {sorted(_NAMES)}.{meant}"
            )
        entries = dict(written)
        for name in _OPTIONAL:
            if entries.get(name) == "":
                entries[name] = None
        try:
            return cls(**entries)
        except SchemaError as error:
            raise SchemaError(f"csv: {error}") from None


_NAMES = tuple(field.name for field in fields(CsvDialect) if field.name != "unconfirmed")


def _check_character(name: str, value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, str) or len(value) != 1 or not value.isascii() or value in "\r\n":
        raise SchemaError(
            f"{name} must be one ASCII character that is no line break, got {shown(value)}."
        )


def _encoding(name: Any) -> str:
    """The usual name of an encoding whose rows can be told apart."""
    try:
        found = codecs.lookup(name).name if isinstance(name, str) else None
    except (LookupError, ValueError):
        found = None
    if found is None:
        raise SchemaError(
            f"encoding must be a character encoding that Python knows, such as utf-8 or latin-1, "
            f"got {shown(name)}."
        )
    found = {"utf-8-sig": "utf-8", "iso8859-1": "latin-1"}.get(found, found)
    if found not in _UTF_16 and not _lines_are_local(found):
        raise SchemaError(
            f"encoding must be one in which a line break is a byte of its own, got {found}. "
            "Convert the file to UTF-8."
        )
    return found


@lru_cache(maxsize=32)
def _lines_are_local(encoding: str) -> bool:
    """Whether ASCII stands for itself and no byte before a line break can take it away.

    So a line can be decoded by itself, whatever the one before it holds. Encodings that shift
    between alphabets, as ISO-2022 does by an escape sequence, fail the first condition.
    """
    ascii_bytes = bytes(range(128)) + b"\x1b$BA"
    if encoding.endswith("escape"):  # a backslash and letters make a line break
        return False
    try:
        if ascii_bytes.decode(encoding) != ascii_bytes.decode("ascii"):
            return False
        return all(
            (bytes(before) + b"\n").decode(encoding, "replace").endswith("\n")
            for first in range(128, 256)
            for before in ([first], *([first, second] for second in range(256)))
        )
    except (LookupError, UnicodeError):  # not an encoding of text, or not of all of ASCII
        return False
