"""How CSV files are written: delimiter, quote, escape, decimal mark and encoding.

A dialect decides where a row ends, so it must be public. The user declares it in a schema file or
by options; training never guesses it.

By default every physical line is one row, whatever it contains, so one row cannot change how
another row is read. With ``multiline=True`` this does not hold: a quote that is opened on one
line and closed on another line joins these lines to one row.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

from privatree._support.suggestions import did_you_mean
from privatree.errors import SchemaError
from privatree.schema._value_checks import check_schema_bool, check_unconfirmed_names, shorten_value

__all__ = ["CsvDialect"]

_DECIMALS = (".", ",")
_DELIMITER_NAMES = {
    "tab": "\t",
    "\\t": "\t",
    "comma": ",",
    "semicolon": ";",
    "pipe": "|",
    "space": " ",
}
"""Names of delimiters, which are easier to type than the characters."""
_OPTIONAL = ("quote", "escape")
"""Options that can be None. In files and on the command line, an empty string stands for None."""
_UTF_16 = ("utf-16", "utf-16-le", "utf-16-be")


@dataclass(frozen=True)
class CsvDialect:
    """The way in which CSV files are written.

    Parameters
    ----------
    delimiter : str or None, default=None
        Separator of values: one ASCII character, or a name such as ``"tab"``. None means a tab in
        files whose names end in ``.tsv``, and a comma in all others.
    decimal : {".", ","}, default="."
        Decimal mark of numbers.
    encoding : str, default="utf-8"
        Character encoding, such as ``"latin-1"`` or ``"utf-16"``. Encodings in which a line break
        is not a separate byte (in UTF-16, a separate unit) are refused.
    quote : str or None, default='"'
        Character around values that contain a delimiter. A doubled quote inside a quoted value
        stands for one quote. None if values are never quoted.
    escape : str or None, default=None
        Character that makes the next character literal, such as the backslash that Spark, Hive and
        MySQL write. None if there is no such character.
    multiline : bool, default=False
        Whether a quoted value may contain line breaks. If True, the quotes of one row decide where
        the next row starts, and the privacy guarantee holds only if every row closes its quotes.
    unconfirmed : sequence of str, optional
        Names of the parameters that were read from the files and are not confirmed to be public.

    Examples
    --------
    >>> from privatree import Categorical, CsvDialect, Schema
    >>> dialect = CsvDialect(delimiter="semicolon", decimal=",", encoding="latin-1")
    >>> dialect.delimiter
    ';'
    >>> Schema({"sex": Categorical(["F", "M"])}, ["no", "yes"], csv=dialect).csv.decimal
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
        """Raise a SchemaError if an option is invalid or if text could be read in two ways."""
        delimiter = self.delimiter
        if isinstance(delimiter, str):
            object.__setattr__(
                self, "delimiter", _DELIMITER_NAMES.get(delimiter.lower(), delimiter)
            )
        for name in ("delimiter", "quote", "escape"):
            _check_dialect_character(name, getattr(self, name))
        marks = [mark for mark in (self.delimiter, self.quote, self.escape) if mark is not None]
        if len(set(marks)) < len(marks):
            raise SchemaError(
                f"delimiter, quote and escape must be different characters, got {marks}."
            )
        if self.decimal not in _DECIMALS:
            raise SchemaError(f'decimal must be "." or ",", got {shorten_value(self.decimal)}.')
        object.__setattr__(self, "encoding", _check_csv_encoding(self.encoding))
        check_schema_bool("multiline", self.multiline)
        if self.multiline and self.quote is None:
            raise SchemaError(
                "multiline must be used with a quote character, because only quoted values can "
                "contain line breaks."
            )
        marks_read = check_unconfirmed_names(self.unconfirmed, _NAMES)
        object.__setattr__(self, "unconfirmed", marks_read)

    def changed(self, **options: Any) -> CsvDialect:
        """Return a copy with some options changed. The changed options count as confirmed.

        An option that is None stays as it is. An empty string removes `quote` or `escape`.
        """
        given = _empty_option_to_none({name: v for name, v in options.items() if v is not None})
        marks = tuple(mark for mark in self.unconfirmed if mark not in given)
        return replace(self, **given, unconfirmed=marks)

    def all_unconfirmed(self) -> CsvDialect:
        """Return a copy in which every value that is not the default is unconfirmed."""
        differing = [f.name for f in fields(self) if getattr(self, f.name) != f.default]
        return replace(self, unconfirmed=tuple(name for name in _NAMES if name in differing))

    def of_file(self, *, is_tab_separated: bool) -> CsvDialect:
        """Return the dialect for one file: a delimiter of None becomes a tab or a comma."""
        if self.delimiter is not None:
            return self
        return replace(self, delimiter="\t" if is_tab_separated else ",")

    def to_dict(self) -> dict[str, Any]:
        """Return the values that are not the default, as a schema file stores them.

        A `quote` or `escape` of None becomes an empty string.
        """
        written = {
            field.name: "" if getattr(self, field.name) is None else getattr(self, field.name)
            for field in fields(self)
            if field.name != "unconfirmed" and getattr(self, field.name) != field.default
        }
        return written | ({"unconfirmed": list(self.unconfirmed)} if self.unconfirmed else {})

    @classmethod
    def from_dict(cls, written: Any) -> CsvDialect:
        """Read a dialect from the dictionary that :meth:`to_dict` wrote.

        A :class:`SchemaError` is raised if a key is unknown or a value is invalid.
        """
        if not isinstance(written, dict):
            raise SchemaError(
                f"'csv' must be a table of {', '.join(_NAMES)}, got {shorten_value(written)}."
            )
        if unknown := sorted(str(key) for key in written.keys() - {*_NAMES, "unconfirmed"}):
            meant = did_you_mean(unknown[0], _NAMES)
            raise SchemaError(
                f"'csv' has the unknown key {unknown[0]!r}; known keys are {sorted(_NAMES)}.{meant}"
            )
        try:
            return cls(**_empty_option_to_none(written))
        except SchemaError as error:
            raise SchemaError(f"csv: {error}") from None


_NAMES = tuple(field.name for field in fields(CsvDialect) if field.name != "unconfirmed")


def _empty_option_to_none(options: dict[str, Any]) -> dict[str, Any]:
    return options | {name: None for name in _OPTIONAL if options.get(name) == ""}


def _check_dialect_character(name: str, value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, str) or len(value) != 1 or not value.isascii() or value in "\r\n":
        raise SchemaError(
            f"{name} must be one ASCII character and not a line break, got {shorten_value(value)}."
        )


def _check_csv_encoding(name: Any) -> str:
    """Return the usual name of an encoding in which every line can be decoded by itself."""
    try:
        found = codecs.lookup(name).name if isinstance(name, str) else None
    except (LookupError, ValueError):
        found = None
    if found is None:
        raise SchemaError(
            f"encoding must be a character encoding that Python knows, such as utf-8 or latin-1, "
            f"got {shorten_value(name)}."
        )
    found = {"utf-8-sig": "utf-8", "iso8859-1": "latin-1"}.get(found, found)
    if found not in _UTF_16 and not _csv_decodes_line_by_line(found):
        raise SchemaError(
            f"encoding must store each line break as a separate byte, but {found} does not. "
            "Convert the file to UTF-8."
        )
    return found


@lru_cache(maxsize=32)
def _csv_decodes_line_by_line(encoding: str) -> bool:
    """Tell whether each line can be decoded without the lines before it.

    Every ASCII byte must stand for itself, and no byte may form one character together with a
    line break after it. Encodings that switch alphabets by escape sequences, such as ISO-2022, fail
    the first condition.
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
    except (LookupError, UnicodeError):  # not a text encoding, or ASCII is incomplete
        return False
